"""What stands at each address of the console: channels, messages, cases, the inbox, search, memory, figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qs, parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from moot.channels.showing.wording import clean, ended, words
from moot.console.errors import NotThere
from moot.console.model.interface import MAX_COUNTED_HITS, ChannelView, Person, ReadModel
from moot.console.page import acts, views
from moot.console.page.act_context import links_of
from moot.console.page.calls import calls_view
from moot.console.page.cards import card_of
from moot.console.page.cases import facts_of
from moot.console.page.figures import figures_of
from moot.console.page.seats import form_of
from moot.console.page.shelves import MOST_COUNTED, OPENED_FIRST, SHELVES, counts_of, records_of
from moot.console.page.story import call_view
from moot.console.page.titles import kind_name, opener_of, title_of
from moot.protocols.calls.rights import PLACE as CALLS
from moot.protocols.rulebook import rulebook

Json = dict[str, Any]

WINDOW: Final = 60
"""Messages that a page is given at once."""

AROUND: Final = 25
"""Messages below the one that a permalink names."""


async def view_of(model: ReadModel, person: Person, channels: Sequence[ChannelView], path: str) -> Json:
    """Make the view that an address names.

    Args:
        model: The society.
        person: Who looks.
        channels: The channels that this person reads.
        path: The address, with its query.

    Raises:
        ConsoleError: There is none.
    """
    parts = urlsplit(path)
    names = [unquote(name) for name in parts.path.strip("/").split("/") if name]
    match names:
        case [] | ["c"]:
            return await _feed(model, channels, {"channel": _first_channel(channels)})
        case ["all"]:
            return await _feed(model, channels, {"but": CALLS} if model.calls.may_be_seen else {})
        case ["c", name]:
            return await _feed(model, channels, {"channel": f"#{name}"})
        case ["m", seq]:
            return await _permalink(model, seq)
        case ["case", case_id]:
            return await _case(model, person, case_id)
        case ["inbox"]:
            return {
                "kind": "inbox",
                "title": "Inbox",
                "about": "what waits for a person",
                "channel": None,
            }
        case ["search"]:
            return await _search(model, channels, _last(parts.query))
        case ["acts"]:
            return acts.all_of()
        case ["act", name] if name in rulebook().acts:
            about = _last(parts.query).get("case", "")[:120]
            return await acts.form_of(model, person, channels, rulebook().acts[name], about)
        case ["seat", *rest] if rest:
            return await form_of(model, person, "/".join(rest))
        case ["memory"]:
            return await _memory(model, None)
        case ["memory", shelf] if shelf in SHELVES:
            return await _memory(model, shelf)
        case ["calls"]:
            return await calls_view(model, _last(parts.query))
        case ["call", *rest] if rest:
            return await call_view(model, "/".join(rest))
        case ["figures", ("a" | "b" | "referee" | "lab") as name]:
            return await figures_of(model, name)
        case _:
            raise NotThere(f"There is no page {clean(parts.path, 80)}.")


def split_moment(path: str) -> tuple[str, int | str | None]:
    """Split `?at=SEQ` off an address: the address of the view, and the past moment that it is shown at."""
    parts = urlsplit(path)
    query = parse_qsl(parts.query, keep_blank_values=True)
    at = next((value for name, value in query if name == "at"), None)
    if at is None:
        return path, None
    rest = urlencode([(name, value) for name, value in query if name != "at"])
    seq = seq_of(at)
    return urlunsplit(parts._replace(query=rest)), at if seq is None else seq


def _last(query: str) -> dict[str, str]:
    """Return the last value of each name in the query of an address."""
    return {name: values[-1] for name, values in parse_qs(query).items()}


def _first_channel(channels: Sequence[ChannelView]) -> str:
    """Choose where to begin: the arena's debates, or the first channel that this person reads."""
    names = [one.name for one in channels]
    return "#a-arena" if "#a-arena" in names or not names else names[0]


async def _feed(model: ReadModel, channels: Sequence[ChannelView], filter_: dict[str, str]) -> Json:
    channel = filter_.get("channel")
    known: ChannelView | None = None
    if channel is not None:
        known = next((one for one in channels if one.name == channel), None)
        if known is None:
            raise NotThere(f"There is no channel {clean(channel, 60)}, or you do not read it.")
    but = filter_.get("but")
    window = await model.window(channel=channel, but=but, limit=WINDOW)
    return {
        "kind": "feed",
        "title": channel or "Everything",
        "about": known.purpose if known else f"all channels{f' but {but}' if but else ''} as they are logged",
        "channel": channel,
        "filter": filter_,
        "window": views.window_of(window, filter_, who=model.speakers()),
    }


