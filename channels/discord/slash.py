"""The slash commands as Discord lists them, from `moot.channels.chat.commands`, and back to a written line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from moot.channels.chat.commands import Command, commands
from moot.channels.filling import choices_of
from moot.protocols.kernel.acts import Blank

STRING: Final = 3
"""Discord's number for an option that is a text."""

MOST_CHOICES: Final = 25
MOST_WORD: Final = 200
MOST_TEXT: Final = 6_000


class NotOneWord(ValueError):
    """Say that an option holds blanks where it must be one word."""


def listed() -> list[dict[str, Any]]:
    """Return every command as the API takes it, in the order in which help lists them."""
    return [
        {
            "type": 1,
            "name": command.name,
            "description": command.does[:100],
            "options": [_option(blank, takes_rest=blank is _last(command)) for blank in command.blanks],
        }
        for command in commands()
    ]


def is_same(found: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether the commands that the API lists are ours, whatever it adds to them."""
    return sorted(map(_core, found)) == sorted(map(_core, listed()))


def line_of(name: str, options: Mapping[str, object]) -> str:
    """Write a command as a person would type it.

    Raises:
        NotOneWord: An option that must be one word is not; the text is for the person.
    """
    command = next((one for one in commands() if one.name == name), None)
    blanks = command.blanks if command is not None else tuple(Blank(name, "") for name in options)
    words = [f"/{name}"]
    for blank in blanks:
        value = str(options.get(blank.name, "")).strip()
        if value and blank.sign:
            value = f"{blank.sign} {value}"
        elif blank is not blanks[-1] and not blank.is_loose and len(value.split()) > 1:
            raise NotOneWord(f"/{name}: the {blank.name.replace('_', ' ')} is one word, without blanks")
        words.append(value)
    return " ".join(word for word in words if word)


def _last(command: Command) -> Blank | None:
    """Return what takes the rest of a line, but for a list behind it."""
    return next((blank for blank in reversed(command.blanks) if not blank.sign), None)


def _option(blank: Blank, *, takes_rest: bool) -> dict[str, Any]:
    choices = choices_of(blank)
    option: dict[str, Any] = {
        "type": STRING,
        "name": blank.name,
        "description": (
            f"{blank.help}, with {blank.sign} between them"
            if blank.sign and not blank.is_option
            else blank.help
        )[:100],
        "required": not blank.sign,
    }
    if choices and len(choices) <= MOST_CHOICES:
        return option | {"choices": [{"name": choice, "value": choice} for choice in choices]}
    return option | {"min_length": 1, "max_length": MOST_TEXT if takes_rest or blank.sign else MOST_WORD}


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
