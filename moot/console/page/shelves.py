"""The memory browser: records of a shelf as a page shows them, with links to where each came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from moot.channels.showing.wording import WAYS, clean, spoken, words
from moot.console.model.interface import ReadModel
from moot.console.page.experiences import facts_of
from moot.console.page.figures_parts import figure
from moot.memory.records import Experience, Record
from moot.protocols.kernel.times import rfc3339

SHELVES: Final = (
    "causal",
    "reflections",
    "principles",
    "architecture",
    "strategies",
    "metrics",
    "thresholds",
)
"""The shelves, in the order in which they are offered."""

OPENED_FIRST: Final = (
    "principles",
    "reflections",
    *(s for s in SHELVES if s not in ("principles", "reflections")),
)
"""What is opened where nobody chose a shelf: the first of these that holds something."""

MOST_COUNTED: Final = 100
"""Records of a shelf are counted up to this; a page shows 99+."""

TEXTS: Final = ("summary", "statement", "description")
"""Fields of which the first one that is there is a record's text."""

CASES: Final = ("hypothesis_id", "lineage_id", "run_id")
"""Fields that name a case."""

PAGE: Final = 60
"""Records of one page."""

_LEFT_OUT: Final = frozenset(
    {"key", "seq", "at", "happened_at", "source_reflections", "history", "strategy", *TEXTS, *CASES}
)


async def counts_of(model: ReadModel) -> dict[str, int]:
    """Count the records of every shelf."""
    return {shelf: len(await model.memory(shelf, limit=MOST_COUNTED)) for shelf in SHELVES}


async def records_of(model: ReadModel, shelf: str, before: int | None) -> dict[str, Any]:
    """Return a page of a shelf, newest first.

    Raises:
        NotThere: There is no such shelf.
    """
    found = await model.memory(shelf, before=before, limit=PAGE)
    # Several records may come from one message: the page goes on before the last message it shows whole.
    last = min((record.seq for record in found), default=0)
    return {
        "items": [shown(record) for record in found],
        "before": last if len(found) == PAGE else None,
    }


def shown(record: Record) -> dict[str, Any]:
    """Return a record: its text, its other fields in words, its cases as links."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    text = next((str(values[name]) for name in TEXTS if values.get(name)), "")
    if not text:
        text = _about(values)
    figures: list[tuple[str, str]] = []
    left_out = _LEFT_OUT
    if isinstance(record, Experience):
        figures, left_out = facts_of(record.metrics), _LEFT_OUT | {"metrics"}
    named = [values[name] for name in CASES if isinstance(values.get(name), str) and values[name]]
    links = [{"t": clean(one, 80), "go": f"/case/{one}"} for one in dict.fromkeys(named)]
    return {
        "key": clean(record.key, 120),
        "seq": record.seq,
        "at": rfc3339(record.at),
        "text": clean(text, 2_000),
        "facts": [
            [words(name.rstrip("_")), clean(_worded(name, _plain(value)), 240)]
            for name, value in values.items()
            if name not in left_out and value not in (None, "", (), {})
        ]
        + [[name, clean(told, 240)] for name, told in figures],
        "links": links,
    }


def _worded(name: str, value: Any) -> str:
    """Word a field as in every sentence: a drawdown in per cent, also within figures, an instant to the minute."""
    if isinstance(value, Mapping):
        return ", ".join(
            f"{words(str(inner))} {_worded(str(inner), one)}" for inner, one in sorted(value.items())
        )
    if isinstance(value, str):
        return spoken(WAYS["when"](value, ""))
    return figure(name, value)


def _about(values: Mapping[str, Any]) -> str:
    """Say in a line what a record without a text of its own holds."""
    if "stage" in values:
        strategy = values.get("strategy")
        kind = f"{words(strategy.archetype)} on {', '.join(strategy.symbols)}, " if strategy else ""
        return f"{kind}stands in {values['stage']}"
    if "strictness" in values:
        return f"{words(str(values['key']))}: {values['previous']:g}, then {values['strictness']:g}"
    if "realised" in values:
        return f"{values.get('strategy_id')} on {values.get('date')}"
    return str(values.get("key", ""))


def _plain(value: Any) -> Any:
    """Turn nested records and messages into plain data."""
    if hasattr(value, "metrics"):
        # A backtest: its figures say it, its reference and split stand in the message.
        return _plain(value.metrics)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if hasattr(value, "__dataclass_fields__"):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    return (
        value
        if isinstance(value, str | int | float | bool | None)
        else rfc3339(value)
        if hasattr(value, "tzinfo")
        else str(value)
    )
