"""Titles of cases: what a person reads in place of an id; the id itself is small print beside it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from typing import Any, Final

from moot.channels.showing.wording import clean, derived, words
from moot.console.errors import ConsoleError
from moot.console.model.interface import ReadModel
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.rulebook import Rulebook, rulebook

MAX_TITLE_CHARS: Final = 90
MAX_TITLES: Final = 120
"""Titles that a page may ask for at once."""

TITLE_FIELDS: Final = (
    "title",
    "question",
    "topic",
    "headline",
    "statement",
    "trigger",
    "prompt",
    "summary",
    "text",
    "task",
    "message",
    "reason",
    "why",
    "description",
    "subject",
    "name",
)
"""Fields of an opening message that say what its case is about, best first; the values are searched for them too."""

NOUNS: Final[Mapping[str, str]] = {"strat": "strategy", "prin": "principle"}
"""Nouns for ids that belong to no case."""

_ID: Final = re.compile(
    r"(\b[A-Za-z-]+ )?\b([a-z]+)_(\d{4})(\d{2})(\d{2})(?:_(\d{2})(\d{2})\d*)?(?:_\d+)?\b(?:/[\w./-]*\w)?"
)
_CODE: Final = re.compile(r"[A-Z0-9]+(?:_[A-Z0-9]+)+|[a-z0-9]+(?:_[a-z0-9]+)+")
"""A value that is a constant or an id, not a text."""

_MONTHS: Final = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def kind_name(kind: str) -> str:
    """Return what a kind of case is called: as its protocol titles it, else its name in words."""
    machine = rulebook().types.get(kind)
    return words((machine.title if machine is not None else "") or kind)


def case_nouns() -> dict[str, str]:
    """Return what a case is called by the prefix of its id: `hyp` is a debate."""
    return dict(_nouns(rulebook()))


@cache
def _nouns(book: Rulebook) -> Mapping[str, str]:
    found = dict(NOUNS)
    for kind, machine in book.types.items():
        found[kind] = kind_name(kind)
        for opener in machine.openers:
            rule = book.minted.get(opener)
            if rule is not None and rule.prefix and opener != "OVERRIDE":
                found.setdefault(rule.prefix, kind_name(kind))
    return found


def placeholder(case_id: str) -> str:
    """Name a case of which only the id is known: "debate of 28 Nov 08:50"."""
    return unnumbered(clean(case_id, 120)) or clean(case_id, 120)


def unnumbered(text: str) -> str:
    """Put the name of a case or a strategy in place of each id that a text holds."""
    return _ID.sub(_worded, text)


def _worded(found: re.Match[str]) -> str:
    before, prefix, _, month, day, hour, minute = found.groups(default="")
    noun = _nouns(rulebook()).get(prefix)
    if noun is None or not 1 <= int(month) <= 12:
        return found[0]
    at = f" {hour}:{minute}" if hour else ""
    # "deployment dep_…" says the kind already.
    lead = before if before.strip().lower() == noun else f"{before}{noun} "
    return f"{lead}of {int(day)} {_MONTHS[int(month) - 1]}{at}"


def title_of(opener: Envelope | None, case_id: str) -> str:
    """Return the title of a case: what its opening message says it is about, else its kind and its time.

    Args:
        opener: The first message of the case that this person may read, None for none.
        case_id: Its id.
    """
    if opener is None:
        return placeholder(case_id)
    body = opener.body.model_dump()
    kind = _nouns(rulebook()).get(case_id.partition("_")[0]) or _opened(rulebook()).get(
        str(opener.body.type), ""
    )
    if traded := _trade(body):
        return clean(traded, MAX_TITLE_CHARS)
    archetype = _text_at(body, ("archetype",), depth=2, takes_codes=True)
    if kind and archetype and not _text_at(body, TITLE_FIELDS, depth=0):
        return _capital(clean(f"{kind}: {words(archetype)}, {_moment(opener.sent_at)}", MAX_TITLE_CHARS))
    if said := _text_at(body, TITLE_FIELDS, depth=2) or _sentence_in(body):
        return _capital(clean(unnumbered(derived(said)), MAX_TITLE_CHARS))
    if isinstance(date := body.get("date"), str) and kind:
        return _capital(f"{kind} of {clean(date, 20)}")
    return _capital(f"{kind} of {_moment(opener.sent_at)}" if kind else placeholder(case_id))


@cache
def _opened(book: Rulebook) -> Mapping[str, str]:
    """Return what kind of case a type of message opens, in words."""
    return {opener: kind_name(kind) for kind, machine in book.types.items() for opener in machine.openers}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _moment(at: datetime) -> str:
    return f"{at.day} {_MONTHS[at.month - 1]} {at:%H:%M}"


def _trade(body: Mapping[str, Any]) -> str:
    """Name an order: "Buy 389 SIM-BRAVO"; "" for what is none."""
    action, symbol, quantity = (body.get(name) for name in ("action", "symbol", "quantity"))
    if not isinstance(action, str) or not isinstance(symbol, str):
        return ""
    return " ".join(filter(None, (words(action).capitalize(), f"{quantity}" if quantity else "", symbol)))


def _text_at(value: Any, names: Iterable[str], depth: int, *, takes_codes: bool = False) -> str:
    """Return the first text that stands under one of some names, "" for none; nearer ones first."""
    if not isinstance(value, Mapping):
        return ""
    for name in names:
        found = value.get(name)
        if isinstance(found, str) and found.strip() and (takes_codes or not _CODE.fullmatch(found.strip())):
            return found
    inner = (_text_at(one, names, depth - 1, takes_codes=takes_codes) for one in value.values() if depth > 0)
    return next(filter(None, inner), "")


def _sentence_in(body: Mapping[str, Any]) -> str:
    """Return the first text of several words, whatever its field is called: a protocol names fields as it likes."""
    texts = (value for name, value in body.items() if name != "type" and isinstance(value, str))
    return next((text for text in texts if len(text.split()) > 1), "")


async def opener_of(model: ReadModel, case_id: str) -> Envelope | None:
    """Return the first message of a case that this person may read; None for none."""
    try:
        found = await model.window(case_id=case_id, after=0, limit=1)
    except ConsoleError:
        return None
    return found.envelopes[0] if found.envelopes else None


async def titles_of(model: ReadModel, ids: Iterable[object]) -> dict[str, str]:
    """Return the titles of cases by their ids, at most `MAX_TITLES`; an id that names no case is left out."""
    wanted = list(dict.fromkeys(str(one)[:120] for one in ids))[:MAX_TITLES]
    openers = await asyncio.gather(*(opener_of(model, one) for one in wanted))
    return {
        one: title_of(opener, one) for one, opener in zip(wanted, openers, strict=True) if opener is not None
    }
