"""What a model is asked to fill in of an answer, and what becomes of that: one form for each duty.

What the rules fix and what is measured is not asked for. Where several types of message settle a duty, the form is a
tagged choice between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from moot.bots.minds.mind import View
from moot.bots.minds.model.measured import AMONG, COUNTED, Among, own_fields
from moot.bots.minds.replying import WrongBody, body_of, held
from moot.bots.models.forms import Form, form_of
from moot.protocols.kernel.message import Message
from moot.protocols.rulebook import rulebook

CHOICE: Final = "answer"
"""The field that holds the message where several may answer; its `type` says which it is."""

FaultOf = Callable[[View, Message], str]
"""Says which rule an answer would break if it were posted, "" for none."""

PARENT: Final = "parent_id"
"""The field by which messages name the case that waits for theirs."""


class Filling(NamedTuple):
    """What is asked of a type of message.

    Attributes:
        form: Its form; no field of it is asked for where the message follows from the rules and what was measured.
        make: Makes the message of the fields that were asked for.
    """

    form: Form
    make: Callable[[dict[str, Any]], Message]

    @property
    def is_open(self) -> bool:
        """Say whether anything is left to fill in."""
        return bool(self.form.schema["properties"])


def nothing_wrong(_view: View, _body: Message) -> str:
    """Find no fault."""
    return ""


def filling_for(view: View, measured: Message | None = None, fault_of: FaultOf = nothing_wrong) -> Filling:
    """Return what a model is asked to fill in of an answer; the form's judge makes the message and checks it.

    Args:
        view: Its brief holds what the rules fix.
        measured: The answer as the society's own tools give it, of which a model is asked for the seat's own words.
            None: nothing was measured, and all is asked for that the rules leave open.
        fault_of: Says which rule an answer would break.
    """
    kinds = view.asked if measured is None else (measured.type,)
    asked = {name: _filling(view, rulebook().messages[name], measured, fault_of) for name in kinds}
    if len(asked) == 1:
        return next(iter(asked.values()))
    schema = _object({CHOICE: {"anyOf": [_tagged(name, one.form.schema) for name, one in asked.items()]}})

    def make(found: dict[str, Any]) -> Message:
        chosen = found.get(CHOICE)
        if set(found) != {CHOICE} or not isinstance(chosen, dict):
            raise ValueError(f"the object has one field, {CHOICE}, which holds an object")
        kind = chosen.get("type")
        if not isinstance(kind, str) or kind not in asked:
            raise ValueError(f"{CHOICE}.type: choose {' or '.join(asked)}")
        made: Message = asked[kind].form.judge({name: one for name, one in chosen.items() if name != "type"})
        return made

    return Filling(Form(name="Answer", schema=schema, judge=make), make)


def _filling(view: View, kind: type[Message], measured: Message | None, fault_of: FaultOf) -> Filling:
    base = {**_links(view, kind), **(_plain(measured) if measured is not None else {})}
    fixed, choices = held(view, kind)
    names = {field: str(info.validation_alias or field) for field, info in kind.model_fields.items()}
    left_out = [field for field in fixed if _is_whole(kind, field, fixed)]
    left_out += _of_other_forms(kind, fixed)
    asked: dict[str, Any] = {}

    def make(found: dict[str, Any]) -> Message:
        _check(found, asked)
        try:
            body = body_of(view, kind, merged(base, _numbered(view, kind, found)))
        except WrongBody as exc:
            raise ValueError(str(exc)) from None
        if why := fault_of(view, body):
            raise ValueError(f"{body.type}: {why}")
        return body

    form = form_of(kind, {names[field]: None for field in left_out}, make)
    schema = _narrowed(form.schema, {names[one]: values for one, values in choices.items()})
    schema = _without(schema, {names[one]: value for one, value in fixed.items()})
    schema = _unnumbered(view, kind, schema)
    for among in AMONG.get(kind.model_fields["type"].default, ()):
        schema = _among(schema, among, among.field.split("."), view.brief)
    own = own_fields(measured.type) if measured is not None else None
    asked |= schema if own is None else _only(schema, own)
    return Filling(Form(name=form.name, schema=asked, judge=form.judge), make)


def _links(view: View, kind: type[Message]) -> dict[str, str]:
    """Return the ids by which a message that opens a case names the one that it opens it in."""
    book = rulebook()
    openers = (
        (book.messages[name] for name in book.types[view.kind].openers) if view.kind in book.types else ()
    )
    names = {PARENT, *(one.case_field for one in openers)} - {kind.case_field}
    return {name: view.obligation.case_id for name in names if name in kind.model_fields}


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Lay fields over others; objects are merged, everything else is replaced."""
    found = dict(base)
    for name, value in over.items():
        below = found.get(name)
        is_both = isinstance(below, Mapping) and isinstance(value, Mapping)
        found[name] = merged(below, value) if is_both else value  # type: ignore[arg-type]
    return found


def _plain(body: Message) -> dict[str, Any]:
    return {name: value for name, value in body.model_dump(mode="json").items() if name != "type"}


