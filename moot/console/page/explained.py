"""Why something came about, on the page: an explanation as a panel shows it, beside its case."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

from moot.channels.showing.wording import beside, clean
from moot.console.errors import ConsoleError
from moot.console.model.interface import ReadModel
from moot.console.page.titles import kind_name
from moot.explaining.explanation import Decision, Held, Link, Objection, Said
from moot.protocols.kernel.times import rfc3339
from moot.protocols.rulebook import rulebook

MOST_TEXT: Final = 4_000
"""Characters of one text; the whole message is a link away."""

MOST: Final = 60
"""Entries of one list."""

MAX_EVIDENCE: Final = 4
MAX_ORIGINS: Final = 5
DEBATES: Final = frozenset({"debate", "motion", "panel", "run"})
"""Kinds of cases in which seats argue."""

_CASE: Final = re.compile(r"\b[a-z]+_\d{8}(?:_\d{4,})?(?:_\d+)?\b")

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


async def origins_of(model: ReadModel, case_id: str) -> list[Json]:
    """Return the cases that led to one, debates first: links of its story, cases that its messages name."""
    linked = await _linked(model, case_id)
    case = await model.case(case_id)
    opening = case.transcript[0] if case.transcript else None
    named: list[str] = []
    if opening is not None:
        named += _CASE.findall(json.dumps(opening.body.model_dump(mode="json")))
        for seq in list(getattr(opening.body, "evidence_seqs", ()))[:MAX_EVIDENCE]:
            with suppress(ConsoleError):
                named += filter(None, [(await model.message(seq)).case_id])
    own = list(dict.fromkeys((*filter(None, [case.parent]), *named)))[:MAX_EVIDENCE]
    for one in own:
        with suppress(ConsoleError):
            linked |= {one: "case"}
            linked |= await _linked(model, one)
    known = rulebook().types
    cases: list[Json] = []
    for one in linked:
        with suppress(ConsoleError):
            if one != case_id and (view := await model.case(one)).kind in known:
                name = kind_name(view.kind)
                about = {"id": clean(one, 120), "kind": name[:1].upper() + name[1:]}
                if view.kind in DEBATES or one in named:
                    cases.append({**about, "is_debate": view.kind in DEBATES})
    return sorted(cases, key=lambda one: not one["is_debate"])[:MAX_ORIGINS]


async def _linked(model: ReadModel, given: str) -> dict[str, str]:
    """Return the cases of the story of an id, by their ids; the case of the id itself is one."""
    with suppress(ConsoleError):
        found = await model.explain(given)
        own = {found.case_id: found.kind} if found.case_id else {}
        return own | {one.id: one.kind for one in (*found.links, *found.asked)}
    return {}


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
