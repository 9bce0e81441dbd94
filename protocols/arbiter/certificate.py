"""What can be said of a run's labels with a stated rate of error, whenever it was looked at and stopped."""

from __future__ import annotations

from typing import Final

from moot.protocols.arbiter.generated import ParsedTrial, ResolvedContract

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
