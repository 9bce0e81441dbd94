"""What bots post that nobody asked for: through their seats' port, as bots do, with any type of message."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final, NamedTuple

from pydantic import ValidationError

from moot.bots.minds.generic import filled
from moot.bots.tools.seeding import generator
from moot.channels.errors import Refused
from moot.chaos import interrupting
from moot.chaos.dice import Dice
from moot.chaos.minds import StruckMind
from moot.host import Host
from moot.protocols.kernel.envelope import BOT, Draft, Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import Seat
from moot.protocols.research.messages import ResearchNote
from moot.protocols.rulebook import rulebook

RECENT: Final = 300
FLOOD: Final = 60
"""Messages of one flood."""
RING: Final = 90
"""Messages of a ring that nobody stops; K21 does at 64."""


class Turn(NamedTuple):
    """One act of a rogue bot.

    Attributes:
        host: Its port.
        dice: Draws what is left open.
        key: Tells its drafts from all others.
        bots: The seats that it may post as.
        rogues: Those of them that go astray.
    """

    host: Host
    dice: Dice
    key: str
    bots: tuple[str, ...]
    rogues: tuple[str, ...]

    @property
    def seat(self) -> Seat:
        """Draw who posts."""
        return Seat(self.dice.pick(self.rogues))

    def tenure(self, seat: Seat) -> int:
        """Return the tenure of the seat, that of a person too: nobody keeps a bot from looking it up."""
        return self.host.docket.context.tenures.get(seat, 0)

    async def recent(self, is_bot: bool = True) -> Envelope | None:
        """Draw a late message of the log, of a bot."""
        head = self.host.bus.head.seq
        found = [
            env
            async for env in self.host.bus.read(max(1, head - RECENT), head)
            if not is_bot or env.author in self.bots
        ]
        return self.dice.pick(found) if found else None

    async def post(self, draft: Draft) -> bool:
        """Post a draft; return whether it stands in the log."""
        with suppress(Refused):
            return (await self.host.publish(draft)).status == "accepted"
        return False


async def _echo(turn: Turn) -> bool:
    """Say again what a seat said before: the same answer, the next attempt, or as news."""
    said, dice = await turn.recent(), turn.dice
    if said is None:
        return False
    is_answer = said.obligation_id is not None and dice.chance(0.8)
    return await turn.post(
        Draft(
            channel=said.channel,
            author=said.author if dice.chance(0.8) else turn.seat,
            body=said.body,
            actor=BOT,
            case_id=said.case_id,
            obligation_id=said.obligation_id if is_answer else None,
            attempt=said.attempt + dice.pick((0, 0, 1)) if is_answer else 0,
            tenure=turn.tenure(said.author) if dice.chance(0.7) else 0,
            in_reply_to=said.in_reply_to,
            hops=said.hops,
            key="" if is_answer else turn.key,
        )
    )


async def _stray(turn: Turn) -> bool:
    """Say something out of turn, of any type."""
    said = _drawn(turn, turn.seat)
    return said is not None and await turn.post(said)


def _drawn(turn: Turn, seat: Seat) -> Draft | None:
    """Draw what a seat says that nobody asked for; None where a schema allows nothing."""
    dice, docket = turn.dice, turn.host.docket
    open_cases, owed = sorted(docket.cases), docket.owed_by(seat)
    case_id = dice.pick(open_cases) if open_cases and dice.chance(0.8) else None
    body = _body(turn, seat, case_id)
    if body is None:
        return None
    answers = dice.pick(owed).id if owed and dice.chance(0.3) else None
    usual = rulebook().channel_of.get(body.type, "#a-arena")
    return Draft(
        channel=usual if dice.chance(0.9) else dice.pick(sorted(set(rulebook().channel_of.values()))),
        author=seat,
        body=body,
        actor=BOT,
        case_id=case_id,
        obligation_id=answers,
        attempt=docket.attempts.get(answers or "", 0),
        tenure=turn.tenure(seat),
        key="" if answers else _key(turn),
    )


def _key(turn: Turn) -> str:
    """Return a key of its own, one time in ten that of what somebody else is to say yet (K1)."""
    owed = sorted(turn.host.docket.open)
    if not owed or not turn.dice.chance(0.1):
        return turn.key
    due = turn.dice.pick(owed)
    return turn.dice.pick((f"ping/{due}", f"ruling/{due}", f"{due}/0"))


def _body(turn: Turn, seat: Seat, case_id: str | None) -> Message | None:
    """Draw a body of a type that the seat may write, nine times in ten."""
    dice, book = turn.dice, rulebook()
    matrix = turn.host.rules.matrix
    names = sorted(book.messages)
    if dice.chance(0.9):
        names = [one for one in names if matrix.may_write(seat, book.channel_of.get(one, ""), one)] or names
    kind = book.messages[dice.pick(names)]
    given = {kind.case_field: case_id} if kind.case_field and case_id else {}
    try:
        return filled(kind, given, generator("chaos", dice.whole(0, 2**31)), turn.host.clock.now())
    except (ValidationError, ValueError):
        return None


async def _flood(turn: Turn) -> bool:
    """Say very much at once."""
    many = range(turn.dice.whole(10, FLOOD))
    turns = [turn._replace(dice=turn.dice.of(n), key=f"{turn.key}/{n}") for n in many]
    done = await asyncio.gather(*(turn.dice.pick((_echo, _stray))(turn) for turn in turns))
    return any(done)


async def _ring(turn: Turn) -> bool:
    """Let two bots answer each other without end (K21)."""
    may = turn.host.rules.matrix.may_write
    seats = [one for one in turn.bots if may(Seat(one), "#a-research", "RESEARCH_NOTE")]
    if not seats:
        return False
    said: str | None = None
    for hops in range(RING):
        seat = Seat(seats[hops % len(seats)])
        body = filled(ResearchNote, {}, generator("chaos", turn.dice.whole(0, 2**31)), turn.host.clock.now())
        draft = Draft(
            channel="#a-research",
            author=seat,
            body=body,
            actor=BOT,
            tenure=turn.tenure(seat),
            in_reply_to=said,
            hops=hops,
            key=f"{turn.key}/{hops}",
        )
        if not await turn.post(draft):
            return hops > 0
        said = draft.identity()
    return True


async def _deposed(turn: Turn) -> bool:
    """Speak for a seat that a person has taken since, or left: answer what it owes as its mind would, or say a thing.

    It does so in the tenure that it began in, or in the present one.
    """
    host, dice = turn.host, turn.dice
    seats = [Seat(s) for s in sorted(host.docket.context.tenures) if s in turn.bots and host.has_bot(Seat(s))]
    if not seats:
        return False
    owed = [one for seat in seats for one in host.docket.owed_by(seat) if one.opened_at <= host.clock.now()]
    due = dice.pick(owed) if owed else None
    seat = due.seat if due is not None else dice.pick(seats)
    draft = (await answer(turn, due) if due is not None else None) or _drawn(turn, seat)
    tenure = dice.pick((0, turn.tenure(seat)))
    return draft is not None and await turn.post(replace(draft, tenure=tenure))


async def answer(turn: Turn, due: Obligation) -> Draft | None:
    """Make what a seat's mind answers now to what it owes, whatever it is struck by; None where it says nothing."""
    host = turn.host
    view = await host.view(due.seat, due) if host.has_bot(due.seat) else None
    if view is None:
        return None
    mind = host.bot(due.seat).mind
    reply = await (mind.within if isinstance(mind, StruckMind) else mind).answer(view)
    return host.answer_draft(view, reply.body) if reply is not None else None


async def interruption(turn: Turn, case_id: str) -> Draft | None:
    """Make what somebody says in a case as somebody else is asked for something there."""
    found = await interrupting.said(turn.host, case_id, turn.dice, turn.rogues)
    if found is None:
        return None
    seat, said = Seat(found[0]), found[1]
    return Draft(
        channel=said.channel,
        author=seat,
        body=said.body,
        actor=BOT,
        case_id=said.case_id,
        tenure=turn.tenure(seat),
        key=turn.key,
    )


ACTS: Final[Mapping[str, Callable[[Turn], Awaitable[bool]]]] = {
    "echo": _echo,
    "stray": _stray,
    "flood": _flood,
    "ring": _ring,
    "deposed": _deposed,
}
"""What rogue bots do, by name; each says whether it got anything into the log."""
