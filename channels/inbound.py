"""What people do on a platform, as typed drafts with platform and user id.

Pure mapping. The edge translates here, once: inside there are only drafts. Whether the person may do it is
not judged here: the author is what the authority matrix says they are, and admission refuses the rest, so
that a refusal stands in the log (R-E5).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import ValidationError

from moot.channels.filling import completed
from moot.channels.surface import InboundAct
from moot.protocols.kernel.acts import Doer
from moot.protocols.kernel.envelope import Actor, Draft
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.faults import first_fault
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.naming import display_name
from moot.protocols.kernel.seats import Seat
from moot.protocols.rulebook import rulebook

Authority = Callable[[str, str], Seat]
"""(platform, user id) to what they are: `ADMIN` or `VIEWER`."""

ADMIN_CHANNEL: Final = "#admin"

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
) -> Draft:
    """Turn an act into the draft that says it.

    Args:
        act: What the person did; a `command` must have been read before.
        seat: What the person is: admin or viewer.
        about_case_id: The case of the thread it was said in.
        case_channel: The channel of the case that it is about, for an act that is said there.

    Raises:
        Malformed: The fields do not make this message; says which and why.
    """
    if not act.user_id:
        raise Malformed("R-E5", "nobody knows who did this", field="user_id")
    declared = rulebook().acts.get(act.kind)
    if declared is None:
        raise Malformed("K1", f"nobody can {act.kind} in this society", field="kind")
    fields = completed(declared, act.fields, Doer(act.user_id, act.platform, key_of(act), about_case_id))
    about = fields.get(declared.about)
    return Draft(
        channel=place_of(act.kind, act.channel, case_channel),
        author=seat,
        actor=Actor("human", act.platform, act.user_id),
        body=_body(declared.message, fields),
        case_id=about if isinstance(about, str) and about else None,
        key=key_of(act),
        display_name=display_name(act.user_name, act.user_id),
    )


def place_of(kind: str, here: str, case_channel: str | None = None) -> str:
    """Return the channel in which an act is said: that of its message, of its case, or where the person is."""
    declared = rulebook().acts[kind]
    if declared.in_case and case_channel is not None:
        return case_channel
    return rulebook().channel_of.get(declared.type, here)


def _body(model: type[Message], fields: Mapping[str, Any]) -> Message:
    said = {"type": model.model_fields["type"].default, **fields}
    try:
        return model.model_validate(said)
    except ValidationError as exc:
        fault = exc
    try:
        # A program gives what JSON has: a list for a tuple, a text for an instant.
        return model.model_validate_json(json.dumps(said))
    except ValidationError as exc:
        fault = exc
    except (TypeError, ValueError, RecursionError):
        pass
    field, why = first_fault(fault, "", [name for name in model.model_fields if name != "type"])
    raise Malformed("K1", why, field=field or None) from fault
