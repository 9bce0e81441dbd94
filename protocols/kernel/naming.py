"""What people are called: a name that their platform shows, beside the id by which the log knows them.

A name is what its owner chose, so it is cleaned of all that a surface could take for markup or a mention, and it
never stands alone for two people.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from moot.protocols.kernel.context import Fold
from moot.protocols.kernel.envelope import Actor, Envelope
from moot.protocols.kernel.errors import OfficerFault
from moot.protocols.kernel.officers import PersonNamed
from moot.protocols.kernel.redact import redact
from moot.protocols.kernel.seats import Seat

if TYPE_CHECKING:
    from moot.protocols.kernel.docket import Docket
    from moot.protocols.kernel.effects import Effects

MOST_NAME: Final = 40
"""Characters of a display name."""

MOST_RAW: Final = 400
"""So much of what a platform says is read."""

_MARKUP: Final = re.compile(r"[@#<>\[\](){}|\\`*~:\"]+")


def display_name(raw: str, user_id: str = "") -> str:
    """Clean what a platform says somebody is called: one line, no markup, no mention, no secret, at most 40 characters.

    Cleaning twice changes nothing more.

    Args:
        raw: As the platform says it.
        user_id: Who it is; a name that says no more than the id is none.

    Returns:
        The name, "" where nothing is left.
    """
    text = unicodedata.normalize("NFC", redact(raw[:MOST_RAW]))
    text = "".join(" " if unicodedata.category(sign)[0] in "CZ" else sign for sign in _MARKUP.sub(" ", text))
    name = " ".join(text.split())[:MOST_NAME].strip()
    if not any(sign.isalnum() for sign in name) or name.casefold() == user_id.casefold():
        return ""
    return name


class NameBook:
    """Display names by user id, so that two people never read alike.

    Whoever shares a name with somebody else, or with a seat, is named with the id behind it. An id that two
    platforms use stands for itself.

    Attributes:
        called: What people are called, by their ids.
    """

    def __init__(self, seats: Iterable[Seat]) -> None:
        """Know nobody.

        Args:
            seats: All seats that there are, whose names nobody bears alone.
        """
        self._reserved = frozenset({"moot", *seats})
        self.called: dict[str, str] = {}
        self._names: dict[str, dict[str, str]] = {}
        self._bearers: dict[str, dict[str, int]] = {}

    def name_of(self, platform: str, user_id: str) -> str:
        """Return the name that stands for somebody, "" for none."""
        return self._names.get(user_id, {}).get(platform, "")

    def learn(self, platform: str, user_id: str, name: str) -> None:
        """Note what somebody is called from now on."""
        before = self.name_of(platform, user_id).casefold()
        self._names.setdefault(user_id, {})[platform] = name
        if before:
            self._count(before, user_id, -1)
        self._count(name.casefold(), user_id, 1)
        for affected in {before, name.casefold()}:
            for bearer in self._bearers.get(affected, ()):
                self._call(bearer)

    def _count(self, key: str, user_id: str, by: int) -> None:
        bearers = self._bearers.setdefault(key, {})
        bearers[user_id] = bearers.get(user_id, 0) + by
        if not bearers[user_id]:
            del bearers[user_id]
        if not bearers:
            del self._bearers[key]

    def _call(self, user_id: str) -> None:
        names = self._names[user_id]
        if len(names) > 1:
            self.called.pop(user_id, None)
            return
        (name,) = names.values()
        key = name.casefold()
        is_alone = len(self._bearers[key]) == 1 and key not in self._reserved
        self.called[user_id] = name if is_alone else f"{name} ({user_id})"


class People(Fold):
    """Who is called what, by the log."""

    name = "people"
    types = frozenset({"PERSON_NAMED"})

    def __init__(self, seats: Iterable[Seat]) -> None:
        """Know nobody.

        Args:
            seats: All seats that there are.
        """
        self._book = NameBook(seats)
        self._times: dict[str, int] = {}

    @property
    def called(self) -> Mapping[str, str]:
        """Return what people are called, by their ids."""
        return self._book.called

    def name_of(self, platform: str, user_id: str) -> str:
        """Return the name that stands for somebody, "" for none."""
        return self._book.name_of(platform, user_id)

    def key(self, actor: Actor) -> str:
        """Derive the id of the next message that names somebody (K9)."""
        return f"named/{actor.own(str(self._times.get(actor.name, 0)))}"

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Take in a name.

        Raises:
            OfficerFault: It stands already, is not clean, or its id is another's.
        """
        body = env.body
        if type(body) is not PersonNamed:
            return
        actor = Actor("human", body.platform, body.user_id)
        if env.id != self.key(actor):
            raise OfficerFault(f"id: {env.id}, this is {self.key(actor)}", seq=env.seq)
        if display_name(body.display_name, body.user_id) != body.display_name:
            raise OfficerFault("display_name: it is not as names are cleaned", seq=env.seq)
        if self.name_of(body.platform, body.user_id) == body.display_name:
            raise OfficerFault(f"{actor.name} is called {body.display_name} already", seq=env.seq)
        self._times[actor.name] = self._times.get(actor.name, 0) + 1
        self._book.learn(body.platform, body.user_id, body.display_name)
