"""How far back a post is looked for."""

import asyncio

import pytest

from moot.channels.chat.looking_back import MOST_OLDER, MOST_READ, Own, look_back
from moot.protocols.escalation.messages import Escalation
from tests.doubles.on_discord import escalation, posting
from tests.doubles.small_log import SmallLog

IT = Own("it", is_it=True, is_older=False)
OLDER = Own("older", is_it=False, is_older=True)
LATER = Own("later", is_it=False, is_older=False)
read = []


async def history(*messages):
    try:
        for message in messages:
            read.append(message)
            yield message
    finally:
        read.append("closed")


@pytest.fixture(autouse=True)
def nothing_read():
    read.clear()


@pytest.mark.parametrize(
    ("before", "is_found"),
    [
        ([], True),
        ([None] * (MOST_READ - 1), True),
        ([None] * MOST_READ, False),
        ([LATER] * (MOST_READ - 1), True),
        ([OLDER] * (MOST_OLDER - 1), True),
        ([OLDER] * MOST_OLDER, False),
    ],
)
def test_a_post_is_found_within_the_bounds_and_no_more_is_read_then(before, is_found):
    item = posting(SmallLog(), "routine")
    found = asyncio.run(look_back(item, history(*before, IT, None, None)))
    assert found == ("it" if is_found else None)
    assert read == [*before, *([IT] if is_found else []), "closed"]


def test_an_urgent_one_may_stand_behind_any_number_of_older_ones():
    item = escalation(SmallLog())
    assert isinstance(item.envelope.body, Escalation)
    assert asyncio.run(look_back(item, history(*[OLDER] * (MOST_OLDER * 3), IT))) == "it"
    assert asyncio.run(look_back(item, history(*[OLDER] * MOST_READ, IT))) is None


def test_a_history_without_it_says_nothing():
    assert asyncio.run(look_back(posting(SmallLog(), "routine"), history(OLDER, None, LATER))) is None
