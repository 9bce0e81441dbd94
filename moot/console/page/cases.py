"""What a case view shows beside the transcript: path, duties, tables and figures; as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from moot.channels.showing.wording import clean, seat_name, words
from moot.console.errors import ConsoleError
from moot.console.model.interface import CaseView, Person, ReadModel
from moot.console.page.case_experiments import experiment_facts
from moot.console.page.case_motions import motion_tables
from moot.console.page.case_panels import panel_tables
from moot.console.page.case_runs import conformance_tables, rounds_of
from moot.console.page.case_targets import targets_of
from moot.console.page.figures_parts import figure
from moot.console.page.views import owed_of
from moot.protocols.authorship import labels, written_by
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.times import rfc3339
from moot.protocols.lab.experiment import KIND as EXPERIMENT
from moot.protocols.motion.state import KIND as MOTION

MOST_POINTS: Final = 2_000
"""Points of a curve."""


async def facts_of(model: ReadModel, case: CaseView, person: Person) -> dict[str, Any]:
    """Return all about a case but its transcript."""
    said, minds = case.transcript, model.speakers().minds
    tables: list[dict[str, Any]] = []
    figures: list[dict[str, Any]] = []
    rounds: list[dict[str, Any]] = []
    rests = "Evidence"
    experiment: dict[str, Any] = {"tiles": [], "pictures": []}
    if case.kind == EXPERIMENT:
        rests = "Experiment"
        experiment = await experiment_facts(model, case)
        tables = experiment.pop("tables")
    elif case.kind == "panel":
        rests = "Matrix"
        tables = panel_tables(said, minds)
    elif case.kind in ("run", "arena") or any(env.body.type == "ARENA_TASK" for env in said[:1]):
        rests = "Conformance"
        rounds = rounds_of(said, minds)
        tables = conformance_tables(said, await model.rules_versions(), is_over=case.outcome is not None)
    elif case.kind == MOTION:
        rests = "Objections"
        tables = motion_tables(said, case.outcome, minds)
    else:
        figures = [*score_figures(said), *await equity_figures(model, said)]
    note = "" if case.progress.is_complete else f"{case.progress}: what stands here may lack something."
    return {
        "path": drawn(case),
        "states": [
            [words(name), sum(step.phase == name for step in case.path), name == case.phase]
            for name in case.phases
        ],
        "outcome": words(case.outcome) if case.outcome else "",
        "label": labels(written_by(said, minds)),
        "waits": case.waits_for_ruling,
        "parent": case.parent,
        "children": list(case.children)[:20],
        "obligations": [owed_of(one, person) for one in case.obligations],
        "late": [
            {"seat": seat_name(x.seat), "step": words(x.step), "how": x.how, "seq": x.seq} for x in case.late
        ],
        "targets": await targets_of(model, case),
        "tables": tables,
        "figures": figures,
        "rounds": rounds,
        "rests": rests,
        "opens": "rests" if case.kind == EXPERIMENT else "said",
        **experiment,
        "note": note,
    }


def drawn(case: CaseView) -> list[dict[str, Any]]:
    """Draw the states of a case: the path it took, and between its steps the states that it did not enter.

    A state that was not entered stands where the protocol's table has it: after the last step that comes before it
    there. The last state of an ended case is named with its outcome.
    """
    order = {name: n for n, name in enumerate(case.phases)}
    steps: list[list[dict[str, Any]]] = [[]]
    for n, step in enumerate(case.path, 1):
        is_last = n == len(case.path)
        shown = {
            "phase": words(step.phase),
            "seq": step.seq,
            "at": rfc3339(step.at),
            "end": False,
            "now": False,
        }
        if is_last and case.outcome:
            shown |= {"phase": _ended(step.phase, case.outcome), "end": True}
        steps.append([shown | {"now": is_last and not case.outcome}])
    if case.outcome and not case.path:
        steps.append(
            [{"phase": words(case.outcome), "seq": case.ended_seq, "at": "", "end": True, "now": False}]
        )
    taken = {step.phase for step in case.path}
    for name in case.phases:
        if name not in taken:
            before = [n for n, step in enumerate(case.path, 1) if order.get(step.phase, -1) < order[name]]
            steps[max(before, default=0)].append({"phase": words(name), "seq": None})
    return [one for group in steps for one in group]


def _ended(phase: str, outcome: str) -> str:
    last, how = words(phase), words(outcome)
    return last if last == how else f"{last}: {how}"


def score_figures(said: Sequence[Envelope]) -> list[dict[str, Any]]:
    """Draw the risk scores of every assessment over each other."""
    rated = [
        (_round(env.body.model_dump().get("round")), dict(scores))
        for env in said
        if isinstance(scores := env.body.model_dump().get("scores"), Mapping)
        and env.body.type == "RISK_ASSESSMENT"
    ]
    names = sorted({str(name) for _, scores in rated for name in scores})
    if len(names) < 3:
        return []
    series = [{"name": name, "data": [_figure(scores.get(x)) for x in names]} for name, scores in rated[-4:]]
    return [
        {
            "title": "Risk scores",
            "kind": "radar",
            "x": [words(x) for x in names],
            "series": series,
            "height": 320,
        }
    ]


def _round(said: object) -> str:
    """Name a round: by its number, or as what it is."""
    return f"round {said}" if isinstance(said, int) else clean(f"after the {words(str(said))}", 40)


async def equity_figures(model: ReadModel, said: Sequence[Envelope]) -> list[dict[str, Any]]:
    """Draw the equity curves that the case's backtests name."""
    found = []
    for envelope in said:
        body = envelope.body.model_dump()
        ref = body.get("equity_ref")
        if envelope.body.type != "BACKTEST_RESULT" or not isinstance(ref, str):
            continue
        try:
            kept = await model.evidence(ref)
        except ConsoleError:
            continue
        dates, equity = list(kept.get("dates", ())), list(kept.get("equity", ()))
        if not equity or len(dates) != len(equity):
            continue
        every = max(1, len(equity) // MOST_POINTS)
        metrics = body.get("metrics") or {}
        note = ", ".join(
            f"{words(name)} {figure(name, metrics[name])}"
            for name in sorted(metrics)
            if metrics[name] is not None
        )
        found.append(
            {
                "title": f"Equity of the backtest, {'passed' if body.get('passed') else 'failed'}",
                "note": clean(note, 300),
                "kind": "line",
                "fill": True,
                "x": [str(x)[:10] for x in dates[::every]],
                "series": [{"name": "equity", "data": [_figure(y) for y in equity[::every]]}],
                "height": 300,
            }
        )
    return found


def _figure(value: object) -> float | None:
    return round(float(value), 6) if isinstance(value, int | float) and not isinstance(value, bool) else None
