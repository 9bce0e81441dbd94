"""Every call of a model that a log holds, and what calls come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, ClassVar, Final, Literal

from moot.protocols.calls.messages import CallRefused, CallReserved, CallSettled, Outcome
from moot.protocols.kernel.effects import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.officers import SocietyStarted
from moot.protocols.kernel.times import rfc3339

State = Outcome | Literal["under_way", "no_room", "not_sent"]
"""How a call ended, as CALL_SETTLED says it; or that it has not, that a budget had no room for it (CALL_REFUSED), or
that its reservation did not stand any more when it came into the log."""

UNDER_WAY: Final[State] = "under_way"
NO_ROOM: Final[State] = "no_room"
NOT_SENT: Final[State] = "not_sent"

NOT_CALLED: Final = frozenset({NO_ROOM, NOT_SENT})
"""States of what was never sent."""

_WORDS: Final[Mapping[str, str]] = {NO_ROOM: "no budget", "provider_error": "error"}
"""States that read otherwise than they are called."""


def state_words(state: str) -> str:
    """Word how a call ended, or that it has not."""
    return _WORDS.get(state) or state.replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a model, as a log has it.

    Attributes:
        id: `<obligation>/<attempt>/<turn>/<try>`.
        seq: The message that asked for it.
        at: When that was said, society time.
        seat: Whose mind asked.
        case: The case that it is about, None for none.
        obligation: What the seat owed.
        attempt: Answers to it that had broken a rule before.
        turn: Counts the calls of one answer, from 1.
        try_: Counts what was asked for in this turn, from 1.
        model: The model's name in the configuration.
        state: How it ended.
        why: One line where it is not answered; "" otherwise.
        tokens: Booked; the worst case while it is under way.
        cost: Booked, in micro-USD; None: its price is not known.
        usage: Tokens by kind as the provider told them; None where it did not.
        overrun: Whether more was booked than reserved.
        latency_ms: Wall milliseconds; None until it is settled.
        model_reported: The model that the provider says it was.
        provider_id: The provider's id of the reply.
        finish: Why the model stopped, in the provider's word.
        request_sha256: Of what was sent; "" when a budget had no room for it.
        reply_sha256: Of the record of the reply; "" when there is none.
        settled_seq: The message that settled it; None until then.
    """

    id: str
    seq: int
    at: datetime
    seat: str
    case: str | None
    obligation: str
    attempt: int
    turn: int
    try_: int
    model: str
    state: State
    why: str = ""
    tokens: int = 0
    cost: int | None = 0
    usage: dict[str, int] | None = None
    overrun: bool = False
    latency_ms: int | None = None
    model_reported: str = ""
    provider_id: str = ""
    finish: str = ""
    request_sha256: str = ""
    reply_sha256: str = ""
    settled_seq: int | None = None

    @property
    def answer(self) -> str:
        """Return the id of the message that the call is for: obligation and attempt."""
        return f"{self.obligation}/{self.attempt}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        found = asdict(self)
        found["try"] = found.pop("try_")
        return {**found, "at": rfc3339(self.at)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Calls that a start of the society made to find out how a model is called; they belong to no seat and no case.

    Attributes:
        seq: The SOCIETY_STARTED message.
        at: When that was logged, society time.
        model: The model's name in the configuration.
        calls: Number of requests.
        tokens: Tokens booked.
        cost: Micro-USD booked; None: unknown.
    """

    seq: int
    at: datetime
    model: str
    calls: int
    tokens: int
    cost: int | None

    seat: ClassVar[str] = ""
    case: ClassVar[None] = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {**asdict(self), "at": rfc3339(self.at)}


class Calls:
    """Gathers the calls of a log while it is folded.

    Attributes:
        by_id: The calls, as they were asked for.
        probes: The calls of each start, one entry per model.
    """

    def __init__(self) -> None:
        """Start with none."""
        self.by_id: dict[str, Call] = {}
        self.probes: list[Probe] = []

    def take(self, env: Envelope, fx: Effects) -> None:
        """Take in one message."""
        body = env.body
        if isinstance(body, SocietyStarted):
            self.probes += probes_of(env, body)
        if isinstance(body, CallReserved):
            call = _asked(env, body, NOT_SENT if fx.superseded else UNDER_WAY)
            if fx.superseded:
                call = replace(
                    call, why="it did not fit, or was not owed, any more when it came into the log"
                )
            else:
                call = replace(call, tokens=body.max_tokens, cost=body.max_cost)
            self.by_id[call.id] = replace(call, request_sha256=body.request_sha256)
        elif isinstance(body, CallRefused):
            self.by_id[body.call_id] = replace(_asked(env, body, NO_ROOM), why=body.why)
        elif isinstance(body, CallSettled) and body.call_id in self.by_id:
            self.by_id[body.call_id] = replace(
                self.by_id[body.call_id],
                state=body.outcome,
                why=body.why,
                tokens=body.tokens,
                cost=body.cost,
                usage=None if body.usage is None else body.usage.model_dump(),
                overrun=body.overrun,
                latency_ms=body.latency_ms,
                model_reported=body.model_reported,
                provider_id=body.provider_id,
                finish=body.finish,
                reply_sha256=body.reply_sha256 or "",
                settled_seq=env.seq,
            )


@dataclass(slots=True)
class Total:
    """What some calls come to.

    Attributes:
        calls: How many were sent, or are about to be.
        answered: How many of them were answered.
        tokens: Booked.
        cost: Booked, in micro-USD, of those with a known price.
        unpriced: How many have none.
    """

    calls: int = 0
    answered: int = 0
    tokens: int = 0
    cost: int = 0
    unpriced: int = 0

    def add(self, call: Call | Probe) -> None:
        """Count a call, or the calls of a probe; what a probe was answered is of use to no seat."""
        if isinstance(call, Probe):
            self.calls += call.calls
            self.tokens += call.tokens
            self.cost += call.cost or 0
            self.unpriced += call.calls if call.cost is None else 0
            return
        if call.state in NOT_CALLED:
            return
        self.calls += 1
        self.answered += call.state == "answered"
        self.tokens += call.tokens
        self.cost += call.cost or 0
        self.unpriced += call.cost is None


def total(calls: Iterable[Call | Probe]) -> Total:
    """Return what calls come to."""
    found = Total()
    for call in calls:
        found.add(call)
    return found


def totals(calls: Iterable[Call | Probe], of: Callable[[Call | Probe], str]) -> dict[str, Total]:
    """Return what calls come to for each seat, say: the dearest first, then those of most tokens."""
    found: dict[str, Total] = {}
    for call in calls:
        found.setdefault(of(call), Total()).add(call)
    ranked = sorted(found.items(), key=lambda one: (-one[1].cost, -one[1].tokens, one[0]))
    return {name: one for name, one in ranked if one.calls}


def probes_of(env: Envelope, body: SocietyStarted) -> Iterator[Probe]:
    """Yield the probes of one start, as its configuration records them."""
    models = body.config.get("models")
    for name, model in models.items() if isinstance(models, Mapping) else ():
        told = model.get("probe") if isinstance(model, Mapping) else None
        if isinstance(told, Mapping) and (calls := _figure(told.get("calls"))):
            tokens, cost = _figure(told.get("tokens")) or 0, _figure(told.get("cost"))
            yield Probe(seq=env.seq, at=env.sent_at, model=name, calls=calls, tokens=tokens, cost=cost)


def _figure(told: object) -> int | None:
    return told if type(told) is int and told >= 0 else None


def _asked(env: Envelope, body: CallReserved | CallRefused, state: State) -> Call:
    return Call(
        id=body.call_id,
        seq=env.seq,
        at=env.sent_at,
        seat=body.seat,
        case=body.case,
        obligation=body.obligation,
        attempt=body.attempt,
        turn=body.turn,
        try_=body.try_,
        model=body.model,
        state=state,
    )
