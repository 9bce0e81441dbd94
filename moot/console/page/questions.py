"""What a page asks of its session, and how that is answered: views, windows, searches, acts."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final

from moot.channels.chat.commands import CommandError, parse
from moot.channels.filling import from_values
from moot.channels.showing.wording import clean
from moot.channels.surface import ActReply
from moot.console.errors import NotThere
from moot.console.model.interface import ChannelView, Person, ReadModel
from moot.console.page import acts, views
from moot.console.page.act_context import case_blank
from moot.console.page.calls import calls_of, calls_view
from moot.console.page.cards import whole
from moot.console.page.cases import facts_of
from moot.console.page.explained import explained, origins_of
from moot.console.page.places import WINDOW, asked_of, found_by, seq_of, view_of
from moot.console.page.seats import faults_of, suggested
from moot.console.page.shelves import records_of
from moot.console.page.story import why_of
from moot.console.page.titles import MAX_TITLES, titles_of
from moot.protocols.kernel.acts import Act
from moot.protocols.kernel.times import rfc3339
from moot.protocols.rulebook import rulebook

Json = dict[str, Any]

MOST_UNREAD: Final = 100
"""Unread messages are counted up to this; a page shows 99+."""

MOST_TEXT: Final = 120_000
"""Characters a person may write at once."""


class Questions(ABC):
    """Answers one page; every method that begins with `_on_` is something a page can ask.

    Attributes:
        person: Who looks.
        page: Names the page.
    """

    def __init__(self, model: ReadModel, person: Person, *, page: str) -> None:
        """Look at a society as this person may see it."""
        self.person = person
        self.page = page
        self._live = model
        self._past: ReadModel | None = None
        self._channels: tuple[ChannelView, ...] = ()
        self._n = 0
        self._titles: dict[str, str] = {}
        self._changed = asyncio.Event()

    @property
    def model(self) -> ReadModel:
        """Return what the page looks at now: the present, or the past moment it went back to."""
        return self._past or self._live

    @abstractmethod
    def _note(self, view: Json) -> None:
        """Note what the page shows now."""

    @abstractmethod
    async def _board(self) -> Json:
        """Return who owes what, at the moment that is looked at."""

    async def ask(self, op: str, args: Mapping[str, Any]) -> Any:
        """Answer a page.

        Raises:
            ConsoleError: It cannot be answered; the text is for the person.
        """
        doing = getattr(self, f"_on_{op}", None) if op in OPS else None
        if doing is None:
            raise NotThere("This page asked for something that does not exist: reload it.")
        return await doing(args)

    async def _on_open(self, args: Mapping[str, Any]) -> Json:
        view = await view_of(self.model, self.person, self._channels, str(args.get("path", "/"))[:2_000])
        self._note(view)
        return view

    async def _on_window(self, args: Mapping[str, Any]) -> Json:
        filter_ = _filter(args)
        window = await self.model.window(
            channel=filter_.get("channel"),
            case_id=filter_.get("case"),
            but=filter_.get("but"),
            before=seq_of(args.get("before")),
            after=seq_of(args.get("after")),
            limit=WINDOW,
        )
        return views.window_of(window, filter_, who=self.model.speakers())

    async def _on_message(self, args: Mapping[str, Any]) -> Json:
        return whole(await self.model.message(seq_of(args.get("seq")) or 0))

    async def _on_case(self, args: Mapping[str, Any]) -> Json:
        return await facts_of(self.model, await self.model.case(str(args.get("case"))), self.person)

    async def _on_explain(self, args: Mapping[str, Any]) -> Json:
        return await explained(self.model, str(args.get("id"))[:300])

    async def _on_titles(self, args: Mapping[str, Any]) -> dict[str, str]:
        """Return the titles of cases by their ids; what one page was told is kept."""
        ids = args.get("ids")
        wanted = [str(one)[:120] for one in ids][:MAX_TITLES] if isinstance(ids, list) else []
        self._titles |= await titles_of(self.model, [one for one in wanted if one not in self._titles])
        return {one: self._titles[one] for one in wanted if one in self._titles}

    async def _on_origins(self, args: Mapping[str, Any]) -> list[Json]:
        """Return the cases behind one, as links: the debate that an escalation is about."""
        return await origins_of(self.model, str(args.get("id"))[:120])

    async def _on_search(self, args: Mapping[str, Any]) -> Json:
        return await found_by(self.model, asked_of(args), seq_of(args.get("before")))

    async def _on_calls(self, args: Mapping[str, Any]) -> Json:
        """Return older calls, or the whole view as it is now."""
        before = seq_of(args.get("before"))
        if before is None:
            return await calls_view(self.model, args)
        return await calls_of(self.model, args, before)

    async def _on_why(self, args: Mapping[str, Any]) -> Json:
        return why_of(await self.model.calls.why(seq_of(args.get("seq")) or 0))

    async def _on_memory(self, args: Mapping[str, Any]) -> Json:
        return await records_of(self.model, str(args.get("shelf")), seq_of(args.get("before")))

    async def _on_unread(self, args: Mapping[str, Any]) -> dict[str, int]:
        """Count what is newer than what the browser has seen, channel by channel."""
        read = args.get("read")
        seen: Mapping[str, Any] = read if isinstance(read, dict) else {}
        found = {}
        for one in await self._live.channels():
            mark = seq_of(seen.get(one.name))
            if mark is not None and one.last_seq > mark:
                window = await self._live.window(channel=one.name, after=mark, limit=MOST_UNREAD)
                found[one.name] = len(window.envelopes)
        return found

    async def _on_at(self, args: Mapping[str, Any]) -> Json:
        """Go to a past moment, or back to now."""
        given = args.get("seq")
        seq = seq_of(given)
        if isinstance(given, str) and not seq:
            raise NotThere(f"a moment is the number of a message, not {clean(given, 20)!r}")
        if seq is None or seq <= 0:
            past, self._past = self._past, None
            if past is not None:
                await past.close()
        elif self._past is None:
            self._past = await self._live.at(seq)
        else:
            await self._past.step_to(seq)
        await self._settle()
        self._changed.set()
        model = self.model
        at = model.now().at
        place = {"seq": model.head, "at": rfc3339(at) if at else ""} if model.is_past else None
        clock = views.clock_of(model.now())
        if place is not None:
            clock |= {"pace": 0.0, "running": False}
        return {"past": place, "clock": clock, "board": await self._board()}

    async def _settle(self) -> None:
        """Give a past moment a short while to fold; it answers anyway, saying how far it is."""
        for _ in range(40):
            if self.model.progress().is_complete:
                return
            await asyncio.sleep(0.05)

    # ------------------------------------------------------------ what a person does

    async def _on_say(self, args: Mapping[str, Any]) -> Json:
        text, channel = str(args.get("text", "")).strip(), str(args.get("channel") or "#admin")
        if len(text) > MOST_TEXT:
            raise NotThere(f"That is {len(text):,} characters; write at most {MOST_TEXT:,}.")
        about = args.get("about")
        if text.startswith("/"):
            try:
                parse(text)
            except CommandError as exc:
                return {"ok": False, "text": str(exc)}
            return await self._act("command", {"text": text}, channel, str(args.get("key") or ""))
        fields: Json = {"text": text}
        if isinstance(about, str) and about:
            fields["about_case_id"] = about
        return await self._act("note", fields, channel, str(args.get("key") or ""))

    async def _on_act(self, args: Mapping[str, Any]) -> Json:
        kind, fields = str(args.get("kind")), args.get("fields")
        if kind not in ("answer", "ack") or not isinstance(fields, dict):
            raise NotThere("This page asked for something that does not exist: reload it.")
        return await self._act(kind, fields, "#admin")

    async def _on_fill(self, args: Mapping[str, Any]) -> Json:
        act, values = _form(args)
        faults = acts.faults_of(self.person, act, values)
        if faults:
            return {"ok": False, "text": acts.NOT_SENT, "faults": faults}
        channel, key = str(args.get("channel") or "#admin"), str(args.get("key") or "")
        fields = dict(from_values(act, values))
        about = str(args.get("case") or "")[:120]
        if about and act.about and case_blank(act) is None:
            fields.setdefault(act.about, about)
        return await self._act(act.name, fields, channel, key)

    async def _act(self, kind: Any, fields: Mapping[str, object], channel: str, key: str = "") -> Json:
        """Do what a person did, once per key (K1): a page that heard no answer says it again with the same."""
        self._may_act()
        self._n += 1
        key = key or f"{self.page}-{self._n}"
        return _told(await self._live.act(self.person, kind, fields, key=key, channel=channel))

    async def _on_control(self, args: Mapping[str, Any]) -> Json:
        self._may_act()
        op, value = args.get("op"), args.get("value")
        if op not in ("pause", "resume", "step", "speed"):
            raise NotThere("The clock does not know that.")
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
        return _told(await self._live.control(self.person, op, number))

    async def _on_check(self, args: Mapping[str, Any]) -> dict[str, str]:
        if "act" in args:
            return acts.faults_of(self.person, *_form(args))
        return faults_of(str(args.get("kind")), args.get("body"))

    async def _on_suggest(self, args: Mapping[str, Any]) -> Json:
        self._may_act()
        return await suggested(self._live, self.person, str(args.get("obligation")))

    async def _on_fulfil(self, args: Mapping[str, Any]) -> Json:
        self._may_act()
        body = args.get("body")
        if not isinstance(body, dict):
            raise NotThere("The message is no JSON object.")
        return _told(await self._live.answer(self.person, str(args.get("obligation")), body))

    def _may_act(self) -> None:
        if self._past is not None:
            raise NotThere("This is the past: nobody can act in it. Go back to now first.")


OPS: Final = frozenset(name.removeprefix("_on_") for name in vars(Questions) if name.startswith("_on_"))
"""What a page can ask."""


def _told(reply: ActReply) -> Json:
    return {"ok": reply.ok, "text": reply.text, "seq": reply.seq}


def _form(args: Mapping[str, Any]) -> tuple[Act, Json]:
    act, values = rulebook().acts.get(str(args.get("act"))), args.get("values")
    if act is None or not isinstance(values, dict):
        raise NotThere("This page asked for something that does not exist: reload it.")
    if len(json.dumps(values)) > MOST_TEXT:
        raise NotThere(f"That is more than {MOST_TEXT:,} characters.")
    return act, values


def _filter(args: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(args[name])[:300] for name in ("channel", "case", "but") if args.get(name)}
