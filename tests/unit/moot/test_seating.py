"""Who sits where: seats, minds and the Arena's notebook, as the configuration says."""

import pytest

from bots.minds.admin import SimulatedAdmin
from bots.minds.human import HumanMind
from bots.minds.scripted import ScriptedMind
from bots.minds.simulated.mind import SimulatedMind
from bots.seats.arena import ArenaMind
from bots.seats.panel import PanelMind
from config.settings import ArenaSettings, DeskSettings, PanelSettings, Settings
from moot.arena.source import NotebookSource
from moot.seating import Script, Seating, seats_of, source_of
from protocols.kernel.seats import ARENA, PANEL, SYSTEM_A, SYSTEM_B, Seat


def settings(*, minds=None, arena=None, panel=None, desk=True):
    whole = Settings(
        arena=ArenaSettings(**(arena or {})),
        panel=PanelSettings(**(panel or {})),
        desk=DeskSettings(enabled=desk),
    )
    return whole.model_copy(update={"minds": minds}) if minds is not None else whole


def seating(scripts=None, **how):
    class Tools:
        temper = None

    return Seating(settings(**how), 1, scripts or {}, Tools(), None)


@pytest.mark.parametrize(
    ("how", "seats"),
    [
        ({}, SYSTEM_A | SYSTEM_B | ARENA | PANEL),
        ({"desk": False}, SYSTEM_A | ARENA | PANEL),
        ({"arena": {"enabled": False}}, SYSTEM_A | SYSTEM_B | PANEL),
        ({"panel": {"enabled": False}}, SYSTEM_A | SYSTEM_B | ARENA),
        ({"arena": {"enabled": False}, "panel": {"enabled": False}, "desk": False}, SYSTEM_A),
    ],
)
def test_the_seats_are_those_of_the_systems_that_are_on(how, seats):
    found = seats_of(settings(**how))
    assert set(found) == seats
    assert list(found) == sorted(found)


@pytest.mark.parametrize(
    ("arena", "source"),
    [
        ({}, None),
        ({"notebook": "notes"}, NotebookSource("folder", "notes")),
        ({"mcp": "server --stdio"}, NotebookSource("command", "server --stdio")),
        ({"mcp_url": "http://127.0.0.1:1/mcp"}, NotebookSource("url", "http://127.0.0.1:1/mcp")),
    ],
)
def test_the_notebook_is_the_one_that_is_named(arena, source):
    assert source_of(settings(arena=arena)) == source


def test_every_seat_has_its_kind_of_mind():
    minds = seating().minds(is_admin_simulated=True)
    assert set(minds) == SYSTEM_A | SYSTEM_B | ARENA | PANEL | {Seat.ADMIN}
    assert {type(minds[seat]) for seat in ARENA} == {ArenaMind}
    assert {type(minds[seat]) for seat in PANEL} == {PanelMind}
    assert {type(minds[seat]) for seat in SYSTEM_A | SYSTEM_B} == {SimulatedMind}
    assert type(minds[Seat.ADMIN]) is SimulatedAdmin
    assert Seat.ADMIN not in seating().minds(is_admin_simulated=False)


@pytest.mark.parametrize("seat", [Seat.REVIEWER, Seat.CRITIC])
def test_a_silent_seat_waits_for_a_person(seat):
    assert type(seating(minds={seat.value: "silent"}).mind(seat)) is HumanMind


@pytest.mark.parametrize("then", ["simulated", "silent"])
def test_a_scripted_seat_of_the_arena_follows_its_script(then):
    script = Script(entries=(), then=then)
    assert type(seating({Seat.PLANNER: script}).mind(Seat.PLANNER)) is ScriptedMind
