"""Messages as a page shows them: one small plain object each, worded as on every surface.

Pure, and total: bodies of unknown types and of newer versions become cards too (K4). All texts are for showing as
text; the page never reads them as markup.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from channels.looks import LOOKS, MOOT
from channels.rendering import card, predicate
from channels.wording import clean, seat_name, words
from protocols.kernel.envelope import Envelope
from protocols.kernel.times import rfc3339

Card = dict[str, Any]
"""What `card_of` gives; plain JSON."""

MARKS: Final[Mapping[str, str]] = {
    "VIOLATION": "violation",
    "RULING": "ruling",
    "ESCALATION": "escalation",
    "HALT": "halt",
    "STOP": "halt",
    "SOCIETY_STOPPED": "halt",
}
"""Types that stand out, and how."""

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
MOST_JSON: Final = 200_000
"""Characters of a body that is shown as JSON; a page is not for reading more."""


def card_of(envelope: Envelope) -> Card:
    """Return what a page shows of a message: who, where, when, one sentence, bars, how it stands out."""
    body = envelope.body.model_dump()
    kind = str(envelope.body.type)
    look = LOOKS.get(envelope.author, MOOT)
    is_human = envelope.actor.kind == "human"
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
        "x": predicate(envelope),
        "b": bars(body),
        "m": MARKS.get(kind) or ("human" if is_human else ""),
    }
    if is_human:
        found["h"] = clean(envelope.actor.user_id, 60)
        found["p"] = clean(envelope.actor.platform, 30)
    return found


def bars(body: Mapping[str, Any]) -> list[list[Any]]:
    """Return what can be drawn as bars: [name, value in [0, 1], whether it is high and bad]."""
    found: list[list[Any]] = []
    for name in SCORES:
        scores = body.get(name)
        if isinstance(scores, Mapping):
            rated = [(str(key), value) for key, value in scores.items() if _is_share(value)]
            rated.sort(key=lambda item: (-item[1], item[0]))
            found += [[words(key)[:40], round(value, 3), value >= HOT] for key, value in rated]
    found += [[words(name), round(body[name], 3), False] for name in SHARES if _is_share(body.get(name))]
    return found[:MOST_BARS]


def whole(envelope: Envelope) -> dict[str, Any]:
    """Return everything about a message: its fields in words, and the logged JSON."""
    text = json.dumps(json.loads(envelope.line), ensure_ascii=False, indent=2) if envelope.json else ""
    if len(text) > MOST_JSON:
        text = text[:MOST_JSON] + f"\n… {len(text) - MOST_JSON:,} characters more"
    shown = card(envelope)
    return {
        "seq": envelope.seq,
        "title": shown.title,
        "fields": [[field.name, field.value] for field in shown.fields],
        "json": text,
    }


def _is_share(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and 0 <= value <= 1
    )
