"""Answering from a seat: the form of what is owed, checked as one types (K14)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from moot.channels.showing import duties
from moot.channels.showing.wording import clean, seat_name
from moot.console.errors import ConsoleError, NotThere
from moot.console.model.interface import ObligationView, Person, ReadModel
from moot.console.page.act_context import facts_of, summary_of
from moot.protocols.kernel.faults import why
from moot.protocols.kernel.times import rfc3339
from moot.protocols.rulebook import rulebook, rules

OPENERS: Final = frozenset(rules().openers)
"""Types that open a case of their own; its id is given by the sequencer."""

MOST_FAULTS: Final = 60
"""Wrong fields that are named."""


async def form_of(model: ReadModel, person: Person, obligation_id: str) -> dict[str, Any]:
    """Return the form for an obligation, with what is known already filled in, and why one may not answer.

    Raises:
        NotThere: Nobody owes it, or not any more.
    """
    owed = next((one for one in await model.obligations() if one.id == obligation_id), None)
    if owed is None:
        raise NotThere(f"Nobody owes {clean(obligation_id, 120)}, or not any more.")
    schemas = {
        kind: _without_own_id(kind, found)
        for kind, found in (await model.form(person, obligation_id)).items()
    }
    name = seat_name(str(owed.seat))
    about = await summary_of(model, await model.case(owed.case_id))
    return {
        "kind": "seat",
        "title": f"{name}: {clean(duties.owed(owed.id, owed.position), 120)}",
        "about": about["title"],
        "about_case": about,
        "confirm": f"Answer as the {name}?" if owed.is_persons else "",
        "facts": facts_of(owed) if owed.is_persons else [],
        "obligation": owed.id,
        "case": owed.case_id,
        "seat": name,
        "due": rfc3339(owed.due_at),
        "schemas": schemas,
        "given": {kind: _given(kind, owed) for kind in schemas},
        "examples": {
            kind: found for kind in schemas if (found := await _example(model, kind, owed)) is not None
        },
        "why": _why_not(owed, person),
        "note": "",
    }


async def suggested(model: ReadModel, person: Person, obligation_id: str) -> dict[str, Any]:
    """Return the simulated mind's answer to an obligation, to begin from.

    Raises:
        NotThere: This person may not answer it, or the mind would say nothing.
        NotReady: The mind is still thinking.
    """
    message = await model.suggestion(person, obligation_id)
    owed = next((one for one in await model.obligations() if one.id == obligation_id), None)
    if owed is None:
        raise NotThere(f"Nobody owes {clean(obligation_id, 120)}, or not any more.")
    return {"kind": message.type, "body": message.model_dump(mode="json") | _given(message.type, owed)}


def faults_of(kind: str, body: Any) -> dict[str, str]:
    """Say which fields of a message are wrong, by their path; nothing when it is what the type takes."""
    model = rulebook().messages.get(kind)
    if model is None:
        return {"": f"there is no message {clean(str(kind), 60)}"}
    try:
        model.model_validate_json(json.dumps(body))
    except ValidationError as exc:
        return by_path(exc)
    except (ValueError, TypeError) as exc:
        return {"": clean(str(exc), 200)}
    return {}


def by_path(exc: ValidationError) -> dict[str, str]:
    """Say what is wrong with each field, by its path."""
    found: dict[str, str] = {}
    for error in exc.errors(include_url=False)[:MOST_FAULTS]:
        path = ".".join(str(part) for part in error["loc"])
        found.setdefault(path, clean(why(error), 200))
    return found


def _why_not(owed: ObligationView, person: Person) -> str:
    if owed.is_persons:
        return "" if person.seat == owed.seat else f"only the {owed.seat} answers this"
    if owed.held_by is None:
        return f"nobody sits in the seat of the {owed.seat}: write /take {owed.seat} first"
    if not owed.is_held_by(person):
        return f"{clean(owed.held_by, 60)} on {owed.held_on} sits in the seat of the {owed.seat}, not you"
    return ""


def _without_own_id(kind: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the id of the case that a message opens: the sequencer gives it."""
    field = rulebook().messages[kind].case_field
    if kind not in OPENERS or not field:
        return dict(schema)
    properties = {name: one for name, one in schema.get("properties", {}).items() if name != field}
    return {**schema, "properties": properties}


def _given(kind: str, owed: ObligationView) -> dict[str, Any]:
    """Fill in what follows from the obligation: the case, also where one opens its own within it, and the round."""
    model = rulebook().messages[kind]
    names = {f"{owed.case_id.split('_', 1)[0]}_id"}
    if kind not in OPENERS:
        names.add(model.case_field)
    found: dict[str, Any] = {name: owed.case_id for name in names if name in model.model_fields}
    step = owed.step.rsplit("-", 1)[-1]
    if "round" in model.model_fields:
        found["round"] = int(step) if step.isdigit() else "revision"
    return found


async def _example(model: ReadModel, kind: str, owed: ObligationView) -> Mapping[str, Any] | None:
    """Return the last message of this type by this seat as a starting point, about this case."""
    try:
        found = await model.search(type=kind, seat=str(owed.seat), limit=1)
    except ConsoleError:
        return None
    for envelope in found.envelopes:
        body: dict[str, Any] = json.loads(envelope.json)["body"]
        return {**body, **_given(kind, owed)}
    return None
