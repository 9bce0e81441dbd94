"""An answer made of a few fields: what the rules fix is filled in, and what is wrong is said in one line."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from moot.bots.minds.mind import View
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.faults import why
from moot.protocols.kernel.message import Message
from moot.protocols.rulebook import rulebook

SHOWN: Final = 60
"""So many characters of a wrong value are quoted."""


class WrongBody(BadInput):
    """Say in one line why fields make no answer: which field, what is wrong, what is right.

    Attributes:
        kind: The message's type.
        field: The field, dotted within parts; "" for the whole.
    """

    def __init__(self, kind: str, field: str, why: str) -> None:
        """Keep the place beside the line."""
        super().__init__(f"{kind}.{field}: {why}" if field else f"{kind}: {why}")
        self.kind = kind
        self.field = field


def body_of(view: View, kind: type[Message] | str | None, fields: Mapping[str, Any]) -> Message:
    """Make the body of an answer.

    What the rules hold it to is filled in where the mind says nothing: figures, the case's id, the round.

    Raises:
        WrongBody: The fields make no answer to what is asked.
    """
    chosen = _kind(view, kind)
    name = _type(chosen)
    known = _names(chosen)
    if unknown := [field for field in fields if field not in known or field == "type"]:
        close = difflib.get_close_matches(unknown[0], known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(known)}"
        raise WrongBody(name, unknown[0], f"there is no such field: {hint}")
    fixed, choices = held(view, chosen)
    given = {known[field]: _plain(name, field, value) for field, value in fields.items()}
    made = {**fixed, **{field: _merged(fixed.get(field), value) for field, value in given.items()}}
    body = _validated(chosen, made, choices)
    for field, value in fixed.items():
        said = getattr(body, field)
        if field in given and not isinstance(value, dict) and said != _of_field(chosen, field, value):
            raise WrongBody(name, field, f"the case says {_quoted(value)}, not {_quoted(given[field])}")
    for field, values in choices.items():
        plain = to_jsonable_python(getattr(body, field))
        if plain not in values:
            raise WrongBody(name, field, f"choose {_listed(values)}, not {_quoted(plain)}")
    return body


def _kind(view: View, kind: type[Message] | str | None) -> type[Message]:
    asked = view.asked
    if kind is None:
        if len(asked) > 1:
            raise WrongBody(" or ".join(asked), "", "say which: view.reply(KIND, ...)")
        kind = asked[0]
    name = kind if isinstance(kind, str) else _type(kind)
    if name not in asked:
        raise WrongBody(str(name), "", f"{' or '.join(asked)} is asked for")
    return rulebook().messages[name]


def _type(kind: object) -> str:
    if isinstance(kind, type) and issubclass(kind, Message) and "type" in kind.model_fields:
        return str(kind.model_fields["type"].default)
    raise WrongBody(str(getattr(kind, "__name__", kind))[:SHOWN], "", "is no class of a message")


@lru_cache(maxsize=256)
def _names(kind: type[Message]) -> dict[str, str]:
    """Return the fields by the names that a mind may use: theirs, and those of the JSON."""
    own = {name: name for name in kind.model_fields if name != "type"}
    aliased = {name: field.alias or field.validation_alias for name, field in kind.model_fields.items()}
    return own | {alias: name for name, alias in aliased.items() if isinstance(alias, str)}


@lru_cache(maxsize=1024)
def _field(kind: type[Message], name: str) -> TypeAdapter[Any]:
    field = kind.model_fields[name]
    return TypeAdapter(field.rebuild_annotation())


def _of_field(kind: type[Message], name: str, value: Any) -> Any:
    """Return a plain value as the field holds it.

    Raises:
        ValidationError: The field does not hold it.
    """
    return _field(kind, name).validate_json(json.dumps(value))


def held(view: View, kind: type[Message]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Return by field what the rules fix of an answer, of an object perhaps a part, and what they leave a choice."""
    fixed: dict[str, Any] = {}
    choices: dict[str, list[Any]] = {}
    for name, value in view.brief.items():
        if name not in kind.model_fields:
            continue
        plain = to_jsonable_python(value, by_alias=False)
        if _holds(kind, name, plain):
            fixed[name] = plain
        elif isinstance(plain, list) and plain and all(_holds(kind, name, one) for one in plain):
            choices[name] = plain
    case_field = kind.case_field
    if case_field and kind.model_fields[case_field].is_required():
        fixed.setdefault(case_field, view.obligation.case_id)
    return fixed, choices


def _holds(kind: type[Message], name: str, value: Any) -> bool:
    """Say whether a field may have a value; of an object a part will do."""
    try:
        _of_field(kind, name, value)
    except ValidationError as exc:
        faults = {error["type"] for error in exc.errors(include_url=False)}
        return isinstance(value, dict) and faults <= {"missing", "none_required"}
    return True


def _plain(kind: str, field: str, value: Any) -> Any:
    try:
        return to_jsonable_python(value, by_alias=False)
    except PydanticSerializationError:
        raise WrongBody(kind, field, f"a {type(value).__name__} is no value of a message") from None


def _merged(fixed: Any, value: Any) -> Any:
    """Lay what a mind says of an object over what is fixed of it."""
    return {**fixed, **value} if isinstance(fixed, dict) and isinstance(value, dict) else value


def _validated(kind: type[Message], made: Mapping[str, Any], choices: Mapping[str, Any]) -> Message:
    try:
        return kind.model_validate_json(json.dumps(made), by_alias=True, by_name=True)
    except ValidationError as exc:
        errors = exc.errors(include_url=False)
    lacking = [error for error in errors if error["type"] == "missing"]
    if lacking:
        missing = [_path(error["loc"]) for error in lacking]
        hints = [f"; {name} is one of {_listed(choices[name])}" for name in missing if name in choices]
        raise WrongBody(_type(kind), "", f"lacks {', '.join(missing)}{''.join(hints)}")
    where = errors[0]["loc"]
    raise WrongBody(_type(kind), _path(where), why(errors[0], kind.model_fields if len(where) == 1 else ()))


def _path(parts: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).lstrip(".")


def _quoted(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _listed(values: list[Any]) -> str:
    return " or ".join(_quoted(one) for one in values)
