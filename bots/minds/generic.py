"""The generic mind: what the rules hold an answer to is filled in, and the rest is drawn within its schema.

It serves every message class: the answers that the log's figures fix alone, and the seats of protocols that have no
simulated minds of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final, TypeVar

import numpy as np
from pydantic import ValidationError
from pydantic_core import to_jsonable_python

from moot.bots.minds.matching import matching
from moot.bots.minds.mind import Mind, Reply, View
from moot.bots.minds.simulated.delays import delay
from moot.bots.minds.simulated.temper import DEFAULT, Temper
from moot.bots.tools.seeding import generator
from moot.protocols.kernel.message import Message

M = TypeVar("M", bound=Message)

DRAWS: Final = 1_000
"""So often is an answer drawn until it passes what its class checks besides its schema: fields that exclude or need
each other. From the second draw on fields that may be left out are in or out by chance."""

DEEP: Final = 6
"""From this depth on lists stay as short as they may be and what may be null is: parts may hold parts of their kind."""

SPAN: Final = 10.0
"""A number without a bound lies within so much of the one that it has, or of zero."""

BOUNDLESS: Final = 1e9
"""A bound beyond this says what a computer holds, not what a field means."""

_FREE: Final = object()


class GenericMind(Mind):
    """Fills any seat: an answer says what its figures fix, and what its schema allows where they leave it open.

    What the rules refuse is drawn anew, for an attempt has its own chance.
    """

    def __init__(self, seed: int, classes: Mapping[str, type[Message]], temper: Temper = DEFAULT) -> None:
        """Take what all answers need.

        Args:
            seed: The society's seed.
            classes: The message classes by type; those of other types are never answered with.
            temper: How long answers take.
        """
        self._seed = seed
        self._classes = classes
        self._temper = temper

    def consider(self, view: View) -> timedelta | None:
        if not self._known(view):
            return None
        return delay(self._seed, view.obligation, view.attempt, view.now, self._temper)

    async def answer(self, view: View) -> Reply | None:
        return self.reply(view)

    def reply(self, view: View) -> Reply | None:
        """Answer with one of the messages that are expected; None when it knows none of them."""
        known = self._known(view)
        if not known:
            return None
        rng = generator("mind", self._seed, view.obligation.id, view.attempt, "generic")
        kind = known[int(rng.integers(len(known)))] if len(known) > 1 else known[0]
        given = dict(view.brief)
        if kind.case_field and kind.model_fields[kind.case_field].is_required():
            given.setdefault(kind.case_field, view.obligation.case_id)
        return Reply(filled(kind, given, rng, view.now))

    def _known(self, view: View) -> list[type[Message]]:
        return [self._classes[name] for name in view.obligation.expects if name in self._classes]


def filled(kind: type[M], given: Mapping[str, Any], rng: np.random.Generator, now: datetime) -> M:
    """Make a message of what is given; required fields that nobody gave are drawn, others keep their default.

    Args:
        kind: Its class.
        given: Values by field name, plain or as parts; of an object a part will do. A list of values each of which
            the field may have, where it may not have the list, is a choice. Names that are no fields say nothing.
        rng: Draws what is left open.
        now: What a time is drawn as.

    Raises:
        ValidationError: What is given is not what the class allows.
        ValueError: A pattern is none that texts are drawn for.
    """
    schema = _schema(kind)
    fixed = {
        name: to_jsonable_python(value, by_alias=False)
        for name, value in given.items()
        if name in schema["properties"]
    }
    for draw in range(1, DRAWS + 1):
        drawing = _Drawing(schema, rng, now, leaves_out=draw == 1)
        text = json.dumps(drawing.value(schema, fixed))
        try:
            return kind.model_validate_json(text, by_alias=True, by_name=True)
        except ValidationError:
            if draw == DRAWS:
                raise
    raise AssertionError("the last draw returns or raises")


@lru_cache(maxsize=512)
def _schema(kind: type[Message]) -> dict[str, Any]:
    return kind.model_json_schema(mode="validation", by_alias=False)


class _Drawing:
    """One draw of a JSON value by its schema."""

    def __init__(
        self, schema: Mapping[str, Any], rng: np.random.Generator, now: datetime, *, leaves_out: bool
    ) -> None:
        self._parts: Mapping[str, Any] = schema.get("$defs", {})
        self._rng = rng
        self._now = now
        self._leaves_out = leaves_out

    def value(self, shape: Mapping[str, Any], fixed: Any = _FREE, name: str = "", depth: int = 0) -> Any:
        """Return what is fixed, filled up where it is an object, or draw a value."""
        shape = self._resolved(shape)
        if "anyOf" in shape or "oneOf" in shape:
            return self._of_several(shape, fixed, name, depth)
        if fixed is not _FREE:
            return self._fixed(shape, fixed, name, depth)
        if "const" in shape:
            return shape["const"]
        for listed in ("enum", "examples"):
            if listed in shape:
                return shape[listed][int(self._rng.integers(len(shape[listed])))]
        return self._drawn(shape, name, depth)

    def _fixed(self, shape: Mapping[str, Any], fixed: Any, name: str, depth: int) -> Any:
        if isinstance(fixed, dict) and "properties" in shape:
            return self._object(shape, fixed, depth)
        if isinstance(fixed, list) and fixed and not self._fits(shape, fixed):
            return self.value(shape, fixed[int(self._rng.integers(len(fixed)))], name, depth)
        return fixed

    def _of_several(self, shape: Mapping[str, Any], fixed: Any, name: str, depth: int) -> Any:
        """Take the alternative that what is fixed fits; free, one of them by chance."""
        title = str(shape.get("title", name))
        options = [self._resolved(one) for one in shape.get("anyOf") or shape["oneOf"]]
        if fixed is not _FREE:
            chosen = next((one for one in options if self._fits(one, fixed)), None)
            if chosen is not None:
                return self.value(chosen, fixed, title, depth)
            if isinstance(fixed, list) and fixed:
                return self.value(shape, fixed[int(self._rng.integers(len(fixed)))], title, depth)
            return fixed
        nulls = [one for one in options if one.get("type") == "null"]
        if nulls and depth >= DEEP:
            return None
        others = [one for one in options if one not in nulls]
        # A decimal is a number, or a text that holds one.
        if any(one.get("type") == "number" for one in others):
            others = [one for one in others if one.get("type") != "string"]
        return self.value(others[int(self._rng.integers(len(others)))], _FREE, title, depth)

    def _drawn(self, shape: Mapping[str, Any], name: str, depth: int) -> Any:
        kind = shape.get("type")
        if kind == "object" or "properties" in shape:
            return self._object(shape, {}, depth)
        if kind == "array":
            return self._array(shape, depth)
        if kind in ("number", "integer"):
            return self._number(shape, is_whole=kind == "integer")
        if kind == "boolean":
            return bool(self._rng.integers(2))
        if kind == "null":
            return None
        return self._text(shape, str(shape.get("title", name)))

    def _object(self, shape: Mapping[str, Any], fixed: Mapping[str, Any], depth: int) -> dict[str, Any]:
        required = shape.get("required", ())
        properties: Mapping[str, Any] = shape.get("properties", {})
        found = {
            name: self.value(inner, fixed.get(name, _FREE), name, depth + 1)
            for name, inner in properties.items()
            if name in fixed or name in required or "const" in inner or self._is_said()
        }
        found |= {name: value for name, value in fixed.items() if name not in properties}
        more = shape.get("additionalProperties")
        for n in range(len(found), int(shape.get("minProperties", 0))):
            inner = more if isinstance(more, dict) else {}
            found[f"key {n + 1}"] = self.value(inner, _FREE, "value", depth + 1)
        return found

    def _is_said(self) -> bool:
        """Say whether a field that may be left out is drawn."""
        return not self._leaves_out and bool(self._rng.integers(2))

    def _array(self, shape: Mapping[str, Any], depth: int) -> list[Any]:
        first = [self.value(one, _FREE, "", depth + 1) for one in shape.get("prefixItems", ())]
        least = max(int(shape.get("minItems", 0)), 0 if depth >= DEEP else 1)
        length = min(least, int(shape.get("maxItems", least)))
        items = shape.get("items")
        if not isinstance(items, dict):
            return first
        name = str(shape.get("title", "")).removesuffix("s")
        while len(first) < length:
            one = self.value(items, _FREE, name, depth + 1)
            if not shape.get("uniqueItems") or one not in first:
                first.append(one)
        return first

    def _number(self, shape: Mapping[str, Any], is_whole: bool) -> float | int:
        tick = shape.get("multipleOf", 1 if is_whole else 1e-6)
        low = shape["exclusiveMinimum"] + tick if "exclusiveMinimum" in shape else shape.get("minimum")
        high = shape["exclusiveMaximum"] - tick if "exclusiveMaximum" in shape else shape.get("maximum")
        if low is None or low < -BOUNDLESS:
            low = 0 if high is None or high >= 0 else high - SPAN
        if high is None or high > BOUNDLESS:
            high = low + SPAN
        first, last = -int(-low // tick), int(high // tick)
        steps = int(self._rng.integers(first, max(first, last) + 1))
        return int(steps * tick) if is_whole else min(max(round(steps * tick, 6), low), high)

    def _text(self, shape: Mapping[str, Any], title: str) -> str:
        plain = f"Simulated {title.lower() or 'text'} {int(self._rng.integers(100, 1000))}"
        by_format = _FORMATS.get(str(shape.get("format")))
        written = by_format(self._now) if by_format is not None else plain
        pattern = shape.get("pattern")
        if pattern is not None:
            usual = (written, *(self._now.strftime(form) for form in _USUAL))
            found = next((one for one in usual if re.search(pattern, one)), None)
            written = found if found is not None else matching(pattern, self._rng)
        elif by_format is None:
            written = written[: shape.get("maxLength", len(written))].ljust(shape.get("minLength", 0), "·")
        return written

    def _resolved(self, shape: Mapping[str, Any]) -> Mapping[str, Any]:
        """Follow references; what stands beside one counts too."""
        while "$ref" in shape:
            found = self._parts[shape["$ref"].rpartition("/")[2]]
            shape = {**found, **{key: value for key, value in shape.items() if key != "$ref"}}
        return shape

    def _fits(self, shape: Mapping[str, Any], value: Any) -> bool:
        """Say whether a value is of the kind that a schema asks for; its bounds are for validation to judge."""
        shape = self._resolved(shape)
        options = shape.get("anyOf") or shape.get("oneOf")
        if options:
            return any(self._fits(one, value) for one in options)
        if "const" in shape or "enum" in shape:
            return value in shape.get("enum", (shape.get("const"),))
        kind = shape.get("type")
        if kind == "array" and isinstance(value, list):
            items = shape.get("items")
            return not isinstance(items, dict) or all(self._fits(items, one) for one in value)
        if kind == "object" and isinstance(value, dict) and "properties" in shape:
            known = shape["properties"]
            return all(name in known and self._fits(known[name], one) for name, one in value.items())
        if isinstance(value, bool):
            return kind in (None, "boolean")
        return kind is None or isinstance(value, _KINDS[kind])


_KINDS: Final[Mapping[str, type | tuple[type, ...]]] = {
    "array": list,
    "boolean": bool,
    "integer": int,
    "null": type(None),
    "number": (int, float),
    "object": dict,
    "string": str,
}

_USUAL: Final = ("%Y-%m-%d", "%G-W%V", "%H:%M", "%Y-%m", "%Y")
"""How days, weeks and times are written in fields that have a pattern."""

_FORMATS: Final[Mapping[str, Callable[[datetime], str]]] = {
    "date-time": lambda now: now.isoformat(),
    "date": lambda now: now.date().isoformat(),
    "time": lambda now: now.timetz().isoformat(),
    "duration": lambda _now: "PT1H",
    "uuid": lambda now: f"{int(now.timestamp()):032x}",
    "email": lambda _now: "somebody@example.org",
    "uri": lambda _now: "https://example.org/",
}
