"""What a run found, in words: the lines of its report, and what its page says beside the pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from moot.arbiter.summary import ALPHA, Decisions, Example, Label, Summary
from moot.channels.showing.wording import clean
from moot.statistics.shares import Interval

MOST_LINE: Final = 2_000
"""Characters of a line."""

MOST_TEXT: Final = 300
"""Characters of what a model said that stand in a line."""

MOST_QUESTION: Final = 240
"""Characters of the question: it may be a whole work that a panel judges."""

NO_DECISION: Final = "no decision"

TRENDS: Final = {"rising": "more than", "falling": "fewer than", "flat": "as"}

Line = tuple[str, str]
"""What it is about, and what is said; "" goes on with what was said before."""


def lines(summary: Summary) -> Iterator[Line]:
    """Tell all of it, a line each, in which nothing is left that a terminal would obey."""
    for about_what, said in _lines(summary):
        indent = " " * (len(said) - len(said.lstrip(" ")))
        yield about_what, f"{indent}{clean(said, MOST_LINE)}"


def _lines(summary: Summary) -> Iterator[Line]:
    yield "question", clean(summary.question, MOST_QUESTION)
    yield "run", about(summary)
    yield "end", ended(summary)
    if summary.notes:
        yield "notes", summary.notes
    for remark in summary.remarks:
        yield "lacks", remark
    yield "trials", trials(summary)
    if summary.parse_statuses:
        yield "replies", replies(summary)
    for error, count in summary.errors:
        yield "", f"{count:,} × {clean(error, MOST_TEXT)}"
    yield from _models(summary)
    yield "spent", spent(summary)
    yield "policy", policy(summary)
    if summary.measured is not None:
        yield "new answers", settled(summary)
        yield "", would_stop(summary)
    if summary.decisions is not None:
        yield from _decisions(summary.decisions)
        yield "", intervals(summary)
    for n, text in enumerate(summary.rationales):
        yield "" if n else "rationales", quoted(text)
    yield from _clusters(summary)
    for n, text in enumerate(summary.examples):
        yield "" if n else "answers", quoted(text)
    for n, (path, records) in enumerate(summary.artifacts):
        yield "" if n else "files", path if records is None else f"{path}  {_many(records, 'record')}"


def about(summary: Summary) -> str:
    """Say what was asked for."""
    parts = [summary.run_id, summary.protocol, _many(len(summary.personas), "persona")]
    if summary.templates:
        parts.append(_many(len(summary.templates), "template"))
    parts.append(f"contract {summary.contract}" if summary.contract else "no contract")
    return ", ".join([*parts, f"seed {summary.seed}"])


def ended(summary: Summary) -> str:
    """Say how the run stands, and since when."""
    of = f"after {summary.attempted:,} of {_many(summary.planned, 'trial')}"
    said = {
        "resolved": "resolved only: nobody was asked",
        "done": f"done, {_many(summary.attempted, 'trial')} as planned",
        "converged": f"stopped {of}: hardly anything new came any more",
        "settled": f"done {of}: what it was to settle is settled",
        "spent": f"out of budget {of}",
        "stopped": f"stopped early {of}",
        "interrupted": f"interrupted by hand {of}",
        "failed": f"failed {of}",
        "unfinished": f"not over {of}: it goes on, or was killed",
    }[summary.state]
    if summary.state in ("resolved", "unfinished"):
        return f"{said} ({moment(summary.started_at)} UTC)"
    begun, over = moment(summary.started_at), moment(summary.completed_at)
    return f"{said} ({begun} to {over[11:] if over[:10] == begun[:10] else over} UTC)"


def trials(summary: Summary) -> str:
    """Count trials by how they ended."""
    if not summary.attempted:
        return f"none of {summary.planned:,} planned"
    by = f" by {summary.embedded_by}" if summary.embedded_by else ""
    ended = f"{summary.attempted:,} of {summary.planned:,} planned: {_counts(summary.statuses)}"
    return f"{ended}; {summary.eligible:,} embedded{by}"


def replies(summary: Summary) -> str:
    """Count replies by what was read from them."""
    return _counts(summary.parse_statuses)


def spent(summary: Summary) -> str:
    """Say what the calls came to."""
    if summary.total_tokens is None:
        return "nothing that a reply told of"
    told = (
        f"{_many(summary.total_tokens, 'token')} ({summary.prompt_tokens:,} asked, "
        f"{summary.completion_tokens:,} answered)"
    )
    return f"{told}, ${dollars(summary.cost)}" if summary.cost is not None else f"{told}, no price told"


def policy(summary: Summary) -> str:
    """Say what was allowed."""
    rules = summary.policy
    refused = [name for name in ("free", "aliased") if rules["strict"] and not rules[f"allow_{name}"]]
    said = f"strict: {' and '.join(refused) or 'no'} models refused" if rules["strict"] else "permissive"
    return f"{said}; a reply that breaks its contract: {rules['contract_failure_policy']}"


def settled(summary: Summary) -> str:
    """Say how much new the last batch brought."""
    found = summary.measured
    if found is None or found.novelty_rate is None:
        return "not measured in the last batch: no answer of it was embedded"
    said = f"{per_cent(found.novelty_rate)} of the last batch"
    if found.trend is not None and found.delta is not None:
        said += f", {TRENDS[found.trend]} in the batch before ({found.delta * 100:+.1f} points)"
    return f"{said}; nearness to earlier ones {found.mean_max_sim_to_prior:.3f} on average"


def would_stop(summary: Summary) -> str:
    """Say when answers counted as settled, and what that means."""
    rule = summary.stop_policy
    patience = int(rule["patience"])
    means = (
        f"{patience:,} batch{'' if patience == 1 else 'es'} in a row with at most {per_cent(rule['novelty_epsilon'])} "
        f"new and a nearness of {rule['similarity_threshold']:g} or more"
    )
    at = summary.measured.would_stop_at if summary.measured else None
    if at is None:
        return f"the rule for stopping never held: {means}"
    goes_on = "" if summary.stop_mode == "enforcer" else "; an advisor does not stop a run"
    return f"the rule for stopping held after {_many(at, 'trial')}: {means}{goes_on}"


def intervals(summary: Summary) -> str:
    """Say what the intervals of shares hold for."""
    found = summary.decisions
    level = f"{100 * (1 - ALPHA):.0f} %"
    said = f"{level} intervals by Wilson, each for a run whose length was fixed beforehand"
    if summary.state not in ("resolved", "done"):
        said += ", which this one's was not: a guide only"
    if found is not None and found.alpha is not None:
        said += f". Anytime ones hold together, whenever it stopped, at an error rate of {_rate(found.alpha)}"
    return f"{said}."


def mode(found: Decisions) -> str:
    """Say what the certificate says of the most frequent outcome."""
    if found.alpha is None:
        return ""
    if found.mode_at is None:
        return "most frequent: not certain yet"
    return (
        f"most frequent: {named(found.mode)}, certain after {_many(found.mode_at, 'trial')} at an error rate of "
        f"{_rate(found.alpha)}"
    )


def _rate(alpha: float) -> str:
    return f"{100 * alpha:g} %"


def named(label: str | None) -> str:
    """Name a decision."""
    return NO_DECISION if label is None else clean(label, 60)


def between(ends: Interval) -> str:
    """Write an interval of shares."""
    return f"{ends.low * 100:.1f} to {ends.high * 100:.1f} %"


def quoted(one: Example, most: int = MOST_TEXT) -> str:
    """Quote a text of a trial."""
    label = f", {named(one.label)}" if one.label is not None and one.label.strip() != one.text else ""
    return f"trial {one.trial_id}{label}: “{clean(one.text, most)}”"


def per_cent(share: float) -> str:
    """Write a share."""
    return f"{share * 100:.1f} %"


def dollars(cost: float | None) -> str:
    """Write an amount of money, of which a trial costs very little."""
    return "–" if cost is None else f"{cost:,.2f}" if cost >= 1 or cost == 0 else f"{cost:.6f}".rstrip("0")


def moment(instant: str) -> str:
    """Write an instant to the second."""
    return instant[:19].replace("T", " ")


def _models(summary: Summary) -> Iterator[Line]:
    for n, one in enumerate(summary.models):
        parts = [f"weight {one.weight:g}" if one.weight is not None else "answered in place of another"]
        if one.trials:
            parts.append(
                _many(one.trials, "trial")
                + (f", {one.trials - one.successes:,} of them failed" if one.trials > one.successes else "")
            )
        if one.tokens is not None:
            parts.append(_many(one.tokens, "token"))
        if one.cost is not None:
            parts.append(f"${dollars(one.cost)}")
        yield "" if n else "models", f"{one.model}: {', '.join(parts)}"


def _decisions(found: Decisions) -> Iterator[Line]:
    for n, one in enumerate(found.labels):
        yield "" if n else "decisions", _label(one)
    if told := mode(found):
        yield "", told


def _label(one: Label) -> str:
    also = f", anytime {between(one.anytime)}" if one.anytime else ""
    return f"{named(one.label)}: {per_cent(one.share)} ({between(one.wilson)}{also}), {_many(one.trials, 'trial')}"


def _clusters(summary: Summary) -> Iterator[Line]:
    found = summary.clusters
    if found is None:
        return
    yield "clusters", groups(summary)
    for one in found.largest:
        yield "", f"cluster {one.cluster_id}: {_many(one.size, 'answer')} ({per_cent(one.share)})"
        for example in one.examples:
            yield "", f"  {quoted(example)}"


def groups(summary: Summary) -> str:
    """Say how answers group."""
    found = summary.clusters
    if found is None:
        return "not clustered"
    alone = f"{found.singletons or 'none'} of them with one answer"
    said = f"{found.count:,}, worth {found.effective:.1f} of equal size; {alone}"
    if found.is_full:
        said += f"; {found.limit:,} is the limit, so {_many(found.forced, 'answer')} had to join the nearest"
    return f"{said}. A heuristic: groups of texts, no kinds of opinion"


def _counts(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counted.items())


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
