"""What the sequencer does to drafts so that no secret is logged, kept or shown (spec arena-protocol-v2 10.3, R-A9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from moot.protocols.kernel.envelope import Actor, Draft, Envelope
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.frozen import FrozenDict
from moot.protocols.kernel.message import Part, body_json, changed
from moot.protocols.kernel.redact import redact, redact_under

T = TypeVar("T")

RULE: Final = "R-A9"
_FIELDS: Final = ("channel", "case_id", "obligation_id", "in_reply_to")


def without_secrets(value: T) -> T:
    """Redact every text in a message, in a part of one, or in JSON data; the value itself when there is no secret.

    In an object of JSON data the text under a key such as `token` goes whole, and the keys are redacted too.
    """
    clean: Any = _clean(value)
    return clean  # type: ignore[no-any-return]  # of the same kind


def _clean(value: Any) -> Any:
    if type(value) is str:
        return redact(value)
    if isinstance(value, Part):
        clean = value
        for name, part in value.__dict__.items():
            kept = _clean(part)
            if kept is not part:
                clean = changed(clean, name, kept)
        return clean
    if isinstance(value, Mapping):
        parts = {
            redact(name): redact_under(name, part) if type(part) is str else _clean(part)
            for name, part in value.items()
        }
        return value if parts == value else FrozenDict(parts) if isinstance(value, FrozenDict) else parts
    if isinstance(value, tuple | list):
        items = [_clean(item) for item in value]
        return value if items == list(value) else type(value)(items)
    return value


def discreet(draft: Draft) -> Draft:
    """Return a draft as it may be logged: its body without secrets; the draft itself when there are none.

    Raises:
        Malformed: R-A9. An id or a name of the envelope looks like a secret, or the body is no message without it.
    """
    named = {name: getattr(draft, name) for name in ("key", *_FIELDS)} | _names(draft.actor)
    for name, value in named.items():
        if value and redact(value) != value:
            raise Malformed(RULE, "looks like a secret: choose another", field=name)
    body = without_secrets(draft.body)
    if body is draft.body:
        return draft
    try:
        return replace(draft, body=type(body).model_validate_json(body_json(body)))
    except ValidationError as exc:
        field = ".".join(str(part) for part in exc.errors(include_input=False)[0]["loc"]) or "body"
        raise Malformed(RULE, "holds a secret and is invalid without it: leave it out", field=field) from None


def indiscretions(env: Envelope) -> Iterator[str]:
    """Yield the dotted paths of what looks like a secret in an envelope."""
    for name, value in ({name: getattr(env, name) for name in ("id", *_FIELDS)} | _names(env.actor)).items():
        if value and redact(value) != value:
            yield name
    yield from _telling("body", env.body)


def _names(actor: Actor) -> dict[str, str]:
    return {"actor.platform": actor.platform, "actor.user_id": actor.user_id}


def _telling(path: str, value: Any) -> Iterator[str]:
    if isinstance(value, Part | Mapping):
        parts = value if isinstance(value, Mapping) else value.__dict__
        for name, part in parts.items():
            # A key that is a secret is not named.
            shown = f"{path}.{redact(name)}"
            if redact(name) != name or (
                type(part) is str and isinstance(value, Mapping) and redact_under(name, part) != part
            ):
                yield shown
            else:
                yield from _telling(shown, part)
    elif isinstance(value, tuple):
        for n, item in enumerate(value):
            yield from _telling(f"{path}[{n}]", item)
    elif type(value) is str and redact(value) != value:
        yield path
