"""What all dashboards are made of: the last messages of a type, counts as bars, texts and links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeGuard
from urllib.parse import urlencode

from moot.channels.showing.wording import clean, number, plain
from moot.console.model.interface import MOST_WINDOW, ReadModel
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.times import rfc3339

Body = Mapping[str, Any]
Page = dict[str, Any]

MOST_ROWS: Final = 40
"""Rows of a table."""

IN_PER_CENT: Final = frozenset({"annual_return", "max_drawdown", "win_rate"})
"""Metrics that are shares."""

LAST: Final = f"Of the last {MOST_WINDOW} messages of each kind."


async def last_of(model: ReadModel, kind: str) -> list[Envelope]:
    """Return the last messages of a type, oldest first; what broke a rule counts as said."""
    return list((await model.search(type=kind, limit=MOST_WINDOW)).envelopes)


def counted(title: str, counts: Counter[str], wording: Any) -> dict[str, Any]:
    """Draw counts by name, the highest first."""
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:12]
    return {
        "title": title,
        "kind": "bar",
        "flat": True,
        "whole": True,
        "x": [wording(clean(name, 40)) for name, _ in rows],
        "series": [{"name": "messages", "data": [n for _, n in rows]}],
        "height": max(120, 30 * len(rows) + 40),
    }


def body_of(env: Envelope) -> Body:
    """Return a message's body as plain data."""
    return env.body.model_dump()


def day_of(env: Envelope) -> str:
    """Return the day a message was sent."""
    return rfc3339(env.sent_at)[:10]


def minute_of(env: Envelope) -> str:
    """Return the minute a message was sent."""
    return rfc3339(env.sent_at)[:16].replace("T", " ")


def link_to(env: Envelope) -> dict[str, str]:
    """Link to a message."""
    return {"t": f"message {env.seq}", "go": f"/m/{env.seq}"}


def case_link(env: Envelope) -> dict[str, str] | str:
    """Link to a message's case."""
    return {"t": clean(env.case_id, 80), "go": f"/case/{env.case_id}"} if env.case_id else ""


def strategy_link(strategy_id: object) -> dict[str, str] | str:
    """Link to what was said about a strategy."""
    if not isinstance(strategy_id, str) or not strategy_id:
        return ""
    return {"t": clean(strategy_id, 60), "go": f"/search?{urlencode({'q': strategy_id})}"}


def is_number(value: Any) -> TypeGuard[float]:
    """Say whether a value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def figure(name: str, value: Any) -> str:
    """Word a metric: a drawdown, a rate and a return in per cent, as in every sentence."""
    is_share = name in IN_PER_CENT and is_number(value)
    return f"{number(round(value * 100, 2))} %" if is_share else plain(value)


def mean(values: Iterable[float]) -> float | None:
    """Return the mean, None without values."""
    found = list(values)
    return round(sum(found) / len(found), 3) if found else None


def share(part: int, whole: int) -> str:
    """Word a part of a whole in per cent."""
    return f"{round(100 * part / whole)} %" if whole else "–"


def dollars(value: object, *, is_signed: bool = False) -> str:
    """Word an amount of money."""
    if not isinstance(value, int | float):
        return "–"
    sign = "−" if value < 0 else "+" if is_signed and value > 0 else ""
    return f"{sign}${abs(value):,.0f}"


def signed(count: int) -> str:
    """Word a signed number of shares, with the minus of the amounts beside it."""
    return f"{'−' if count < 0 else ''}{abs(count):,}"
