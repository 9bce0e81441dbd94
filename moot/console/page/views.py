"""What the frame of a page shows: channels in groups, the clock, the board; as plain JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote, urlencode

from moot.channels.chat.commands import commands
from moot.channels.showing import duties
from moot.channels.showing.looks import looks
from moot.channels.showing.person_duties import acts_for, answers_by, case_field, context_lines
from moot.channels.showing.rendering import UNKNOWN, Speakers
from moot.channels.showing.wording import clean, derived, seat_name, spoken, words
from moot.console.errors import NotThere
from moot.console.model.calls import CLOSED
from moot.console.model.interface import (
    ChannelView,
    EscalationView,
    ObligationView,
    Person,
    ReadModel,
    SocietyTime,
    Window,
)
from moot.console.page.calls import tightest
from moot.console.page.cards import card_of
from moot.protocols.escalation.triggers import TRIGGERS
from moot.protocols.kernel.acts import Act
from moot.protocols.kernel.minds import MODEL
from moot.protocols.kernel.officers import WAITING
from moot.protocols.kernel.seats import OFFICERS, PEOPLE
from moot.protocols.kernel.times import rfc3339
from moot.protocols.lab.figures import PREFIX
from moot.protocols.rulebook import rulebook
from moot.protocols.trading.book import Book
from moot.protocols.trading.halt import RESUMING
from moot.protocols.trading.seats import GUARDIAN

PAGES: Final = (
    ("/inbox", "Inbox"),
    ("/all", "Everything"),
    ("/acts", "Acts"),
    ("/figures/a", "System A"),
    ("/figures/b", "System B"),
    ("/figures/referee", "Referee"),
    ("/figures/lab", "Experiments"),
    ("/memory", "Memory"),
    ("/calls", "Calls"),
)
"""The console's own pages; the last one is for those who may see calls."""

MOST_OWED: Final = 200
"""Obligations that a page is told of; what is due first comes first."""

HELD: Final = "Time is slowed to 1×: {}."
"""What a page says while accelerated time is slowed down (K8)."""


def pages_for(model: ReadModel) -> list[dict[str, str]]:
    """Return the console's own pages that this person may see."""
    pages = PAGES if model.calls.may_be_seen else PAGES[:-1]
    return [{"path": where, "name": name} for where, name in pages]


def groups_of(channels: Iterable[ChannelView]) -> list[dict[str, Any]]:
    """Return the channels below their headings, in the order in which protocols bring them."""
    found: dict[str, list[dict[str, Any]]] = {}
    for one in channels:
        known = {"name": one.name, "purpose": one.purpose, "last": one.last_seq}
        found.setdefault(one.heading, []).append(known)
    return [{"name": heading, "channels": below} for heading, below in found.items()]


def clock_of(time: SocietyTime) -> dict[str, Any]:
    """Return the society's time as a page counts on from it."""
    is_held = time.is_running and time.reason.startswith(WAITING) and time.speed == 1
    return {
        "at": rfc3339(time.at) if time.at else None,
        "pace": time.pace,
        "speed": time.speed,
        "paused": time.is_paused,
        "running": time.is_running,
        "kind": time.clock,
        "rehearsal": time.is_rehearsal,
        "limit": rfc3339(time.limit) if time.limit else None,
        "held": time.trouble or (HELD.format(clean(time.reason)) if is_held else ""),
    }


