"""The front and allowances: who has to go when there is no room, and how much each may ask."""

from __future__ import annotations

import asyncio
import resource
from typing import Any

import pytest

from moot.console.model.interface import Person
from moot.console.serving import front as at_front
from moot.console.serving.allowance import Allowances, Bucket, Rate
from moot.console.serving.front import MOST_HEAD, Front, Line, Room, room_for
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.kernel.seats import VIEWER as VIEWER_SEAT

pytestmark = pytest.mark.anyio
OWNER, VIEWER = Person("owner", ADMIN), Person("viewer", VIEWER_SEAT)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Wire(asyncio.Transport):
    """A connection that only notes that it was closed."""

    def __init__(self, peer: str = "127.0.0.1") -> None:
        super().__init__({"peername": (peer, 4711)})
        self.is_open = True

    def abort(self) -> None:
        self.is_open = False


def come(front: Front, n: int, peer: str = "127.0.0.1") -> list[tuple[Wire, Line]]:
    return [(wire, front.come(wire)) for wire in (Wire(peer) for _ in range(n))]


def still_open(lines: list[tuple[Wire, Line]]) -> list[bool]:
    return [wire.is_open for wire, _ in lines]


async def test_of_too_many_strangers_the_oldest_goes_and_no_person() -> None:
    front = Front(Room(3, 10))
    first = come(front, 2)
    first[0][1].begin()
    assert first[0][1].belongs_to(OWNER)
    crowd = come(front, 5)
    assert still_open(first) == [True, False]
    assert still_open(crowd) == [False, False, True, True, True]
    assert front.strangers == 3
    for _, line in (*first, *crowd):
        line.lost()
    assert front.strangers == 0


async def test_whoever_has_most_connections_makes_room() -> None:
    front = Front(Room(4, 10))
    (quiet,) = come(front, 1, "10.0.0.1")
    crowd = come(front, 8, "10.0.0.2")
    assert quiet[0].is_open
    assert still_open(crowd) == [False] * 5 + [True] * 3


async def test_a_head_that_does_not_come_in_time_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_front, "HEAD_S", 0.05)
    front = Front(Room(100, 10))
    silent, dribbling, answered, served = come(front, 4)
    for _ in range(8):
        dribbling[1].take(b"X")
    served[1].begin()
    answered[1].begin()
    answered[1].end()
    await asyncio.sleep(0.2)
    assert still_open([silent, dribbling, answered, served]) == [False, False, True, True]
    # The next request has its time too, whoever sends it.
    answered[1].take(b"GET")
    await asyncio.sleep(0.2)
    assert not answered[0].is_open


async def test_the_more_strangers_there_are_the_less_time_each_has() -> None:
    front = Front(Room(10, 10))
    begun = front.head_s
    come(front, 10)
    assert front.head_s == begun / 2


async def test_a_head_without_an_end_is_not_read_on() -> None:
    front = Front(Room(10, 10))
    ((wire, line),) = come(front, 1)
    chunk = b"x" * 4_096
    taken = 0
    while line.take(chunk):
        taken += len(chunk)
    assert MOST_HEAD <= taken <= MOST_HEAD + 2 * len(chunk)
    assert not wire.is_open
    ((_, body),) = come(front, 1)
    body.begin()
    assert all(body.take(chunk) for _ in range(100))


async def test_a_viewer_has_so_many_connections_and_an_admin_as_many_as_they_like(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(at_front, "MOST_OF_PERSON", 3)
    front = Front(Room(100, 10))
    theirs = come(front, 5)
    assert [line.belongs_to(VIEWER) for _, line in theirs] == [True, True, True, False, False]
    assert all(line.belongs_to(OWNER) for _, line in come(front, 5))
    assert theirs[0][1].belongs_to(VIEWER)
    theirs[0][1].lost()
    assert theirs[3][1].belongs_to(VIEWER)


async def test_viewers_together_leave_room_for_others() -> None:
    front = Front(Room(100, 4))
    owner = come(front, 1)
    assert owner[0][1].belongs_to(OWNER)
    viewers = come(front, 6)
    assert all(line.belongs_to(VIEWER) for _, line in viewers)
    assert still_open(viewers) == [False, False, True, True, True, True]
    assert owner[0][0].is_open


@pytest.mark.parametrize("files", [64, 256, 1_024, 8_192, 1_048_576])
def test_connections_leave_file_descriptors_for_everything_else(files: int) -> None:
    room = room_for(files)
    assert room.strangers >= 8 and room.viewers >= 8
    assert room.strangers + room.viewers <= max(32, files - at_front.SPARED_FILES)


def test_the_system_is_asked_for_file_descriptors_as_far_as_it_gives_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(at_front.resource, "setrlimit", lambda what, limits: asked.append((what, limits)))
    for given in (
        (1_024, 4_096),
        (1_024, resource.RLIM_INFINITY),
        (10_000, 10_000),
        (resource.RLIM_INFINITY,) * 2,
    ):
        monkeypatch.setattr(at_front.resource, "getrlimit", lambda _what, given=given: given)
        at_front.ask_for_files()
    files = resource.RLIMIT_NOFILE
    assert asked == [(files, (4_096, 4_096)), (files, (8_192, resource.RLIM_INFINITY))]


def test_a_bucket_is_used_up_and_fills_again() -> None:
    bucket = Bucket(Rate(2.0, 4.0), 100.0)
    assert [bucket.take(100.0) for _ in range(5)] == [True] * 4 + [False]
    assert bucket.take(100.5) and not bucket.take(100.5)
    assert bucket.delay_s(100.5, 1.0, 3.0) == 0.5
    assert bucket.delay_s(100.5, 5.0, 3.0) == 3.0
    # What is refused costs nothing.
    assert bucket.delay_s(100.5, 1.0, 3.0) is None
    assert bucket.delay_s(103.5, 0.0, 0.0) == 0.0
    assert [bucket.take(1_000.0) for _ in range(5)] == [True] * 4 + [False]


def test_what_one_asks_another_still_may() -> None:
    all_of_them = Allowances()
    while all_of_them.acting(VIEWER, 0.0).take(0.0):
        pass
    assert all_of_them.acting(Person("ann", VIEWER_SEAT), 0.0).take(0.0)
    assert all_of_them.asking(VIEWER, 0.0).take(0.0)
    assert all_of_them.stranger("viewer", 0.0).take(0.0)
    for n in range(5_000):
        all_of_them.stranger(str(n), 0.0)
    assert len(all_of_them._buckets) <= 4_096
