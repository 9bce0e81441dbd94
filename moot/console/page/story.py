"""The story of one answer on the page: the calls that were made for it, what each was asked, said and cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from moot.call_history.listing import NOT_CALLED, UNDER_WAY, Call, total
from moot.call_history.story import Said, Words, prompt_of, reply_of, shared
from moot.channels.showing.wording import clean, words
from moot.console.model.calls import Why
from moot.console.model.interface import ReadModel
from moot.console.page.calls import money, mood, seconds, state_text
from moot.console.page.figures_parts import Page
from moot.protocols.calls.books import shown
from moot.protocols.kernel.times import rfc3339

Json = dict[str, Any]

MOST_TEXT: Final = 200_000
"""Characters of one text that are shown; a page is not for reading more."""

SETTINGS: Final = ("temperature", "max_tokens", "max_completion_tokens", "tool_choice")
"""What a request asks for besides its texts."""


async def call_view(model: ReadModel, call_id: str) -> Page:
    """Return the view of one call, among those that were made for the same answer.

    Raises:
        ConsoleError: There is none for this person.
    """
    why = await model.calls.call(call_id)
    return {
        "kind": "call",
        "title": clean(call_id, 160),
        "about": "what a model was asked for one answer, and what it said",
        "channel": None,
        "call": call_id,
        "story": why_of(why),
    }


def why_of(why: Why) -> Json:
    """Return who wrote a message, and the story of its calls."""
    found: list[Json] = []
    for attempt, calls in groupby(why.calls, key=lambda one: one[0].attempt):
        before: Sequence[Said] = ()
        for call, said in calls:
            prompt = prompt_of(said.request) if said.request is not None else []
            other = "for an earlier answer" if attempt < why.attempt else "for a later answer"
            found.append(
                {**_call(call, said, prompt, before), "other": "" if attempt == why.attempt else other}
            )
            before = prompt
    sent = [call for call, _ in why.calls if call.state not in NOT_CALLED]
    came_to = total(sent)
    took = sum(call.latency_ms or 0 for call in sent)
    return {
        "by": clean(why.by, 300),
        "obligation": clean(why.obligation, 300),
        "attempt": why.attempt,
        "calls": found,
        "sum": _said(
            shown("calls", came_to.calls),
            shown("tokens", came_to.tokens),
            money(came_to.cost, is_known=not came_to.unpriced),
            seconds(took),
        )
        if sent
        else "",
    }


def _call(call: Call, said: Words, prompt: Sequence[Said], before: Sequence[Said]) -> Json:
    """Return one call; what its prompt shares with that of the call before is counted and left out."""
    same = shared(before, prompt)
    reported = call.model_reported
    return {
        "id": call.id,
        "seq": call.seq,
        "t": rfc3339(call.at),
        "name": _said(
            f"answer {call.attempt + 1}" if call.attempt else "",
            f"turn {call.turn}",
            f"try {call.try_}" if call.try_ > 1 else "",
        ),
        "model": clean(f"{call.model} ({reported})" if reported not in ("", call.model) else call.model, 200),
        "mood": mood(call.state),
        "said": state_text(call.state),
        "why": clean(call.why, 500),
        "facts": _facts(call, said),
        "same": same,
        "parts": [_part(one.by, one.text) for one in prompt[same:]],
        "reply": [_part(one.by, one.text) for one in reply_of(said.reply)] if said.reply is not None else [],
        "lost": [clean(one, 300) for one in said.lost],
        "whole": [
            _part(name, json.dumps(one, ensure_ascii=False, indent=2))
            for name, one in (
                ("the request as it was sent", said.request),
                ("the record of the reply", said.reply),
            )
            if one is not None
        ],
    }


def _facts(call: Call, said: Words) -> list[list[str]]:
    """Return what is told of a call besides its texts, as pairs of a name and its value."""
    booked = _said(shown("tokens", call.tokens), money(call.cost or 0, is_known=call.cost is not None))
    found = []
    if call.state not in NOT_CALLED:
        name = "held for it" if call.state == UNDER_WAY else "booked"
        found.append([name, booked + (", more than was reserved" if call.overrun else "")])
    if call.usage is not None:
        cached, thought = call.usage["cached_input"], call.usage["reasoning"]
        found.append(
            ["prompt", shown("tokens", call.usage["input"]) + (f", {cached:,} cached" if cached else "")]
        )
        found.append(
            ["written", shown("tokens", call.usage["output"]) + (f", {thought:,} thought" if thought else "")]
        )
    if call.latency_ms is not None:
        found.append(["took", seconds(call.latency_ms)])
    if call.finish:
        found.append(["stopped for", clean(call.finish, 80)])
    requests = said.reply.get("tries") if said.reply is not None else None
    if isinstance(requests, int) and requests > 1:
        found.append(["sent", f"{requests} times"])
    for name, value in (said.request or {}).items():
        if name in SETTINGS:
            found.append([words(name), clean(value if isinstance(value, str) else json.dumps(value), 200)])
    if offered := _offered(said.request or {}):
        found.append(["tools offered", offered])
    return found


def _offered(request: Mapping[str, Any]) -> str:
    """Name the tools of a request, in either form of API."""
    tools = request.get("tools")
    named = (
        [one.get("function") or one for one in tools or () if isinstance(one, Mapping)]
        if isinstance(tools, list)
        else []
    )
    return clean(", ".join(str(one.get("name")) for one in named if isinstance(one, Mapping)), 400)


def _part(by: str, text: str) -> Json:
    # A lone surrogate would break the page's socket.
    text = text.encode("utf-8", "replace").decode()
    left = len(text) - MOST_TEXT
    shown_ = text if left <= 0 else f"{text[:MOST_TEXT]}\n… {left:,} characters more"
    return {"name": clean(by, 120), "text": shown_, "long": len(text)}


def _said(*parts: str) -> str:
    return ", ".join(filter(None, parts))
