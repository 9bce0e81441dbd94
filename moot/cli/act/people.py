"""`moot post`, `ack`, `reply`, `override`, `take`, `release`, `stop`: what a person may do in a society."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from moot.cli.act.acts import act, perform
from moot.cli.act.authority import As, require_admin, seat_of, user_of
from moot.cli.app import command
from moot.cli.errors import Refused, Unusable
from moot.cli.look.escalations import known
from moot.cli.place import AsJson, Living, runner, shown
from moot.cli.reading import Log, key

if TYPE_CHECKING:
    from moot.protocols.kernel.message import Message

Body = TypeVar("Body", bound="Message")

EscalationId = Annotated[str, typer.Argument(metavar="ESCALATION", help="Its id, or last.")]
SeatName = Annotated[str, typer.Argument(metavar="SEAT", help="A seat that a bot fills, such as critic.")]


@command(
    "moot post ./moot-data a-arena 'Mind the gap in June.'",
    "moot post ./moot-data bridge 'Seen.' --about hyp_20260223_1030 --as ann",
)
def post(
    named: Living,
    channel: Annotated[str, typer.Argument(metavar="CHANNEL", help="Where; # may be left out.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What you say.")],
    about: Annotated[
        str | None,
        typer.Option("--about", metavar="CASE", help="The case it is about, or the beginning of its id."),
    ] = None,
    as_user: As = None,
    as_json: AsJson = False,
) -> int:
    """Say something; every mind that reads the channel sees it from then on.

    Where no society runs it waits for the next one.
    """
    from moot.cli.look.case import full_id
    from moot.protocols.kernel.people import Note

    _check_words(text)
    user, log = user_of(as_user), Log(named)
    place = channel if channel.startswith("#") else f"#{channel}"
    case_id = None if about is None else full_id(log, about)
    body = made(Note, text=said(text, "TEXT"), about_case_id=case_id)
    draft = act(user, seat_of(user, log), place, body)
    return perform(log, draft, as_json=as_json, done=f"noted in {place}")


@command("moot ack ./moot-data esc_20260223_1440", "moot ack ./moot-data last")
def ack(named: Living, escalation: EscalationId, as_user: As = None, as_json: AsJson = False) -> int:
    """Say that you have seen an escalation: it pages no more, its time runs on."""
    from moot.protocols.escalation.messages import EscalationAck

    user, log = user_of(as_user), Log(named)
    escalation_id = _escalation(log, escalation)
    body = made(EscalationAck, escalation_id=escalation_id)
    draft = act(user, seat_of(user, log), "#admin", body, case_id=escalation_id)
    return perform(log, draft, as_json=as_json, done=f"{escalation_id} seen")


@command(
    "moot reply ./moot-data esc_20260223_1440 2",
    "moot reply ./moot-data last 'Leave it, I am looking into the data.'",
)
def reply(
    named: Living,
    escalation: EscalationId,
    answer: Annotated[str, typer.Argument(metavar="OPTION|TEXT", help="An option's number, or words.")],
    as_user: As = None,
    as_json: AsJson = False,
) -> int:
    """Answer an escalation: with one of its options, or in words that every mind then sees.

    Either ends it; words choose no option, not even the first.
    """
    from moot.protocols.escalation.messages import EscalationAnswer

    user, log = user_of(as_user), Log(named)
    escalation_id = _escalation(log, escalation)
    option = _option(log, escalation_id, answer)
    body = made(
        EscalationAnswer,
        escalation_id=escalation_id,
        option=option,
        text=None if option is not None else said(answer, "TEXT"),
    )
    draft = act(user, seat_of(user, log), "#admin", body, case_id=escalation_id)
    how = "" if option is not None else " in own words, which end it and choose no option"
    return perform(log, draft, as_json=as_json, done=f"{escalation_id} answered{how}")


@command("moot override ./moot-data hyp_20260223_1030 REJECT --why 'bad data'")
def override(
    named: Living,
    case: Annotated[str, typer.Argument(metavar="CASE", help="A debate, or the beginning of its id.")],
    verdict: Annotated[str, typer.Argument(metavar="VERDICT", help="APPROVE or REJECT.")],
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="Your reason; it stands in the log.")],
    as_user: As = None,
    as_json: AsJson = False,
) -> int:
    """Decide a debate over its seats' heads; one that has ended is taken up again in a linked case."""
    from moot.cli.look.case import full_id
    from moot.protocols.kernel.people import Override

    user, log = user_of(as_user), Log(named)
    if verdict.upper() not in ("APPROVE", "REJECT"):
        raise Unusable(f"a verdict is APPROVE or REJECT, not {verdict!r}")
    case_id = full_id(log, case)
    opener = next(log.envelopes(having=[key("case_id", case_id)]), None)
    channel = opener.channel if opener is not None else "#a-arena"
    body = made(Override, case_id=case_id, verdict=verdict.upper(), why=said(why, "--why"))
    draft = act(user, seat_of(user, log), channel, body, case_id=case_id)
    return perform(log, draft, as_json=as_json, done=f"{case_id} overridden: {verdict.upper()}")


