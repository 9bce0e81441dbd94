"""The dashboard of experiments: every run of Arbiter that the society heard of, the newest first."""

from __future__ import annotations

from typing import Any, Final

from moot.channels.showing.wording import clean
from moot.console.model.interface import ReadModel
from moot.console.page.case_experiments import how_ended, money
from moot.console.page.figures_parts import MOST_ROWS, Page, case_link, last_of, minute_of
from moot.protocols.lab.messages import ExperimentBatch, ExperimentEnded, ExperimentStarted, Told

START_ONE: Final = "None yet: moot arbiter mock-run --data DIR tells this society of a run."


async def lab(model: ReadModel) -> Page:
    """Return the dashboard."""
    started = [
        (env, env.body)
        for env in await last_of(model, "EXPERIMENT_STARTED")
        if isinstance(env.body, ExperimentStarted)
    ]
    batches = {env.case_id: env.body for env in await last_of(model, "EXPERIMENT_BATCH")}
    ends = {env.case_id: env.body for env in await last_of(model, "EXPERIMENT_ENDED")}
    rows = [
        [
            case_link(env),
            minute_of(env),
            clean(body.question, 160),
            f"{_state(ends.get(env.case_id))}{' (mock)' if body.mode == 'mock' else ''}",
            *_figures(body, ends.get(env.case_id) or batches.get(env.case_id)),
        ]
        for env, body in reversed(started)
    ]
    running = sum(env.case_id not in ends for env, _ in started)
    spent = [end.tokens for end in ends.values() if isinstance(end, ExperimentEnded)]
    return {
        "kind": "figures",
        "title": "Experiments",
        "about": "runs of Arbiter that this society heard of",
        "channel": None,
        "note": "",
        "part": False,
        "tiles": [
            ["experiments", f"{len(started):,}", ""],
            ["running", f"{running:,}", ""],
            ["tokens of those that ended", f"{sum(spent):,}", ""],
        ],
        "figures": [],
        "tables": [
            {
                "title": "Experiments",
                "note": "",
                "head": ["", "started", "asks", "state", "", "decisions", "used"],
                "stack": True,
                "rows": rows[:MOST_ROWS],
                "none": START_ONE,
            }
        ],
    }


def _state(end: Any) -> str:
    return how_ended(end) if isinstance(end, ExperimentEnded) else "runs"


def _figures(start: ExperimentStarted, last: Told | Any) -> list[str]:
    if not isinstance(last, ExperimentBatch | ExperimentEnded):
        return [f"0 of {start.k_planned:,} trials", "no decisions", "no tokens"]
    labels = [f"{clean(one.label, 40)} {one.count:,}" for one in last.labels[:4]]
    more = len(last.labels) - len(labels)
    return [
        f"{last.k_attempted:,} of {start.k_planned:,} trials",
        ", ".join([*labels, *([f"and {more} more"] if more > 0 else [])]) or "no decisions",
        money(last.tokens, last.cost),
    ]
