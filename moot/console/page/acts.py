"""What people may do, as forms: a list of all acts, and one page each, made of what its protocol declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from moot.channels import filling
from moot.channels.chat.commands import Command
from moot.channels.showing.wording import clean
from moot.console.model.interface import PLATFORM, ChannelView, Person, ReadModel
from moot.console.page.act_context import context_of
from moot.console.page.seats import by_path
from moot.protocols.kernel.acts import Act, Doer
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.faults import NEEDED
from moot.protocols.kernel.people import Stop
from moot.protocols.rulebook import rulebook

Json = dict[str, Any]

STOP_CASE: Final = "Stop this case"
NOT_SENT: Final = "Not sent: some fields are not what this takes."


def all_of() -> Json:
    """Return the list of acts, by the protocol that brings them."""
    found = [
        {
            "protocol": one.name,
            "acts": [{"name": act.name, "word": act.word, "title": _title(act)} for act in one.acts],
        }
        for one in rulebook().protocols
        if one.acts
    ]
    return {"kind": "acts", "title": "Acts", "about": "what people may do", "channel": None, "groups": found}


async def form_of(
    model: ReadModel, person: Person, channels: Sequence[ChannelView], act: Act, case_id: str = ""
) -> Json:
    """Return the form of an act, and where it is said.

    Args:
        model: The society.
        person: Who fills it in.
        channels: The channels that this person reads.
        act: What they want to do.
        case_id: The case that the form was opened from, "" for none.

    Raises:
        NotThere: There is no such case.
    """
    place = rulebook().channel_of.get(act.type, "")
    where = [one.name for one in channels] if not place and not act.in_case else []
    return {
        "kind": "act",
        "title": STOP_CASE if case_id and act.message is Stop else _title(act),
        "about": Command(act.word, act.does, act).usage,
        "channel": None,
        "act": act.name,
        "word": act.word,
        "schema": filling.form_of(act),
        "place": place or ("the channel of its case" if act.in_case else ""),
        "case": case_id,
        **await context_of(model, act, case_id),
        "places": [name for name in where if not model.why_not(person, act.name, name)],
    }


def faults_of(person: Person, act: Act, values: Mapping[str, object]) -> dict[str, str]:
    """Say which blanks are not filled in as the act wants them, by their path; "" names the whole."""
    blanks = {blank.becomes: blank.name for blank in act.asks}
    missing = {
        blank.name: NEEDED
        for blank in act.asks
        if filling.is_needed(act, blank) and filling.is_blank(values.get(blank.name))
    }
    if missing:
        return missing
    try:
        given = filling.with_kept(act, filling.from_values(act, values), lambda _text: "")
        fields = filling.completed(act, given, Doer(person.user_id, PLATFORM, "form"))
        act.message.model_validate({"type": act.type, **fields})
    except ValidationError as exc:
        return {
            ".".join((blanks.get(field, field), *rest)): why
            for path, why in by_path(exc).items()
            for field, *rest in [path.split(".")]
        }
    except Malformed as exc:
        return {blanks.get(exc.field or "", ""): clean(exc.why, 200)}
    except ValueError as exc:
        return {"": clean(str(exc), 200)}
    return {}


def _title(act: Act) -> str:
    return act.does[:1].upper() + act.does[1:]
