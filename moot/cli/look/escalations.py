"""`moot escalations`: what asks for an admin, what may be answered, how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from moot.cli.app import command
from moot.cli.fitting import Row, print_rows
from moot.cli.output import (
    clock_time,
    duration,
    heading,
    page,
    plural,
    print_hanging,
    write_json,
)
from moot.cli.place import DEFAULT, AsJson, Source, shown
from moot.cli.reading import Log, key

if TYPE_CHECKING:
    from rich.console import Console

    from moot.cli.situation import Situation
    from moot.protocols.escalation.messages import Escalation
    from moot.protocols.kernel.docket import Docket
    from moot.protocols.kernel.envelope import Envelope
    from moot.protocols.kernel.obligation import Obligation

LEVEL_STYLES: Final[Mapping[str, str]] = {
    "URGENT": "bold red",
    "DECISION_NEEDED": "bold yellow",
    "ATTENTION": "bold",
}
MARGIN: Final = 9
"""Columns of the words that stand before the lines of an open escalation."""
LATELY: Final = 20
"""So many ended ones are listed; --json has them all."""


@dataclass(slots=True)
class Raised:
    """One escalation and what became of it.

    Attributes:
        recurred: How often its trigger came up again while it was open (R-E3).
        occurrences: The messages that did so, the latest of them.
        added: Reasons that came up while it was open, each paged at once (R-G12).
    """

    envelope: Envelope
    body: Escalation
    pages: int = 0
    acknowledged_by: str | None = None
    answer: Mapping[str, Any] | None = None
    how: str | None = None
    by: str | None = None
    effect: str | None = None
    ended_at: datetime | None = None
    due_at: datetime | None = None
    recurred: int = 0
    occurrences: Sequence[int] = ()
    added: list[str] = field(default_factory=list)

    @property
    def escalation_id(self) -> str:
        """Return its id."""
        return self.body.escalation_id

    @property
    def answer_by(self) -> datetime:
        """Return when silence leads to the conservative action; outages have been added."""
        return self.due_at or self.envelope.sent_at + self.body.within

    def remaining(self, now: datetime | None) -> timedelta | None:
        """Return the time that is left for an answer; None once it has ended."""
        return None if self.how is not None else self.answer_by - (now or self.answer_by)

    def as_json(self, now: datetime | None) -> dict[str, Any]:
        """Return it as plain data."""
        from moot.protocols.kernel.times import rfc3339

        left = self.remaining(now)
        return {
            **self.body.model_dump(),
            "seq": self.envelope.seq,
            "raised_at": rfc3339(self.envelope.sent_at),
            "state": "open" if self.how is None else self.how,
            "answer_by": rfc3339(self.answer_by),
            "remaining_s": None if left is None else round(left.total_seconds()),
            "pages": self.pages,
            "acknowledged_by": self.acknowledged_by,
            "answer": self.answer,
            "by": self.by,
            "effect": self.effect,
            "ended_at": None if self.ended_at is None else rfc3339(self.ended_at),
            "recurred": self.recurred,
            "occurrence_seqs": list(self.occurrences),
            "added": list(self.added),
        }


@command("moot escalations ./moot-data", "moot escalations ./moot-data --json")
def escalations(named: Source = DEFAULT, as_json: AsJson = False) -> None:
    """Show what waits for people: why, what may be answered, how long there is, how escalations ended.

    Without an answer in time the first option, the conservative one, is taken, or what a protocol of your own declares.
    Answer with moot reply. A trigger that comes up again meanwhile is added to its open escalation: how often, and in
    which messages last.
    """
    from moot.control import note_shown

    found, situation = raised(named)
    note_shown(named, [one.escalation_id for one in found if one.how is None])
    now, duties = situation.now, persons_duties(situation)
    if as_json:
        write_json([*(one.as_json(now) for one in found), *(duty_json(situation, one) for one in duties)])
        return
    target = page()
    is_first = True
    for one in found:
        if one.how is None:
            if not is_first:
                target.print()
            print_open(target, one, now, named)
            is_first = False
    for one_duty in duties:
        if not is_first:
            target.print()
        print_duty(target, situation, one_duty, named)
        is_first = False
    ended = [one for one in found if one.how is not None]
    if is_first:
        target.print("nothing waits for an admin", style="dim")
    if ended:
        target.print()
        print_ended(target, ended)


def raised(named: Path) -> tuple[list[Raised], Situation]:
    """Return all escalations of a log in their order, and how the society stands."""
    from moot.cli.situation import Situation

    entries: dict[str, Raised] = {}
    situation = Situation.of(named, watch=lambda env, fx, docket: _take(entries, env, fx, docket))
    for state in situation.docket.cases.values():
        if state.case_id in entries:
            _recur(entries[state.case_id], situation.docket)
    for obligation in situation.docket.open.values():
        if obligation.step in ("answer", "expire") and obligation.case_id in entries:
            entries[obligation.case_id].due_at = obligation.due_at
    return [*entries.values()], situation


def persons_duties(situation: Situation) -> list[Obligation]:
    """Return what people owe besides answers to escalations: cases of protocols ask for it (R-G16)."""
    from moot.protocols.escalation.messages import is_case_duty

    return [o for o in situation.owed() if is_case_duty(o.seat, o.expects)]


def duty_json(situation: Situation, duty: Obligation) -> dict[str, Any]:
    """Return a person's duty as plain data."""
    from moot.protocols.kernel.duties import context_and_silence

    context, silence = context_and_silence(situation.docket, duty)
    told = {"state": "open", "kind": "duty", **situation.obligation_json(duty)}
    return {**told, "context": context, "silence": silence}


