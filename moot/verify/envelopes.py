"""The fields around a body: do they agree with each other, the body, what was owed (K1, K9, K14)."""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import BOT, Actor, Envelope
from moot.protocols.kernel.guests import misplaced
from moot.protocols.kernel.minds import STAND_IN
from moot.protocols.kernel.people import SeatReleased, SeatTaken
from moot.protocols.kernel.rules import derived_keys
from moot.protocols.kernel.seats import PEOPLE, Seat
from moot.protocols.rulebook import rulebook
from moot.verify.report import Findings


class Cause(NamedTuple):
    """The message that opened an obligation."""

    id: str
    hops: int


class Envelopes:
    """Checks messages of bots and people before they are folded; of officers see `officers`.

    An answer names the message that opened its obligation, one hop further, or names none (K21).
    """

    def __init__(self, findings: Findings, ids: Container[str]) -> None:
        """Start with nothing owed; `ids` are those of the messages before."""
        self._findings = findings
        self._ids = ids
        self._derived = derived_keys(rulebook().seats)
        self._causes: dict[str, Cause] = {}
        self._tenures: dict[int, tuple[Seat, Actor | None]] = {}

    def before(self, env: Envelope, docket: Docket) -> None:
        """Check a message of a bot or a person against the state before it."""
        self._case(env, docket)
        self._actor(env)
        if env.obligation_id is None:
            self._unasked(env)
        else:
            self._answer(env, docket, env.obligation_id)
        if env.in_reply_to is not None and env.in_reply_to not in self._ids:
            self._bad(env, "K1", f"in_reply_to: no message before it has the id {env.in_reply_to}")

    def after(self, env: Envelope, fx: Effects) -> None:
        """Take in what the fold of a message changed."""
        causes = self._causes
        if fx.closed:
            for obligation in fx.closed:
                causes.pop(obligation.id, None)
        if fx.opened:
            cause = Cause(env.id, env.hops)
            for obligation in fx.opened:
                causes[obligation.id] = cause
        body = env.body
        if type(body) in (SeatTaken, SeatReleased) and fx.violation is None and not fx.superseded:
            assert isinstance(body, SeatTaken | SeatReleased)
            is_taken = isinstance(body, SeatTaken)
            holder = Actor("human", env.actor.platform, body.user_id) if is_taken else None
            self._tenures[env.seq] = (Seat(body.seat), holder)

    def _bad(self, env: Envelope, rule: str, why: str) -> None:
        self._findings.add(env.seq, "envelope", rule, why)

    def _case(self, env: Envelope, docket: Docket) -> None:
        body = env.body
        if body.case_field:
            named = getattr(body, body.case_field)
            if named != env.case_id:
                self._bad(env, "K9", f"case_id: it is {env.case_id}, the body names {named or 'none'}")
        elif why := misplaced(body, env.case_id):
            self._bad(env, "K9", f"case_id: {why}")
        elif body.type == "RESEARCH_NOTE" and docket.never_was(env.case_id):
            self._bad(env, "K9", f"case_id: there never was a case {env.case_id}")

    def _actor(self, env: Envelope) -> None:
        author, kind = env.author, env.actor.kind
        if author in PEOPLE:
            if kind != "human":
                self._bad(env, "K14", f"actor.kind: {author} is a person, not a {kind}")
            if env.tenure:
                self._bad(env, "K14", "tenure: people hold their seats without one")
            return
        holder: Actor | None = None
        if env.tenure:
            seat, holder = self._tenures.get(env.tenure, (None, None))
            if seat != author:
                self._bad(env, "K14", f"tenure: {author} was neither taken nor released at seq {env.tenure}")
        if holder is not None and env.actor != holder:
            why = f"{holder.user_id} on {holder.platform} holds {author}, this is {' '.join(env.actor)}"
            self._bad(env, "K14", f"actor: {why}")
        elif holder is None and env.actor not in (BOT, STAND_IN):
            self._bad(env, "K14", f"actor: a bot fills {author}, not {' '.join(env.actor)}")

    def _unasked(self, env: Envelope) -> None:
        """Check a message that answers no obligation: an aside to an answer, or one of its own."""
        answer, _, aside = env.id.rpartition("/aside-")
        owner, _, attempt = (answer or env.id).rpartition("/")
        if self._derived.match(env.id):
            self._bad(env, "K1", f"obligation_id: none, but the id {env.id} is that of an answer or a duty")
        if str(env.attempt) != (attempt if answer else "0"):
            self._bad(env, "K1", f"attempt: {env.attempt}, although it answers no obligation")
        if env.hops and env.author in PEOPLE:
            self._bad(env, "K21", f"hops: {env.hops}, but what people say of their own begins a chain")
        if aside.isdigit():
            self._chain(env, self._causes.get(owner))

    def _answer(self, env: Envelope, docket: Docket, obligation_id: str) -> None:
        if env.id != f"{obligation_id}/{env.attempt}":
            self._bad(env, "K1", f"id: an answer to {obligation_id} has the id {obligation_id}/{env.attempt}")
        if not obligation_id.endswith(f"/{env.author}"):
            self._bad(env, "K1", f"obligation_id: {obligation_id} is none of {env.author}")
        if obligation_id in docket.open:
            attempts = docket.attempts.get(obligation_id, 0)
            if env.attempt != attempts:
                self._bad(env, "K1", f"attempt: {attempts} answers broke a rule before it, not {env.attempt}")
            self._chain(env, self._causes.get(obligation_id))
            return
        case_id, _, step = obligation_id.partition("/")
        if not step or docket.never_was(case_id):
            self._bad(env, "K1", f"obligation_id: nobody ever owed {obligation_id}")

    def _chain(self, env: Envelope, cause: Cause | None) -> None:
        """Check reply and hops: those of the message that opened the obligation, or none."""
        if cause is None:
            return
        if (env.in_reply_to, env.hops) not in ((cause.id, cause.hops + 1), (None, 0)):
            self._bad(
                env,
                "K21",
                f"in_reply_to, hops: {cause.id} asked for it, at hop {cause.hops + 1}; "
                f"this says {env.in_reply_to}, {env.hops}",
            )