@command("moot take ./moot-data critic", "moot take ./moot-data evolver --as ann")
def take(named: Living, seat: SeatName, as_user: As = None, as_json: AsJson = False) -> int:
    """Sit in a bot's seat: from then on you owe what it owes, see moot obligations and moot answer."""
    from moot.protocols.kernel.people import SeatTaken

    user, log = user_of(as_user), Log(named)
    name = seat_named(seat)
    body = made(SeatTaken, seat=name, user_id=user, reason="asked for on the command line")
    draft = act(user, seat_of(user, log), "#admin", body)
    return perform(log, draft, as_json=as_json, done=f"{user} sits in the seat of the {name}")


@command("moot release ./moot-data critic")
def release(named: Living, seat: SeatName, as_user: As = None, as_json: AsJson = False) -> int:
    """Give a seat back to its bot."""
    from moot.protocols.kernel.people import SeatReleased

    user, log = user_of(as_user), Log(named)
    name = seat_named(seat)
    body = made(SeatReleased, seat=name, user_id=user, reason="asked for on the command line")
    draft = act(user, seat_of(user, log), "#admin", body)
    return perform(log, draft, as_json=as_json, done=f"the seat of the {name} is its bot's again")


@command(
    "moot stop ./moot-data --why 'going home'",
    "moot stop ./moot-data --scope A --why 'wrong prices'",
    "moot stop ./moot-data --scope hyp_20260223_1030 --why 'a duplicate'",
    "moot stop ./moot-data --scope exp_20260223T103000Z_ab12cd --why 'it is clear'",
)
def stop(
    named: Living,
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="Your reason; it stands in the log.")],
    scope: Annotated[
        str, typer.Option("--scope", metavar="S", help="society, A, B, or a case.", show_default="society")
    ] = "society",
    as_user: As = None,
    as_json: AsJson = False,
) -> int:
    """Stop the society, one of its systems, or a case; no bot can hold up a stop.

    A system that is stopped opens no cases until the society is started again.
    """
    from moot.cli.look.case import full_id
    from moot.protocols.kernel.people import Stop

    user = user_of(as_user)
    log = require_admin(user, named, "stop it")
    if runner(log.path.parent) is None:
        raise Refused(f"no society runs on {shown(log.path.parent)}: there is nothing to stop")
    fixed = {"society": "society", "a": "system A", "b": "system B"}
    asked = scope.lower().removeprefix("system").strip()
    what = fixed.get(asked) or full_id(log, scope)
    done = f"{what} stops"
    if what in (fixed["a"], fixed["b"]):
        before = _stopped_by(log, what)
        stops = f"was stopped by message {before} already, which holds" if before else "stops"
        done = f"{what} {stops} until the society is started again"
    draft = act(user, seat_of(user, log), "#admin", made(Stop, scope=what, why=said(why, "--why")))
    return perform(log, draft, as_json=as_json, done=done)