def owed_of(
    one: ObligationView, person: Person, models: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Return an obligation."""
    return {
        "id": one.id,
        "case": one.case_id,
        "seat": str(one.seat),
        "name": seat_name(str(one.seat)) + (f" ({clean(one.held_by, 60)})" if one.held_by else ""),
        "held": one.held_by,
        "col": looks()[one.seat].colour if one.seat in looks() else "",
        "model": clean(models.get(one.seat, ""), 120) if one.held_by is None else "",
        "what": clean(duties.owed(one.id, one.position), 120),
        "opened": rfc3339(one.opened_at),
        "due": rfc3339(one.due_at),
        "closed": one.closed_seq,
        "how": one.how,
        "late": one.closed_at is not None and one.is_late(None),
        "mine": one.is_held_by(person) and one.seat in rulebook().bots and one.closed_seq is None,
    }


STAYS: Final[Mapping[str, str]] = {"halt": "trading stays halted", "deployment": "nothing is deployed"}
"""What own words leave as it is, by the code of an escalation's trigger (R-B1, R-B5)."""


def freely_of(one: EscalationView) -> str:
    """Say what an answer in own words does: it ends the escalation, with effect none (R-E2)."""
    stays = STAYS.get(one.code, "nothing is done" if one.code in TRIGGERS else "its case gets no option")
    return (
        "Own words are recorded and end it, but they choose none of these answers, not even the first: "
        f"{stays}. To have one of them done, press it."
    )


def said_of(one: EscalationView) -> str:
    """Say how an escalation ended, or was answered: by whom, with what; "" while nobody answered."""
    if one.state == "expired":
        taken = next((o for o in one.options if o.n == one.default), None)
        label = clean(taken.label, 400) if taken is not None else "nothing"
        which = "the first answer" if one.default == 1 else f"answer {one.default}"
        return f"nobody answered, so {which} was taken: {label}"
    if one.state == "withdrawn":
        return "withdrawn: what it was about has ended"
    if one.state != "answered":
        return ""
    by = f"answered by {clean(one.answered_by or 'an admin', 60)}"
    if isinstance(one.answer, int):
        label = next((o.label for o in one.options if o.n == one.answer), f"option {one.answer}")
        return f"{by}: {clean(label, 400)}"
    return f"{by} in own words, which choose no option: “{clean(one.answer or '', 400)}”"


async def halt_of(model: ReadModel) -> dict[str, Any] | None:
    """Return the halt in force: since when, by whom and why; None while trading goes on.

    Raises:
        ConsoleError: The log has not been read yet, or cannot be.
    """
    docket = model.docket()
    book: Book = docket.context.fold_named("book")
    state = docket.cases.get(book.halt_id) if book.halted else None
    if state is None:
        return None
    since, why = state.anchor_at, ""
    try:
        env = await model.message(state.opened_seq)
    except NotThere:
        by = seat_name(str(getattr(state, "by", GUARDIAN)))
    else:
        body, since = env.body.model_dump(), env.sent_at
        who = env.actor.user_id
        by = (
            model.speakers().names.get(who, who)
            if env.actor.kind == "human"
            else f"the {seat_name(str(env.author))}"
        )
        why = str(body.get("reason") or body.get("message") or "")
    return {
        "id": state.case_id,
        "seq": state.opened_seq,
        "since": rfc3339(since),
        "by": clean(by, 60),
        "why": clean(why, 140),
        "resuming": str(state.phase) == RESUMING,
    }


def raised_of(one: EscalationView) -> dict[str, Any]:
    """Return an escalation."""
    return {
        "id": one.escalation_id,
        "seq": one.seq,
        "level": one.level,
        "trigger": clean(derived(one.trigger), 400),
        "context": clean(spoken(one.context), 4_000),
        "options": [{"n": o.n, "label": clean(o.label, 400), "effect": o.effect} for o in one.options],
        "default": one.default,
        "due": rfc3339(one.answer_by),
        "acked": clean(one.acknowledged_by, 60) if one.acknowledged_by else "",
        "answered": one.state == "answered" and one.ended_at is None,
        "how": "" if one.is_open else one.state,
        "by": clean(one.answered_by, 60) if one.answered_by else "",
        "said": said_of(one),
        "freely": freely_of(one),
        "ended": rfc3339(one.ended_at) if one.ended_at else "",
    }


def duty_of(model: ReadModel, person: Person, one: ObligationView) -> dict[str, Any]:
    """Return a duty of a person: its context, until when there is time, and its answers (R-G16)."""
    acts = acts_for(one.expects)
    may = (
        ""
        if str(person.seat) == str(one.seat)
        else f"only the {one.seat} answers this; you are a {person.seat}"
    )
    if model.is_past:
        may = "this is a past moment"
    return {
        "id": one.id,
        "case": one.case_id,
        "what": clean(duties.owed(one.id, one.position), 120),
        "context": [[name, text] for name, text in context_lines(one.context)],
        "due": rfc3339(one.void_at) if one.silence else "",
        "silence": clean(words(one.silence), 80),
        "answers": [
            {"label": answer.label, "act": answer.act, "values": _values(act, one.case_id, answer.fields)}
            for act in acts
            for answer in answers_by(act)
        ],
        "forms": [
            {
                "label": f"{act.does[:1].upper()}{act.does[1:]} …",
                "go": f"/act/{act.name}?{urlencode({'case': one.case_id})}",
            }
            for act in acts
        ]
        or [{"label": "Answer …", "go": f"/seat/{quote(one.id, safe='')}"}],
        "channel": one.channel,
        "may": may,
    }


def _values(act: Act, case_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the form of an act is filled in with, by its blanks."""
    names = {blank.becomes: blank.name for blank in act.asks}
    given = {case_field(act): case_id, **fields}
    return {names.get(name, name): value for name, value in given.items()}


async def board_of(model: ReadModel, person: Person) -> dict[str, Any]:
    """Return who owes what and what waits for a person, or how far the reading has come.

    The referee's own duties are left out: code never forgets them.
    """
    progress = model.progress()
    if not progress.is_complete:
        return {
            "owed": [],
            "raised": [],
            "duties": [],
            "building": f"{str(progress)[:1].upper()}{str(progress)[1:]}.",
        }
    every = await model.obligations()
    owed = [one for one in every if one.seat not in OFFICERS and one.seat not in PEOPLE]
    models = model_seats(model)
    mine = sorted((owed_of(one, person, models) for one in owed), key=lambda one: not one["mine"])
    raised = [raised_of(one) for one in await model.escalations()]
    return {
        "owed": mine[:MOST_OWED],
        "raised": raised,
        "duties": [duty_of(model, person, one) for one in every if one.is_persons][:MOST_OWED],
        "building": "",
        "halt": await halt_of(model),
        "budget": tightest(model.calls.gauges()) if model.calls.may_be_seen else None,
    }


def model_seats(model: ReadModel) -> dict[str, str]:
    """Name the models that fill seats now, by seat."""
    named = model.speakers().minds.models(model.head)
    return {seat: mind.rpartition(MODEL)[2] for mind, seats in named.items() for seat in seats}


def window_of(
    window: Window, filter_: Mapping[str, str], at: int = 0, who: Speakers = UNKNOWN
) -> dict[str, Any]:
    """Return a stretch of messages."""
    return {
        "filter": dict(filter_),
        "items": [card_of(envelope, who) for envelope in window.envelopes],
        "start": window.before is None,
        "end": window.after is None,
        "at": at,
    }


def commands_for(model: ReadModel, person: Person) -> list[dict[str, Any]]:
    """Return the commands with why this person may not use them, "" where they may."""
    return [
        {
            "name": one.name,
            "usage": one.usage,
            "does": one.does,
            "asks": one.act is None,
            "act": one.act.name if one.act is not None else "",
            "seat": bool(one.blanks) and one.blanks[0].is_seat,
            "may": ""
            if one.act is None or one.act.name == "note"
            else _why_not(
                model, person, one.act.name, f"Only an admin may write /{one.name}; you are a viewer."
            ),
        }
        for one in commands()
    ]


def rights_of(model: ReadModel, person: Person, channels: Sequence[ChannelView]) -> dict[str, Any]:
    """Return why this person may not do what the page offers, "" where they may."""
    return {
        "control": "" if person.is_admin else "only an admin sets the pace",
        "answer": _why_not(model, person, "answer", "Only an admin answers escalations; you are a viewer."),
        "calls": "" if model.calls.may_be_seen else CLOSED,
        "note": {
            one.name: _why_not(
                model, person, "note", f"Viewers do not write in {one.name}; admins do.", one.name
            )
            for one in channels
        },
    }


def _why_not(model: ReadModel, person: Person, kind: str, viewers: str, channel: str = "#admin") -> str:
    """Say why this person may not do something: that no society runs, or what holds for viewers."""
    why = model.why_not(person, kind, channel)
    is_right = why.startswith((f"{person.seat} may not post", "only an admin may"))
    return viewers if is_right and not person.is_admin else why


def seats() -> list[str]:
    """Name the seats that a person may take."""
    return sorted(str(seat) for seat in rulebook().bots)


def case_prefixes() -> list[str]:
    """Say how the ids of cases begin, for a regular expression: as the sequencer counts them, or with the kind."""
    book = rulebook()
    counted = {
        rule.prefix
        for machine in book.types.values()
        for o in machine.openers
        if (rule := book.minted.get(o))
    }
    return sorted(map(re.escape, counted | set(book.types) | {PREFIX}), key=lambda one: (-len(one), one))


def seat_names() -> list[list[str]]:
    """Return every seat with its name, for the search."""
    return [[str(seat), look.name] for seat, look in looks().items()]
