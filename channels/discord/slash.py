"""The slash commands as Discord lists them, from `moot.channels.chat.commands`, and back to a written line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from moot.channels.chat.commands import COMMANDS, Command
from moot.protocols.rulebook import rulebook

STRING: Final = 3
"""Discord's number for an option that is a text."""

MOST_CHOICES: Final = 25
MOST_WORD: Final = 200
MOST_TEXT: Final = 6_000

DESCRIPTIONS: Final[Mapping[str, str]] = {
    "text": "what you want to say",
    "id": "id of the escalation, as the message shows it",
    "option_or_text": "number of an option, or your answer in words",
    "case": "id of the case",
    "verdict": "what you decide",
    "why": "why; it stands in the log",
    "seat": "the bot's seat",
    "scope": "society, system A, system B, or a case's id",
    "reason": "why; it stands in the log",
    "prompt_or_task": "what is to be worked out, in words or as a task in JSON",
}
"""What a person reads beside an option."""

CHOICES: Final[Mapping[str, Sequence[str]]] = {
    "verdict": ("APPROVE", "REJECT"),
}
"""What an option can be, where that is a list; a seat is one of those that there are."""

LOOSE: Final = frozenset({"scope"})
"""Options before the last that may be two words: `system A`."""


class NotOneWord(ValueError):
    """Say that an option holds blanks where it must be one word."""


def listed() -> list[dict[str, Any]]:
    """Return every command as the API takes it, in the order in which help lists them."""
    return [
        {
            "type": 1,
            "name": command.name,
            "description": command.does[:100],
            "options": [_option(command, name) for name in command.params],
        }
        for command in COMMANDS
    ]


def is_same(found: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether the commands that the API lists are ours, whatever it adds to them."""
    return sorted(map(_core, found)) == sorted(map(_core, listed()))


def line_of(name: str, options: Mapping[str, object]) -> str:
    """Write a command as a person would type it.

    Raises:
        NotOneWord: An option that must be one word is not; the text is for the person.
    """
    command = next((one for one in COMMANDS if one.name == name), None)
    params = command.params if command is not None else tuple(options)
    words = [f"/{name}"]
    for n, param in enumerate(params):
        value = str(options.get(param, "")).strip()
        is_last = n == len(params) - 1
        if not is_last and param not in LOOSE and len(value.split()) > 1:
            raise NotOneWord(f"/{name}: the {param.replace('_', ' ')} is one word, without blanks")
        words.append(value)
    return " ".join(word for word in words if word)


def _option(command: Command, name: str) -> dict[str, Any]:
    choices = sorted(rulebook().bots) if name == "seat" else CHOICES.get(name, ())
    option: dict[str, Any] = {
        "type": STRING,
        "name": name,
        "description": DESCRIPTIONS.get(name, name.replace("_", " ")),
        "required": True,
    }
    if choices and len(choices) <= MOST_CHOICES:
        return option | {"choices": [{"name": choice, "value": choice} for choice in choices]}
    is_last = name == command.params[-1]
    return option | {"min_length": 1, "max_length": MOST_TEXT if is_last else MOST_WORD}


def _core(command: Mapping[str, Any]) -> str:
    options = [
        (
            option.get("name"),
            option.get("type"),
            option.get("description"),
            bool(option.get("required")),
            [(choice.get("name"), choice.get("value")) for choice in option.get("choices") or ()],
            option.get("max_length"),
        )
        for option in command.get("options") or ()
    ]
    return repr((command.get("name"), command.get("type", 1), command.get("description"), options))
