"""Context shown beside the form of an act: the case that it is about, or the state of the society."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlencode

from moot.channels.showing import duties
from moot.channels.showing.person_duties import context_lines
from moot.channels.showing.wording import clean, ended, seat_name, words
from moot.console.errors import ConsoleError
from moot.console.model.interface import CaseView, ObligationView, Person, ReadModel
from moot.console.page import views
from moot.console.page.cards import card_of
from moot.console.page.figures_parts import dollars
from moot.console.page.titles import kind_name, opener_of, title_of, unnumbered
from moot.protocols.kernel.acts import Act, Blank
from moot.protocols.kernel.machine import Machine
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.steps import STOP
from moot.protocols.rulebook import rulebook

Json = dict[str, Any]

HARMLESS: Final = frozenset({"note", "ack"})
"""Acts that decide nothing."""

MAX_MESSAGES: Final = 4
"""Last messages of a case beside a form."""

MAX_CASES: Final = 12
"""Open cases that a form offers to choose from."""


def case_blank(act: Act) -> Blank | None:
    """Return the blank of an act that takes the id of a case, None for none."""
    takes = "scope" if act.message is Stop else act.about or act.message.case_field
    if act.type in {opener for machine in rulebook().types.values() for opener in machine.openers}:
        takes = act.about
    return next((blank for blank in act.asks if takes and blank.becomes == takes), None)


def is_final(act: Act) -> bool:
    """Return True if an act asks for confirmation: it decides or changes something, and is not just a question.

    An act that opens a case of its own, such as a motion, is one; a halt opens a case too, but stands out in the log.
    """
    opens = any(act.type in machine.openers for machine in rulebook().types.values())
    only_asks = opens and case_blank(act) is None and act.type not in rulebook().marks
    return act.name not in HARMLESS and not only_asks


def fits(act: Act, kind: str) -> bool:
    """Return True if cases of a kind know the message of an act."""
    machine = rulebook().types.get(kind)
    if machine is None or case_blank(act) is None:
        return False
    if act.message is Stop:
        return STOP in machine.rulings
    return any(act.message is known for known in _known(machine))


def _known(machine: Machine) -> Iterator[type]:
    for step in machine.steps.values():
        yield from step.moves
    yield from (message for _phase, message in machine.facts)


def links_of(model: ReadModel, person: Person, case: CaseView) -> list[Json]:
    """Return links to the acts that this person may do in an open case, each form filled in with the case."""
    if case.outcome is not None or model.is_past:
        return []
    channel = case.transcript[0].channel if case.transcript else "#admin"
    shown = [act for act in rulebook().acts.values() if fits(act, case.kind)]
    return [
        {
            "label": f"{act.does[:1].upper()}{act.does[1:]} …"
            if act.message is not Stop
            else "Stop this case …",
            "go": act_path(act, case.case_id),
        }
        for act in shown
        # An escalation has its answers as buttons on the same page.
        if case.kind != "escalation" and not model.why_not(person, act.name, channel)
    ]


def act_path(act: Act, case_id: str) -> str:
    """Return the address of the form of an act that is filled in with a case."""
    return f"/act/{act.name}?{urlencode({'case': case_id})}"


async def context_of(model: ReadModel, act: Act, case_id: str) -> Json:
    """Return what is shown beside the form of an act, and what asks for its confirmation."""
    blank = case_blank(act)
    found: Json = {
        "given": {},
        "confirm": f"{act.does[:1].upper()}{act.does[1:]}?" if is_final(act) else "",
        "about_case": None,
        "facts": [],
        "choices": [],
    }
    if case_id:
        case = await model.case(case_id)
        found["about_case"] = await summary_of(model, case)
        owed = [one for one in case.obligations if one.is_persons and act.type in one.expects]
        found["facts"] = [fact for one in owed for fact in facts_of(one)]
        if blank is not None:
            found["given"] = {blank.name: case_id}
            if act.message is Stop:
                found["confirm"] = "Stop this case?"
        return found
    found["facts"] = await _standing(model, act)
    if blank is not None:
        found["choices"] = await _choices(model, act)
    return found


async def summary_of(model: ReadModel, case: CaseView) -> Json:
    """Return a case as a form shows it: its title, where it stands, who owes what, and what was said last."""
    opener = await opener_of(model, case.case_id)
    who = model.speakers()
    stands = f"ended: {clean(ended(case.outcome), 80)}" if case.outcome else f"open: {words(case.phase)}"
    options: list[Json] = []
    if case.kind == "escalation":
        raised = next((e for e in await model.escalations() if e.escalation_id == case.case_id), None)
        options = views.raised_of(raised)["options"] if raised is not None else []
    return {
        "id": case.case_id,
        "title": title_of(opener, case.case_id),
        "kind": kind_name(case.kind),
        "stands": stands,
        "opened": card_of(opener, who) if opener is not None else None,
        "owed": [
            f"{seat_name(str(one.seat))}: {clean(duties.owed(one.id, one.position), 120)}"
            for one in case.obligations
            if one.closed_seq is None
        ],
        "options": [f"{one['n']}. {one['label']}" for one in options],
        "said": [
            card_of(env, who)
            for env in case.transcript[-MAX_MESSAGES:]
            if opener is None or env.seq != opener.seq
        ],
    }


def facts_of(duty: ObligationView) -> list[list[str]]:
    """Return what a person is shown of a duty, and what silence leads to (R-G16)."""
    facts = [[name, text] for name, text in context_lines(duty.context)]
    if duty.silence:
        facts.append(["without an answer", f"{words(duty.silence)} at {duty.void_at:%d %b %H:%M} UTC"])
    return facts


async def _standing(model: ReadModel, act: Act) -> list[list[str]]:
    """Return how the society stands, as far as it matters for an act."""
    try:
        standing = await model.standing()
        halt = await views.halt_of(model)
    except ConsoleError as exc:
        return [["not known yet", clean(str(exc), 200)]]
    found: list[list[str]] = []
    if act.name in ("halt", "resume", "stop"):
        trading = f"halted by {halt['by']}: {halt['why'] or 'no reason given'}" if halt else "allowed"
        found.append(["trading", trading])
        if standing.desk:
            found.append(["equity", dollars(standing.desk.get("equity"))])
            held = ", ".join(f"{one.get('quantity')} {one.get('symbol')}" for one in standing.positions[:8])
            found.append(["positions", clean(held, 300) or "none"])
    if act.name == "resume":
        found.append(
            ["System A", "conservative until you resume" if standing.is_conservative else "as usual"]
        )
    if act.name == "stop":
        found.append(["stopped already", ", ".join(standing.stopped) or "nothing"])
        open_cases = ", ".join(f"{n} × {kind_name(kind)}" for kind, n in sorted(standing.cases.items()))
        found.append(["open cases", open_cases or "none"])
    if any(blank.is_seat for blank in act.asks):
        holders = [
            f"{seat_name(str(Seat(seat)))}: {clean(who, 60)}" for seat, who in standing.holders.items()
        ]
        found.append(["people in seats", ", ".join(holders) or "none: bots fill all seats"])
    if act.name == "budget" and model.calls.may_be_seen:
        gauges = model.calls.gauges()
        found.append(["budgets now", f"{len(gauges)} in force" if gauges else "none"])
    return found


async def _choices(model: ReadModel, act: Act) -> list[Json]:
    """Return the open cases that an act can be about, newest first, each with the address of its form."""
    try:
        cases = [one for one in model.docket().cases.values() if fits(act, one.kind)]
    except ConsoleError:
        return []
    found = []
    for state in sorted(cases, key=lambda one: -one.opened_seq)[:MAX_CASES]:
        opener = await opener_of(model, state.case_id)
        if opener is None:
            continue
        found.append(
            {
                "id": state.case_id,
                "title": unnumbered(title_of(opener, state.case_id)),
                "kind": kind_name(state.kind),
                "phase": words(str(state.phase)),
                "go": act_path(act, state.case_id),
            }
        )
    return found
