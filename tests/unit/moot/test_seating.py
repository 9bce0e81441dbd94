"""Who sits where: seats, minds and the Arena's notebook, as the configuration says."""

import asyncio
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from moot.bots.minds.admin import SimulatedAdmin
from moot.bots.minds.human import HumanMind
from moot.bots.minds.scripted import ScriptedMind
from moot.bots.minds.simulated.mind import SimulatedMind
from moot.bots.notebook.errors import NotebookUnavailable
from moot.bots.notebook.reach import Command, Folder
from moot.bots.seats.arena import ArenaMind
from moot.bots.seats.panel import PanelMind
from moot.cases.arena.offline import RunOptions, run_many
from moot.cases.arena.source import MOST_OPEN, NotebookService, NotebookSource
from moot.config.sections import ArenaSettings, DeskSettings, MotionSettings, PanelSettings
from moot.config.settings import ConfigError, Settings, load_settings
from moot.minds.choosing import chosen
from moot.minds.model_minds import ModelMinds
from moot.minds.seated import OwnMinds
from moot.protocols.arena.seats import ARENA, PLANNER, REVIEWER
from moot.protocols.kernel.protocol import Protocol
from moot.protocols.kernel.seats import ADMIN, Seat, SeatInfo
from moot.protocols.motion.seats import ADVOCATE, JUDGE
from moot.protocols.panel.seats import PANEL
from moot.protocols.research.seats import CRITIC, SYSTEM_A
from moot.protocols.rulebook import BUILT_IN, Rulebook
from moot.protocols.trading.seats import SYSTEM_B
from moot.seating import Script, Seating, seats_of, source_of

MOTIONS = {ADVOCATE, JUDGE}


def settings(*, minds=None, arena=None, panel=None, motion=True, desk=True):
    whole = Settings(
        motion=MotionSettings(enabled=motion),
        arena=ArenaSettings(**(arena or {})),
        panel=PanelSettings(**(panel or {})),
        desk=DeskSettings(enabled=desk),
    )
    return whole.model_copy(update={"minds": minds}) if minds is not None else whole


def seating(scripts=None, **how):
    class Tools:
        seed = 1
        temper = None

    given = settings(**how)
    return Seating(
        given,
        1,
        scripts or {},
        Tools(),
        None,
        OwnMinds(chosen(given.minds), None, 1),
        ModelMinds({}, None, SimpleNamespace(kind="virtual"), 1),
    )


@pytest.mark.parametrize(
    ("how", "seats"),
    [
        ({}, SYSTEM_A | SYSTEM_B | ARENA | PANEL | MOTIONS),
        ({"desk": False}, SYSTEM_A | ARENA | PANEL | MOTIONS),
        ({"arena": {"enabled": False}}, SYSTEM_A | SYSTEM_B | PANEL | MOTIONS),
        ({"panel": {"enabled": False}}, SYSTEM_A | SYSTEM_B | ARENA | MOTIONS),
        ({"motion": False}, SYSTEM_A | SYSTEM_B | ARENA | PANEL),
        (
            {"arena": {"enabled": False}, "panel": {"enabled": False}, "motion": False, "desk": False},
            SYSTEM_A,
        ),
    ],
)
def test_the_seats_are_those_of_the_systems_that_are_on(how, seats):
    found = seats_of(settings(**how))
    assert set(found) == seats
    assert list(found) == sorted(found)


FORECASTER = Seat("forecaster")
LOOK = SeatInfo(FORECASTER, "guesses", "cyan", ":cloud:", "weather")


def speaking(monkeypatch, **how):
    weather = Protocol(name="weather", seats=(LOOK,), **how)
    monkeypatch.setattr("moot.protocols.rulebook._spoken", Rulebook((*BUILT_IN, weather)))


@pytest.mark.parametrize("switch", ["", "desk"])
def test_the_setting_that_a_protocol_names_switches_its_seats_whoever_brings_it(monkeypatch, switch):
    speaking(monkeypatch, switch=switch)
    assert FORECASTER in seats_of(settings())
    assert (FORECASTER in seats_of(settings(desk=False))) == (not switch)
    assert type(seating().mind(FORECASTER)) is SimulatedMind


