"""Chat commands: one line of text to a typed act, or one line that says how to write it.

The grammar is data: the acts that protocols declare (`moot.protocols.kernel.acts`), and the questions. Words are
separated by blanks; the last one takes the rest of the line. Ids are taken as written; whether they exist, and whether
the person may, is the log's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from moot.channels.errors import ChannelError
from moot.channels.filling import from_words
from moot.channels.showing.wording import clean
from moot.protocols.escalation.acts import is_option
from moot.protocols.kernel.acts import QUESTIONS, Act, Blank
from moot.protocols.rulebook import rulebook

ESCALATION: Final = "esc_"
"""How the id of an escalation begins (R-D12)."""


class CommandError(ChannelError):
    """Say in one line what is wrong with a command and how to write it."""


@dataclass(frozen=True, slots=True)
class Said:
    """A command that is an act."""

    kind: str
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Asked:
    """A command that is a question."""

    question: str


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes:
        name: Its word, without the slash.
        does: What it does, in words.
        act: The act it is, or None for a question.
    """

    name: str
    does: str
    act: Act | None

    @property
    def blanks(self) -> tuple[Blank, ...]:
        """Return what a person fills in, in order; the last one takes the rest of the line."""
        return self.act.in_line if self.act is not None else ()

    @property
    def usage(self) -> str:
        """Return how it is written."""
        asked = (
            f"[{blank.sign} {blank.name.upper()}]" if blank.sign else blank.name.upper()
            for blank in self.blanks
        )
        return " ".join((f"/{self.name}", *asked))


def commands() -> tuple[Command, ...]:
    """Return every command, in the order in which help lists them."""
    return (
        *(Command(act.word, act.does, act) for act in rulebook().acts.values()),
        *(Command(name, does, None) for name, does in QUESTIONS.items()),
    )


def parse(text: str, escalation_id: str | None = None) -> Said | Asked:
    """Read a line; one without a slash is a note.

    Args:
        text: What the person wrote.
        escalation_id: The escalation under which it was written. There `/ack` and `/reply` may leave out the id,
            an option's bare number answers it and a bare `ack` acknowledges it. Nothing else said there is consent.

    Raises:
        CommandError: Not a command, or not written as its usage says; the text is for the person.
    """
    line = text.strip()
    if not line:
        raise CommandError("nothing was said")
    if escalation_id is not None:
        line = _with_id(line, escalation_id)
    if not line.startswith("/"):
        return Said("note", {"text": line})
    name, _, rest = line[1:].partition(" ") if "\n" not in line.split(" ", 1)[0] else line[1:].partition("\n")
    known = {command.name: command for command in commands()}
    command = known.get(name.lower())
    if command is None:
        near = get_close_matches(name.lower()[:40], known, 1)
        raise CommandError(
            f"no command /{clean(name, 40)}; "
            + (f"did you mean {known[near[0]].usage} ?" if near else "/help lists them")
        )
    if command.act is None:
        return Asked(command.name)
    return Said(command.act.name, _fields(command, command.act, rest.strip()))


def _with_id(line: str, escalation_id: str) -> str:
    """Write out what is short for something under an escalation."""
    if is_option(line):
        return f"/reply {escalation_id} {line}"
    name, *rest = line.split(None, 1)
    if line.lower() == "ack" or (name.lower() == "/ack" and not rest):
        return f"/ack {escalation_id}"
    if name.lower() == "/reply" and rest and not rest[0].startswith(ESCALATION):
        return f"/reply {escalation_id} {rest[0]}"
    return line


def usage() -> str:
    """Return the list of commands, one a line."""
    known = commands()
    width = max(len(command.usage) for command in known)
    return "\n".join(f"{command.usage:<{width}}  {command.does}" for command in known)


def _fields(command: Command, act: Act, rest: str) -> Mapping[str, object]:
    words: dict[str, list[str]] = {}
    asked = [blank for blank in command.blanks if not blank.sign]
    for listed in reversed(command.blanks[len(asked) :]):
        rest, _, items = rest.partition(listed.sign)
        words[listed.name] = [items]
    found = rest.strip().split(None, len(asked) - 1) if asked else []
    if len(found) < len(asked):
        missing = asked[len(found)].name.replace("_", " ")
        raise CommandError(f"/{command.name}: the {missing} is missing; write {command.usage}")
    words |= {blank.name: [word] for blank, word in zip(asked, found, strict=True)}
    try:
        return from_words(act, words)
    except ValueError as exc:
        raise CommandError(f"/{command.name}: {exc}; write {command.usage}") from exc
