"""Records of other programs, held against the schemas as far as the specification requires them (R-G6).

Moot writes every field that it knows, and no null where a field may be left out. Other programs that keep the
specification leave out more, write null instead, and tell some things in their own words. `mended` makes such a record
one that the checks can read; what they judge by its bytes, such as hashes, they take from the record as it stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, Final, NamedTuple

from jsonschema import Draft202012Validator

from moot.arbiter import schemas
from moot.config.arbiter.configuring import BACKOFF_MS, EMBEDDING_MAX_CHARS, STOP_POLICY, TIMEOUTS
from moot.protocols.arbiter.hashes import ecma_json, sha256_of_text, whole_numbers
from moot.protocols.kernel.canonical import canonical_json

_PUNCTUATION: Final = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"
"""ASCII punctuation in the order of the Unicode Collation Algorithm, before digits and letters."""

_TEXT: Final = {"type": "string"}
_ATTEMPT: Final = ("started_at", "completed_at", "latency_ms", "retry_count")


class Latitude(NamedTuple):
    """How far a part of a record may differ from what Moot writes.

    Attributes:
        optional: Fields that may be missing.
        free: Fields that Moot writes in words of its own: what they may be.
        extra: Fields that Moot does not write: what they may be.
    """

    optional: frozenset[str] = frozenset()
    free: Mapping[str, Any] = {}
    extra: Mapping[str, Any] = {}


def _may_lack(*names: str, free: Mapping[str, Any] = {}, **extra: Any) -> Latitude:
    return Latitude(frozenset(names), free, extra)


LATITUDES: Final[Mapping[str, Mapping[str, Latitude]]] = {
    "config.resolved": {
        "protocol": _may_lack("timeouts"),
        "protocol.timeouts": _may_lack(*TIMEOUTS),
        "execution": _may_lack("stop_policy"),
        "execution.retry_policy": _may_lack("backoff_ms"),
        "execution.stop_policy": _may_lack(*STOP_POLICY),
        "measurement": _may_lack("embedding_max_chars"),
        "sampling.models[]": _may_lack("catalog_status"),
    },
    "manifest": {
        "": _may_lack("timestamps", "provenance", "hash_algorithm", free={"model_catalog_version": _TEXT}),
        "provenance": _may_lack(
            "config_sha256",
            "plan_sha256",
            "model_catalog_version",
            "model_catalog_sha256",
            "prompt_manifest_sha256",
            free={"model_catalog_version": _TEXT},
            arbiter_version=_TEXT,
            git_sha=_TEXT,
            hash_algorithm={"const": "sha256"},
        ),
    },
    "trials": {
        "": _may_lack("error_code"),
        "attempt": _may_lack(*_ATTEMPT),
        "error": _may_lack("message", "retryable"),
        "usage": _may_lack("total_tokens"),
        "calls[]": _may_lack("model_actual", "response_payload", "error_message"),
        "calls[].usage": _may_lack("total_tokens"),
    },
    "parsed": {
        "": _may_lack("parser_version", free={"parser_version": _TEXT, "embed_text": _TEXT}),
        "parse_error": _may_lack("message", "code", free={"message": _TEXT, "code": _TEXT}),
    },
    "convergence_trace": {
        "": _may_lack("recorded_at", "entropy", "effective_cluster_count", "singleton_count"),
        "stop": _may_lack(free={"stop_reason": _TEXT}),
    },
    "aggregates": {"": _may_lack("schema_version", "cluster_count", "entropy", "incomplete")},
    "embeddings": {
        "": _may_lack(
            free={"skip_reason": _TEXT, "truncation_reason": {"type": ["string", "null"]}},
            generation_id=_TEXT,
        ),
    },
    "embeddings.provenance": {
        "": _may_lack(
            "requested_embedding_model",
            "actual_embedding_model",
            "embed_text_strategy",
            "normalization",
            "note",
            free={"reason": _TEXT},
            note=_TEXT,
            dimensions={"type": ["integer", "null"], "minimum": 1},
            debug_jsonl_present={"type": "boolean"},
            counts={"type": "object"},
            jsonl_encoding=_TEXT,
        ),
    },
}
"""By schema, and by the dotted path of a part in it."""

FILLED: Final[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
    "config.resolved": {
        "protocol.timeouts": TIMEOUTS,
        "execution.retry_policy": {"backoff_ms": BACKOFF_MS},
        "execution.stop_policy": STOP_POLICY,
        "measurement": {"embedding_max_chars": EMBEDDING_MAX_CHARS},
        "sampling.models[]": {"catalog_status": "unknown_to_catalog"},
    },
    "trials": {
        "": {"error_code": None},
        "error": {"message": "", "retryable": False},
        "calls[]": {"model_actual": None, "response_payload": None, "error_message": None},
    },
    "aggregates": {"": {"cluster_count": None, "entropy": None}},
    "embeddings.provenance": {"": {"actual_embedding_model": None}},
}
"""What stands for a field that is missing, by schema and part; other fields stay missing."""

OF_CLUSTERS: Final = frozenset({"entropy", "effective_cluster_count", "singleton_count"})
"""Fields of a batch that belong to its clusters; a run that does not cluster has none of them."""

SKIP_REASONS: Final[Mapping[str, str]] = {"contract_parse_excluded": "contract_failure"}
"""Reasons for which other programs embed no text, and what Moot calls them."""


class Mended(NamedTuple):
    """A record as the checks read it, and the dotted paths of fields that Moot writes and that it lacks."""

    value: Any
    lacks: tuple[str, ...]


def mended(name: str, part: str, value: Any) -> Mended:
    """Return a record with what may be absent or null brought into one form.

    Args:
        name: Of the schema.
        part: The definition of it that the record claims to be; "" for the whole.
        value: The record.
    """
    lacks: list[str] = []
    found = _mended(relaxed(name, part), value, "", name, lacks)
    if isinstance(found, dict):
        for usage in _usages(name, found):
            if {"prompt_tokens", "completion_tokens"} <= usage.keys():
                usage.setdefault("total_tokens", usage["prompt_tokens"] + usage["completion_tokens"])
        attempt = found.get("attempt") if name == "trials" else None
        if isinstance(attempt, dict) and any(one not in attempt for one in _ATTEMPT):
            del found["attempt"]
        if name == "embeddings" and found.get("embedding_status") in ("failed", "skipped"):
            found.pop("dimensions", None)
        if name == "embeddings" and isinstance(reason := found.get("skip_reason"), str):
            found["skip_reason"] = SKIP_REASONS.get(reason, reason)
    return Mended(found, tuple(lacks))


def _usages(name: str, record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what a trial and its calls used, where all tokens are numbers: a total that is not told is their sum."""
    calls = record.get("calls") if name == "trials" else None
    for one in (record if name == "trials" else {}, *(calls if isinstance(calls, list) else ())):
        usage = one.get("usage") if isinstance(one, Mapping) else None
        if isinstance(usage, dict) and all(type(tokens) in (int, float) for tokens in usage.values()):
            yield usage