async def _permalink(model: ReadModel, said: str) -> Json:
    seq = seq_of(said) if said.isascii() and said.isdigit() and len(said) < 16 else None
    if not seq:
        raise NotThere(f"{clean(said, 40)} is no message.")
    envelope = await model.message(seq)
    filter_ = {"channel": envelope.channel}
    above = await model.window(channel=envelope.channel, before=seq + 1, limit=WINDOW)
    below = await model.window(channel=envelope.channel, after=seq, limit=AROUND)
    window = views.window_of(above, filter_, seq, model.speakers())
    window["items"] += [card_of(one, model.speakers()) for one in below.envelopes]
    window["end"] = below.after is None
    purpose = next((one.purpose for one in rulebook().channels if one.name == envelope.channel), "")
    return {
        "kind": "feed",
        "title": envelope.channel,
        "about": f"message {seq} · {purpose}",
        "channel": envelope.channel,
        "filter": filter_,
        "window": window,
    }


async def _case(model: ReadModel, person: Person, case_id: str) -> Json:
    case = await model.case(case_id)
    window = await model.window(case_id=case_id, limit=WINDOW)
    channel = case.transcript[0].channel if case.transcript else "#admin"
    stands = f"ended: {clean(ended(case.outcome), 80)}" if case.outcome else f"open: {words(case.phase)}"
    return {
        "kind": "case",
        "title": title_of(await opener_of(model, case_id), case_id),
        "about": f"{words(case.kind)} · {stands}",
        "noun": kind_name(case.kind),
        "acts": links_of(model, person, case),
        "channel": channel,
        "case": case_id,
        "window": views.window_of(window, {"case": case_id}, who=model.speakers()),
        "facts": await facts_of(model, case, person),
    }


async def _search(model: ReadModel, channels: Sequence[ChannelView], args: Mapping[str, Any]) -> Json:
    asked = asked_of(args)
    is_asked = any(asked.values())
    total = await model.count_found(**_filters(asked)) if is_asked else 0
    found = await found_by(model, asked, None) if is_asked else {"items": [], "before": None}
    progress = model.index_progress()
    return {
        "kind": "search",
        "title": "Search",
        "about": f"“{asked['q']}”" if asked["q"] else "",
        "total": total,
        "more": total > MAX_COUNTED_HITS,
        "words": words_of(asked["q"]),
        "channel": None,
        "asked": asked,
        "isAsked": is_asked,
        "seats": views.seat_names(),
        "types": sorted(rulebook().messages),
        "channels": [one.name for one in channels],
        "note": "" if progress.is_complete else f"{progress}: older ones may be missing. ",
        **found,
    }


async def _memory(model: ReadModel, shelf: str | None) -> Json:
    """Show a shelf, or the first in the order of OPENED_FIRST that holds something."""
    counts = await counts_of(model)
    shelf = shelf or next((name for name in OPENED_FIRST if counts[name]), OPENED_FIRST[0])
    return {
        "kind": "memory",
        "title": "Memory",
        "about": "what the society keeps, each with the message it came from",
        "channel": None,
        "shelf": shelf,
        "shelves": [[name, _count(counts[name])] for name in SHELVES],
        **await records_of(model, shelf, None),
    }


def _count(n: int) -> str:
    return f"{MOST_COUNTED - 1}+" if n >= MOST_COUNTED else str(n)


async def found_by(model: ReadModel, asked: Mapping[str, str], before: int | None) -> Json:
    """Return what a search finds, newest first: who searches looks for what was last."""
    window = await model.search(
        **_filters(asked),
        before=before,
        limit=WINDOW,
    )
    return {
        "items": [card_of(one, model.speakers()) for one in reversed(window.envelopes)],
        "before": window.before,
    }


def nothing(why: str) -> Json:
    """Return the view of an address at which nothing stands."""
    return {"kind": "nothing", "title": "Not here", "about": why, "channel": None}


def seq_of(value: object) -> int | None:
    """Read a seq that a browser sent; None when it is none."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15 else None


def asked_of(args: Mapping[str, Any]) -> dict[str, str]:
    """Read what is searched for; `text` is the older name of `q`."""
    named = {**args, "q": args.get("q") or args.get("text")}
    return {name: str(named.get(name) or "")[:300] for name in ("q", "type", "seat", "case", "channel")}


def _filters(asked: Mapping[str, str]) -> dict[str, Any]:
    """Return what is searched for as arguments of the read model."""
    names = {"type": "type", "seat": "seat", "case": "case_id", "channel": "channel"}
    return {"text": asked["q"]} | {arg: asked[name] or None for name, arg in names.items()}


def words_of(text: str) -> list[str]:
    """Return the words of a search that are marked in what was found."""
    return [word for word in text.split() if any(map(str.isalnum, word))][:20]
