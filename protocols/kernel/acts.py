"""Acts: what people may do, as data that chat commands, the console and Discord's list are made from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.message import Message

Words = Mapping[str, str]
"""What a person wrote, by what was asked."""

QUESTIONS: Final[Mapping[str, str]] = {
    "status": "how the society stands",
    "escalations": "what waits for an admin",
    "positions": "the desk's money and what it holds",
    "strategies": "where every strategy stands",
    "help": "this list",
}
"""What can be asked with what it shows, in the order in which help lists it; the society answers, nothing is logged."""

LINE: Final = "command"
"""The kind of an act that is a line of text still to be read; no act is called so."""


class Doer(NamedTuple):
    """What a surface knows of who does something.

    Attributes:
        user_id: The platform's stable id of the person.
        platform: The name of the surface.
        key: The id of what they did, nobody else's.
        about: The case of the thread that it was said in.
    """

    user_id: str
    platform: str
    key: str
    about: str | None = None


@dataclass(frozen=True, slots=True)
class Blank:
    """Something that a person fills in for an act.

    Attributes:
        name: What it is called; a word of letters and underscores.
        help: What a person reads beside it.
        field: The field of the message that it becomes, where that has another name.
        choices: What it can be, where that is a list; written in any case.
        is_seat: Its first word names a seat that a person can take.
        is_loose: It may be several words though it is not the last.
        sign: It is a list, and in a line this sign stands before each of its items; it may be left out, and comes last.
        is_option: It is one value, which may be left out; in a line its `sign` stands before it, and it comes last.
        is_kept: Forms alone ask for it: a text that is kept as evidence, of which the field gets the reference.
        aliases: Other names under which programs may give it.
    """

    name: str
    help: str
    field: str = ""
    choices: tuple[str, ...] = ()
    is_seat: bool = False
    is_loose: bool = False
    sign: str = ""
    is_option: bool = False
    is_kept: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return every name under which it may be given, its own first."""
        return tuple(dict.fromkeys((self.name, *((self.field,) if self.field else ()), *self.aliases)))

    @property
    def becomes(self) -> str:
        """Return the field of the message."""
        return self.field or self.name


def _as_given(fields: Mapping[str, Any], _doer: Doer) -> Mapping[str, Any]:
    return fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Something that people may do; whether a person may is said by the rights, and judged at the door (R-E5).

    It is said in the channel that its message has by the rights; where that is none, where the person is.

    Attributes:
        name: What programs call it.
        does: What it does, in words.
        message: The message that it posts.
        asks: What a person fills in; in a line the last takes the rest.
        command: Its word in chat, where that is not its name.
        about: The field that names the case that it is about.
        in_case: It is said in the channel of that case.
        read: Turns a person's words into fields; raises ValueError with the reason. None: each becomes its field.
        complete: Fills in what the surface knows; raises Malformed.
    """

    name: str
    does: str
    message: type[Message]
    asks: tuple[Blank, ...] = ()
    command: str = ""
    about: str = ""
    in_case: bool = False
    read: Callable[[Words], Mapping[str, Any]] | None = None
    complete: Callable[[Mapping[str, Any], Doer], Mapping[str, Any]] = _as_given

    @property
    def word(self) -> str:
        """Return its word in chat."""
        return self.command or self.name

    @property
    def in_line(self) -> tuple[Blank, ...]:
        """Return what a person fills in where an act is one line of text."""
        return tuple(asked for asked in self.asks if not asked.is_kept)

    @property
    def type(self) -> str:
        """Return the type of its message."""
        return str(self.message.model_fields["type"].default)


def faults(act: Act) -> Iterator[str]:
    """Say how an act contradicts itself."""
    for name in {act.name, act.word, *(asked.name for asked in act.asks)}:
        if not re.fullmatch(r"[a-z][a-z_]{0,31}", name):
            yield f"the act {act.name}: {name!r} is no word of a command"
    if act.name == LINE or act.word in QUESTIONS:
        yield f"the act {act.name}: /{act.word} is taken by Moot itself"
    kinds = [bool(asked.sign) + asked.is_option for asked in act.in_line]
    if kinds != sorted(kinds) or kinds.count(1) > 1:
        yield f"the act {act.name}: what has a sign comes last"
    for asked in act.asks if act.read is None else ():
        if asked.becomes not in act.message.model_fields:
            yield f"the act {act.name}: {asked.becomes} is no field of {act.type}"
