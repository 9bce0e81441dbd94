"""Scripts: which entry an obligation takes, what is filled in, what comes after the last."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from moot.bots.minds.mind import Mind, Reply, View
from moot.bots.minds.scripted import Entry, ScriptedMind
from moot.bots.minds.scripted_arena import ScriptedWriter
from moot.bots.minds.scripted_panel import ScriptedPanelWriter
from moot.bots.seats.panel import PanelWriter
from moot.bots.seats.panel_prompts import Prompt
from moot.bots.seats.writer import Work, Writer
from moot.protocols.codec import decode_body
from moot.protocols.kernel.seats import Seat
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER
from tests.doubles.canned import CannedMind
from tests.doubles.stage import Stage, play


def scripted(*entries: Entry, then: Mind | None = None) -> ScriptedMind:
    return ScriptedMind(entries, fill=CannedMind(), then=then, decode=decode_body)


def seats(**minds: Mind) -> dict[Seat, Mind]:
    canned = CannedMind()
    return {seat: minds.get(seat, canned) for seat in (EXPLORER, CRITIC, EVOLVER)}


async def an_evening(stage: Stage) -> None:
    await stage.wait(hours=3)


def of(log: list, kind: str) -> list:
    return [env for env in log if env.body.type == kind]


def test_fields_left_out_come_from_the_other_mind() -> None:
    entry = Entry(type="VERDICT", fields={"confidence": 0.95})
    log = play(seats(evolver=scripted(entry, then=CannedMind())), an_evening)
    verdict = of(log, "VERDICT")[0].body
    assert (verdict.confidence, verdict.verdict, verdict.reasoning) == (0.95, "REJECT", "weighed")


def test_an_entry_with_a_type_waits_for_an_obligation_that_expects_it() -> None:
    mind = scripted(Entry(type="REFLECTION", delay=timedelta(minutes=11)), then=CannedMind())
    log = play(seats(evolver=mind), an_evening)
    verdict, reflection = of(log, "VERDICT")[0], of(log, "REFLECTION")[0]
    assert reflection.sent_at - verdict.sent_at == timedelta(minutes=11)


def test_an_entry_without_a_type_takes_the_next_obligation() -> None:
    mind = scripted(Entry(delay=timedelta(minutes=17)), then=CannedMind())
    log = play(seats(critic=mind), an_evening)
    hypothesis, first, second = of(log, "HYPOTHESIS")[0], *of(log, "RISK_ASSESSMENT")
    assert first.sent_at - hypothesis.sent_at == timedelta(minutes=17)
    assert second.sent_at - of(log, "REBUTTAL")[0].sent_at == timedelta(minutes=5)


def test_a_silent_entry_says_nothing() -> None:
    log = play(seats(critic=scripted(Entry(silent=True), then=CannedMind())), an_evening)
    assert not of(log, "RISK_ASSESSMENT")
    assert of(log, "VERDICT")


def test_then_silent_says_nothing_after_the_script() -> None:
    log = play(seats(critic=scripted(Entry(type="RISK_ASSESSMENT"), then=None)), an_evening)
    assert len(of(log, "RISK_ASSESSMENT")) == 1


def test_after_a_violation_the_next_matching_entry_is_the_retry() -> None:
    mind = scripted(
        Entry(type="RISK_ASSESSMENT", fields={"round": 3}),
        Entry(type="RISK_ASSESSMENT", fields={"confidence": 0.3}),
        then=CannedMind(),
    )
    log = play(seats(critic=mind), an_evening)
    assert [env.body.round for env in of(log, "RISK_ASSESSMENT")] == [3, 1, 2]
    assert of(log, "RISK_ASSESSMENT")[1].body.confidence == 0.3


def test_another_type_than_the_other_mind_would_choose_is_asked_of_it() -> None:
    mind = scripted(Entry(type="EXTEND_DEBATE", fields={"alpha_argument_score": 0.7}), then=CannedMind())
    log = play(seats(evolver=mind), an_evening)
    assert of(log, "EXTEND_DEBATE")[0].channel == "#a-arena"
    assert [env.body.round for env in of(log, "RISK_ASSESSMENT")] == [1, 2, 3]


def test_nested_fields_are_merged_and_next_action_follows_the_verdict() -> None:
    mind = scripted(Entry(type="VERDICT", fields={"verdict": "REVISE"}), then=CannedMind())
    log = play(seats(evolver=mind), an_evening)
    assert of(log, "VERDICT")[0].body.next_action == "revise"


def test_unused_entries_are_known() -> None:
    mind = scripted(Entry(type="CONCEDE"), Entry(type="ARCHITECTURE_VERDICT"), then=CannedMind())
    play(seats(evolver=mind), an_evening)
    assert [entry.type for entry in mind.unused] == ["CONCEDE", "ARCHITECTURE_VERDICT"]


class Early(CannedMind):
    """A canned mind that is asked at once, and remembers how long after each obligation opened that was."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[timedelta] = []

    def begins_at_once(self, view: View) -> bool:
        return True

    async def answer(self, view: View) -> Reply | None:
        self.asked.append(view.now - view.obligation.opened_at)
        return await super().answer(view)


@pytest.mark.rule("K28")
def test_k28_what_a_script_leaves_to_a_mind_that_begins_at_once_is_asked_at_once() -> None:
    early = Early()
    play(seats(critic=scripted(Entry(type="RISK_ASSESSMENT"), then=early)), an_evening)
    assert early.asked and set(early.asked) == {timedelta(0)}


class EarlyWriter(Writer):
    def begins_at_once(self, view: View) -> bool:
        return True

    def delay(self, view: View) -> timedelta | None:
        return None

    def question(self, work: Work) -> str:
        return ""

    async def write(self, work: Work) -> str | None:
        return None


class EarlyPanelWriter(PanelWriter):
    def begins_at_once(self, view: View) -> bool:
        return True

    def delay(self, view: View) -> timedelta | None:
        return None

    async def write(self, view: View, prompt: Prompt) -> str | None:
        return None


@pytest.mark.rule("K28")
def test_k28_so_is_a_writer_of_the_arena_or_of_a_panel() -> None:
    def owed(kind: str) -> Any:
        return SimpleNamespace(seat="eic", obligation=SimpleNamespace(expects=(kind,)))

    assert ScriptedWriter((), EarlyWriter()).begins_at_once(owed("DRAFT"))
    assert not ScriptedWriter(("one",), EarlyWriter()).begins_at_once(owed("DRAFT"))
    panel = ScriptedPanelWriter({("eic", "phase1"): ("one",)}, EarlyPanelWriter())
    assert not panel.begins_at_once(owed("PHASE1")) and panel.begins_at_once(owed("PHASE2"))
