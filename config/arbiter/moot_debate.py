"""What a file must say for its trials to be whole debates of Moot's: its contract lists the answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pydantic import ValidationError

from moot.config.arbiter.judging import judge_of
from moot.protocols.arbiter.certificate import closed_labels
from moot.protocols.arbiter.generated import Configuration, ResolvedContract
from moot.protocols.kernel.faults import line
from moot.protocols.motion.messages import Motion

TYPE: Final = "moot:debate"

UNDECIDED: Final = "undecided"
"""What a debate decides whose judgment names no answer; nobody can claim it, and a contract may list it."""

FIELDS: Final = ("decision", "rationale", "confidence")
"""What a judgment gives of a contract's form."""


def options_of(contract: ResolvedContract) -> tuple[str, ...]:
    """Return the answers that can be claimed: those that the contract lists, but `UNDECIDED`."""
    return tuple(one for one in closed_labels(contract) if one != UNDECIDED)


def faults(config: Configuration, contract: ResolvedContract | None) -> Iterator[str]:
    """Yield why debates cannot be held by a file, a line each.

    Args:
        config: What was asked for.
        contract: Its contract, whole; None where it names none.
    """
    if config.sampling.instruments:
        yield f"sampling.instruments: {TYPE} takes none: leave them out"
    where = "protocol.decision_contract"
    if contract is None:
        yield f"{where}: {TYPE} debates the answers that a contract lists: name one, such as binary_decision_v1"
        return
    options = options_of(contract)
    if not options:
        yield f"{where}.id: {contract.id} lists no answers in an enum of decision: {TYPE} needs two or more"
        return
    try:
        Motion(question=config.question.text, options=options)
    except ValidationError as error:
        yield f"question.text or {where}.id: cannot be debated: {line(error, 'motion')}"
        return
    known = contract.schema_["properties"]
    answer = {"decision": options[0], "rationale": "It is so.", "confidence": 0.5}
    judge = judge_of(contract)
    assert judge is not None
    if why := judge({name: answer[name] for name in FIELDS if name in known}):
        yield f"{where}.id: {contract.id} cannot hold a verdict, which is {', '.join(FIELDS)} (0 to 1): {why}"