def print_duty(target: Console, situation: Situation, duty: Obligation, named: Path) -> None:
    """Print what a person owes: its context, the time that is left, and how to answer."""
    from rich.text import Text

    from moot.channels.showing import duties
    from moot.channels.showing.person_duties import acts_for, answers_by, case_field, context_lines
    from moot.channels.showing.wording import clean, seat_name, words
    from moot.protocols.kernel.duties import context_and_silence

    context, silence = context_and_silence(situation.docket, duty)
    target.print(Text.assemble((clean(duties.owed(duty.id)), "bold"), f"  {duty.case_id}"))
    rows = [("owed by", seat_name(duty.seat)), *context_lines(context)]
    if silence:
        left = situation.docket.deadlines.void_at(duty) - (situation.now or duty.opened_at)
        then = words(silence)
        rows.append(
            ("left", f"{duration(left)}, then {then}" if left > timedelta(0) else f"none: {then} follows")
        )
    place = shown(named)
    for act in acts_for(duty.expects):
        given = f"moot act {place} {act.name} {case_field(act)}={duty.case_id}"
        answers = [f"{name}={_said(value)}" for one in answers_by(act) for name, value in one.fields.items()]
        blanks = [f"{one.name}=…" for one in act.asks if case_field(act) not in (one.name, one.becomes)]
        rows.append(("answer", " ".join([given, "|".join(answers) if answers else " ".join(blanks)])))
    if not acts_for(duty.expects):
        rows.append(("answer", f"moot answer {place} {duty.id} --body FILE"))
    for name, text in rows:
        print_hanging(target, Text(f"  {name:<{MARGIN}} ", "dim"), Text(clean(text, 2_000)), MARGIN + 3)


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def known(log: Log) -> Sequence[str]:
    """Return the ids of all escalations of a log, without folding it."""
    return [env.body.escalation_id for env in log.envelopes(having=[key("type", "ESCALATION")])]  # type: ignore[attr-defined]


def _recur(one: Raised, docket: Docket) -> None:
    """Read from the watch how often its trigger came up again; it knows of the last escalation of each (R-E3)."""
    watched = docket.context.fold_named("watch").watched[one.body.trigger_code, one.body.subject]
    one.recurred, one.occurrences = watched.recurred, watched.occurrences


