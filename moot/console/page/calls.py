"""The calls of models on the page: a table with filters, sums, what was spent when, and gauges of budgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, get_args
from urllib.parse import quote

from moot.call_history.listing import NO_ROOM, NOT_CALLED, NOT_SENT, UNDER_WAY, state_words
from moot.channels.showing.wording import clean, seat_name
from moot.console.errors import ConsoleError
from moot.console.model.calls import Gauge
from moot.console.model.interface import ReadModel
from moot.console.page.figures_parts import Page
from moot.console.reading.calls import UNSETTLED, CallRow, Kind, Sum
from moot.protocols.calls.books import shown
from moot.protocols.calls.messages import Outcome

Json = dict[str, Any]

ROWS: Final = 60
"""Calls that a page is given at once."""

STATES: Final = (*get_args(Outcome), NO_ROOM, UNSETTLED)
"""What calls can be filtered by."""

MICRO: Final = 1_000_000
CENT: Final = 10_000
NEARLY: Final = 0.9
"""From this part on a budget is shown as nearly spent."""


async def calls_view(model: ReadModel, args: Mapping[str, Any]) -> Page:
    """Return the view of all calls of a kind.

    Raises:
        ConsoleError: They are not for this person, or cannot be read now.
    """
    kind = Kind.of(args)
    sums = {by: await model.calls.sums(kind, by) for by in ("seat", "case", "model")}
    all_ = sums if kind == Kind() else {by: await model.calls.sums(Kind(), by) for by in ("seat", "model")}
    names = {by: [one.name for one in all_[by]] for by in ("seat", "model")}
    try:
        gauges = gauges_of(model.calls.gauges())
        note = ""
    except ConsoleError as exc:
        gauges, note = [], f"{exc}. "
    if not (progress := model.index_progress()).is_complete:
        note += f"{progress}: older calls may be missing, and sums grow."
    return {
        "kind": "calls",
        "title": "Calls",
        "about": "what models were asked, and what it cost",
        "channel": None,
        "note": note,
        "part": bool(note),
        "asked": kind._asdict(),
        "seats": [[name, seat_name(clean(name, 40))] for name in sorted({*names["seat"], kind.seat} - {""})],
        "models": sorted({*names["model"], kind.model} - {""}),
        "states": [[name, state_text(name)] for name in STATES],
        "gauges": gauges,
        "spend": _spend(await model.calls.spend(kind)),
        "sums": [_table(by, sums[by]) for by in ("seat", "model")],
        "cases": _table("case", sums["case"]),
        **await calls_of(model, args, None),
    }


async def calls_of(model: ReadModel, args: Mapping[str, Any], before: int | None) -> Json:
    """Return a stretch of calls, newest first."""
    page = await model.calls.page(Kind.of(args), before=before, limit=ROWS)
    return {
        "items": [_row(row) for row in page.rows],
        "before": page.before,
    }


def gauges_of(gauges: Iterable[Gauge]) -> list[Json]:
    """Return the budgets, one entry a place: each with what is limited, and in one line what is booked without limit.

    Of cases only those with a budget are told.
    """
    found = []
    for (scope, place), several in groupby(gauges, key=lambda one: (one.scope, one.place)):
        units = list(several)
        limited = [one for one in units if one.limit is not None]
        free = [shown(one.unit, one.booked) for one in units if one.limit is None and one.booked]
        if limited or (free and scope != "case"):
            title = f"today, {place}" if scope == "day" else place
            found.append(
                {
                    "place": title[:1].upper() + clean(title[1:], 120),
                    "units": [_gauge(one) for one in limited],
                    "free": f"{', '.join(free)} booked, no limit" if free else "",
                }
            )
    return found


def tightest(gauges: Iterable[Gauge]) -> Json | None:
    """Return the gauge for the page's head: of the society's and today's budgets the one of which least is left.

    Without a budget it is what was booked; None where no model was ever called.
    """
    all_ = [one for one in gauges if one.scope in ("society", "day")]
    limited = [one for one in all_ if one.limit is not None]
    if limited:
        return _gauge(max(limited, key=_share))
    booked = [one for one in all_ if one.scope == "society" and one.booked]
    return _gauge(booked[0]) if booked else None


def _gauge(one: Gauge) -> Json:
    booked = shown(one.unit, one.booked)
    text = f"{booked} booked, no limit"
    short = _in_short(one.unit, one.booked)
    if one.limit is not None:
        left = shown(one.unit, one.left or 0)
        text = f"{booked} of {shown(one.unit, one.limit)} booked, {left} left"
        short = f"{_in_short(one.unit, one.left or 0)} left"
    if one.held:
        text += f"; {shown(one.unit, one.held)} of it held for calls under way"
    share = _share(one)
    return {
        "text": text,
        "short": short,
        "title": f"{one.place}: {text}",
        "share": None if one.limit is None else round(share, 3),
        "hot": one.limit is not None and share >= NEARLY,
    }


def _in_short(unit: str, amount: int) -> str:
    """Write an amount where there is little room: dollars in whole cents, cut and not rounded, if there are any."""
    return shown(unit, amount // CENT * CENT if unit == "usd" and amount >= CENT else amount)


def _share(one: Gauge) -> float:
    if one.limit is None:
        return 0.0
    return min(1.0, one.booked / one.limit) if one.limit else 1.0


def _row(row: CallRow) -> Json:
    is_sent = row.state not in NOT_CALLED
    return {
        "id": clean(row.call_id, 400),
        "go": f"/call/{quote(row.call_id)}",
        "seq": row.seq,
        "t": row.at,
        "seat": seat_name(clean(str(row.seat), 40)),
        "case": clean(str(row.case_id), 80) if row.case_id else "",
        "model": clean(str(row.model), 120),
        "mood": mood(row.state),
        "said": state_text(row.state),
        "tokens": f"{row.tokens:,}" if row.tokens is not None else "",
        "money": money(row.cost or 0, is_known=row.cost is not None) if is_sent and row.settled_seq else "",
        "took": seconds(row.latency_ms) if row.latency_ms is not None else "",
    }


def _table(by: str, sums: Sequence[Sum]) -> Json:
    def name(one: Sum) -> Any:
        if by == "seat":
            return seat_name(clean(one.name, 40))
        if by == "case":
            return (
                {"t": clean(one.name, 80), "go": f"/case/{quote(one.name, safe='')}"}
                if one.name
                else "outside cases"
            )
        return clean(one.name, 120)

    return {
        "title": f"By {by}",
        "head": [by, "calls", "answered", "tokens", "money", "each took"],
        "nums": [1, 2, 3, 4, 5],
        "rows": [
            [
                name(one),
                f"{one.calls:,}",
                f"{one.answered:,}",
                f"{one.tokens:,}",
                money(one.cost, is_known=not one.unpriced),
                seconds(one.latency_ms),
            ]
            for one in sums
        ],
        "none": "No call has ended.",
    }


def _spend(sums: Sequence[Sum]) -> Json:
    """Draw money over time, or tokens where nothing has a price."""
    is_money = any(one.cost for one in sums)
    by_hour = bool(sums) and len(sums[0].name) > len("2026-02-22")
    return {
        "title": "Spend" if is_money else "Tokens",
        "note": f"{'US dollars' if is_money else 'tokens'} booked, by the {'hour' if by_hour else 'day'} in UTC",
        "kind": "bar",
        "whole": not is_money,
        "x": [f"{one.name[5:].replace('T', ' ')} h" if by_hour else one.name for one in sums],
        "series": [
            {
                "name": "US dollars" if is_money else "tokens",
                "data": [round(one.cost / MICRO, 6) if is_money else one.tokens for one in sums],
            }
        ],
    }


def state_text(state: str) -> str:
    """Word how a call ended, as the index has it."""
    return "under way or not sent" if state == UNSETTLED else state_words(clean(state, 60))


def mood(state: str) -> str:
    """Say in which colour that is shown."""
    return "good" if state == "answered" else "mid" if state in (UNDER_WAY, NOT_SENT) else "bad"


def money(micro: int, *, is_known: bool = True) -> str:
    """Word an amount of micro-USD; where a price is not known, that is said."""
    if is_known:
        return shown("usd", micro)
    return f"{shown('usd', micro)} and what has no price" if micro else "no price"


def seconds(ms: int) -> str:
    """Word how long something took."""
    return f"{ms} ms" if ms < 1_000 else f"{ms / 1_000:,.1f} s"
