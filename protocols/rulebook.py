"""The rulebook: protocols put together, and all that follows from them.

A `Rulebook` is a value: one union of all messages, one permission matrix, one table of openers, one list of folds. A
process speaks by one at a time (`rulebook`): Moot's own protocols, and what `speak` adds to them at its start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Final, Union

from pydantic import Field, TypeAdapter

from moot.protocols.arena.protocol import PROTOCOL as ARENA
from moot.protocols.calls.protocol import PROTOCOL as CALLS
from moot.protocols.escalation.case_questions import CaseAnswers, CaseQuestions
from moot.protocols.escalation.protocol import PROTOCOL as ESCALATION
from moot.protocols.escalation.triggers import TRIGGERS, Trigger
from moot.protocols.escalation.triggers import faults as trigger_faults
from moot.protocols.escalation.watch import GuardedSource, Source, Watch
from moot.protocols.kernel.acts import Act
from moot.protocols.kernel.catalogue import ANY, Channel, Matrix, Right, Viewers
from moot.protocols.kernel.context import Fold, RuleContext
from moot.protocols.kernel.errors import LocalProtocolError
from moot.protocols.kernel.grounds import together
from moot.protocols.kernel.guarded import GuardedFold
from moot.protocols.kernel.machine import Machine
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.minds import Minds
from moot.protocols.kernel.naming import People
from moot.protocols.kernel.protocol import Protocol, clashes, type_of
from moot.protocols.kernel.rules import Check, Minted, Rules
from moot.protocols.kernel.seats import OFFICERS, PEOPLE, Seat, SeatInfo
from moot.protocols.kernel.society import OFFICERS as OFFICERS_PROTOCOL
from moot.protocols.kernel.society import PEOPLE as PEOPLE_PROTOCOL
from moot.protocols.lab.protocol import PROTOCOL as LAB
from moot.protocols.motion.protocol import PROTOCOL as MOTION
from moot.protocols.panel.protocol import PROTOCOL as PANEL
from moot.protocols.research.protocol import PROTOCOL as RESEARCH
from moot.protocols.trading.protocol import PROTOCOL as TRADING

VERSION: Final = "4"
"""Version of the rules; cases are pinned to the one at their opening (K4).

1: kinds of case written by hand. 2: machines; an answer that names another obligation than it settles breaks K1 before
its content is judged, and free-form objects are kept in the order of their keys. 3: more figures are derived from the
log; a log of version 2 is held to its own, see `Exactly.since`. 4: rulings R-G1 to R-G16; `RuleContext.version` tells
which rules a log follows.
"""

READ: Final = frozenset({"2", "3", VERSION})
"""Versions whose logs are judged."""

BUILT_IN: Final = (
    RESEARCH,
    PEOPLE_PROTOCOL,
    TRADING,
    ESCALATION,
    ARENA,
    PANEL,
    MOTION,
    CALLS,
    OFFICERS_PROTOCOL,
    LAB,
)
"""Moot's own protocols; the order is that in which their folds take in a message."""