def _take(entries: dict[str, Raised], env: Envelope, fx: Any, docket: Docket) -> None:
    from moot.protocols.escalation import messages
    from moot.protocols.escalation.case import EscalationState

    body = env.body
    if isinstance(body, messages.Escalation):
        if fx.is_in_effect:
            entries[body.escalation_id] = Raised(env, body)
    elif fx.violation is None and not fx.superseded and env.case_id in entries:
        one = entries[env.case_id]
        if isinstance(body, messages.EscalationPaged):
            if body.added:
                one.added.append(body.added)
            else:
                one.pages = body.n
        elif isinstance(body, messages.EscalationAck):
            one.acknowledged_by = env.actor.user_id
        elif isinstance(body, messages.EscalationAnswer):
            one.answer = {"option": body.option, "text": body.text, "by": env.actor.user_id}
        elif isinstance(body, messages.EscalationResolved):
            one.by = body.by
    for state in fx.ended:
        if isinstance(state, EscalationState) and state.case_id in entries:
            one = entries[state.case_id]
            one.how, one.effect, one.ended_at = state.outcome, state.effect, env.sent_at
            _recur(one, docket)


def print_open(target: Console, one: Raised, now: datetime | None, named: Path) -> None:
    """Print an open escalation with its options and how to answer."""
    from rich.text import Text

    from moot.channels.showing.wording import clean, derived, spoken

    body, left = one.body, one.remaining(now)
    target.print(
        Text.assemble(
            (body.level.replace("_", " "), LEVEL_STYLES.get(body.level, "bold")),
            (f"  {one.escalation_id}", "bold"),
            (f"  raised {clock_time(one.envelope.sent_at)} UTC, message {one.envelope.seq}", "dim"),
        )
    )
    rows = [("trigger", clean(derived(body.trigger))), ("context", clean(spoken(body.context), 1000))]
    rows += [("and", clean(spoken(text), 1000)) for text in one.added]
    if one.recurred:
        rows.append(("again", f"{plural(one.recurred, 'time')} since, last in message {one.occurrences[-1]}"))
    if one.acknowledged_by:
        rows.append(("seen", f"by {one.acknowledged_by}"))
    if one.answer is not None:
        rows.append(("answered", f"by {one.answer['by']}"))
    elif left is not None:
        n = body.default_option.n
        rows.append(
            (
                "left",
                f"{duration(left)}, then option {n}" if left > timedelta(0) else f"none: option {n} follows",
            )
        )
    for option in body.options:
        rows.append((f"option {option.n}", clean(option.label)))
    if one.answer is None:
        numbers = "|".join(str(option.n) for option in body.options)
        rows.append(("answer", f"moot reply {shown(named)} {one.escalation_id} {numbers}|TEXT"))
    for name, text in rows:
        if text:
            print_hanging(target, Text(f"  {name:<{MARGIN}} ", "dim"), Text(text), MARGIN + 3)


def print_ended(target: Console, ended: Sequence[Raised]) -> None:
    """Print how escalations ended, the latest last."""
    from moot.channels.showing.wording import EFFECTS, clean, derived, words

    if len(ended) > LATELY:
        target.print(heading("Ended", f"{plural(len(ended), 'escalation')}, the last {LATELY} of them"))
    rows = []
    for one in ended[-LATELY:]:
        how = f"{one.how} by {one.by}" if one.how == "answered" and one.by else one.how or ""
        at = clock_time(one.ended_at) if one.ended_at else ""
        again = f" (again {plural(one.recurred, 'time')})" if one.recurred else ""
        effect = EFFECTS.get(one.effect or "", words(one.effect or ""))
        rows.append(Row((at, one.escalation_id, how, effect, clean(derived(one.body.trigger)) + again)))
    print_rows(
        target, ("ended", "escalation", "how", "effect", "trigger"), rows, fold="effect", below="trigger"
    )
