"""Canonical JSON: sorted keys, no blanks, non-ASCII kept (K15); bodies by a writer of their class.

`canonical_json(body.model_dump())` is what a body's text is. A class's writer gives the same text in about half
the time: it is a function that is made once, from the class's pydantic core schema, and puts the fields into a
template with its keys sorted already. Where a value is not what its schema says (a copy that nobody validated), or a
class has a serialiser of its own, the long way is taken, which decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from json import encoder
from json.encoder import JSONEncoder, encode_basestring
from math import inf
from typing import Any, Final, NoReturn

from protocols.kernel.frozen import thaw
from protocols.kernel.message import Message, Part
from protocols.kernel.times import rfc3339

Write = Callable[[Any], str]

_encoder: Final = JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)
# JSONEncoder.encode makes this object anew for every value, which costs as much as the encoding itself.
_make_chunks: Final[Any] = getattr(encoder, "c_make_encoder", None)
_chunks: Final[Any] = _make_chunks and _make_chunks(
    None, _encoder.default, encode_basestring, None, ":", ",", True, False, False
)


def canonical_json(value: object) -> str:
    """Write plain data as JSON with sorted keys, no blanks, non-ASCII kept (K15)."""
    return "".join(_chunks(value, 0)) if _chunks else _encoder.encode(value)


def body_json(body: Message) -> str:
    """Write a body as its canonical text; `digest` and `seal` take it, so that it is written once.

    Raises:
        ValueError: It holds what JSON cannot say.
    """
    kind = type(body)
    write = _writers.get(kind)
    if write is None:
        write = _writers[kind] = _writer_of(kind) or _long_way
    try:
        return write(body)
    except _NOT_AS_DECLARED:
        return _long_way(body)


class _Odd(Exception):
    """A value is not of the type that its field declares."""


class _Unknown(Exception):
    """A schema says something that no writer knows."""


_NOT_AS_DECLARED: Final = (_Odd, TypeError, KeyError, AttributeError)

_writers: Final[dict[type[Part], Write]] = {}


def _long_way(body: Message) -> str:
    return canonical_json(body.model_dump())


def _odd() -> NoReturn:
    raise _Odd


def _float(value: float) -> str:
    if value.__class__ is float and -inf < value < inf:
        return value.__repr__()
    raise _Odd


def _int(value: int) -> str:
    if value.__class__ is int:
        return value.__repr__()
    raise _Odd


_PURE: Final = {
    "q": encode_basestring,
    "f": _float,
    "i": _int,
    "j": canonical_json,
    "r": rfc3339,
    "odd": _odd,
}
"""What the source of a writer may call."""


_OUTSIDE: Final = frozenset({"default", "function-after", "function-before"})
"""Schemas that check or complete what is inside them."""

_AROUND: Final = _OUTSIDE | {"definitions"}
"""Schemas that a class's own may stand in."""

_PLAIN: Final = {"str": "q", "float": "f", "int": "i", "dict": "j", "function-plain": "j"}
"""Schemas of values that one function writes; `canonical_json` refuses what is no JSON data."""

_SCALARS: Final = frozenset({"str", "int", "float", "bool", "literal"})

_FIELD: Final = frozenset({"type", "schema", "metadata", "validation_alias", "serialization_alias"})
"""What a writer knows of a field."""


def _writer_of(kind: type[Part]) -> Write | None:
    """Make the writer of a class; None when its schema says something that no writer knows."""
    if issubclass(kind, Message) and kind.model_dump is not Message.model_dump:
        return None
    try:
        return _Source().writer(kind, kind.__pydantic_core_schema__)
    except _Unknown:
        return None


class _Source:
    """Writes the source of a class's writer, with those of the parts in it."""

    def __init__(self) -> None:
        self._names: dict[str, Any] = dict(_PURE)
        self._variables = 0
        self._shared: dict[str, Mapping[str, Any]] = {}

    def writer(self, kind: type[Part], schema: Mapping[str, Any]) -> Write:
        """Return the function that writes a class."""
        while schema["type"] in _AROUND and "serialization" not in schema:
            self._shared.update({one["ref"]: one for one in schema.get("definitions", ())})
            schema = schema["schema"]
        fields = schema.get("schema", {})
        if schema["type"] != "model" or fields["type"] != "model-fields":
            raise _Unknown
        if "serialization" in schema or "serialization" in fields or fields.get("computed_fields"):
            raise _Unknown
        is_by_alias = bool(kind.model_config.get("serialize_by_alias"))
        return self._compiled(fields["fields"], is_by_alias)

    def _compiled(self, fields: Mapping[str, Mapping[str, Any]], is_by_alias: bool) -> Write:
        items: list[tuple[str, str]] = []
        for name, field in fields.items():
            if not field.keys() <= _FIELD:
                raise _Unknown
            key = field.get("serialization_alias", name) if is_by_alias else name
            items.append((key, self._value(f"d[{name!r}]", field["schema"])))
        items.sort()
        keys = (encode_basestring(key).replace("%", "%%") for key, _ in items)
        template = "{" + ",".join(f"{key}:%s" for key in keys) + "}"
        values = "".join(f"{value}, " for _, value in items)
        source = f"def write(part):\n    d = part.__dict__\n    return {template!r} % ({values})\n"
        names = dict(self._names)
        exec(source, names)
        write: Write = names["write"]
        return write

    def _value(self, value: str, schema: Mapping[str, Any]) -> str:
        """Return the expression that writes a value."""
        kind = schema["type"]
        if (how := schema.get("serialization")) is not None:
            if how.get("function") is rfc3339:
                return f"'\"%s\"' % r({value})"
            if how.get("function") is thaw:
                return f"j({value})"
            raise _Unknown
        if kind in _OUTSIDE:
            return self._value(value, schema["schema"])
        if kind in _PLAIN:
            return f"{_PLAIN[kind]}({value})"
        name = f"v{self._variables}"
        self._variables += 1
        match kind:
            case "bool":
                return f"('true' if ({name} := {value}) is True else 'false' if {name} is False else odd())"
            case "nullable":
                inner = self._value(name, schema["schema"])
                return f"('null' if ({name} := {value}) is None else {inner})"
            case "literal":
                return (
                    f"q({value})"
                    if all(isinstance(one, str) for one in schema["expected"])
                    else f"j({value})"
                )
            case "tuple" if schema.get("variadic_item_index") == 0 and len(schema["items_schema"]) == 1:
                item = self._value(name, schema["items_schema"][0])
                return f"('[' + ','.join([{item} for {name} in {value}]) + ']')"
            case "tuple" if all(item["type"] in _SCALARS for item in schema["items_schema"]):
                return f"j({value})"
            case "definition-ref":
                # Taken out meanwhile, so that a part within itself is unknown.
                shared = self._shared.pop(schema["schema_ref"], None)
                if shared is None:
                    raise _Unknown
                inner = self._value(value, shared)
                self._shared[schema["schema_ref"]] = shared
                return inner
            case "model":
                self._names[f"w{name}"] = self.writer(schema["cls"], schema)
                return f"w{name}({value})"
            case _:
                raise _Unknown
