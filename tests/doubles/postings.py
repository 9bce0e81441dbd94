"""Postings of every message type, filled with any text, as the outbox hands them to a surface."""

from __future__ import annotations

import types as std
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from moot.channels.log.lines import open_line
from moot.channels.showing.rendering import card
from moot.channels.surface import PlatformMessageId, Posting
from moot.protocols.kernel.envelope import BOT, Actor
from moot.protocols.kernel.upcast import Opaque
from moot.protocols.research.seats import CRITIC
from moot.protocols.rulebook import rulebook
from tests.doubles.small_log import SmallLog

AT = "2026-02-23T10:00:00.000000Z"


def filled(kind: str, text: str = "some words", items: int = 4) -> dict[str, Any]:
    """Fill every field of a message type, texts with `text`, lists with so many items."""
    return {**_model(rulebook().messages[kind], text, items), "type": kind}


def posting(
    body: Mapping[str, Any],
    *,
    author: str = "critic",
    actor: Actor = BOT,
    case_id: str | None = "hyp_20260223_1030",
    channel: str = "#a-arena",
    folded: Sequence[Mapping[str, Any]] = (),
    link: str | None = None,
    log: SmallLog | None = None,
) -> Posting:
    """Make a posting from bodies, through lines of a log as a gateway reads them."""
    log = log or SmallLog()
    said = []
    for one in (body, *folded):
        opaque = Opaque.model_construct(type=str(one.get("type", "")), data=dict(one))
        envelope = log.append(opaque, author=CRITIC, actor=actor, case_id=case_id, channel=channel)
        said.append(open_line(envelope.line.replace('"author":"critic"', f'"author":"{author}"')))
    return Posting(
        seq=said[0].seq,
        envelope=said[0],
        channel=channel,
        thread=case_id,
        root=None if case_id is None else PlatformMessageId("root"),
        in_reply_to=None,
        nonce=f"small:{said[0].seq}",
        rendering=card(said[0]),
        folded=tuple(said[1:]),
        link=link,
    )


def escalation(options: int = 2, *, escalation_id: str = "esc_1", label: str = "go on") -> dict[str, Any]:
    """Return an escalation with so many options."""
    return {
        **filled("ESCALATION", "three timeouts"),
        "escalation_id": escalation_id,
        "options": [{"n": n, "label": label, "effect": "none"} for n in range(1, options + 1)],
    }


def _model(model: type[BaseModel], text: str, items: int) -> dict[str, Any]:
    fields = model.model_fields.items()
    return {
        field.serialization_alias or name: _value(field.annotation, text, items) for name, field in fields
    }


def _value(kind: Any, text: str, items: int) -> Any:
    origin, args = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _model(kind, text, items)
    if hasattr(kind, "__metadata__"):
        return _value(args[0], text, items)
    if origin in (Union, std.UnionType):
        return _value(next(arg for arg in args if arg is not type(None)), text, items)
    if origin is Literal:
        return args[0]
    if kind is bool:
        return True
    if kind is int:
        return 7
    if kind is float:
        return 0.123456
    if isinstance(kind, type) and issubclass(kind, datetime):
        return AT
    if origin in (tuple, list, frozenset):
        return [_value(args[0], text, items) for _ in range(items)] if args else []
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {f"{text[:40]} {n}": _value(args[1], text, items) for n in range(items)}
    return text
