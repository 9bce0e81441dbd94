"""Layout: a posting as parts that a chat platform can take, cut to measure; what is cut says where it stands whole.

Shared by the platforms, pure, and any body goes: nothing here raises. Text stays plain; each platform escapes it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from moot.channels.showing.rendering import MOST_FIELD, MOST_FIELDS, Button, Field, sentence
from moot.channels.showing.rendering import MOST_SENTENCE as FULL_SENTENCE
from moot.channels.showing.wording import MOST_TEXT, clean, harmless, joined, seat_name, words
from moot.channels.surface import Posting
from moot.protocols.rulebook import rulebook

Weigh = Callable[[str], int]
"""How much of a platform's limit a text takes, at least its length."""

MOST_PASSAGE: Final = 12_000
"""Characters of one long text that are looked at: more than any platform shows."""

MOST_SENTENCE: Final = 1_500
"""Characters of a sentence, with who said it."""

SHORTEST_LINE: Final = 40
"""A line of a summary is not cut below this; where they do not all fit, the last are counted."""

SHORTEST_VALUE: Final = 24
"""The same for the value of a field."""

_CUT: Final = re.compile(r"…|[;,] and \d+ more")
_BLANK_LINES: Final = re.compile(r"\n\s*\n\s*\n")
_LINK: Final = re.compile(r"https?://[^\s<>|\\\"`]{1,400}")


@dataclass(frozen=True, slots=True)
class Parts:
    """A posting, ready to be cut to a platform's limits.

    Attributes:
        sentence: What was said, in one line; it is shown first.
        title: The message type in words and its case.
        lines: One line for each message, when the posting stands for several.
        passages: Long texts of the body, with their line ends.
        fields: Its other contents.
        buttons: What an admin may do about it.
        is_whole: Whether sentence, passages and fields hold all of the body, but for digits and line ends.
    """

    sentence: str
    title: str
    lines: tuple[str, ...] = ()
    passages: tuple[Field, ...] = ()
    fields: tuple[Field, ...] = ()
    buttons: tuple[Button, ...] = ()
    is_whole: bool = True


