"""What a person fills in for an act: its form, and how words and values become the fields of its message."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Any, Final

from pydantic import TypeAdapter, ValidationError

from moot.channels.showing.wording import clean
from moot.protocols.kernel.acts import Act, Blank, Doer
from moot.protocols.kernel.errors import Malformed, ProtocolError
from moot.protocols.kernel.redact import redact
from moot.protocols.rulebook import rulebook

MOST_TEXT: Final = 20_000
"""Characters of a text whose message says nothing about its length."""


MOST_KEPT: Final = 100_000
"""Characters of a text that is kept as evidence."""


def form_of(act: Act) -> dict[str, Any]:
    """Return what a person fills in as a JSON Schema: a property for each blank, told by the field it becomes."""
    whole = act.message.model_json_schema()
    properties: dict[str, Any] = {}
    for blank in act.asks:
        if choices := choices_of(blank):
            shape: dict[str, Any] = {"type": "string", "enum": list(choices)}
        elif blank.is_kept:
            shape = {"type": "string", "maxLength": MOST_KEPT}
        elif act.read is None:
            shape = whole["properties"][blank.becomes]
        else:
            shape = {"type": "string", "maxLength": MOST_TEXT}
        properties[blank.name] = {**shape, "description": blank.help}
    needed = [blank.name for blank in act.asks if is_needed(act, blank)]
    defs = {"$defs": whole["$defs"]} if "$defs" in whole else {}
    return {"type": "object", "properties": properties, "required": needed, **defs}


def is_needed(act: Act, blank: Blank) -> bool:
    """Say whether a blank must be filled in: its message has nothing to put there."""
    if blank.is_option:
        return False
    return act.read is not None or act.message.model_fields[blank.becomes].is_required()


def is_blank(value: object) -> bool:
    """Say whether a form gives nothing for a blank."""
    return value is None or (isinstance(value, str) and not value.strip())


def with_kept(act: Act, fields: Mapping[str, Any], keep: Callable[[str], str]) -> Mapping[str, Any]:
    """Return fields in which references stand in place of the texts that are to be kept.

    Args:
        act: What is done.
        fields: As `from_words` and `from_values` give them.
        keep: Keeps a text that holds no secret any more, and returns its reference.

    Raises:
        ValueError: A text is too long.
    """
    found = dict(fields)
    for blank in act.asks:
        text = found.get(blank.becomes)
        if blank.is_kept and isinstance(text, str) and text:
            if len(text) > MOST_KEPT:
                raise ValueError(f"the {blank.name} has {len(text):,} characters, {MOST_KEPT:,} are the most")
            found[blank.becomes] = keep(redact(text))
    return found


def completed(act: Act, fields: Mapping[str, Any], doer: Doer) -> Mapping[str, Any]:
    """Return the fields of an act's message, with what the act itself adds.

    Raises:
        ValueError: The act refuses them, or its code fails (R-G14).
    """
    try:
        return act.complete(fields, doer)
    except (ValueError, ProtocolError):
        raise
    except Exception as exc:
        raise Malformed("R-G14", f"the act {act.name} fails: {type(exc).__name__}", field="kind") from exc


def choices_of(blank: Blank) -> Sequence[str]:
    """Return what a blank can be, where that is a list."""
    return sorted(rulebook().bots) if blank.is_seat else blank.choices


def from_words(act: Act, words: Mapping[str, Sequence[str]]) -> Mapping[str, Any]:
    """Return the fields that words mean, at least one for each blank that is filled in.

    A field is read as what its message wants there: a number as one, several words as a list, JSON as an object.

    Raises:
        ValueError: A blank is missing or there is none of that name, or a word is none of those that it can be.
    """
    words = _by_blank(act, words)
    given = {name: found for name, found in words.items() if any(map(str.strip, found))}
    said = {
        blank: [_meant(blank, word) for word in items_of(blank, given[blank.name])]
        for blank in _filled(act, given)
    }
    if act.read is None:
        return {blank.becomes: _read(act, blank, found) for blank, found in said.items()}
    try:
        return act.read({blank.name: " ".join(found) for blank, found in said.items()})
    except (ValueError, ProtocolError):
        raise
    except Exception as exc:
        raise ValueError(f"the act {act.name} fails: {type(exc).__name__}") from exc


def from_values(act: Act, values: Mapping[str, object]) -> Mapping[str, Any]:
    """Return the fields that the values of a form mean, as JSON gives them; None and a blank text are nothing.

    Raises:
        ValueError: As `from_words`.
    """
    given = {name: value for name, value in _by_blank(act, values).items() if not is_blank(value)}
    if act.read is not None:
        return from_words(act, {name: [_as_text(value)] for name, value in given.items()})
    fields: dict[str, Any] = {}
    for blank in _filled(act, given):
        value = given[blank.name]
        meant = _meant(blank, value) if isinstance(value, str) else _without_blanks(value)
        if blank.is_kept:
            fields[blank.becomes] = meant
            continue
        if blank.is_option and isinstance(meant, str):
            fields[blank.becomes] = _read(act, blank, [meant.strip()])
            continue
        found = _tried(_wanted(act, blank).validate_json, json.dumps(meant))
        # What the field does not take is judged by the message, which holds its lists as tuples and says why.
        as_held = tuple(meant) if isinstance(meant, list) else meant
        fields[blank.becomes] = as_held if found is None else found
    return fields


def from_fields(act: Act, given: Mapping[str, object], *, has_case: bool = False) -> Mapping[str, Any]:
    """Return the fields of an act that a program gives by the names of its message or by those that `moot act` prints.

    Args:
        act: What is done.
        given: The fields.
        has_case: Whether the case that it is about follows from where it was said.

    Raises:
        ValueError: A field is missing or unknown, or given under two names; all of them are named, and what it takes.
    """
    fields = {name: value for name, value in given.items() if name != "type"}
    native = act.message.model_fields
    known = {name: blank for blank in act.asks for name in blank.names}
    if unknown := [name for name in fields if name not in native and name not in known]:
        raise ValueError(f"unknown field {_listed(unknown)}; {takes(act)}")
    if all(name in native for name in fields):
        found: Mapping[str, Any] = {name: _typed(act, name, value) for name, value in fields.items()}
    else:
        found = _translated(act, fields, known)
    lacking = [
        blank
        for blank in act.asks
        if (is_needed(act, blank) or blank.becomes == act.about)
        and not (has_case and blank.becomes == act.about)
        and all(is_blank(fields.get(name)) for name in (*blank.names, blank.becomes))
    ]
    # What has no field of its own in the message may be given as the fields that it is read into.
    if lacking := [one for one in lacking if one.becomes in native or one.aliases or not fields]:
        missing = ", ".join(" or ".join(map(repr, reversed(one.names[:2]))) for one in lacking)
        raise ValueError(f"missing field {missing}; {takes(act)}")
    return found


def takes(act: Act) -> str:
    """Return the names of the fields that an act takes, for people."""
    return f"{act.name} takes " + (", ".join("/".join(blank.names) for blank in act.asks) or "no fields")


def _translated(act: Act, fields: Mapping[str, object], known: Mapping[str, Blank]) -> Mapping[str, Any]:
    """Return the message's fields, where some are given by the names of the act's blanks."""
    native = act.message.model_fields
    blanks: dict[str, object] = {}
    rest: dict[str, Any] = {}
    for name, value in fields.items():
        blank = known.get(name)
        if blank is None or (name in native and name not in (blank.name, blank.field)):
            rest[name] = _typed(act, name, value)
        elif is_blank(value):
            continue
        elif blank.name in blanks and blanks[blank.name] != value:
            raise ValueError(
                f"{' and '.join(n for n in blank.names if n in fields)} are the same field: give one"
            )
        else:
            blanks[blank.name] = value
    if all(blank.name in blanks for blank in act.asks if is_needed(act, blank)):
        return {**rest, **from_values(act, blanks)}
    return {
        **rest,
        **{known[name].becomes: value for name, value in blanks.items() if known[name].becomes in native},
    }


def _typed(act: Act, name: str, value: object) -> object:
    """Return a text as the number or truth value that the field wants, where it wants one."""
    info = act.message.model_fields[name]
    if not isinstance(value, str):
        return value
    wanted: Any = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
    adapter: TypeAdapter[Any] = TypeAdapter(wanted)
    if _tried(partial(adapter.validate_python, strict=True), value) is not None:
        return value
    found = _tried(adapter.validate_strings, value)
    return value if found is None else found


def _by_blank(act: Act, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is given by the names of the act's blanks, in place of their other names."""
    names = {name: blank.name for blank in reversed(act.asks) for name in blank.names}
    return {names.get(name, name): value for name, value in given.items()}


