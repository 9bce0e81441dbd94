"""Who interrupts: as somebody is asked for something, others say in its case what nobody asked them for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from moot.bots.minds.generic import filled
from moot.bots.tools.seeding import generator
from moot.chaos.altering import altered
from moot.chaos.dice import Dice
from moot.host import Host
from moot.protocols.escalation.case import EscalationState
from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.catalogue import Matrix
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import Seat
from moot.protocols.rulebook import rulebook
from moot.protocols.trading.messages import Halt
from moot.protocols.trading.trade_state import KIND as TRADE

RECENT: Final = 300
"""How far back something like it is looked for, in messages."""
STOPS: Final = 0.12
"""Share of interruptions by people that are a STOP of the case."""
FITTING: Final = 0.8
"""Share of interruptions that the case's table has a row for, where it has any."""
ALARM: Final = 0.6
"""Share of interruptions of a trade that halt the desk while its order is under way."""
BUSY: Final = frozenset({"session"})
THINNED: Final = 0.4
"""Share of interruptions that are left of those in cases that ask somebody for something all day."""


class Said(NamedTuple):
    """What somebody says in between.

    Attributes:
        case_id: In which case; None where it opens one in it.
        channel: Where.
        body: What.
    """

    case_id: str | None
    channel: str
    body: Message


async def said(host: Host, case_id: str, dice: Dice, seats: tuple[str, ...]) -> tuple[str, Said] | None:
    """Draw who interrupts a case with what; None where nobody may say anything.

    Args:
        host: Where.
        case_id: The case.
        dice: Draw it.
        seats: Who may interrupt.
    """
    state = host.docket.cases.get(case_id)
    if state is None or (state.kind in BUSY and not dice.chance(THINNED)):
        return None
    book, matrix = rulebook(), host.rules.matrix
    facts = [kind for phase, kind in host.rules.types[state.kind].facts if phase == state.phase]
    named = [kind for kind in facts if kind is not Message]
    if state.kind == TRADE and dice.chance(ALARM):
        facts = named = [Halt]
    kinds = named if named and dice.chance(FITTING) else [book.messages[one] for one in sorted(book.messages)]
    may = [(seat, kind) for kind in kinds for seat in seats if _place(matrix, seat, _name(kind))]
    if not may:
        return None
    seat, kind = dice.pick(may)
    body = await _body(host, state, kind, seat, dice)
    if body is None:
        return None
    opens = body.type in host.rules.openers and kind in facts
    return seat, Said(None if opens else case_id, _place(matrix, seat, body.type), body)


def _place(matrix: Matrix, seat: str, kind: str) -> str:
    """Return where a seat says something of a type, "" for nowhere."""
    usual = rulebook().channel_of.get(kind, "")
    places = (usual, *sorted(matrix.channels))
    return next((one for one in places if matrix.may_write(Seat(seat), one, kind)), "")


def _name(kind: type[Message]) -> str:
    return str(kind.model_fields["type"].default)


async def _body(host: Host, state: CaseState, kind: type[Message], seat: str, dice: Dice) -> Message | None:
    """Draw a body about a case: something like what was said lately, or what the state says of itself."""
    given: dict[str, Any] = {
        **_about(host, state, kind),
        **({"by": seat} if "by" in kind.model_fields else {}),
    }
    if isinstance(state, EscalationState) and "option" in kind.model_fields:
        given = {**given, "option": dice.pick(state.options).n}
    like = await _like(host, kind, dice)
    try:
        if like is not None and dice.chance(0.6):
            return altered(dice, like.body, given, host.clock.now())
        return filled(kind, given, generator("between", dice.whole(0, 2**31)), host.clock.now())
    except (ValidationError, ValueError):
        return None


def _about(host: Host, state: CaseState, kind: type[Message]) -> Mapping[str, Any]:
    """Return what ties a body to a case: its id, that of the case around it, and fields that both have."""
    given: dict[str, Any] = {}
    minted = host.rules.minted.get(_name(kind))
    for name in kind.model_fields:
        if minted is not None and minted.path[0] == name:
            given[name] = ""
        elif name in (kind.case_field, f"{state.kind}_id", "case_id", "parent_id"):
            given[name] = state.case_id
        elif isinstance(found := getattr(state, name, None), str) and found:
            given[name] = found
    return given


async def _like(host: Host, kind: type[Message], dice: Dice) -> Envelope | None:
    head = host.bus.head.seq
    found = [env async for env in host.bus.read(max(1, head - RECENT), head) if type(env.body) is kind]
    return dice.pick(found) if found else None