class Rulebook:
    """Protocols put together.

    Attributes:
        protocols: They.
        messages: Every message class by its `type`.
        seats: What is said of each seat, by its name.
        bots: Seats that a mind fills and that a person may take.
        channels: All channels.
        channel_names: Their names.
        public: Those that are not private, which platforms mirror.
        rights: The rows of the permission matrix.
        channel_of: The channel of every type that has one of its own.
        types: Kinds of case by name.
        minted: Ids that the sequencer counts (R-D12, K20).
        acts: What people may do, by name, in the order of the protocols.
        wording: How each type reads.
        duties: What steps are called.
        unshown: Fields that no card shows, by type.
        free_texts: Types that hold what a seat writes about a question that anybody may put.
        urgent: Types that whoever looks must see.
        marks: How messages stand out on a page, by type.
        grounds: What decisions rest on, by type.
        triggers: Rows of the trigger table, by code.
        quiet: Whether a message says nothing that a reader of the live feed waits for, by type.
    """

    def __init__(self, protocols: Sequence[Protocol]) -> None:
        """Put protocols together.

        Raises:
            LocalProtocolError: They contradict each other.
        """
        if found := "; ".join((*clashes(protocols), *_trigger_faults(protocols))):
            raise LocalProtocolError(found)
        self.protocols = tuple(protocols)
        messages = {type_of(kind): kind for one in protocols for kind in one.messages}
        self.messages: Mapping[str, type[Message]] = dict(sorted(messages.items()))
        self.seats: Mapping[Seat, SeatInfo] = {info.seat: info for one in protocols for info in one.seats}
        self.bots = frozenset(self.seats) - OFFICERS - PEOPLE
        self.channels: tuple[Channel, ...] = tuple(
            channel._replace(guests=one.guests(channel)) for one in protocols for channel in one.channels
        )
        self.channel_names = frozenset(channel.name for channel in self.channels)
        self.public = tuple(channel for channel in self.channels if not channel.is_private)
        self.rights: tuple[Right, ...] = tuple(row for one in protocols for row in one.rights)
        self.channel_of: Mapping[str, str] = {
            row.type: next(iter(row.channels))
            for row in self.rights
            if len(row.channels) == 1 and row.channels != ANY
        }
        self.types: Mapping[str, Machine] = {case.kind: case for one in protocols for case in one.cases}
        self.minted: Mapping[str, Minted] = _merged(one.minted for one in protocols)
        self.acts: Mapping[str, Act] = {act.name: act for one in protocols for act in one.acts}
        self.wording: Mapping[str, str] = _merged(one.wording for one in protocols)
        self.duties: Mapping[str, str] = _merged(one.duties for one in protocols)
        self.unshown: Mapping[str, frozenset[str]] = _merged(one.unshown for one in protocols)
        self.free_texts = frozenset(name for name, kind in messages.items() if kind.is_free_text)
        self.urgent = frozenset().union(*(one.urgent for one in protocols))
        self.marks: Mapping[str, str] = _merged(one.marks for one in protocols)
        self.grounds = together(one.grounds for one in protocols)
        self.triggers: Mapping[str, Trigger] = {**TRIGGERS, **_merged(one.triggers for one in protocols)}
        self.quiet: Mapping[str, Callable[[Any], bool]] = _merged(one.quiet for one in protocols)

    @cached_property
    def any_type(self) -> Any:
        """Return the union of all messages, told apart by `type`."""
        return Annotated[Union[tuple(self.messages.values())], Field(discriminator="type")]  # noqa: UP007

    @cached_property
    def any_message(self) -> TypeAdapter[Message]:
        """Return what reads any message."""
        return TypeAdapter(self.any_type)

    def named(self, names: Iterable[str]) -> frozenset[str]:
        """Return the channels that a configuration names: `*` stands for every public one."""
        named = frozenset(names)
        public = (channel.name for channel in self.public) if named >= ANY else ()
        return (named - ANY).union(public)

    @property
    def added(self) -> tuple[str, ...]:
        """Return the names of the protocols that are not Moot's own."""
        return tuple(one.name for one in self.protocols if one not in BUILT_IN)

    def rules(self, viewers: Viewers = Viewers()) -> Rules:  # noqa: B008  # immutable
        """Assemble the rules of a society.

        Args:
            viewers: What people without the admin role may read and write.
        """
        every = self.protocols
        caseless: dict[str, Check | None] = _merged(one.caseless for one in every)
        return Rules(
            types=self.types,
            matrix=Matrix(self.rights, self.channels, self.seats.values(), viewers),
            caseless=caseless,
            added=frozenset(self.added),
            triggers=self.triggers,
            brought={
                name: one.name
                for one in every
                if one.name in self.added
                for name in (*one.types, *(case.kind for case in one.cases))
            },
            asides=frozenset().union(*(one.asides for one in every)),
            lifecycle=frozenset().union(*(one.lifecycle for one in every)),
            unowed=frozenset().union(*(one.unowed for one in every)),
            remarks=frozenset().union(*(one.remarks for one in every)),
            minted=self.minted,
            new_folds=self._folds,
            version=VERSION,
            resembles=self._resembles,
        )

    def _folds(self) -> Sequence[Fold]:
        questions = CaseQuestions(self.protocols)
        sources = [self._watched(source, one) for one in self.protocols for source in one.sources()]
        return (
            *(self._guarded(make(), one) for one in self.protocols for make in one.folds),
            People(self.seats),
            Minds(),
            Watch([*sources, *([questions] if questions.kinds else [])]),
            *([CaseAnswers()] if questions.kinds else []),
            *(self._guarded(make(), one) for one in self.protocols for make in one.cycles),
        )

    @staticmethod
    def _guarded(fold: Fold, protocol: Protocol) -> Fold:
        return fold if protocol in BUILT_IN else GuardedFold(fold, protocol.name)

    @staticmethod
    def _watched(source: Source, protocol: Protocol) -> Source:
        return source if protocol in BUILT_IN else GuardedSource(source, protocol.name)

    def _resembles(self, expected: Message, given: Message, context: RuleContext) -> bool:
        for one in self.protocols:
            if one.resembles is None:
                continue
            try:
                if one.resembles(expected, given, context):
                    return True
            except Exception:
                if one in BUILT_IN:
                    raise
        return False


def _trigger_faults(protocols: Sequence[Protocol]) -> Iterator[str]:
    for one in protocols:
        for code, trigger in one.triggers.items():
            if code in TRIGGERS:
                yield f"the protocol {one.name}: the trigger {code} is Moot's own: choose another code"
            yield from (f"the protocol {one.name}: {why}" for why in trigger_faults(code, trigger))


def _merged(tables: Any) -> dict[str, Any]:
    return {name: value for table in tables for name, value in table.items()}


_spoken = Rulebook(BUILT_IN)


def rulebook() -> Rulebook:
    """Return the rulebook that this process speaks by."""
    return _spoken


def speak(added: Sequence[Protocol]) -> Rulebook:
    """Speak by Moot's own protocols and others from now on; called once, before a society or a log is opened.

    Raises:
        LocalProtocolError: They contradict each other.
    """
    global _spoken  # noqa: PLW0603  # one language a process, as with its codec
    _spoken = Rulebook((*BUILT_IN, *added))
    return _spoken


def speak_by(book: Rulebook) -> None:
    """Speak by a rulebook that is put together already."""
    global _spoken  # noqa: PLW0603  # as `speak`
    _spoken = book


def rules(viewers: Viewers = Viewers()) -> Rules:  # noqa: B008  # immutable
    """Assemble the rules of a society by the rulebook that this process speaks by."""
    return _spoken.rules(viewers)
