"""What of two runs can be compared, and trial by trial or only as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from moot.arbiter.certifying import CUT_SHORT
from moot.arbiter.reading import ReadRun
from moot.config.arbiter.reading import Faulty
from moot.protocols.arbiter.certificate import closed_labels, decided
from moot.protocols.arbiter.generated import PlannedTrial
from moot.protocols.arbiter.plan import plan
from moot.statistics.permutation import Groups, matched

MOST_LABELS: Final = 50
"""Where no contract lists decisions, more different ones are taken for prose."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The trials of a run that count.

    Attributes:
        run: The run.
        trial_ids: Ascending: those before the first one that is missing or was cut short, shape (trials,).
        labels: What each decided on; None for no decision, shape (trials,).
        statuses: What was read from each, shape (trials,).
        tokens: Of each that a reply told them of, by trial_id; `cost` likewise, in US dollars.
    """

    run: ReadRun
    trial_ids: tuple[int, ...]
    labels: tuple[str | None, ...]
    statuses: tuple[str, ...]
    tokens: dict[int, float]
    cost: dict[int, float]


def sample(run: ReadRun) -> Sample:
    """Take the trials of a run that count.

    Raises:
        Faulty: There is none.
    """
    by_id = {one.trial_id: one for one in run.trials}
    ids: list[int] = []
    while (found := by_id.get(len(ids))) and found.error_code != CUT_SHORT and len(ids) in run.parsed:
        ids.append(len(ids))
    if not ids:
        raise Faulty([f"{run.directory}: has no trials that ended: name a run that was carried out"])
    return Sample(
        run=run,
        trial_ids=tuple(ids),
        labels=tuple(decided(run.parsed[one]) for one in ids),
        statuses=tuple(run.parsed[one].parse_status for one in ids),
        tokens={one: float(tokens) for one in ids if (tokens := by_id[one].tokens) is not None},
        cost={one: cost for one in ids if (cost := by_id[one].cost) is not None},
    )


def labels_in_common(first: Sample, second: Sample) -> list[str | None]:
    """List what trials of the two can have decided on, no decision last; nothing when they decided in prose."""
    closed = [closed_labels(one.run.config.protocol.decision_contract) for one in (first, second)]
    seen = sorted({label for label in (*first.labels, *second.labels) if label is not None})
    if not all(closed) and len(seen) > MOST_LABELS:
        return []
    return [*dict.fromkeys((*closed[0], *closed[1], *seen)), None]


def are_planned_alike(first: Sample, second: Sample) -> bool:
    """Say whether trials of the same number were drawn alike, and differ from those of other numbers.

    What a model is, or what the words of a persona are, does not count: that is what may be compared.
    """
    drawn = [
        [_drawn(one) for one in islice(plan(each.run.config), len(each.trial_ids))]
        for each in (first, second)
    ]
    both = min(map(len, drawn))
    is_alike = drawn[0][:both] == drawn[1][:both] and len(set(drawn[0][:both])) > 1
    return is_alike and 2 * both >= max(map(len, drawn))


def groups_of(first: Sequence[int], second: Sequence[int], *, is_paired: bool) -> Groups:
    """Return who may change places, given the trial_ids of both."""
    return matched(first, second) if is_paired else Groups(len(first), len(second))


def warnings(first: Sample, second: Sample) -> list[str]:
    """Say what makes the two hard to compare."""
    one, other = first.run.config, second.run.config
    found = []
    if one.question.text != other.question.text:
        found.append("the questions differ: what differs may come from them alone")
    if one.protocol.type != other.protocol.type:
        found.append(f"the protocols differ: {one.protocol.type} and {other.protocol.type}")
    contracts = [
        config.protocol.decision_contract and config.protocol.decision_contract.sha256
        for config in (one, other)
    ]
    if contracts[0] != contracts[1]:
        found.append("the contracts differ")
    for name, each in (("first", first), ("second", second)):
        left = len(each.run.trials) - len(each.trial_ids)
        if left:
            found.append(
                f"{left} of the {name} run's trials do not count: they follow one that was cut short"
            )
    return found


def why_vectors_differ(first: Sample, second: Sample) -> str | None:
    """Say why the embeddings of the two cannot be compared; None when they can, as far as the runs tell."""
    one, other = (each.run.config.measurement for each in (first, second))
    for what, left, right in (
        ("embedding models", one.embedding_model, other.embedding_model),
        ("what is embedded", one.embed_text_strategy, other.embed_text_strategy),
    ):
        if left != right:
            return f"{what} differ: {left} and {right}"
    return None


def _drawn(planned: PlannedTrial) -> tuple[object, ...]:
    """Return what a trial drew but for the model."""
    roles = planned.role_assignments
    if roles is not None:
        return tuple((role.persona_id, repr(role.decode)) for _, role in roles)
    assigned = planned.assigned_config
    return assigned.persona, assigned.protocol, repr(assigned.decode)
