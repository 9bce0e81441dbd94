"""What reviewers are shown that they should not be is found where their minds are asked."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from moot.bots.minds.mind import Mind, Reply, View
from moot.chaos.judge import Finding
from moot.chaos.minds import StruckMind
from moot.chaos.sight import peeked
from moot.chaos.striking import Striking
from moot.protocols.kernel.seats import Seat


def said(seq: int, author: str, kind: str) -> Any:
    return SimpleNamespace(seq=seq, author=author, body=SimpleNamespace(type=kind))


def view(
    *transcript: Any, seat: str = "eic", asked: str = "PHASE1", kind: str = "panel", content: str = ""
) -> Any:
    return SimpleNamespace(
        seat=seat,
        transcript=transcript,
        asked=(asked,),
        content=content,
        attempt=0,
        kind=kind,
        obligation=SimpleNamespace(id="panel_1/phase1/eic", rule="phase1"),
    )


def test_a_reviewer_that_is_shown_what_another_one_wrote_is_found() -> None:
    shown = view(said(2, "operator", "PANEL_OPENED"), said(3, "eic", "PHASE1"), said(4, "domain", "PHASE1"))
    assert list(peeked(shown)) == [Finding("sight", 4, "eic is shown the PHASE1 of the domain")]


def test_a_reviewer_that_is_shown_the_work_before_its_standard_is_found() -> None:
    assert [one.says for one in peeked(view(content="# A plan"))] == [
        "eic is shown the work before it has committed to a standard"
    ]
    assert list(peeked(view(asked="PHASE2", content="# A plan"))) == []


def test_others_than_reviewers_see_what_was_said() -> None:
    others = said(4, "domain", "PHASE1")
    assert list(peeked(view(others, seat="synthesizer", asked="SYNTHESIS"))) == []


def test_each_mind_of_a_world_is_looked_at_as_it_is_asked() -> None:
    class Silent(Mind):
        def consider(self, view: View) -> timedelta | None:
            return None

        async def answer(self, view: View) -> Reply | None:
            return None

    found: list[Finding] = []
    mind = StruckMind(Seat("eic"), Silent(), Striking(1, (), lambda: 0.0), peeking=found)
    assert asyncio.run(mind.answer(view(said(4, "da", "PHASE2")))) is None
    assert [one.says for one in found] == ["eic is shown the PHASE2 of the da"]