@cache
def validator(name: str, part: str = "") -> Draft202012Validator:
    """Return what holds a value against a schema as far as the specification requires; arguments as of `relaxed`."""
    return Draft202012Validator(relaxed(name, part))


@cache
def relaxed(name: str, part: str = "") -> dict[str, Any]:
    """Return a schema with the latitude that other programs have.

    Args:
        name: As in `schemas.names()`.
        part: A definition of it instead of the whole.
    """
    found: dict[str, Any] = _relaxed(schemas.whole(name, part), "", LATITUDES.get(name, {}))
    return found


def _relaxed(node: Any, path: str, latitudes: Mapping[str, Latitude]) -> Any:
    if not isinstance(node, dict):
        return node
    given = latitudes.get(path, Latitude())
    found = dict(node)
    if "required" in node:
        found["required"] = [one for one in node["required"] if one not in given.optional]
    if "properties" in node:
        properties = {
            field: _relaxed(one, _inner(path, field), latitudes) for field, one in node["properties"].items()
        }
        free = {one: shape for one, shape in given.free.items() if properties.get(one, False) is not False}
        is_closed = False in (node.get("additionalProperties"), node.get("unevaluatedProperties"))
        found["properties"] = {**(given.extra if is_closed else {}), **properties, **free}
    if "items" in node:
        found["items"] = _relaxed(node["items"], f"{path}[]", latitudes)
    for key in ("allOf", "anyOf", "oneOf"):
        if key in node:
            found[key] = [_relaxed(one, path, latitudes) for one in node[key]]
    for key in ("then", "else"):
        if key in node:
            found[key] = _relaxed(node[key], path, latitudes)
    return found


