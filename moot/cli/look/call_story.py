"""How one answer of a model reads in `moot calls`: every turn and try, with what was asked and answered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from moot.cli.output import clock_time, heading, plural, print_hanging

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from moot.call_history.listing import Call, Total
    from moot.call_history.story import Bodies, Said
    from moot.protocols.kernel.envelope import Envelope

Messages = Mapping[str, tuple["Envelope", str]]
"""Answers by their ids, and why the rules refused them; "" where they did not."""

_WRAPPED: Final = 60
"""A line of at least so many characters may have been broken by whoever wrote it."""
_PROSE: Final = re.compile(r"(?!\d{1,2}[.)] )[\w(`\"'“]")
_MARKS: Final = ("```", "<<<")
_LEAD: Final = re.compile(r" {0,20}(?:[-*] |\d{1,2}\. )?")

_COLOURS: Final = {"answered": "green", "under_way": "", "not_sent": "dim"}
"""Of ends of calls; the others are yellow."""


def state_text(call: Call) -> Text:
    """Return how a call ended, in its colour."""
    from rich.text import Text

    from moot.call_history.listing import state_words

    return Text(state_words(call.state), _COLOURS.get(call.state, "yellow"))


def cost_text(micro: int | None) -> str:
    """Write money; a question mark where the price is not known."""
    from moot.protocols.calls.books import shown

    return "?" if micro is None else shown("usd", micro)


def money(one: Total) -> str:
    """Write what calls cost, as far as their prices are known."""
    return (
        "?"
        if one.unpriced == one.calls and one.calls
        else cost_text(one.cost) + ("+?" if one.unpriced else "")
    )


def took(latency_ms: int | None) -> str:
    """Write how long a call took, "" while it has not ended."""
    if latency_ms is None:
        return ""
    return f"{latency_ms} ms" if latency_ms < 100 else f"{latency_ms / 1000:.1f} s"


def story_json(calls: Sequence[Call], messages: Messages, bodies: Bodies) -> list[dict[str, Any]]:
    """Return answers as plain data: each with its calls, and with what was asked and answered in them."""
    import json

    found = []
    for answer, group in groupby(_ordered(calls), key=lambda call: call.answer):
        of = [*group]
        env, refused = messages.get(answer, (None, ""))
        told = [(call, bodies.words(call)) for call in of]
        found.append(
            {
                "obligation": of[0].obligation,
                "attempt": of[0].attempt,
                "seat": of[0].seat,
                "case": of[0].case,
                "message": None if env is None else json.loads(env.line),
                "refused": refused,
                "calls": [
                    {
                        **call.to_dict(),
                        "request": words.request,
                        "reply": words.reply,
                        "lost": list(words.lost),
                    }
                    for call, words in told
                ],
            }
        )
    return found


def print_answer(target: Console, calls: Sequence[Call], messages: Messages, bodies: Bodies) -> None:
    """Print how answers came about, one after the other."""
    is_first = True
    for answer, group in groupby(_ordered(calls), key=lambda call: call.answer):
        if not is_first:
            target.print()
        env, refused = messages.get(answer, (None, ""))
        _print_one(target, [*group], env, refused, bodies)
        is_first = False


def _print_one(
    target: Console, calls: Sequence[Call], env: Envelope | None, refused: str, bodies: Bodies
) -> None:
    from rich.text import Text

    from moot.call_history.listing import total
    from moot.call_history.story import prompt_of, reply_of, shared
    from moot.channels.showing.wording import clean, derived

    first, sum_ = calls[0], total(calls)
    nth = f", after {plural(first.attempt, 'refused answer')}" if first.attempt else ""
    target.print(heading(first.obligation, f"owed by {first.seat}{nth}"))
    target.print(
        Text(f"{plural(sum_.calls, 'call')}, {sum_.tokens:,} tokens, {money(sum_)}", "dim"), soft_wrap=True
    )
    before: list[Said] = []
    for call in calls:
        target.print()
        words = bodies.words(call)
        target.print(Text.assemble((f"turn {call.turn}, try {call.try_}: ", "bold"), state_text(call)))
        for name, text in _facts(call, words.request):
            print_hanging(target, Text(f"  {name:<9} ", "dim"), Text(clean(text, 1_000)), 12)
        for line in words.lost:
            print_hanging(target, Text("  lost      ", "yellow"), Text(line), 12)
        if words.request is not None:
            asked = prompt_of(words.request)
            same = shared(before, asked)
            if same:
                more = ", and" if asked[same:] else ""
                target.print(Text(f"  asked     the {plural(same, 'message')} above{more}", "dim"))
            _print_said(target, asked[same:], "asked")
            before = asked
        if words.reply is not None:
            said = reply_of(words.reply)
            _print_said(target, said, "answered")
            if not said:
                target.print(Text("  answered  nothing", "dim"))
    target.print()
    if env is None:
        target.print(Text("nothing was posted for it" + ("" if _is_over(calls) else ", so far")))
        return
    became = f"posted as message {env.seq}, {env.body.type}"
    print_hanging(
        target,
        Text(),
        Text(f"{became}, and refused by the rules: {clean(derived(refused), 400)}" if refused else became),
        0,
    )


def _facts(call: Call, request: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    model, asked = call.model, (request or {}).get("model", "")
    if asked and asked != model:
        model += f" ({asked})"
    if call.model_reported not in ("", asked):
        model += f", which says it is {call.model_reported}"
    facts = [
        ("call", call.id),
        ("asked at", f"{clock_time(call.at)} UTC, message {call.seq}"),
        ("seat", call.seat + (f", about {call.case}" if call.case else "")),
        ("model", model),
    ]
    if call.why:
        facts.append(("why", call.why))
    if call.usage is not None:
        kinds = ", ".join(
            f"{n:,} {name.replace('_', ' ')}"
            for name, n in call.usage.items()
            if n or name in ("input", "output")
        )
        facts.append(("tokens", kinds))
    elif call.tokens:
        how = "the most it may take" if call.state == "under_way" else "booked, the provider did not tell"
        facts.append(("tokens", f"{call.tokens:,}, {how}"))
    facts.append(("cost", cost_text(call.cost) + (", more than was reserved" if call.overrun else "")))
    if call.latency_ms is not None:
        facts.append(("took", took(call.latency_ms)))
    return facts


def _print_said(target: Console, said: Sequence[Said], what: str) -> None:
    from rich.text import Text

    from moot.channels.showing.layout import tidy
    from moot.channels.showing.wording import clean

    for by, text in said:
        target.print(Text.assemble((f"  {what:<9} ", "dim"), (clean(by, 80), "bold")), soft_wrap=True)
        for line in unwrapped(tidy(text).split("\n")):
            print_hanging(target, Text(" " * 4 if line else ""), Text(line), 4 + _lead(line))


def unwrapped(lines: Iterable[str]) -> Iterator[str]:
    """Join the lines of a paragraph that was wrapped where it was written, so that it fills the lines of a screen.

    Short lines, headings, items of lists, and what stands between marks, as quotations and code do, stay as they are.
    """
    held, last, is_quoted = "", "", False
    for line in lines:
        is_mark, lead = line.startswith(_MARKS), _lead(held)
        goes_on = line.startswith(" " * lead) and _PROSE.match(line, lead) is not None
        if goes_on and len(last) >= _WRAPPED and not is_mark:
            held, last = f"{held} {line[lead:]}", line
            continue
        if held:
            yield held
        is_quoted ^= is_mark
        held = last = "" if is_quoted or is_mark else line
        if not held:
            yield line
    if held:
        yield held


def _lead(line: str) -> int:
    found = _LEAD.match(line)
    return found.end() if found is not None else 0


def _ordered(calls: Sequence[Call]) -> list[Call]:
    return sorted(calls, key=lambda call: (call.obligation, call.attempt, call.turn, call.try_))


def _is_over(calls: Sequence[Call]) -> bool:
    return all(call.state != "under_way" for call in calls)