def _as_text(value: object) -> str:
    return json.dumps(value) if isinstance(value, dict | list) else str(value)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(clean(name, 40)) for name in names)


def items_of(blank: Blank, words: Sequence[str]) -> Sequence[str]:
    """Return the items that words hold: several where a sign stands between them."""
    if not blank.sign or blank.is_option:
        return [word.strip() for word in words] if blank.is_option else words
    return [item.strip() for word in words for item in word.split(blank.sign) if item.strip()]


def _without_blanks(value: object) -> object:
    """Leave out the blank lines of a list of texts, as a form of one item a line gives it."""
    return [item for item in value if not is_blank(item)] if isinstance(value, list) else value


def _filled(act: Act, given: Mapping[str, object]) -> list[Blank]:
    """Return the blanks that are filled in, in their order."""
    known = [blank.name for blank in act.asks]
    for name in given:
        if name not in known:
            raise ValueError(f"there is no {clean(name, 40)!r}, it takes {', '.join(known) or 'nothing'}")
    for blank in act.asks:
        if blank.name not in given and is_needed(act, blank):
            raise ValueError(f"the {blank.name.replace('_', ' ')} is missing")
    return [blank for blank in act.asks if blank.name in given]


def _meant(blank: Blank, word: str) -> str:
    """Return a word as it is meant; raise ValueError for one that is none of those it can be."""
    if blank.is_seat:
        seat = word.partition(" ")[0]
        if seat.lower() not in rulebook().bots:
            near = get_close_matches(seat.lower(), [*rulebook().bots], 1)
            hint = f", did you mean {near[0]}?" if near else ""
            raise ValueError(f"no seat {clean(seat, 40)!r} that a person can take{hint}")
    if not blank.choices:
        return word
    meant = {choice.lower(): choice for choice in blank.choices}.get(word.lower())
    if meant is None:
        raise ValueError(f"a {blank.name} is {' or '.join(blank.choices)}, not {clean(word, 40)!r}")
    return meant


def _read(act: Act, blank: Blank, words: Sequence[str]) -> object:
    """Return words as the field wants them; as they are where it wants something else, which the message then says."""
    wanted = _wanted(act, blank)
    if blank.sign and not blank.is_option:
        return tuple(words)
    if blank.is_kept:
        return words[-1]
    if len(words) == 1:
        for way in (wanted.validate_strings, wanted.validate_json):
            if (found := _tried(way, words[0])) is not None:
                return found
    found = _tried(wanted.validate_python, tuple(words))
    return found if found is not None else words[0] if len(words) == 1 else tuple(words)


def _wanted(act: Act, blank: Blank) -> TypeAdapter[Any]:
    info = act.message.model_fields[blank.becomes]
    wanted: Any = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
    return TypeAdapter(wanted)


def _tried(way: Any, given: object) -> Any:
    try:
        return way(given)
    except ValidationError:
        return None
