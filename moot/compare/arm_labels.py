"""Labels of arms in which simulated minds answer: "simulated, no model", or which of the seats are simulated.

A label follows from the registration alone, so that a published study has it without its results. Arms of one's own are
labelled where their class says that they are simulated (`Arm.simulated`), or is made of a shipped one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from pydantic import ValidationError

from moot.cases.motion.offline import SEATS as MOTION_SEATS
from moot.cases.panel.offline import seats_of
from moot.compare.arms.arm import Arm
from moot.compare.arms.panel import CONTRACTS
from moot.compare.cases.case import DOCUMENT, MARKET, QUESTION
from moot.compare.known import ARMS, VOTE, named
from moot.config.contracts import load_contract
from moot.config.minds import MindSettings
from moot.protocols.arena.seats import ARENA
from moot.protocols.kernel.minds import LABELS, SIMULATED
from moot.protocols.motion.seats import ADVOCATE
from moot.protocols.research.seats import SYSTEM_A

LABEL: Final = LABELS[SIMULATED]
"""Label of an arm all of whose seats are simulated."""

SEATS: Final[Mapping[tuple[str, str], Collection[str]]] = {
    ("single", QUESTION): (ADVOCATE,),
    ("debate", QUESTION): MOTION_SEATS,
    ("debate", MARKET): SYSTEM_A,
    ("arena", QUESTION): ARENA,
}
"""Seats that answer in a shipped arm, by its name and the kind of case; that of a panel follow from its size."""

SEATLESS: Final = frozenset({("single", MARKET), ("single", DOCUMENT), ("solver", QUESTION)})
"""Shipped arms that take neither a model nor a mind: simulated as a whole."""

KINDS: Final[Mapping[str, str]] = {"markets": MARKET, "documents": DOCUMENT, "questions": QUESTION}
"""Kind of case that each generator makes."""


def labels_of(registration: Mapping[str, Any]) -> dict[str, str]:
    """Return the label of each arm of a study; "" for an arm in which no simulated mind answers.

    Args:
        registration: What was registered before the first call.
    """
    arms = registration.get("arms")
    cases = registration.get("cases")
    kind = KINDS.get(str(cases.get("from")), "") if isinstance(cases, Mapping) else ""
    if not isinstance(arms, Mapping):
        return {}
    return {str(name): _label(arm, kind) if isinstance(arm, Mapping) else "" for name, arm in arms.items()}


def labelled(arm: str, label: str) -> str:
    """Return an arm's name with its label in parentheses, where it has one."""
    return f"{arm} ({label})" if label else arm


def compared(arm: str, than: str, word: str, labels: tuple[str, str]) -> str:
    """Return the names of two arms with their labels; a label that both have stands once.

    Args:
        arm: The one.
        than: The other.
        word: Stands between them.
        labels: Of the one and of the other.
    """
    first, second = labels
    if first and first == second:
        return f"{arm} {word} {than} (both {first})"
    return f"{labelled(arm, first)} {word} {labelled(than, second)}"


def _label(arm: Mapping[str, Any], kind: str) -> str:
    options = arm.get("options") or {}
    is_ = str(arm.get("is", ""))
    if is_ == VOTE:
        is_ = str(options.get("of", "single"))
    minds = arm.get("minds") or {}
    if ":" in is_:
        return _own_label(is_, minds, arm, options)
    return _shipped_label(is_, kind or _kind_for(is_, minds), minds, arm, options)


def _shipped_label(
    is_: str, kind: str, minds: Mapping[str, Any], arm: Mapping[str, Any], options: Mapping[str, Any]
) -> str:
    if (is_, kind) in SEATLESS:
        return LABEL
    seats = _panel_seats(options) if is_ == "panel" else SEATS.get((is_, kind), ())
    simulated = sorted(str(seat) for seat in seats if _is_simulated(minds.get(seat), arm.get("model")))
    if not simulated:
        return ""
    if len(simulated) == len(seats):
        return LABEL
    *others, last = simulated
    return f"{', '.join(others)} and {last} {LABEL}" if others else f"{last} {LABEL}"


def _own_label(
    dotted: str, minds: Mapping[str, Any], arm: Mapping[str, Any], options: Mapping[str, Any]
) -> str:
    """Return the label of an arm of one's own, "" where its class cannot be imported."""
    try:
        made = named(dotted, "is")
    except Exception:  # a module of somebody else may raise anything
        return ""
    if not (isinstance(made, type) and issubclass(made, Arm)):
        return ""
    if made.simulated:
        return LABEL
    shipped = {where: (is_, kind) for is_, kinds in ARMS.items() for kind, where in kinds.items()}
    for base in made.__mro__:
        if found := shipped.get(f"{base.__module__}:{base.__qualname__}"):
            is_filled_alike = all(getattr(made, name) is getattr(base, name) for name in ("__init__", "run"))
            return _shipped_label(*found, minds, arm, options) if is_filled_alike else ""
    return ""


def _kind_for(is_: str, minds: Mapping[str, Any]) -> str:
    """Return the kind of case of a study's own file, as far as its arms tell."""
    if is_ == "panel":
        return DOCUMENT
    is_market = is_ == "debate" and any(seat in SYSTEM_A and seat not in MOTION_SEATS for seat in minds)
    return MARKET if is_market else QUESTION


def _panel_seats(options: Mapping[str, Any]) -> Collection[str]:
    reviewers = options.get("reviewers", 5)
    contracts = map(load_contract, CONTRACTS)
    return next((seats_of(one) for one in contracts if one.panel_size == reviewers), ())


def _is_simulated(mind: Any, model: Any) -> bool:
    """Return whether a simulated mind fills a seat.

    Args:
        mind: What the study says of the seat; None: nothing.
        model: The model that fills every other seat; None: no model does.
    """
    if mind is None:
        return not model
    try:
        return MindSettings.model_validate(mind).module == SIMULATED
    except ValidationError:
        return False
