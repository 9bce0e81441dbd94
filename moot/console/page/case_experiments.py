"""What a case view shows of an experiment: how far it is, what answers decide for, how they settle and group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from moot.arbiter.pictures import LabelShare, cluster_sizes, convergence, label_shares
from moot.channels.showing.wording import ENDS, clean, words
from moot.console.errors import NotThere
from moot.console.model.interface import CaseView, ReadModel
from moot.protocols.calls.books import shown
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.lab.messages import ExperimentBatch, ExperimentEnded, ExperimentStarted
from moot.reports.drawing import Picture
from moot.statistics.wilson import wilson_interval

ALPHA: Final = 0.05
MOST_EXAMPLES: Final = 12
"""Answers that are shown; the newest come first."""

MOCK: Final = "mock, the answers are made up"
DECISIONS: Final = "Decisions"

WILSON: Final = (
    "Lines are 95 % intervals by Wilson, for a number of trials that was chosen before. Who stops when it "
    "looks right errs more often."
)


async def experiment_facts(model: ReadModel, case: CaseView) -> dict[str, Any]:
    """Return label, tiles, pictures and tables of an experiment."""
    start = await _start(model, case)
    said = case.transcript
    batches = [env.body for env in said if isinstance(env.body, ExperimentBatch)]
    end = next((env.body for env in said if isinstance(env.body, ExperimentEnded)), None)
    last: ExperimentBatch | ExperimentEnded | None = end or (batches[-1] if batches else None)
    return {
        "label": MOCK if start is not None and start.mode == "mock" else "",
        "tiles": _tiles(start, last, batches),
        "pictures": [_plain(one) for one in _pictures(start, batches)],
        "tables": [_setting(case.case_id, start, end), _examples(batches)],
    }


async def _start(model: ReadModel, case: CaseView) -> ExperimentStarted | None:
    """Find how it started, which may be longer ago than what is looked at."""
    found: Envelope | None = case.transcript[0] if case.transcript else None
    if case.opened_seq and (found is None or found.seq != case.opened_seq):
        try:
            found = await model.message(case.opened_seq)
        except NotThere:
            return None
    return found.body if found is not None and isinstance(found.body, ExperimentStarted) else None


def money(tokens: int, cost: int | None) -> str:
    """Say what calls came to: "1,200 tokens, $0.01"; "no tokens" where none was made."""
    if not tokens:
        return "no tokens"
    return shown("tokens", tokens) if cost is None else f"{shown('tokens', tokens)}, {shown('usd', cost)}"


def _tiles(
    start: ExperimentStarted | None,
    last: ExperimentBatch | ExperimentEnded | None,
    batches: Sequence[ExperimentBatch],
) -> list[list[str]]:
    done = last.k_attempted if last else 0
    tiles = [[f"of {start.k_planned:,} trials" if start else "trials", f"{done:,}", ""]]
    if last is not None and last.novelty_rate is not None:
        tiles.append(["of the last batch new", f"{last.novelty_rate:.0%}".replace("%", " %"), ""])
    if batches and (groups := batches[-1].clusters) is not None:
        tiles.append(["clusters", f"{groups.cluster_count:,}", ""])
    tiles.append(["tokens so far", f"{last.tokens if last else 0:,}", ""])
    cost = last.cost if last else 0
    tiles.append(["money so far", "unknown" if cost is None else shown("usd", cost), ""])
    return tiles


def _pictures(start: ExperimentStarted | None, batches: Sequence[ExperimentBatch]) -> Iterator[Picture]:
    if not batches:
        return
    last = batches[-1]
    if decided := sum(one.count for one in last.labels) + last.other_labels:
        counts = [(one.label, one.count) for one in last.labels]
        counts += [("all others", last.other_labels)] if last.other_labels else []
        yield label_shares(
            [
                LabelShare(clean(label, 80), n, n / decided, wilson_interval(n, decided, ALPHA))
                for label, n in counts
            ]
        )
    trials = [one.k_attempted for one in batches]
    if start is not None:
        policy = start.stop_policy
        yield convergence(
            trials,
            [one.novelty_rate for one in batches],
            [one.mean_max_sim_to_prior for one in batches],
            novelty_epsilon=policy.novelty_epsilon,
            similarity_threshold=policy.similarity_threshold,
        )
    grouped = [one for one in batches if one.clusters is not None]
    if grouped:
        yield cluster_sizes(
            [one.k_attempted for one in grouped],
            [one.clusters.cluster_distribution for one in grouped if one.clusters is not None],
        )


def _plain(picture: Picture) -> dict[str, Any]:
    return {
        "title": picture.title,
        # The picture of decisions says its numbers itself.
        "note": WILSON if picture.title == DECISIONS else picture.told,
        # Escaped where it is drawn.
        "html": picture.html,
        "table": {
            "head": list(picture.heads),
            "rows": [list(row) for row in picture.rows],
            "nums": [*range(1, len(picture.heads))],
        },
    }


def how_ended(end: ExperimentEnded) -> str:
    """Say how an experiment ended, and by whom."""
    how = ENDS.get(end.stop_reason) or words(end.stop_reason)
    by = end.stopped_by
    told = f"{how}, stopped by {clean(by.user_id, 60)} on {clean(by.platform, 40)}" if by else how
    return f"{told} ({clean(end.notes, 300)})" if end.notes else told


def _setting(case_id: str, start: ExperimentStarted | None, end: ExperimentEnded | None) -> dict[str, Any]:
    rows: list[list[str]] = []
    if start is not None:
        policy = start.stop_policy
        rows = [
            ["asks", clean(start.question, 2_000)],
            ["started by", clean(f"{start.started_by.user_id} on {start.started_by.platform}", 120)],
            ["run", clean(start.run_id, 80)],
            ["mode", MOCK if start.mode == "mock" else "live"],
            ["protocol", clean(start.protocol, 80)],
            ["models", ", ".join(clean(one, 80) for one in start.models[:20])],
            ["batches of", f"{start.batch_size:,} trials, at most {start.k_planned:,} in all"],
            [
                "settles",
                f"after {policy.patience} batches in a row with at most {policy.novelty_epsilon:.0%} new, from "
                f"{start.k_min:,} trials on; "
                + ("then it stops" if start.stop_mode == "enforcer" else "that is advice only"),
            ],
        ]
    if end is not None:
        rows.append(["ended", how_ended(end)])
    note = "" if end is not None else f"An admin stops it with /stop {clean(case_id, 120)} and a reason."
    return {"title": "What it does", "note": note, "head": ["", ""], "rows": rows}


def _examples(batches: Sequence[ExperimentBatch]) -> dict[str, Any]:
    found = [
        [
            f"trial {one.trial_id:,}",
            clean(one.label, 80) if one.label else "no decision",
            "no cluster" if one.cluster_id is None else f"cluster {one.cluster_id}",
            clean(one.text, 400),
        ]
        for batch in reversed(batches)
        for one in batch.examples
    ]
    return {
        "title": "Some answers",
        "note": "The newest batch first: what opened a cluster, then one of each.",
        "head": ["", "decision", "", "answer"],
        "stack": True,
        "rows": found[:MOST_EXAMPLES],
        "none": "No answer has been told yet.",
    }
