import re

import pytest
from rich._emoji_codes import EMOJI

from moot.channels.showing.looks import HEX, MOOT, look_of, looks, name
from moot.protocols.kernel.envelope import Actor
from moot.protocols.research.seats import CRITIC
from moot.protocols.rulebook import rulebook
from tests.doubles.postings import posting

NOTE = {"type": "NOTE", "text": "hm"}


def said(author="critic", actor=None):
    return posting(NOTE, author=author, **({"actor": actor} if actor else {})).envelope


@pytest.mark.parametrize("seat", list(rulebook().seats))
def test_every_seat_has_a_name_a_standard_emoji_and_its_colour(seat):
    look = looks()[seat]
    assert look.name
    assert look.icon_emoji.strip(":") in EMOJI
    assert re.fullmatch(r":[a-z0-9_]+:", look.icon_emoji)
    assert look.colour == HEX[rulebook().seats[seat].colour]
    assert look.colour_number == int(look.colour[1:], 16)


def test_no_two_seats_share_an_emoji_or_a_name():
    assert (
        len({*(look.icon_emoji for look in looks().values()), MOOT.icon_emoji}) == len(rulebook().seats) + 1
    )
    assert len({look.name for look in looks().values()} | {MOOT.name}) == len(rulebook().seats) + 1


def test_white_stands_out_on_every_colour():
    def luminance(colour):
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for colour in HEX.values():
        assert 1.05 / (luminance(colour) + 0.05) >= 2, colour


def test_one_speaker_appears_as_the_seat_several_as_the_society():
    assert look_of([said(), said()]) == (CRITIC, looks()[CRITIC])
    assert look_of([said(), said("explorer")]) == (None, MOOT)
    two_people = [said(actor=Actor("human", "slack", user)) for user in ("U1", "U2")]
    assert look_of(two_people) == (None, MOOT)


def test_a_seat_from_the_future_has_its_name_and_the_picture_of_the_society():
    seat, look = look_of([said("oracle")])
    assert (seat, look.name, look.icon_emoji) == (None, "Oracle", MOOT.icon_emoji)


def test_a_person_is_named_by_platform_only_elsewhere():
    envelope = said("admin", Actor("human", "slack", "U1"))
    assert name(envelope) == "Admin (U1 on slack)"
    assert name(envelope, here="discord") == "Admin (U1 on slack)"
    assert name(envelope, here="slack") == "Admin (U1)"
    assert len(name(said("admin", Actor("human", "slack", "u" * 500)))) <= 80