def _mended(node: Any, value: Any, path: str, name: str, lacks: list[str]) -> Any:
    if isinstance(value, list):
        items = next(_parts(node, "items"), None)
        return value if items is None else [_mended(items, one, f"{path}[]", name, lacks) for one in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for field, one in value.items():
        shapes = list(_shapes(node, field))
        if one is None and shapes and not any(_accepts_null(shape) for shape in shapes):
            continue
        found[field] = _mended({"allOf": shapes}, one, _inner(path, field), name, lacks) if shapes else one
    filled = FILLED.get(name, {})
    for field in sorted(LATITUDES.get(name, {}).get(path, Latitude()).optional - found.keys()):
        if _is_written(field, found):
            lacks.append(_inner(path, field))
        if _inner(path, field) in filled:
            found[field] = dict(filled[_inner(path, field)])
    return {**filled.get(path, {}), **found}


def _is_written(field: str, record: Mapping[str, Any]) -> bool:
    """Return whether Moot writes a field in a record like this one."""
    if field == "note":
        return record.get("status") == "not_generated"
    return field not in OF_CLUSTERS or "cluster_count" in record


def _inner(path: str, field: str) -> str:
    return f"{path}.{field}" if path else field


def _parts(node: Any, key: str) -> Iterator[Any]:
    """Yield what a schema says under a key, itself or by what it is put together from."""
    if not isinstance(node, dict):
        return
    if key in node:
        yield node[key]
    for combined in ("allOf", "anyOf", "oneOf"):
        for one in node.get(combined, ()):
            yield from _parts(one, key)
    for branch in ("then", "else"):
        yield from _parts(node.get(branch), key)


def _shapes(node: Any, field: str) -> Iterator[Any]:
    """Yield each shape that a schema gives a field; one that bars it is none."""
    for properties in _parts(node, "properties"):
        if field in properties and properties[field] is not False:
            yield properties[field]


def _accepts_null(shape: Any) -> bool:
    return bool(Draft202012Validator(shape).is_valid(None))


def hashes_elsewhere(value: Any) -> set[str]:
    """Return the SHA-256 hashes that other programs and earlier versions give plain data, keys sorted.

    Keys are sorted by code point, or by the rules of a locale; earlier versions wrote numbers as Python does.
    """
    found = {sha256_of_text(ecma_json(value, key)) for key in (str, _collated)}
    with suppress(UnicodeEncodeError):
        found.add(sha256_of_text(canonical_json(whole_numbers(value))))
    return found


def _collated(name: str) -> tuple[list[tuple[int, int]], list[bool]]:
    """Return a key that sorts names as a locale does: case counts only where nothing else differs."""

    def rank(char: str) -> tuple[int, int]:
        place = _PUNCTUATION.find(char)
        return (0, place) if place >= 0 else (1, ord(char.lower()[0]))

    return [rank(char) for char in name], [char.isupper() for char in name]