def mark(nonce: str) -> str:
    """Shorten a nonce to 16 hex digits that a person's eye passes over and a search finds."""
    return hashlib.sha256(nonce.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def units(text: str) -> int:
    """Count a text as a platform may that counts UTF-16 code units; never less than its code points."""
    return len(text) + sum(char > "\uffff" for char in text) if not text.isascii() else len(text)


def parts(item: Posting) -> Parts:
    """Lay a posting out; several messages in one become a summary."""
    if item.folded:
        return _summary(item)
    card = item.rendering
    passages = _passages(item)
    in_full = {(passage.name, clean(clean(passage.value), MOST_FIELD)) for passage in passages}
    fields = tuple(field for field in card.fields if (field.name, field.value) not in in_full)
    # The card leaves out what the sentence tells, so that must be all of it.
    is_cut = len(card.sentence) >= FULL_SENTENCE
    is_cut = is_cut or (
        item.envelope.body.type in rulebook().unshown and _CUT.search(card.sentence) is not None
    )
    is_cut = is_cut or any(_CUT.search(field.value) for field in fields)
    is_whole = len(card.fields) < MOST_FIELDS and not is_cut
    return Parts(
        sentence=clean(card.sentence, MOST_SENTENCE) or card.title or "(nothing)",
        title=card.title,
        passages=passages,
        fields=tuple(
            Field(field.name.strip() or "(no name)", field.value.strip() or "(blank)") for field in fields
        ),
        buttons=card.buttons,
        is_whole=is_whole and not any(passage.value.endswith("…") for passage in passages),
    )


def lines_of(item: Posting) -> list[str]:
    """Return the log's lines that a posting stands for, verbatim, the first message first."""
    return [item.envelope.line, *(envelope.line for envelope in item.folded)]


def link_of(item: Posting) -> str | None:
    """Return the posting's link if it is one that can be shown as it is."""
    return item.link if item.link and _LINK.fullmatch(item.link) else None


def hint(item: Posting) -> str:
    """Say in one line where what was cut stands whole."""
    seqs = [item.seq, *(envelope.seq for envelope in item.folded)]
    first, last = min(seqs), max(seqs)
    link = link_of(item)
    if item.folded:
        where = f" from {link}" if link else f": moot log DIR --from {first}"
        return f"Messages {first} to {last} stand whole in the log{where}"
    return (
        f"Whole: {link}"
        if link
        else f"Message {first} stands whole in the log: moot log DIR --from {first} --json"
    )


def cut(text: str, most: int, weigh: Weigh = units) -> str:
    """Cut a text at the end of a word so that it weighs at most `most`, with … where something is missing.

    Args:
        text: Any text.
        most: What the result may weigh; below 1 gives an empty text.
        weigh: The measure; it may count a character more than once, never less than once.
    """
    if len(text) <= most and weigh(text) <= most:
        return text
    low, high = 0, min(len(text), max(most, 0))
    while low < high:
        middle = (low + high + 1) // 2
        if weigh(_ended(text, middle)) <= most:
            low = middle
        else:
            high = middle - 1
    while low and weigh(_ended(text, low)) > most:
        low -= 1
    found = _ended(text, low) if low else "…"
    return found if weigh(found) <= most else ""


def shares(wanted: Sequence[int], most: int) -> list[int]:
    """Share out `most`: who wants little gets it, the others get equal parts of the rest."""
    given = [0] * len(wanted)
    rest = max(most, 0)
    for done, index in enumerate(sorted(range(len(wanted)), key=lambda n: wanted[n])):
        given[index] = min(wanted[index], rest // (len(wanted) - done))
        rest -= given[index]
    return given


def fit_lines(lines: Sequence[str], most: int, weigh: Weigh = units) -> tuple[str, ...]:
    """Cut lines so that they weigh at most `most` together, line ends included."""
    wanted = [weigh(text) for text in lines]
    count = len(lines)
    while count > 1 and most < min(count * (SHORTEST_LINE + 1), sum(wanted[:count]) + count):
        count -= 1
    ending = (f"… and {len(lines) - count} more",) if count < len(lines) else ()
    given = shares(wanted[:count], most - count - sum(weigh(text) + 1 for text in ending))
    return (*(cut(text, share, weigh) for text, share in zip(lines, given, strict=False)), *ending)


def fit_fields(
    fields: Sequence[Field],
    most: int,
    *,
    most_name: int = 80,
    most_value: int = 1_000,
    most_fields: int = 25,
    overhead: int = 0,
    weigh: Weigh = units,
) -> tuple[tuple[Field, ...], bool]:
    """Choose and cut fields so that they weigh at most `most` together.

    Args:
        fields: In the order of their weight to a reader; the last go first.
        most: What all may weigh.
        most_name: What one name may weigh.
        most_value: What one value may weigh.
        most_fields: How many there may be.
        overhead: What each weighs beside its texts.
        weigh: The measure.

    Returns:
        The fields, and whether all of them are there and uncut.
    """
    shown = [Field(cut(field.name, most_name, weigh), field.value) for field in fields[:most_fields]]
    wanted = [min(weigh(field.value), most_value) for field in shown]
    least = [
        weigh(field.name) + overhead + min(weight, SHORTEST_VALUE)
        for field, weight in zip(shown, wanted, strict=True)
    ]
    while shown and sum(least) > most:
        del shown[-1], wanted[-1], least[-1]
    room = most - sum(weigh(field.name) + overhead for field in shown)
    fitted = tuple(
        Field(field.name, cut(field.value, share, weigh))
        for field, share in zip(shown, shares(wanted, room), strict=True)
    )
    return fitted, list(fitted) == list(fields)


def fit_passages(
    passages: Sequence[Field], most: int, weigh: Weigh = units
) -> tuple[tuple[Field, ...], bool]:
    """Cut long texts so that they weigh at most `most` together with their names and two line ends each.

    Returns:
        The texts, and whether all of them are there and uncut.
    """
    shown = list(passages)
    while shown and most < sum(weigh(passage.name) + 2 + SHORTEST_LINE for passage in shown):
        shown.pop()
    room = most - sum(weigh(passage.name) + 2 for passage in shown)
    given = shares([weigh(passage.value[: room + 1]) for passage in shown], room)
    fitted = tuple(
        Field(passage.name, cut(passage.value, share, weigh))
        for passage, share in zip(shown, given, strict=True)
    )
    return fitted, list(fitted) == list(passages)


def tidy(text: str) -> str:
    """Keep a text's lines, replace what a screen would obey, and fold blank lines."""
    text = text.replace("\r\n", "\n").replace("\t", " ")
    return _BLANK_LINES.sub("\n\n", harmless(text)).strip()


def thread_title(item: Posting, most: int) -> str:
    """Name a case's thread: its id, and what the first message says about it."""
    said = clean(item.rendering.sentence, MOST_SENTENCE)
    case = clean(item.thread or "", 60)
    about = said.partition(case)[2].lstrip(" :,;.") if case and case in said else said
    return cut(
        f"{case}: {about}" if case and about else case or about or item.rendering.title or "Moot", most
    )


def _ended(text: str, at: int) -> str:
    # Neither within a word, if one ends nearby, nor between a sign and what is joined to it.
    end = at
    while end > max(at - 12, 0) and _is_joined(text, end):
        end -= 1
    if at < len(text) and not text[at].isspace():
        start = end - min(40, end // 3)
        space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
        end = space if space > 0 else end
    return text[:end].rstrip() + "…" if end < len(text) else text


def _is_joined(text: str, at: int) -> bool:
    if at >= len(text):
        return False
    char = text[at]
    return (
        text[at - 1] == "\u200d" or char in "\u200d\ufe0e\ufe0f\u20e3" or "\U0001f3fb" <= char <= "\U0001f3ff"
    )


def _passages(item: Posting) -> tuple[Field, ...]:
    return tuple(
        Field(
            clean(words(str(name)), 100) or "(no name)",
            tidy(value[:MOST_PASSAGE]) + ("…" if len(value) > MOST_PASSAGE else ""),
        )
        for name, value in sorted(item.envelope.body.model_dump().items())
        if isinstance(value, str) and len(value) > MOST_TEXT and name != "type" and value.strip()
    )


def _summary(item: Posting) -> Parts:
    said = (item.envelope, *item.folded)
    seqs = [envelope.seq for envelope in said]
    of = f"of {clean(item.thread, 100)}" if item.thread else f"in {clean(item.channel, 100)}"
    who = joined(dict.fromkeys(clean(seat_name(str(envelope.author)), 40) for envelope in said), ", ", 6)
    days = {envelope.sent_at.date() for envelope in said}
    stamp = "%H:%M" if len(days) == 1 else "%m-%d %H:%M"
    return Parts(
        sentence=f"{len(said)} messages {of}: {who}; number {min(seqs)} to {max(seqs)} of the log",
        title=f"Messages {min(seqs)} to {max(seqs)}",
        lines=tuple(
            f"{envelope.sent_at:{stamp}} {clean(sentence(envelope, item.who), MOST_SENTENCE)}"
            for envelope in said
        ),
        buttons=item.rendering.buttons,
        is_whole=False,
    )
