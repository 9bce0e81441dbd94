"""A suggestion is what the seat's own mind would have said: K12, K13, K14."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from moot.bots.minds.mind import View
from moot.bots.notebook.errors import StudioUnavailable
from moot.cases.arena.source import NotebookSource, opened
from moot.channels.log.lease import Lease
from moot.clock import RealClock, VirtualClock
from moot.config.settings import Settings, load_settings
from moot.console.errors import NotThere
from moot.console.minds import Unwritable
from moot.console.model.interface import Person
from moot.console.suggesting import caught_up, stored, view_of
from moot.memory.evidence import DirectoryEvidence
from moot.memory.store import digest
from moot.plan import Plan
from moot.protocols.arena.messages import ArenaTask
from moot.protocols.kernel.envelope import Actor, Draft
from moot.protocols.kernel.obligation import EVERYTHING, Visibility
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.rulebook import rulebook
from moot.seeing import may_see
from moot.society import Society
from tests.doubles.console import watched
from tests.doubles.small_log import SmallLog

BEGINS = datetime(2026, 2, 22, 20, 0, tzinfo=UTC)
PARTS = ("now", "attempt", "refused", "transcript", "notes", "brief", "elapsed", "config", "is_conservative")


def lived(directory: Path, hours: float) -> dict[str, tuple[View, dict[str, Any] | None]]:
    """Let a society live, and return what each bot that owes something is shown at the end, and would answer."""
    directory.mkdir(parents=True)
    plan = Plan(
        settings=load_settings(None), seed=2, start=BEGINS, directory=directory, is_admin_simulated=True
    )
    found: dict[str, tuple[View, dict[str, Any] | None]] = {}

    async def main(clock: VirtualClock) -> None:
        async with await Society.open(plan, clock, lease=lease) as society:
            await society.run_until(BEGINS + timedelta(hours=hours))
            for owed in [one for one in society.host.docket.open.values() if one.seat in rulebook().bots]:
                view = await society.host.view(owed.seat, owed)
                assert view is not None
                reply = await society.minds[owed.seat].answer(view)
                found[owed.id] = (view, None if reply is None else reply.body.model_dump(mode="json"))
            await society.close("the test begins")

    with Lease.acquire(directory) as lease:
        VirtualClock(BEGINS).run(main)
    return found


@pytest.mark.parametrize("hours", [3.0, 19.0, 42.0])
def test_a_suggestion_is_what_the_seats_own_mind_would_have_said(tmp_path: Path, hours: float) -> None:
    """K12: the same view in every part, so the same answer."""
    directory = tmp_path / "data"
    expected = lived(directory, hours)
    assert expected

    async def look() -> None:
        async with watched(directory) as model:
            suggesting = await model.watching.suggester()
            for obligation_id, (shown, answer) in expected.items():
                mine = await view_of(model, obligation_id, DirectoryEvidence(directory / "evidence"))
                for part in PARTS:
                    assert getattr(mine, part) == getattr(shown, part), (obligation_id, part)
                assert answer is not None
                found = await suggesting.suggest(model, obligation_id)
                assert found.model_dump(mode="json") == answer, obligation_id

    asyncio.run(look())


def test_memory_is_read_from_the_log_where_its_file_is_behind(tmp_path: Path) -> None:
    """A living society writes its memory every few hundred messages; lessons of the last hour count too."""
    directory = tmp_path / "data"
    expected = lived(directory, 42.0)
    (directory / "moot.memory.sqlite").unlink()

    async def look() -> None:
        async with watched(directory) as model:
            suggesting = await model.watching.suggester()
            shown = next(view for view, _ in expected.values() if view.obligation.may_see.has_memory)
            assert digest(
                (await caught_up(model, stored(directory / "moot.memory.sqlite"))).read()
            ) == digest(shown.memory)
            for obligation_id, (_, answer) in expected.items():
                found = await suggesting.suggest(model, obligation_id)
                assert found.model_dump(mode="json") == answer

    asyncio.run(look())


NOTE = "# Momentum\n\nMomentum loses in sharp reversals; a volatility filter halves the drawdown of 2020.\n"
TASK = ArenaTask(
    config={},
    task={"task_id": "t", "initial_prompt": "Add a volatility filter to momentum", "session_id": "s"},
    notebook={
        "notebook_id": "nb",
        "profile": "auto",
        "tools": ["notebook_describe", "notebook_query", "studio_create"],
    },
)


def argued(directory: Path, step: str, settings: Settings) -> tuple[str, Any]:
    """Have a task refined in the Arena until a step is owed; return its id, and what the seat's mind answers."""
    directory.mkdir(parents=True)
    plan = Plan(settings=settings, seed=2, start=BEGINS, directory=directory, is_admin_simulated=True)
    found: list[tuple[str, Any]] = []

    async def main(clock: VirtualClock) -> None:
        async with await Society.open(plan, clock, lease=lease) as society:
            await society.run_until(BEGINS + timedelta(minutes=1))
            asked = Draft(
                channel="#r-arena",
                author=ADMIN,
                body=TASK,
                actor=Actor("human", "cli", "ann"),
                key="task",
            )
            await society.host.publish(asked)
            for n in range(2_000):
                owed = [one for one in society.host.docket.open.values() if f"/{step}/" in one.id]
                if owed:
                    view = await society.host.view(owed[0].seat, owed[0])
                    assert view is not None
                    reply = await society.minds[owed[0].seat].answer(view) if step != "after" else None
                    found.append((owed[0].id, None if reply is None else reply.body))
                    break
                await society.run_until(BEGINS + timedelta(minutes=1, seconds=5 * n))
            await society.close("the test begins")

    with Lease.acquire(directory) as lease:
        VirtualClock(BEGINS).run(main)
    return found[0]


