"""Messages as a page shows them: one small plain object each, worded as on every surface.

Pure, and total: bodies of unknown types and of newer versions become cards too (K4). All texts are for showing as
text; the page never reads them as markup.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from moot.channels.showing.avatars import has_picture
from moot.channels.showing.looks import MOOT, looks
from moot.channels.showing.rendering import UNKNOWN, Speakers, card, predicate
from moot.channels.showing.wording import MOST_TEXT, clean, derived, number, seat_name, words
from moot.protocols.authorship import label
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.times import rfc3339
from moot.protocols.rulebook import rulebook

Card = dict[str, Any]
"""What `card_of` gives; plain JSON."""

SHARES: Final = (
    "confidence",
    "alpha_argument_score",
    "risk_argument_score",
    "false_negative_rate",
    "false_positive_rate",
    "debate_quality_score",
    "avg_debate_quality",
)
"""Fields in [0, 1] that are shown as bars, in this order."""

SCORES: Final = ("scores", "risk_scores")
"""Fields that hold risk scores by name; a high one is bad."""

HOT: Final = 0.6
"""From here on a risk score is shown in the warm colour."""

MOST_BARS: Final = 8
MOST_TEXTS: Final = 200
"""Long texts of one message that are shown whole."""

MOST_JSON: Final = 200_000
"""Characters of a body that is shown as JSON; a page is not for reading more."""


def card_of(envelope: Envelope, who: Speakers = UNKNOWN) -> Card:
    """Return what a page shows of a message: who, where, when, one sentence, bars, how it stands out."""
    body = envelope.body.model_dump()
    kind = str(envelope.body.type)
    look = looks().get(envelope.author, MOOT)
    is_human = envelope.actor.kind == "human"
    said = predicate(envelope, who)
    found: Card = {
        "s": envelope.seq,
        "c": envelope.channel,
        "a": str(envelope.author),
        "n": seat_name(clean(str(envelope.author), 40)),
        "col": look.colour,
        "t": rfc3339(envelope.sent_at),
        "y": kind,
        "w": words(kind)[:60],
        "k": clean(envelope.case_id, 120) if envelope.case_id else None,
        "x": said,
        "b": bars(body),
        "m": rulebook().marks.get(kind) or ("human" if is_human else ""),
    }
    if not has_picture(envelope.author):
        found["i"] = clean(look.name, 40)[:2].upper()
    if says_nothing(envelope):
        found["q"] = True
    if _is_cut(said) and texts_of(body, said):
        found["l"] = True
    if shown := label(envelope, who.minds):
        found["u"] = shown
    if is_human:
        found["h"] = clean(who.names.get(envelope.actor.user_id, envelope.actor.user_id), 60)
        found["p"] = clean(envelope.actor.platform, 30)
    return found


def says_nothing(envelope: Envelope) -> bool:
    """Return True for routine, such as a health check that found nothing: feeds fold it."""
    is_quiet = rulebook().quiet.get(str(envelope.body.type))
    try:
        return is_quiet is not None and bool(is_quiet(envelope.body))
    except AttributeError:
        # A body of another version lacks a field.
        return False


def bars(body: Mapping[str, Any]) -> list[list[Any]]:
    """Return what can be drawn as bars: [name, value in [0, 1], whether it is high and bad, the value in words].

    The words are those of the sentence above, so that both round alike.
    """
    found: list[list[Any]] = []
    for name in SCORES:
        scores = body.get(name)
        if isinstance(scores, Mapping):
            rated = [(str(key), value) for key, value in scores.items() if _is_share(value)]
            rated.sort(key=lambda item: (-item[1], item[0]))
            found += [[words(key)[:40], round(value, 3), value >= HOT, number(value)] for key, value in rated]
    found += [
        [words(name), round(body[name], 3), False, number(body[name])]
        for name in SHARES
        if _is_share(body.get(name))
    ]
    return found[:MOST_BARS]


def _is_cut(said: str) -> bool:
    """Say whether a sentence may leave out something: a long text, or items of a list."""
    return "…" in said or re.search(r" and \d+ more", said) is not None


def texts_of(body: Mapping[str, Any], said: str) -> list[list[str]]:
    """Return the texts that a sentence leaves out or cuts, whole, each with its place: [place, text]."""
    found: list[list[str]] = []
    left = MOST_JSON
    for place, text in _strings(body, ""):
        if clean(text, MOST_JSON) in said or clean(derived(text), MOST_JSON) in said:
            continue
        if len(found) == MOST_TEXTS or left <= 0:
            break
        found.append([place, text[:left]])
        left -= len(text)
    return found


def _strings(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Yield the texts of a body in its order; what reads as an identifier or a date is left out."""
    if isinstance(value, str):
        if len(value) > MOST_TEXT or " " in value.strip():
            yield place, value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from _strings(one, f"{place}, {words(str(name))}" if place else words(str(name)))
    elif isinstance(value, list | tuple):
        for n, one in enumerate(value, 1):
            yield from _strings(one, f"{place} {n}")


def whole(envelope: Envelope) -> dict[str, Any]:
    """Return everything about a message: its fields in words, the texts that its sentence cuts, the logged JSON."""
    text = json.dumps(json.loads(envelope.line), ensure_ascii=False, indent=2) if envelope.json else ""
    if len(text) > MOST_JSON:
        text = text[:MOST_JSON] + f"\n… {len(text) - MOST_JSON:,} characters more"
    shown = card(envelope)
    return {
        "seq": envelope.seq,
        "title": shown.title,
        "fields": [[field.name, field.value] for field in shown.fields],
        "texts": texts_of(envelope.body.model_dump(), predicate(envelope)),
        "json": text,
    }


def _is_share(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and 0 <= value <= 1
    )