def _is_whole(kind: type[Message], name: str, fixed: Mapping[str, Any]) -> bool:
    """Say whether nothing of a field is left to be filled in."""
    if name not in fixed or not isinstance(fixed[name], dict):
        return True
    field = kind.model_fields[name].annotation
    part = getattr(field, "model_fields", None)
    return part is None or set(part) <= set(fixed[name])


def _of_other_forms(kind: type[Message], fixed: Mapping[str, Any]) -> Iterable[str]:
    """Return the fields that only another form of the message has."""
    forms: Mapping[str, Sequence[str]] = getattr(kind, "forms", {})
    own = fixed.get("form")
    return [field for form, fields in forms.items() if own is not None and form != own for field in fields]


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _tagged(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    tag = {"type": "string", "enum": [name]}
    return {**schema, **_object({"type": tag, **schema["properties"]})}


def _narrowed(schema: Mapping[str, Any], choices: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Leave a field only the values that the rules leave it, where they are plain."""
    found = dict(schema["properties"])
    for name, values in choices.items():
        if name in found and all(isinstance(one, str) for one in values):
            about = {key: found[name][key] for key in ("description",) if key in found[name]}
            found[name] = {"type": "string", "enum": list(values), **about}
    return {**schema, "properties": found}


def _without(schema: Mapping[str, Any], fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Take the parts of objects out that the rules fix."""
    found = dict(schema["properties"])
    for name, value in fixed.items():
        if name in found and isinstance(value, dict) and "properties" in found[name]:
            left = {part: one for part, one in found[name]["properties"].items() if part not in value}
            found[name] = {**found[name], **_object(left)}
    return {**schema, "properties": found}


def _among(
    schema: Mapping[str, Any], among: Among, path: Sequence[str], brief: Mapping[str, Any]
) -> dict[str, Any]:
    """Leave a field only the values that a figure lists; as it is where that lists none."""
    if schema.get("type") == "array":
        return {**schema, "items": _among(schema["items"], among, path, brief)}
    if path:
        name, *rest = path
        properties = schema.get("properties", {})
        if name not in properties:
            return dict(schema)
        return {**schema, "properties": {**properties, name: _among(properties[name], among, rest, brief)}}
    listed = [one[0] if isinstance(one, list | tuple) else one for one in brief.get(among.figure, ())]
    if not listed:
        return dict(schema)
    return {"type": schema["type"], "enum": [*dict.fromkeys([*listed, *among.besides])]}


def _unnumbered(view: View, kind: type[Message], schema: dict[str, Any]) -> dict[str, Any]:
    """Leave out the numbers that are counted for the seat."""
    counted = COUNTED.get(kind.model_fields["type"].default)
    if counted is None or counted.first not in view.brief:
        return schema
    items = schema["properties"][counted.items]
    left = {name: one for name, one in items["items"]["properties"].items() if name != counted.number}
    items = {**items, "items": {**items["items"], **_object(left)}}
    return {**schema, "properties": {**schema["properties"], counted.items: items}}


def _numbered(view: View, kind: type[Message], found: dict[str, Any]) -> dict[str, Any]:
    """Count what is counted for the seat."""
    counted = COUNTED.get(kind.model_fields["type"].default)
    items = found.get(counted.items) if counted is not None else None
    if counted is None or counted.first not in view.brief or not isinstance(items, list):
        return found
    first = view.brief[counted.first]
    numbered = [
        {counted.number: n, **one} if isinstance(one, dict) else one for n, one in enumerate(items, first)
    ]
    return {**found, counted.items: numbered}


def _only(schema: Mapping[str, Any], own: Iterable[str]) -> dict[str, Any]:
    """Keep some fields, dotted within objects."""
    found: dict[str, Any] = {}
    for path in own:
        name, _, rest = path.partition(".")
        node = schema["properties"].get(name)
        if node is None:
            continue
        if rest and "properties" in node:
            inner = _only(node, [rest])["properties"]
            node = {**node, **_object({**found.get(name, {}).get("properties", {}), **inner})}
        elif rest:
            # An object of any shape, of which this one field is the seat's own.
            node = _object({rest: {"type": "string"}})
        found[name] = node
    return {**schema, **_object(found)}


def _check(found: Any, schema: Mapping[str, Any], path: str = "") -> None:
    """Refuse what was not asked for, so that nothing measured or fixed is overwritten.

    Raises:
        ValueError: A field is unknown or missing.
    """
    if not isinstance(found, dict) or "properties" not in schema:
        return
    properties = schema["properties"]
    for name, value in found.items():
        if name not in properties:
            raise ValueError(f"{path}{name[:60]}: there is no such field to fill in")
        _check(value, properties[name], f"{path}{name}.")
        if isinstance(value, list) and "items" in properties[name]:
            for n, one in enumerate(value):
                _check(one, properties[name]["items"], f"{path}{name}[{n}].")
    if lacking := [name for name in properties if name not in found]:
        raise ValueError(f"{path or 'the object '}lacks {', '.join(lacking)}")
