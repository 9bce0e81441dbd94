"""What can be said of a run's labels with a stated rate of error, whenever it was looked at and stopped."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from moot.protocols.arbiter.parsing import ParsedTrial
from moot.protocols.arbiter.records import Count, Name, Positive, Record, SchemaVersion, Share
from moot.protocols.arbiter.resolved import ResolvedContract

Alpha = Annotated[float, Field(gt=0, lt=1)]

DEFAULT_ALPHA: Final = 0.05

ASSUMPTIONS: Final = (
    "Trials are independent draws from one distribution: neither the configuration, nor the models, nor how they are "
    "served changed during the run.",
    "Trials count in the order of trial_id, up to the first one that an interrupt cut short. One without a label of "
    "the contract counts as no decision, also one whose call failed.",
    "alpha was chosen before the run. Each of the two statements, all shares at all times and the mode, errs with a "
    "chance of at most alpha.",
    "It is about what this configuration answers, not about what is right. Clusters are a heuristic and no part of it.",
)


class OutcomeShare(Record):
    """How often trials ended in one way, and between which bounds its true share lies.

    Args:
        share: Of the trials counted; None without any.
        low: Lower bound.
        high: Upper bound.
    """

    count: Count
    share: Share | None
    low: Share
    high: Share


class LabelShare(OutcomeShare):
    """How often a label was decided on."""

    label: Name


class CertifiedMode(Record):
    """What trials end in more often than in anything else.

    Args:
        label: None when that is no decision.
        at_trial: How many trials had been counted when it first was certain, at the end of a batch.
    """

    label: Name | None
    at_trial: Positive


class Certificate(Record):
    """What can be said of a run's labels, with its rate of error; certificate.json.

    Args:
        trials: How many are counted.
        not_counted: How many ended after one that an interrupt cut short, that one among them.
        mode: None while it is not certain.
    """

    schema_version: SchemaVersion
    run_id: Name
    alpha: Alpha
    trials: Count
    not_counted: Count
    labels: Annotated[tuple[LabelShare, ...], Field(min_length=1)]
    no_decision: OutcomeShare
    mode: CertifiedMode | None
    shares_method: Literal["beta_binomial_mixture_bonferroni"]
    mode_method: Literal["beta_binomial_mixture_pairwise"]
    assumptions: tuple[Name, ...]


def closed_labels(contract: ResolvedContract | None) -> tuple[str, ...]:
    """Return the labels that a contract lets a trial decide on; none unless its schema lists them.

    It lists them as `enum` of the property `decision`; what is no text there can be no decision.
    """
    schema: object = contract.schema_ if contract else {}
    for name in ("properties", "decision", "enum"):
        schema = schema.get(name) if isinstance(schema, dict) else None
    found = schema if isinstance(schema, list) else []
    return tuple(dict.fromkeys(one for one in found if isinstance(one, str) and one))


def decided(parsed: ParsedTrial) -> str | None:
    """Return what a trial under a contract decided on; None when that is no decision."""
    return parsed.outcome if parsed.parse_status == "success" else None