def _stopped_by(log: Log, system: str) -> int:
    """Return the message that stopped a system since the society was last started; 0 when none did."""
    from moot.channels.log.lines import seq_of
    from moot.protocols.kernel.people import Stop
    from moot.protocols.kernel.stop import SYSTEMS

    started = log.newest(key("type", "SOCIETY_STARTED"))
    for env in log.envelopes(seq_of(started) if started else 1, having=[key("type", "STOP")]):
        if isinstance(env.body, Stop) and SYSTEMS.get(env.body.scope.lower()) == SYSTEMS[system.lower()]:
            return env.seq
    return 0


def made(model: type[Body], **fields: Any) -> Body:
    """Make a message of what the user wrote.

    Raises:
        Unusable: A field is not what the message takes.
    """
    from pydantic import ValidationError

    from moot.protocols.kernel.faults import line

    try:
        return model(**fields)
    except ValidationError as exc:
        raise Unusable(line(exc, "the message")) from exc


def said(text: str, name: str) -> str:
    """Return a text that the user wrote, if it says something.

    Raises:
        Unusable: It is blank.
    """
    from unicodedata import category

    # Blanks, controls and what only steers other characters show nobody anything.
    if all(category(char)[0] in "ZC" for char in text):
        raise Unusable(f"{name} is empty: say something")
    return text


def _check_words(text: str) -> None:
    """Refuse a command of chat, which would be said and not done.

    Raises:
        Unusable: It is one.
    """
    from moot.channels.chat.commands import commands

    first = text.split(maxsplit=1)[:1]
    for one in commands():
        if first == [f"/{one.name}"]:
            instead = (
                f"moot act DIR {one.name} does it" if one.act is not None else "moot --help tells how to ask"
            )
            raise Unusable(f"TEXT is a command, /{one.name}, and would only be noted: {instead}")


def seat_named(name: str) -> str:
    """Return the name of a seat that a person can take.

    Raises:
        Unusable: There is none of that name.
    """
    from difflib import get_close_matches

    from moot.protocols.rulebook import rulebook

    if name.lower() in rulebook().bots:
        return name.lower()
    near = [] if name.lower() in rulebook().seats else get_close_matches(name.lower(), [*rulebook().bots], 1)
    hint = f"did you mean {near[0]}? Else " if near else ""
    known = ", ".join(sorted(rulebook().bots))
    raise Unusable(f"there is no seat {name!r} that a person can take: {hint}choose one of {known}")


def _option(log: Log, escalation_id: str, answer: str) -> int | None:
    """Return the number of the option that an answer names; None when it is words.

    Raises:
        Unusable: It is a number, but of no option.
    """
    if not (answer.isascii() and answer.strip().isdigit()):
        return None
    having = [key("type", "ESCALATION"), key("escalation_id", escalation_id)]
    raised: Any = next(log.envelopes(having=having)).body
    numbers: dict[str, int] = {str(option.n): option.n for option in raised.options}
    chosen = numbers.get(answer.strip())
    if chosen is None:
        known = f"choose {', '.join(numbers)}, or write words" if numbers else "it offers none, write words"
        raise Unusable(f"there is no option {answer.strip()[:20]}: {known}")
    return chosen


def _escalation(log: Log, given: str) -> str:
    """Return the id of an escalation that the log knows."""
    ids = known(log)
    if not ids:
        raise Unusable(f"nothing was ever escalated in {shown(log.path.parent)}")
    if given == "last":
        return ids[-1]
    found = [one for one in ids if one == given] or [one for one in ids if one.startswith(given)]
    if len(found) == 1:
        return found[0]
    if found:
        raise Unusable(f"{len(found)} escalations begin with {given}: {', '.join(found[:3])}")
    raise Unusable(f"there is no escalation {given}: moot escalations {shown(log.path.parent)} lists them")