def test_a_switch_that_is_no_setting_is_one_line(monkeypatch):
    speaking(monkeypatch, switch="wether")
    with pytest.raises(ConfigError) as refused:
        load_settings()
    assert str(refused.value) == (
        "configuration: settings: wether.enabled, which switches the protocol weather, is no setting"
    )


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
    assert set(minds) == SYSTEM_A | SYSTEM_B | ARENA | PANEL | MOTIONS | {ADMIN}
    assert {type(minds[seat]) for seat in ARENA} == {ArenaMind}
    assert {type(minds[seat]) for seat in PANEL} == {PanelMind}
    assert {type(minds[seat]) for seat in SYSTEM_A | SYSTEM_B} == {SimulatedMind}
    assert type(minds[ADMIN]) is SimulatedAdmin
    assert ADMIN not in seating().minds(is_admin_simulated=False)


SERVER = """
from typing import Any

from mcp.server import MCPServer

server = MCPServer("shelves")


@server.tool()
async def notebook_query(query: str, notebook_id: str = "none", limit: int = 5) -> dict[str, Any]:
    return {"passages": [{"ref": f"{notebook_id}#1", "text": "The widget holds."}]}


server.run("stdio")
"""


def test_4_3_each_run_asks_the_notebook_that_it_names(tmp_path):
    """Over a real server that has several: the id reaches its tool, and each run has its own."""
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    source = NotebookSource("command", f"{sys.executable} {tmp_path / 'server.py'}")

    def of(name):
        task = {"task_id": name, "initial_prompt": "Plan the widget.", "session_id": name}
        notebook = {"notebook_id": name, "tools": ["notebook_query"]}
        return RunOptions(task={**task, "notebook_required": True}, notebook=notebook, source=source)

    for name, record in zip(("north", "south"), run_many([of("north"), of("south")]), strict=True):
        refs = {ref for hook in record["hooks"] for ref in hook["evidence_refs"]}
        assert (record["terminal_reason"].partition(":")[0], refs) == ("APPROVED", {f"{name}#1"})


class NoIo:
    async def call(self, work, *, wall_timeout_s):
        return await work()


@pytest.mark.parametrize(
    ("reach", "ids"), [(Command(("server",)), ["a", "b"]), (Folder(Path("notes")), [None, None])]
)
def test_4_3_a_seat_of_the_arena_is_given_the_notebook_that_its_run_names(reach, ids):
    service = NotebookService(reach, NoIo())
    whole = Seating(settings(), 1, {}, None, service, None, None)
    found = [whole._notebook_of(SimpleNamespace(brief={"notebook_id": name})) for name in ("a", "b", "a")]
    assert [one._notebook_id for one in found[:2]] == ids
    assert found[2] is found[0]
    other = object()
    assert Seating(settings(), 1, {}, None, other, None, None)._notebook_of(None) is other


def test_of_many_notebooks_the_one_that_was_longest_not_asked_for_is_closed():
    async def look():
        service = NotebookService(Command(("server",)), NoIo())
        first, second = service.named("0"), service.named("1")
        for n in range(2, MOST_OPEN):
            service.named(str(n))
        assert service.named("0") is first
        service.named("one more")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        with pytest.raises(NotebookUnavailable, match="is closed"):
            await second.query("x")
        assert service.named("0") is first and service.named("1") is not second
        await service.close()

    asyncio.run(look())


@pytest.mark.parametrize("seat", [REVIEWER, CRITIC])
def test_a_silent_seat_waits_for_a_person(seat):
    assert type(seating(minds={seat: "silent"}).mind(seat)) is HumanMind


@pytest.mark.parametrize("then", ["simulated", "silent"])
def test_a_scripted_seat_of_the_arena_follows_its_script(then):
    script = Script(entries=(), then=then)
    assert type(seating({PLANNER: script}).mind(PLANNER)) is ScriptedMind
