"""Chat commands: one line of text to a typed act, or one line that says how to write it.

The grammar is data (`COMMANDS`). Words are separated by blanks; the last parameter takes the rest of the
line. Ids are taken as written; whether they exist, and whether the person may, is the log's business.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal, get_args

from moot.channels.errors import ChannelError
from moot.channels.showing.wording import clean
from moot.channels.surface import ActKind
from moot.protocols.rulebook import rulebook

Question = Literal["status", "escalations", "positions", "strategies", "help"]
"""What can be asked; the society answers, nothing is logged."""

ESCALATION: Final = "esc_"
"""How the id of an escalation begins (R-D12)."""


class CommandError(ChannelError):
    """Say in one line what is wrong with a command and how to write it."""


@dataclass(frozen=True, slots=True)
class Said:
    """A command that is an act."""

    kind: ActKind
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Asked:
    """A command that is a question."""

    question: Question


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes:
        name: Its word, without the slash.
        does: What it does, in words.
        kind: The act it is, or None for a question.
        params: Names of its fields in order; the last one takes the rest of the line.
        read: Turns the words into the act's fields; raises ValueError with the reason.
    """

    name: str
    does: str
    kind: ActKind | None
    params: tuple[str, ...] = ()
    read: Callable[[Mapping[str, str]], Mapping[str, object]] = dict

    @property
    def usage(self) -> str:
        """Return how it is written."""
        return " ".join((f"/{self.name}", *(name.upper() for name in self.params)))


def _answer(words: Mapping[str, str]) -> Mapping[str, object]:
    said = words["option_or_text"]
    is_option = _is_option(said)
    return {
        "escalation_id": words["id"],
        "option": int(said) if is_option else None,
        "text": None if is_option else said,
    }


def _override(words: Mapping[str, str]) -> Mapping[str, object]:
    verdict = words["verdict"].upper()
    if verdict not in ("APPROVE", "REJECT"):
        raise ValueError(f"a verdict is APPROVE or REJECT, not {clean(words['verdict'], 40)!r}")
    return {"case_id": words["case"], "verdict": verdict, "why": words["why"]}


def _seat(words: Mapping[str, str]) -> Mapping[str, object]:
    seat, _, reason = words["seat"].partition(" ")
    if seat.lower() not in rulebook().bots:
        near = get_close_matches(seat.lower(), [*rulebook().bots], 1)
        hint = f", did you mean {near[0]}?" if near else ""
        raise ValueError(f"no seat {clean(seat, 40)!r} that a person can take{hint}")
    return {"seat": seat.lower(), "reason": reason.strip()}


def _stop(words: Mapping[str, str]) -> Mapping[str, object]:
    scope, why = words["scope"], words["why"]
    if scope.lower() == "system":
        scope, _, why = why.partition(" ")
        if scope.upper() not in ("A", "B"):
            raise ValueError(f"a system is A or B, not {clean(scope, 40)!r}")
    if not why.strip():
        raise ValueError("the reason is missing")
    fixed = {"society": "society", "a": "A", "b": "B"}
    return {"scope": fixed.get(scope.lower(), scope), "why": why.strip()}


RUN_KEYS: Final = frozenset({"task", "config", "notebook"})
"""What a whole run is given, as `moot arena run` takes it; anything else in JSON is the task itself."""


def _arena(words: Mapping[str, str]) -> Mapping[str, object]:
    said = words["prompt_or_task"]
    if not said.startswith("{"):
        return {"task": {"initial_prompt": said}}
    try:
        given = json.loads(said)
    except (ValueError, RecursionError) as exc:
        raise ValueError(f"the task is no JSON object: {clean(str(exc), 80)}") from exc
    if not isinstance(given.get("task"), dict):
        return {"task": given}
    if unknown := sorted(set(given) - RUN_KEYS):
        raise ValueError(f"beside a task stand config and notebook, not {clean(unknown[0], 40)!r}")
    return dict(given)


COMMANDS: Final[tuple[Command, ...]] = (
    Command("note", "say something that every mind sees from now on", "note", ("text",)),
    Command(
        "ack", "say that you have seen an escalation", "ack", ("id",), lambda w: {"escalation_id": w["id"]}
    ),
    Command("reply", "answer an escalation", "answer", ("id", "option_or_text"), _answer),
    Command("override", "decide a case", "override", ("case", "verdict", "why"), _override),
    Command("take", "sit in a bot's seat", "take", ("seat",), _seat),
    Command("release", "give a seat back", "release", ("seat",), _seat),
    Command("stop", "stop the society, system A or B, or a case", "stop", ("scope", "why"), _stop),
    Command("halt", "halt all trading", "halt", ("reason",)),
    Command("resume", "let trading go on, or end the conservative mode", "resume", ("reason",)),
    Command("arena", "have a task refined in #r-arena", "arena", ("prompt_or_task",), _arena),
    Command("status", "how the society stands", None),
    Command("escalations", "what waits for an admin", None),
    Command("positions", "the desk's money and what it holds", None),
    Command("strategies", "where every strategy stands", None),
    Command("help", "this list", None),
)
"""Every command, in the order in which help lists them."""

_BY_NAME: Final = {command.name: command for command in COMMANDS}
_QUESTIONS: Final[Mapping[str, Question]] = {name: name for name in get_args(Question)}


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
    command = _BY_NAME.get(name.lower())
    if command is None:
        near = get_close_matches(name.lower()[:40], _BY_NAME, 1)
        raise CommandError(
            f"no command /{clean(name, 40)}; "
            + (f"did you mean {_BY_NAME[near[0]].usage} ?" if near else "/help lists them")
        )
    if command.kind is None:
        return Asked(_QUESTIONS[command.name])
    return Said(command.kind, _fields(command, rest.strip()))


def _with_id(line: str, escalation_id: str) -> str:
    """Write out what is short for something under an escalation."""
    if _is_option(line):
        return f"/reply {escalation_id} {line}"
    name, *rest = line.split(None, 1)
    if line.lower() == "ack" or (name.lower() == "/ack" and not rest):
        return f"/ack {escalation_id}"
    if name.lower() == "/reply" and rest and not rest[0].startswith(ESCALATION):
        return f"/reply {escalation_id} {rest[0]}"
    return line


def _is_option(said: str) -> bool:
    return said.isascii() and said.isdigit() and len(said) <= 4


def usage() -> str:
    """Return the list of commands, one a line."""
    width = max(len(command.usage) for command in COMMANDS)
    return "\n".join(f"{command.usage:<{width}}  {command.does}" for command in COMMANDS)


def _fields(command: Command, rest: str) -> Mapping[str, object]:
    found = rest.split(None, len(command.params) - 1)
    if len(found) < len(command.params):
        missing = command.params[len(found)].replace("_", " ")
        raise CommandError(f"/{command.name}: the {missing} is missing; write {command.usage}")
    try:
        return command.read(dict(zip(command.params, found, strict=True)))
    except ValueError as exc:
        raise CommandError(f"/{command.name}: {exc}; write {command.usage}") from exc