@pytest.mark.parametrize("step", ["before", "draft-1", "review-1-1", "after"])
def test_in_the_arena_too_with_the_notebook_that_the_configuration_names(tmp_path: Path, step: str) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "momentum.md").write_text(NOTE)
    settings = load_settings(None, arena={"notebook": str(notes)})
    directory = tmp_path / "data"
    obligation_id, answer = argued(directory, step, settings)

    async def look() -> Any:
        async with watched(directory, settings) as model:
            suggesting = await model.watching.suggester()
            return await suggesting.suggest(model, obligation_id)

    found = asyncio.run(look())
    assert "momentum.md#" in found.model_dump_json()
    if step != "after":
        assert found == answer


def test_what_is_only_suggested_reads_the_notebook_and_writes_no_report(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "momentum.md").write_text(NOTE)

    async def look() -> None:
        async with opened(NotebookSource("folder", str(notes)), RealClock()) as notebook:
            assert notebook is not None
            unwritable = Unwritable(notebook)
            assert await unwritable.query("volatility filter")
            with pytest.raises(StudioUnavailable):
                await unwritable.studio_create("Report", "never written")
            assert not [path for path in tmp_path.rglob("*") if "never written" in _text(path)]
            await notebook.studio_create("Report", "never written")
            assert [path for path in tmp_path.rglob("*") if "never written" in _text(path)]

    asyncio.run(look())


def _text(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


def test_only_who_holds_the_seat_is_given_a_suggestion(tmp_path: Path) -> None:
    """K14."""
    directory = tmp_path / "data"
    expected = lived(directory, 3.0)

    async def look() -> None:
        async with watched(directory) as model:
            for obligation_id in expected:
                with pytest.raises(NotThere, match="take it first"):
                    await model.suggestion(Person("owner", ADMIN), obligation_id)
            with pytest.raises(NotThere, match="or not any more"):
                await model.suggestion(Person("owner", ADMIN), "hyp_1/assess/critic")

    asyncio.run(look())


@pytest.mark.rule("K12")
@pytest.mark.parametrize(
    "sight",
    [
        Visibility(hidden_cases=frozenset({"hyp_1"})),
        Visibility(hidden_types=frozenset({"NOTE"})),
        Visibility(hidden_authors=frozenset({ADMIN})),
        Visibility(shown_types=frozenset({"PHASE1"})),
    ],
)
def test_k12_what_is_withheld_from_a_mind_is_withheld_from_its_suggestion(sight: Visibility) -> None:
    env = SmallLog().say("careful", author=ADMIN, case_id="hyp_1")
    assert may_see(EVERYTHING, env)
    assert not may_see(sight, env)
