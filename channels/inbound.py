"""What people do on a platform, as typed drafts with platform and user id.

Pure mapping. The edge translates here, once: inside there are only drafts. Whether the person may do it is
not judged here: the author is what the authority matrix says they are, and admission refuses the rest, so
that a refusal stands in the log (R-E5).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from moot.channels.surface import InboundAct
from moot.protocols.arena.messages import ArenaTask
from moot.protocols.arena.rights import PLACE
from moot.protocols.escalation.messages import EscalationAck, EscalationAnswer
from moot.protocols.kernel.envelope import Actor, Draft
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.naming import display_name
from moot.protocols.kernel.people import Note, Override, SeatReleased, SeatTaken, Stop
from moot.protocols.kernel.seats import Seat
from moot.protocols.trading.messages import Halt, Resume

Authority = Callable[[str, str], Seat]
"""(platform, user id) to what they are: `ADMIN` or `VIEWER`."""

Bodies = Mapping[str, type[Message]]
"""Act kind to the message it becomes."""

TITLE_WORDS: Final = 6
TITLE_LENGTH: Final = 60
"""How much of its prompt names a task to which nobody gave a name."""

BODIES: Final[Bodies] = {
    "note": Note,
    "ack": EscalationAck,
    "answer": EscalationAnswer,
    "override": Override,
    "take": SeatTaken,
    "release": SeatReleased,
    "stop": Stop,
    "halt": Halt,
    "resume": Resume,
    "arena": ArenaTask,
}
"""What people can do; the case of a `halt` and a `resume` is filled in at the society's door."""

ADMIN_CHANNEL: Final = "#admin"

CHANNELS: Final[Mapping[str, str]] = {
    "ack": ADMIN_CHANNEL,
    "answer": ADMIN_CHANNEL,
    "take": ADMIN_CHANNEL,
    "release": ADMIN_CHANNEL,
    "stop": ADMIN_CHANNEL,
    "halt": "#b-risk",
    "resume": "#b-ops",
    "arena": PLACE,
}
"""Where an act belongs, whatever channel it was done in; the others stay where they were said."""

MOST_KEY: Final = 300
"""Characters of the id of what a person did, with the platform and the person before it."""


def key_of(act: InboundAct) -> str:
    """Return the idempotency key: the platform, the person and the platform's message id (K1).

    Raises:
        Malformed: The platform's message id is empty, or longer than an id may be.
    """
    key = Actor("human", act.platform, act.user_id).own(act.platform_message_id)
    if not act.platform_message_id or len(key) > MOST_KEY:
        raise Malformed("K1", "the platform's message id is no id", field="platform_message_id")
    return key


def draft_of(
    act: InboundAct,
    seat: Seat,
    *,
    about_case_id: str | None = None,
    case_channel: str | None = None,
    bodies: Bodies = BODIES,
) -> Draft:
    """Turn an act into the draft that says it.

    Args:
        act: What the person did; a `command` must have been read before.
        seat: What the person is: admin or viewer.
        about_case_id: The case of the thread it was said in.
        case_channel: The channel of the case that an override names.
        bodies: The message classes by kind.

    Raises:
        Malformed: The fields do not make this message; says which and why.
    """
    if not act.user_id:
        raise Malformed("R-E5", "nobody knows who did this", field="user_id")
    model = bodies.get(act.kind)
    if model is None:
        raise Malformed("K1", f"nobody can {act.kind} in this society", field="kind")
    fields = dict(act.fields)
    if act.kind == "note" and about_case_id is not None:
        fields.setdefault("about_case_id", about_case_id)
    if act.kind in ("take", "release"):
        fields["user_id"] = act.user_id
        fields["reason"] = fields.get("reason") or f"asked for on {act.platform}"
    if act.kind in ("halt", "resume") and "by" in model.model_fields:
        fields["by"] = act.user_id
    if act.kind == "arena":
        fields = _run(fields, key_of(act))
    channel = CHANNELS.get(act.kind, act.channel)
    if act.kind == "override" and case_channel is not None:
        channel = case_channel
    return Draft(
        channel=channel,
        author=seat,
        actor=Actor("human", act.platform, act.user_id),
        body=_body(model, fields),
        case_id=_case_id(act.kind, fields),
        key=key_of(act),
        display_name=display_name(act.user_name, act.user_id),
    )


def _run(fields: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Name what a person left out: the task after its first words, the session after the act.

    No notebook is consulted unless one is named.
    """
    task = fields.get("task")
    if not isinstance(task, Mapping):
        raise Malformed("4.2", "a task is a JSON object", field="task")
    given: dict[str, Any] = {"task_id": _title(str(task.get("initial_prompt", ""))) or key, "session_id": key}
    return {"config": {"notebook_enabled": "notebook" in fields}, **fields, "task": {**given, **task}}


def _title(prompt: str) -> str:
    """Return the first words of a prompt, as a name that people recognise: `plan-the-widget`."""
    words = re.findall(r"\w+", prompt.lower())
    title = ""
    for word in words[:TITLE_WORDS]:
        if len(title) + len(word) >= TITLE_LENGTH:
            break
        title += f"-{word}" if title else word
    return title


def _body(model: type[Message], fields: Mapping[str, Any]) -> Message:
    try:
        return model.model_validate({"type": model.model_fields["type"].default, **fields})
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or None
        raise Malformed("K1", _why(first), field=field) from exc


def _why(error: ErrorDetails) -> str:
    if error["type"] == "string_too_long":
        most, has = error["ctx"]["max_length"], len(error["input"])
        return f"at most {most:,} characters, this has {has:,}: say it in parts"
    return error["msg"]


def _case_id(kind: str, fields: Mapping[str, object]) -> str | None:
    name = {"note": "about_case_id", "override": "case_id"}.get(kind, "escalation_id")
    value = fields.get(name)
    return value if isinstance(value, str) and value else None
