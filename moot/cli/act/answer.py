"""`moot answer`: a person who sits in a seat answers what the seat owes (K14)."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from moot.cli.act.acts import actor_of, perform
from moot.cli.act.authority import As, seat_of, user_of
from moot.cli.app import command
from moot.cli.errors import Refused, Unusable
from moot.cli.output import write_json
from moot.cli.place import AsJson, Living, shown
from moot.cli.reading import Log, fold

if TYPE_CHECKING:
    from moot.protocols.kernel.docket import Docket, Effects
    from moot.protocols.kernel.envelope import Draft, Envelope
    from moot.protocols.kernel.message import Message
    from moot.protocols.kernel.obligation import Obligation


@command(
    "moot answer ./moot-data hyp_20260223_1030/verdict/evolver --schema",
    "moot answer ./moot-data hyp_20260223_1030/verdict/evolver --body v.json",
    "moot answer ./moot-data hyp_20260223_1030/verdict --body - < v.json",
)
def answer(
    named: Living,
    obligation: Annotated[str, typer.Argument(metavar="OBLIGATION", help="Its id, or the beginning of it.")],
    body: Annotated[
        str | None, typer.Option("--body", metavar="FILE|-", help="The message as JSON; - reads the input.")
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of what is owed, and answer nothing.")
    ] = False,
    as_user: As = None,
    as_json: AsJson = False,
) -> int:
    """Answer what a seat owes while you sit in it; moot take puts you there. An admin answers what admins owe.

    The type may be left out where only one is expected. A message that is not what is owed is not sent.
    """
    user, log = user_of(as_user), Log(named)
    past = Past()
    docket = fold(log, watch=past.take)
    owed = _owed(docket, past, obligation, log)
    if schema:
        write_json({kind: _model(kind).model_json_schema() for kind in owed.expects})
        return 0
    _check_holder(docket, owed, user, named, log)
    if body is None:
        raise Unusable("--body FILE is missing: --schema shows what it must hold")
    message = read_body(_text(body), owed)
    draft = _draft(docket, owed, message, user, past.attempts.get(owed.id, 0))
    return perform(log, draft, as_json=as_json, done=f"{message.type} given")


@dataclass(slots=True)
class Past:
    """What the log says of obligations that are closed.

    Attributes:
        voided: Those whose seat was ruled silent; a late answer is kept in the log and changes nothing (K5).
        answered: Seqs of the answers that settled one.
        attempts: Answers that broke a rule, by obligation (K1).
    """

    voided: dict[str, Obligation] = field(default_factory=dict)
    answered: dict[str, int] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)

    def take(self, env: Envelope, fx: Effects, _docket: Docket) -> None:
        """Take in one message."""
        if fx.voided is not None:
            self.voided[fx.voided.id] = fx.voided
        if fx.settled is not None:
            self.answered[fx.settled.id] = env.seq
        if fx.violation is not None and env.obligation_id is not None:
            self.attempts[env.obligation_id] = self.attempts.get(env.obligation_id, 0) + 1


def read_body(text: str, owed: Obligation) -> Message:
    """Read the message that a person wrote.

    Raises:
        Unusable: It is none, or not what is owed; the field is named.
    """
    from moot.protocols.codec import decode_body
    from moot.protocols.kernel.errors import Malformed

    try:
        value = json.loads(text)
    except ValueError as exc:
        raise Unusable(f"the body is not JSON: {exc}") from exc
    if not isinstance(value, dict):
        raise Unusable("the body is no JSON object")
    if "type" not in value and len(owed.expects) == 1:
        value["type"] = owed.expects[0]
    if value.get("type") not in owed.expects:
        given = f"{value['type']} is not" if "type" in value else "type: name"
        raise Unusable(f"{given} what is owed: {' or '.join(owed.expects)}")
    try:
        return decode_body(json.dumps(value))
    except Malformed as exc:
        raise Unusable(f"{value['type']}: {exc.field}: {exc.why}{_more(value)}") from exc


def _more(value: dict[str, Any]) -> str:
    """Count what else is wrong, so that a person need not find out one by one."""
    from pydantic import ValidationError

    try:
        _model(value["type"]).model_validate_json(json.dumps(value))
    except ValidationError as exc:
        others = [".".join(str(part) for part in error["loc"]) for error in exc.errors(include_url=False)[1:]]
        return f"; and {', '.join(others[:6])}" + (" …" if len(others) > 6 else "") if others else ""
    return ""


def _model(kind: str) -> type[Message]:
    from moot.protocols.rulebook import rulebook

    return rulebook().messages[kind]


def _text(body: str) -> str:
    try:
        if body == "-":
            return sys.stdin.read()
        return Path(body).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as exc:
        raise Unusable(f"--body {body}: {getattr(exc, 'strerror', None) or exc}") from exc


def _owed(docket: Docket, past: Past, given: str, log: Log) -> Obligation:
    found = [docket.open[given]] if given in docket.open else []
    found = found or [o for o in docket.open.values() if o.id.startswith(given)]
    if len(found) > 1:
        raise Unusable(f"{len(found)} obligations begin with {given}: {', '.join(o.id for o in found[:3])}")
    if found:
        return found[0]
    case_id = given.split("/", 1)[0]
    if given in past.voided and case_id in docket.cases:
        return past.voided[given]
    if given in past.answered:
        raise Refused(f"{given} was answered by message {past.answered[given]}")
    if case_id in docket.ended:
        raise Refused(f"{case_id} has ended ({docket.ended[case_id].outcome}): it owes nothing any more")
    raise Unusable(
        f"nobody owes {given}, or no longer: moot obligations {shown(log.path.parent)} lists what is owed"
    )


def _check_holder(docket: Docket, owed: Obligation, user: str, named: Path, log: Log) -> None:
    from moot.protocols.escalation.messages import is_case_duty
    from moot.protocols.kernel.seats import PEOPLE
    from moot.protocols.rulebook import rulebook

    holder = docket.context.holders.get(owed.seat)
    if owed.seat in PEOPLE:
        if not is_case_duty(owed.seat, owed.expects):
            raise Refused(f"this is an escalation: moot reply {shown(named)} {owed.case_id} OPTION")
        if (seat := seat_of(user, log)) != owed.seat:
            raise Refused(f"the {owed.seat} owes this, and {user} is a {seat}")
        return
    if owed.seat not in rulebook().bots:
        raise Refused(f"the {owed.seat} is an officer: nobody can answer for it")
    if holder is None:
        raise Refused(f"nobody sits in the seat of the {owed.seat}: moot take {shown(named)} {owed.seat}")
    if holder != (me := actor_of(user)):
        raise Refused(f"{holder.name} sits in the seat of the {owed.seat}, not {me.name}")


def _draft(docket: Docket, owed: Obligation, message: Message, user: str, attempt: int) -> Draft:
    from moot.protocols.kernel.envelope import Draft
    from moot.protocols.rulebook import rulebook

    channel = owed.channel
    if not docket.rules.matrix.may_write(owed.seat, channel, message.type):
        channel = rulebook().channel_of.get(message.type, channel)
    return Draft(
        channel=channel,
        author=owed.seat,
        body=message,
        actor=actor_of(user),
        case_id=None if message.type in docket.rules.openers else owed.case_id,
        obligation_id=owed.id,
        attempt=attempt,
        tenure=docket.context.tenures.get(owed.seat, 0),
    )
