"""The watch: turns conditions into escalations, edge-triggered, and ends those whose condition ended (K19, R-E3).

The triggers of a system that a person stopped are suspended until it goes on (R-F12).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from moot.protocols.escalation.case import KIND, EscalationState
from moot.protocols.escalation.messages import (
    ANSWER_WITHIN,
    Escalation,
    EscalationAnswer,
    EscalationPaged,
    EscalationResolved,
)
from moot.protocols.escalation.triggers import FIRES_AGAIN_AFTER, Trigger, numbered
from moot.protocols.kernel.context import Deed, Fold
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import OFFICER, Draft, Envelope
from moot.protocols.kernel.errors import LocalProtocolError
from moot.protocols.kernel.figures import SECOND_AUDIT
from moot.protocols.kernel.officers import SocietyStarted
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.rule_faults import FAULTED
from moot.protocols.kernel.seats import REFEREE
from moot.protocols.kernel.steps import check_instant

REMEMBERED: Final = 1024
"""So many duties that were overtaken are told from ones that never were, and each for so many seqs."""
HEARINGS: Final = 256
"""For so many kinds of message it is remembered which sources hear of them; a log may hold any number of them."""
OCCURRENCES: Final = 20
"""The seqs of so many occurrences of an escalation are kept, the latest; all of them are counted."""


class Condition(NamedTuple):
    """A trigger's condition, newly true, true again, or no longer true.

    Attributes:
        code: Its row in the trigger table.
        subject: The seat or lineage it is about, or "".
        holds: Whether it is true.
        context: What the admin should know.
        evidence: Seqs of the messages that show it.
        was_due: Of one that is no longer true: whether time alone had made it true before.
        added: Of one that is true again: the new reason that its open escalation is paged again for (R-G12).
    """

    code: str
    subject: str
    holds: bool
    context: str = ""
    evidence: tuple[int, ...] = ()
    was_due: bool = False
    added: str = ""


class Source:
    """Where conditions come from; each protocol brings its own.

    Class attributes:
        types: The message types it takes in.
        deeds: The deeds it takes in whatever the type.
        ends: The kinds of cases whose ends it takes in; `Deed.ENDED` means those of all.
    """

    types: frozenset[str] = frozenset()
    deeds: Deed = Deed(0)
    ends: frozenset[str] = frozenset()

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Condition]:
        """Return the conditions that this envelope makes true or false."""
        return ()

    def alarm(self, docket: Docket) -> datetime | None:
        """Return the instant at which time alone makes a condition true."""
        return None

    def timed(self, now: datetime, docket: Docket) -> Iterable[Condition]:
        """Return the conditions that time alone has made true by `now`; pure."""
        return ()


class RuleFaults(Source):
    """Escalate each case that ended because a rule of its protocol raised (R-G14)."""

    deeds = Deed.RULED

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Condition]:
        """Return the condition of the case that this RULING ended."""
        decision = fx.decision
        if decision is None or decision.outcome != FAULTED or docket.context.version < SECOND_AUDIT:
            return ()
        why = f"A rule of {env.case_id} raised an exception; the AUDIT before the RULING names it."
        return (Condition("faulted", env.case_id or "", holds=True, context=why, evidence=(env.seq,)),)


class GuardedSource(Source):
    """A source of a foreign protocol: what it raises ends in the audit, and nothing else (R-G14)."""

    def __init__(self, inner: Source, protocol: str) -> None:
        """Wrap a source of the named protocol."""
        self.inner = inner
        self.protocol = protocol
        self.types, self.deeds, self.ends = inner.types, inner.deeds, inner.ends

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Condition]:
        """Return the conditions that this envelope makes true or false, none where the source raises."""
        try:
            return self._checked(self.inner.changes(env, fx, docket), docket)
        except Exception as exc:
            self._fault(exc, docket)
            return ()

    def alarm(self, docket: Docket) -> datetime | None:
        """Return the instant at which time alone makes a condition true, None where the source raises."""
        try:
            found = self.inner.alarm(docket)
            if found is not None:
                check_instant(found)
        except Exception as exc:
            self._fault(exc, docket)
            return None
        return found

    def timed(self, now: datetime, docket: Docket) -> Iterable[Condition]:
        """Return the conditions that time alone has made true by `now`, none where the source raises."""
        try:
            return self._checked(self.inner.timed(now, docket), docket)
        except Exception as exc:
            self._fault(exc, docket)
            return ()

    @staticmethod
    def _checked(conditions: Iterable[Condition], docket: Docket) -> list[Condition]:
        found, triggers = list(conditions), docket.rules.triggers
        for one in found:
            if one.code not in triggers:
                raise LocalProtocolError(f"there is no trigger {one.code}")
            escalation_of(one, triggers[one.code])
        return found

    def _fault(self, error: Exception, docket: Docket) -> None:
        if docket.at is not None:
            name = type(self.inner).__name__
            docket.fault_rule(f"source {name}", self.protocol, error, f"source-{self.protocol}-{name}"[:150])


@dataclass(slots=True)
class Watched:
    """What is known of one condition.

    Attributes:
        holds: Whether it was true when last heard of.
        fired_at: When it last escalated; None once it was false.
        number: How many ids of its escalations are used up.
        open_case: Its open escalation.
        has_ceased: Whether it was false for a while since that opened.
        occurrences: Seqs at which it was true again while that, or the last one, was open (R-E3), the latest.
        recurred: How often it was.
        added: Pages of that escalation for a reason that came up since.
    """

    holds: bool = False
    fired_at: datetime | None = None
    number: int = 0
    open_case: str | None = None
    has_ceased: bool = False
    occurrences: list[int] = field(default_factory=list)
    recurred: int = 0
    added: int = 0

    def recur(self, seq: int) -> None:
        """Add an occurrence to the open escalation (R-E3)."""
        self.recurred += 1
        self.occurrences = [*self.occurrences, seq][-OCCURRENCES:]


class Watch(Fold):
    """Raise and withdraw escalations as duties of the referee."""

    name = "watch"
    types: frozenset[str] | None

    def __init__(self, sources: Sequence[Source]) -> None:
        """Watch the conditions of these sources."""
        self.sources = tuple(sources)
        self.types = frozenset({"ESCALATION", "ESCALATION_ANSWER", "STOP", "SOCIETY_STARTED"}).union(
            *(s.types for s in self.sources)
        )
        self.deeds = Deed.ENDED
        for source in self.sources:
            self.deeds |= source.deeds
        self._hearings: dict[tuple[str, int, tuple[str, ...]], tuple[Source, ...]] = {}
        self.watched: dict[tuple[str, str], Watched] = {}
        self._overtaken: dict[str, int] = {}
        self._suspended: dict[tuple[str, str], Condition] = {}

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> list[Draft] | None:
        """Take in one envelope; return ESCALATIONs and withdrawals that follow from it."""
        duties: list[Draft] | None = None
        if fx.started or fx.ended:
            self._follow(env, fx)
        if type(env.body) is EscalationAnswer and fx.violation is None:
            self._overtake(_withdrawal(env.case_id or ""), env.seq, docket)
        if type(env.body) is Stop and fx.violation is None:
            self._suspend(env, docket)
        for source in self._hearing(env.body.type, fx.deeds, tuple([state.kind for state in fx.ended])):
            for condition in source.changes(env, fx, docket):
                draft = self._changed(condition, env, docket)
                if draft is not None:
                    duties = [*(duties or ()), draft]
        if type(env.body) is SocietyStarted and self._suspended:
            duties = [*(duties or ()), *self._resumed(env, docket)]
        return duties

    def _suspend(self, env: Envelope, docket: Docket) -> None:
        """Revoke what time alone had made due just before a person stopped its system (K5, R-F12)."""
        for condition in self._due(env.sent_at, docket):
            watched = self.watched.setdefault((condition.code, condition.subject), Watched())
            if not self._is_suspended(condition, docket) or watched.open_case is not None:
                continue
            if _fires(watched, env.sent_at):
                self._overtake(_key(condition, watched), env.seq, docket, was_due=True)
                watched.number += 1

    def _resumed(self, env: Envelope, docket: Docket) -> list[Draft]:
        """Return the ESCALATIONs of conditions that became true while suspended and still hold."""
        held, self._suspended = self._suspended, {}
        drafts = (self._changed(condition, env, docket) for condition in held.values())
        return [draft for draft in drafts if draft is not None]

    def _hearing(self, kind: str, deeds: int, ended: tuple[str, ...]) -> tuple[Source, ...]:
        """Return the sources that take in a message of this type that does this and ends cases of these kinds."""
        key = (kind, deeds, ended)
        found = self._hearings.get(key)
        if found is None:
            found = tuple(
                s for s in self.sources if s.deeds & deeds or kind in s.types or not s.ends.isdisjoint(ended)
            )
            if len(self._hearings) < HEARINGS:
                self._hearings[key] = found
        return found

    def _follow(self, env: Envelope, fx: Effects) -> None:
        for state in fx.started:
            if isinstance(state, EscalationState):
                watched = self.watched.setdefault((state.code, state.subject), Watched())
                watched.holds = True
                watched.fired_at = env.sent_at
                watched.number += 1
                watched.open_case = state.case_id
                watched.has_ceased = False
                watched.occurrences, watched.recurred, watched.added = [], 0, 0
        for ended in fx.ended:
            if ended.kind == KIND and isinstance(ended, EscalationState):
                watched = self.watched[(ended.code, ended.subject)]
                watched.open_case = None
                if watched.has_ceased:
                    watched.fired_at = None

    def _changed(self, condition: Condition, env: Envelope, docket: Docket) -> Draft | None:
        key = (condition.code, condition.subject)
        watched = self.watched.setdefault(key, Watched())
        if not condition.holds:
            return self._ceased(condition, watched, env, docket)
        watched.holds = True
        if watched.open_case is not None:
            watched.recur(env.seq)
            return _added_page(condition, watched, env) if condition.added else None
        if self._is_suspended(condition, docket):
            self._suspended[key] = condition
            return None
        if _key(condition, watched) in docket.pending or not _fires(watched, env.sent_at):
            return None
        return self._escalation(condition, watched, docket)

    def _overtake(self, key: str, seq: int, docket: Docket, *, was_due: bool = False) -> bool:
        """Take a duty back; it may be under way, so its id is used up, and it is overtaken, not faulty (K5)."""
        if not docket.revoke(key) and not was_due:
            return False
        self._overtaken[key] = seq
        if len(self._overtaken) > REMEMBERED:
            del self._overtaken[next(iter(self._overtaken))]
        return True

    def _ceased(self, condition: Condition, watched: Watched, env: Envelope, docket: Docket) -> Draft | None:
        watched.holds = False
        watched.has_ceased = True
        self._suspended.pop((condition.code, condition.subject), None)
        if watched.open_case is None:
            if self._overtake(_key(condition, watched), env.seq, docket, was_due=condition.was_due):
                watched.number += 1
            watched.fired_at = None
            return None
        if docket.cases[watched.open_case].phase != "answered":
            return Draft(
                channel="#admin",
                author=REFEREE,
                actor=OFFICER,
                case_id=watched.open_case,
                in_reply_to=env.id,
                key=_withdrawal(watched.open_case),
                body=EscalationResolved(
                    escalation_id=watched.open_case, how="withdrawn", by="referee", effect="none"
                ),
            )
        return None

    @staticmethod
    def _escalation(condition: Condition, watched: Watched, docket: Docket) -> Draft:
        return Draft(
            channel="#admin",
            author=REFEREE,
            actor=OFFICER,
            key=_key(condition, watched),
            body=escalation_of(condition, docket.rules.triggers[condition.code]),
        )

    def alarm(self, docket: Docket) -> datetime | None:
        """Return the next instant at which a timed condition may escalate."""
        alarms = []
        for source in self.sources:
            alarm = source.alarm(docket)
            if alarm is None:
                continue
            for condition in source.timed(alarm, docket):
                if self._is_suspended(condition, docket):
                    continue
                watched = self.watched.get((condition.code, condition.subject))
                if watched is not None and watched.open_case is not None:
                    continue
                again = watched.fired_at + FIRES_AGAIN_AFTER if watched and watched.fired_at else alarm
                alarms.append(max(alarm, again))
        return min(alarms, default=None)

    def ring(self, now: datetime, docket: Docket) -> list[Draft]:
        """Return the ESCALATIONs that time alone makes due."""
        drafts = []
        for condition in self._due(now, docket):
            watched = self.watched.get((condition.code, condition.subject), Watched())
            is_suspended = self._is_suspended(condition, docket)
            if watched.open_case is None and _fires(watched, now) and not is_suspended:
                drafts.append(self._escalation(condition, watched, docket))
        return drafts

    def _due(self, now: datetime, docket: Docket) -> Iterator[Condition]:
        """Yield the conditions that time alone has made true."""
        for source in self.sources:
            alarm = source.alarm(docket)
            if alarm is not None and alarm <= now:
                yield from source.timed(now, docket)

    def owed(self, env: Envelope, docket: Docket) -> Draft | None:
        """Return the ESCALATION that time alone made due and that this message is."""
        return super().owed(env, docket) if type(env.body) is Escalation else None

    def was_owed(self, env: Envelope, docket: Docket) -> bool:
        """Say whether an escalation was due a moment ago, before its condition ended."""
        seq = self._overtaken.get(env.id)
        return seq is not None and env.seq - seq <= REMEMBERED

    @staticmethod
    def _is_suspended(condition: Condition, docket: Docket) -> bool:
        """Return whether a person stopped the system that a condition concerns (R-F12, rules version 4)."""
        context = docket.context
        return (
            context.version >= SECOND_AUDIT
            and docket.rules.triggers[condition.code].system in context.stopped
        )

    def is_open(self, code: str, subject: str) -> bool:
        """Say whether an escalation of this condition is open."""
        watched = self.watched.get((code, subject))
        return watched is not None and watched.open_case is not None


def _added_page(condition: Condition, watched: Watched, env: Envelope) -> Draft:
    """Return the page that adds a reason to an open escalation (R-G12)."""
    watched.added += 1
    case_id = watched.open_case or ""
    return Draft(
        channel="#admin",
        author=REFEREE,
        actor=OFFICER,
        case_id=case_id,
        in_reply_to=env.id,
        key=f"added/{case_id}/{env.seq}",
        body=EscalationPaged(escalation_id=case_id, n=watched.added, added=condition.added),
    )


def escalation_of(condition: Condition, trigger: Trigger) -> Escalation:
    """Return the ESCALATION of a condition by its row of the trigger table."""
    code, subject = condition.code, condition.subject
    options = numbered(trigger)
    own: dict[str, Any] = {}
    if trigger.within != ANSWER_WITHIN:
        own["within_s"] = round(trigger.within.total_seconds())
    if trigger.default != 1:
        own["default"] = trigger.default
    if own:
        minutes = trigger.within / timedelta(minutes=1)
        own["auto_resolution_timeout"] = (
            f"{minutes:g} min (if no response, option {trigger.default} is taken)"
        )
    return Escalation(
        level=trigger.level,
        system=trigger.system,
        trigger=trigger.text.format(subject=subject),
        context=condition.context,
        suggested_actions=tuple(option.label for option in options),
        trigger_code=code,
        subject=subject,
        evidence_seqs=condition.evidence,
        options=options,
        **own,
    )


def _key(condition: Condition, watched: Watched) -> str:
    return f"escalation/{condition.code}/{condition.subject or '-'}/{watched.number + 1}"


def _withdrawal(case_id: str) -> str:
    return f"withdrawn/{case_id}"


def _fires(watched: Watched, now: datetime) -> bool:
    """Apply the edge rule: after it was false, or 24 h later (K19)."""
    return watched.fired_at is None or now >= watched.fired_at + FIRES_AGAIN_AFTER
