"""Why something came about, on the page: an explanation as a panel shows it, beside its case."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from moot.channels.showing.wording import beside, clean
from moot.console.model.interface import ReadModel
from moot.explaining.explanation import Decision, Held, Link, Objection, Said
from moot.protocols.kernel.times import rfc3339

MOST_TEXT: Final = 4_000
"""Characters of one text; the whole message is a link away."""

MOST: Final = 60
"""Entries of one list."""

Json = dict[str, Any]


async def explained(model: ReadModel, given: str) -> Json:
    """Return the panel of an id.

    Raises:
        NotThere: There is no such thing for this person.
    """
    found = await model.explain(given)
    return {
        "id": clean(found.id, 200),
        "kind": found.kind,
        "case": found.case_id or "",
        "came": found.came_to,
        "about": _all(found.about),
        "opened": _said(found.opened),
        "decided": [_decision(one) for one in found.decisions[-MOST:]],
        "objected": [_objection(one) for one in found.objections[-MOST:]],
        "asked": [_link(one) for one in found.asked[:MOST]],
        "people": _all(found.people[-MOST:]),
        "unheard": found.unheard,
        "followed": _all(found.followed[:MOST]),
        "links": [_link(one) for one in found.links[:MOST]],
        "rest": max(0, len(found.links) - MOST),
    }


def _all(every: Iterable[Said]) -> list[Json]:
    return [_said(one) for one in every]


def _said(one: Said) -> Json:
    return {"seq": one.seq, "at": rfc3339(one.at), "by": one.by, "text": clean(one.text, MOST_TEXT)}


def _held(one: Held) -> list[Any]:
    value, limit = beside(one.value, one.limit)
    return [one.holds, one.name, value, f"{one.relation} {limit}", one.purpose]


def _decision(one: Decision) -> Json:
    applied, row = one.applied, one.row
    return {
        **_said(one.said),
        "broke": clean(one.broke, MOST_TEXT),
        "held": [_held(held) for held in one.held],
        "table": {
            "title": applied.title,
            "head": applied.head,
            "rows": applied.rows,
            "on": applied.on,
        }
        if applied is not None
        else None,
        "row": {
            "where": f"{row.table}{', while ' + row.phase if row.phase else ''}: {row.event}",
            "to": " or ".join(row.leads_to),
            "says": row.says,
        }
        if row is not None
        else None,
    }


def _objection(one: Objection) -> Json:
    return {**_said(one.said), "texts": [clean(text, MOST_TEXT) for text in one.texts]}


def _link(one: Link) -> Json:
    return {"id": clean(one.id, 200), "kind": one.kind, "came": one.came_to, "seq": one.seq}
