"""What is odd, but not wrong, in a contract: the warnings SC-1 to SC-11.

SC-6 (an amendment that is named like a baseline field) cannot occur, for the models take no such key; SC-8 became a
hard invariant. A warning never makes a contract invalid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from moot.protocols.panel.contract import ROLES, Contract

LAG: Final = 2
"""So many minor versions may a contract be behind without a warning."""

REQUIRED_OUTPUTS: Final = ("contract_paraphrase", "scoring_plan")
PRIORITY_WORDS: Final = {"mandatory": "mandatory", "high": "high-priority"}
"""The word by which an expression covers all dimensions of a priority; `priority=high` is not seen (SC-10)."""

_VERSION: Final = re.compile(r"v?([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})")
_MENTION: Final = re.compile(r"\bD[0-9]+\b")


class Warned(NamedTuple):
    """A warning: its id (`SC-3`) and one line."""

    id: str
    text: str


def warnings(contract: Contract, current_version: str | None = None) -> tuple[Warned, ...]:
    """List what is odd in a contract, by number.

    Args:
        contract: A valid one.
        current_version: `v3.6.2` or `3.6.2`, to see whether the contract has aged; anything else is passed over.
    """
    return (
        *(Warned("SC-1", text) for text in _aged(contract, current_version)),
        *(Warned("SC-2", text) for text in _lonely(contract)),
        *(Warned("SC-3", text) for text in _without_mandatory(contract)),
        *(Warned("SC-4", text) for text in _unknown_mentions(contract)),
        *(Warned("SC-5", text) for text in _missing_outputs(contract)),
        *(Warned("SC-7", text) for text in _ambiguous_severities(contract)),
        *(Warned("SC-9", text) for text in _too_many_paraphrases(contract)),
        *(Warned("SC-10", text) for text in _idle_dimensions(contract)),
        *(Warned("SC-11", text) for text in _odd_panel(contract)),
    )


def _aged(contract: Contract, current_version: str | None) -> Iterator[str]:
    now = _VERSION.fullmatch(current_version or "")
    then = _VERSION.fullmatch(contract.baseline_version)
    if now is None or then is None:
        return
    lag = int(now[2]) - int(then[2])
    if int(now[1]) != int(then[1]):
        yield f"baseline_version {then[0]} and the current {now[0]} differ in their major version"
    elif lag > LAG:
        yield f"baseline_version {then[0]} is {lag} minor versions behind the current {now[0]}"


def _lonely(contract: Contract) -> Iterator[str]:
    if len(contract.acceptance_dimensions) == 1:
        yield "there is only one acceptance dimension"


def _without_mandatory(contract: Contract) -> Iterator[str]:
    if all(one.priority != "mandatory" for one in contract.acceptance_dimensions):
        yield "no acceptance dimension is mandatory"


def _unknown_mentions(contract: Contract) -> Iterator[str]:
    known = {one.id for one in contract.acceptance_dimensions}
    for one in contract.failure_conditions:
        for mention in _MENTION.findall(one.expression):
            if mention not in known:
                yield f"the expression of {one.condition_id} mentions {mention}, which is no dimension"


def _missing_outputs(contract: Contract) -> Iterator[str]:
    outputs = contract.measurement_procedure.reviewer_must_output_before_paper
    for name in REQUIRED_OUTPUTS if contract.is_for_reviewers else ():
        if name not in outputs:
            yield f"reviewer_must_output_before_paper lacks {name}"


def _ambiguous_severities(contract: Contract) -> Iterator[str]:
    for severity in dict.fromkeys(one.severity for one in contract.failure_conditions):
        sharing = [one for one in contract.failure_conditions if one.severity == severity]
        if len({one.action for one in sharing}) > 1:
            names = ", ".join(one.condition_id for one in sharing)
            yield f"{names} share severity {severity} and differ in their action: the earliest wins"


def _too_many_paraphrases(contract: Contract) -> Iterator[str]:
    least, there = (
        contract.measurement_procedure.paraphrase_minimum_dimensions,
        contract.acceptance_dimensions,
    )
    if least != "all" and least > len(there):
        yield f"paraphrase_minimum_dimensions is {least}: there are {len(there)} dimensions"


def _idle_dimensions(contract: Contract) -> Iterator[str]:
    expressions = [one.expression for one in contract.failure_conditions]
    mentions = {mention for text in expressions for mention in _MENTION.findall(text)}
    for one in contract.acceptance_dimensions:
        word = PRIORITY_WORDS.get(one.priority)
        if word is None or one.id in mentions or any(word in text.lower() for text in expressions):
            continue
        yield f"no expression speaks of {one.id} ({one.name}), which is {one.priority}"


def _odd_panel(contract: Contract) -> Iterator[str]:
    if contract.panel_size == 1:
        yield "panel_size is 1: a majority of one never fires"
    roles = ROLES.get(contract.mode)
    if roles is not None and contract.panel_size != len(roles):
        yield f"panel_size is {contract.panel_size}: mode {contract.mode} has {len(roles)} reviewers"
