"""Debates, Arena runs and panels whose budget is spent at any point: each ends, and says which budget it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import moot
from moot.compare.results import FILE, read_results
from tests.doubles.arbiter_live import run_live
from tests.doubles.arbiter_runs import configured
from tests.doubles.command_line import moot as command
from tests.doubles.messages_server import MessagesServer
from tests.doubles.model_server import ModelServer

PAPER = "# A small work\n\nIt measures one thing, and says how.\n"
TASK = {"task_id": "t", "initial_prompt": "Plan how the desk treats weekend gaps.", "session_id": "s"}

KINDS: dict[str, Callable[..., Any]] = {
    "motion": lambda **how: moot.debate("Where do we meet?", options=["Rome", "Oslo"], seed=1, **how),
    "run": lambda **how: moot.arena(TASK, max_rounds=2, seed=1, **how),
    "panel": lambda **how: moot.panel(PAPER, seed=1, **how),
}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(context=0) as running:
        yield running


def limited(scope: str, unit: str, most: int) -> dict[str, Any]:
    """Return a budget of one limit; dollars are given in millionths."""
    limit = {unit: f"{most / 1e6:.6f}" if unit == "usd" else most}
    return {scope: limit} if scope else limit


def held(kind: str, server: ModelServer, budget: dict[str, Any] | None) -> Any:
    model = {
        "api": server.api,
        "url": server.url,
        "model": server.model,
        "price": {"input": 1, "output": 2},
    }
    return KINDS[kind](model=model, budget=budget)


def amounts(result: Any, unit: str) -> list[int]:
    """Return budgets around each call of a run: the largest that is one too small for it, and the least that fits."""
    booked, found, open_ = 0, {0, 1}, {}
    for one in result.log:
        body = one.body
        if one.body.type == "CALL_RESERVED":
            asked = {"usd": body.max_cost, "tokens": body.max_tokens, "calls": 1}[unit]
            open_[body.call_id] = asked
            booked += asked
            found |= {booked - 1, booked}
        elif one.body.type == "CALL_SETTLED":
            came = {"usd": body.cost, "tokens": body.tokens, "calls": 1}[unit]
            booked += came - open_.pop(body.call_id)
    return sorted(found)[:24]


@pytest.mark.parametrize("unit", ["usd", "tokens", "calls"])
@pytest.mark.parametrize("scope", ["", "day", "seat", "case"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_case_ends_whatever_its_budget(kind: str, scope: str, unit: str, server: ModelServer) -> None:
    whole = held(kind, server, None)
    assert not [one for one in whole.log if one.body.type == "CALL_REFUSED"]
    for most in amounts(whole, unit):
        result = held(kind, server, limited(scope, unit, most))
        assert result.case.kind == kind, most
        assert result.case.outcome, most
        refused = [one for one in result.log if one.body.type == "CALL_REFUSED"]
        escalated = [one for one in result.log if one.body.type == "ESCALATION"]
        # One escalation of the budget at least, and a line that names it for whoever ran it.
        assert bool(refused) == bool(escalated), most
        assert not refused or any("budget" in line for line in result.warnings), (most, result.warnings)
        result.log.verify()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_simulated_minds_go_on_whatever_the_budget_of_the_case(
    kind: str, most: int, server: ModelServer
) -> None:
    result = held(kind, server, {"case": {"calls": most}, "on_exhausted": "simulated"})
    assert result.case.kind == kind and result.case.outcome


@pytest.mark.parametrize("kind", KINDS)
def test_a_case_of_another_api_ends_whatever_its_budget(kind: str) -> None:
    with MessagesServer() as server:
        for most in (0, 1, 4_000, 9_000):
            result = held(kind, server, {"case": {"tokens": most}})
            assert result.case.kind == kind and result.case.outcome


STUDY = """\
study: with-a-model
cases: {{from: {cases}, seed: 5, count: 1}}
arms:
  one: {{is: {arm}, budget: {calls}, model: {{url: "{url}", model: tiny-1, price: {{input: 1, output: 1}}}}, {more}}}
"""

ARMS = [
    ("questions", "single", 1, ""),
    ("questions", "vote", 3, ""),
    ("questions", "debate", 9, ""),
    ("questions", "arena", 5, "options: {rounds: 2}"),
    ("documents", "panel", 5, "options: {reviewers: 2}"),
    ("documents", "panel", 5, "options: {reviewers: 2, blind: false}"),
    ("markets", "debate", 40, ""),
]


@pytest.mark.parametrize("usd", [0.000001, 0.002, 0.004, 0.008, 0.016, 0.032])
@pytest.mark.parametrize(("cases", "arm", "calls", "more"), ARMS)
def test_an_arm_of_a_study_answers_whatever_its_budget(
    cases: str, arm: str, calls: int, more: str, usd: float, server: ModelServer, tmp_path: Path
) -> None:
    study, out = tmp_path / "study.yaml", tmp_path / "out"
    more = ", ".join(part for part in (more, f"usd: {usd:f}") if part)
    text = STUDY.format(cases=cases, arm=arm, calls=calls, url=server.url, more=more)
    study.write_text(text, encoding="utf-8")
    said = command("compare", study, "--out", out, "--at-once", 1)
    assert "Traceback" not in said.output and said.exit_code == 0, said.output
    (one,) = read_results(out / FILE)
    assert one.usd <= usd


@pytest.mark.parametrize("scope", ["", "seat", "case"])
@pytest.mark.parametrize("unit", ["tokens", "calls"])
@pytest.mark.parametrize("kind", ["independent", "debate_v1"])
def test_a_run_of_arbiter_ends_whatever_its_budget(
    kind: str, unit: str, scope: str, server: ModelServer, tmp_path: Path
) -> None:
    for most in (0, 1, 2, 5, 100, 3_000, 20_000):
        ran = run_live(
            server, tmp_path / f"{most}", config=configured(kind), budget=limited(scope, unit, most)
        )
        assert ran.ended.stop_reason, most
        assert not ran.ended.incomplete or "budget" in (ran.ended.notes or ""), (most, ran.ended.notes)
