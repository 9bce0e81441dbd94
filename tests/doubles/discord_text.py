"""How Discord shows a text: escapes removed, and what would be shown as anything but plain text told.

A small reading of Discord's markdown by its published rules: backslash escapes, emphasis, code, spoilers,
headings, quotes, lists, masked links, mentions, custom emojis and timestamps. A bare address becomes clickable in
Discord too, which changes no letter, and is not told; `@everyone` is for `pings`.
"""

from __future__ import annotations

import re
from typing import Any

Json = dict[str, Any]
Marks = list[tuple[str, str]]

ESCAPE = re.compile(r"\\([^0-9A-Za-z\s])")
ADDRESS = re.compile(r"https?://[^\s<]+[^<.,:;\"'\]\s]")
MASKED = re.compile(r"\[((?:\\.|[^\[\]\\]|\[[^\[\]]*\])+)\]\(\s*<?(?:https?|discord|mailto):[^\s)]*>?[^)]*\)")
INLINE: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("code block", re.compile(r"```(?:[a-z0-9_+\-.#]*?\n)?(?:\n)*(.*?)(?:\n)*```", re.DOTALL | re.IGNORECASE)),
    ("code", re.compile(r"(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)", re.DOTALL)),
    ("mention", re.compile(r"<@!?\d+>|<@&\d+>|<#\d+>|</[-\w ]+:\d+>|<id:\w+>")),
    ("emoji", re.compile(r"<a?:\w{2,32}:\d+>")),
    ("time", re.compile(r"<t:-?\d+(?::[tTdDfFsSR])?>")),
    ("masked link", MASKED),
    ("quiet link", re.compile(r"<https?://[^\s>]+>")),
    ("bold", re.compile(r"\*\*((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)", re.DOTALL)),
    ("underline", re.compile(r"__((?:\\[\s\S]|[^\\])+?)__(?!_)", re.DOTALL)),
    ("strike", re.compile(r"~~((?:\\[\s\S]|[^\\])+?)~~", re.DOTALL)),
    ("spoiler", re.compile(r"\|\|((?:\\[\s\S]|[^\\])+?)\|\|", re.DOTALL)),
    ("italic", re.compile(r"\*(?=\S)((?:\\[\s\S]|\*\*|[^\\*])+?)(?<![\s\\])\*(?!\*)", re.DOTALL)),
    ("italic", re.compile(r"\b_((?:__|\\[\s\S]|[^\\_])+?)_\b", re.DOTALL)),
)  # fmt: skip
STARTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("quote", re.compile(r">>> |> ")),
    ("heading", re.compile(r"#{1,3} +(?=\S)")),
    ("small", re.compile(r"-# +(?=\S)")),
    ("list", re.compile(r" *(?:[-*]|\d{1,9}\.) +(?=\S)")),
)
INNER = {"bold", "underline", "strike", "spoiler", "italic"}


def shown(text: str, marks: Marks | None = None, *, has_blocks: bool = True) -> str:
    """Return the text as a person reads it; whatever took effect as markup is added to `marks`."""
    marks = marks if marks is not None else []
    out: list[str] = []
    at = 0
    while at < len(text):
        if has_blocks and (at == 0 or text[at - 1] == "\n"):
            start = next(((kind, hit) for kind, rule in STARTS if (hit := rule.match(text, at))), None)
            if start is not None:
                marks.append((start[0], text[at : text.find("\n", at) if "\n" in text[at:] else len(text)]))
                at = start[1].end()
                continue
        if hit := ESCAPE.match(text, at):
            out.append(hit[1])
            at = hit.end()
            continue
        if hit := ADDRESS.match(text, at):
            out.append(hit[0])
            at = hit.end()
            continue
        markup = next(((kind, hit) for kind, rule in INLINE if (hit := rule.match(text, at))), None)
        if markup is None or (markup[0] == "italic" and text[at] == "_" and at and text[at - 1].isalnum()):
            out.append(text[at])
            at += 1
            continue
        kind, hit = markup
        marks.append((kind, hit[0]))
        if kind in INNER or kind == "masked link":
            out.append(shown(hit[1], marks, has_blocks=False))
        elif kind.startswith("code"):
            out.append(hit[hit.re.groups])
        else:
            out.append(hit[0][1:-1] if kind == "quiet link" else hit[0])
        at = hit.end()
    return "".join(out)


def message_text(message: Json, marks: Marks | None = None) -> str:
    """Return what a person sees of a message: its content, then its embeds line by line.

    Footer and author of an embed are plain text in Discord: a backslash there is seen.
    """
    lines = [shown(message["content"], marks)] if message["content"] else []
    for embed in message["embeds"]:
        lines += [(embed.get("author") or {}).get("name", "")]
        lines += [shown(embed.get("title") or "", marks, has_blocks=False)]
        lines += [shown(embed.get("description") or "", marks)]
        for item in embed.get("fields") or []:
            name = shown(item["name"], marks, has_blocks=False)
            lines += [f"{name}: {shown(item['value'], marks)}"]
        lines += [(embed.get("footer") or {}).get("text", "")]
    return "\n".join(line for line in lines if line)


def pings(content: str, rule: Json | None, *, may_everyone: bool) -> list[str]:
    """Return whom a content would wake, by what `allowed_mentions` lets through; None lets everything."""
    parse = {"users", "roles", "everyone"} if rule is None else set(rule.get("parse") or ())
    users = None if "users" in parse else set(map(str, (rule or {}).get("users") or ()))
    roles = None if "roles" in parse else set(map(str, (rule or {}).get("roles") or ()))
    found = []
    for hit in re.finditer(r"<@(!?|&)(\d+)>|@everyone|@here", content):
        if hit[2] is None:
            is_through = "everyone" in parse and may_everyone
        else:
            among = roles if hit[1] == "&" else users
            is_through = among is None or hit[2] in among
        if is_through:
            found.append(hit[0])
    return found
