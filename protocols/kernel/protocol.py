"""Protocols: what a folder of rules brings to a society, as one object; the rulebook puts several together.

A folder declares its messages and their wording, seats, channels, rights, kinds of case and folds. Nothing outside it
lists them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Final

from moot.protocols.kernel import acts as kernel_acts
from moot.protocols.kernel.acts import Act
from moot.protocols.kernel.catalogue import Channel, Right
from moot.protocols.kernel.context import Fold, RuleContext
from moot.protocols.kernel.errors import LocalProtocolError
from moot.protocols.kernel.grounds import Grounds
from moot.protocols.kernel.machine import Machine
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.rules import Check, Minted
from moot.protocols.kernel.seats import COLOURS, PEOPLE, SEAT_NAME, Seat, SeatInfo

MARKS: Final = ("violation", "ruling", "escalation", "halt")
"""How a message can stand out on a page."""


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """A protocol.

    Attributes:
        name: What it is called.
        messages: The bodies that it brings.
        wording: By type, how a message reads behind the name of who says it; see `moot.channels.showing.templates`.
        duties: By the name of a step in obligation ids, what it is called where that in words is not enough; `{n}` is
            the number behind the name. `cycle/report` is the step `report` of cases whose id begins with `cycle_`.
        unshown: By type, fields that no card shows: they say again what stands there, or nothing to people.
        urgent: Types that whoever looks must see: in a backlog surfaces post them first, and fold none of them.
        marks: By type, how a message stands out on a page: one of `MARKS`.
        grounds: What its decisions rest on, for whoever asks why.
        quiet: By type, whether a message of it says nothing that a reader of the live feed waits for.
        seats: The seats that it brings.
        uses: Seats of other protocols that its rights and duties name; they read its channels that they may write.
        switch: The section of the configuration whose `enabled` says whether bots fill its seats; "": they always do.
        channels: The channels that it brings.
        rights: Rows of the permission matrix.
        cases: Its kinds of case.
        acts: What people may do there.
        folds: Make what it folds from the log for its rules.
        cycles: Make the folds that come after all others: what officers open by the clock.
        sources: Makes the conditions that the watch escalates.
        triggers: Its rows of the trigger table, by code; see `moot.protocols.escalation.triggers.Trigger`.
        caseless: Types that need no open case, each with a check of its own or None.
        asides: Those among them that move no case even when they name an open one.
        lifecycle: Types that move the context itself.
        unowed: Officers' types that no table asks for.
        remarks: Officers' types that stand beside a case and do not move it.
        minted: Which ids the sequencer counts, by type.
        resembles: Compares a duty with what was posted where the two may rightly differ; None where they may not.

    Raises:
        LocalProtocolError: It contradicts itself.
    """

    name: str
    messages: Sequence[type[Message]] = ()
    wording: Mapping[str, str] = field(default_factory=dict)
    duties: Mapping[str, str] = field(default_factory=dict)
    unshown: Mapping[str, frozenset[str]] = field(default_factory=dict)
    urgent: frozenset[str] = frozenset()
    marks: Mapping[str, str] = field(default_factory=dict)
    grounds: Grounds = field(default_factory=Grounds)
    quiet: Mapping[str, Callable[[Any], bool]] = field(default_factory=dict)
    seats: Sequence[SeatInfo] = ()
    uses: Sequence[Seat] = ()
    switch: str = ""
    channels: Sequence[Channel] = ()
    rights: Sequence[Right] = ()
    cases: Sequence[Machine] = ()
    acts: Sequence[Act] = ()
    folds: Sequence[Callable[[], Fold]] = ()
    cycles: Sequence[Callable[[], Fold]] = ()
    sources: Callable[[], Sequence[Any]] = tuple
    triggers: Mapping[str, Any] = field(default_factory=dict)
    caseless: Mapping[str, Check | None] = field(default_factory=dict)
    asides: frozenset[str] = frozenset()
    lifecycle: frozenset[str] = frozenset()
    unowed: frozenset[str] = frozenset()
    remarks: frozenset[str] = frozenset()
    minted: Mapping[str, Minted] = field(default_factory=dict)
    resembles: Callable[[Message, Message, RuleContext], bool] | None = None

    def __post_init__(self) -> None:
        """Refuse a protocol that contradicts itself."""
        if found := "; ".join(_faults(self)):
            raise LocalProtocolError(f"the protocol {self.name}: {found}")

    @property
    def types(self) -> tuple[str, ...]:
        """Return the types of its messages."""
        return tuple(map(type_of, self.messages))

    def guests(self, channel: Channel) -> frozenset[Seat]:
        """Return the seats of other protocols that have a part in a channel, and so read it."""
        used = frozenset(self.uses)
        return frozenset(
            seat for row in self.rights if channel.name in row.channels for seat in row.seats & used
        )


def type_of(kind: type[Message]) -> str:
    """Return the `type` of a message class."""
    return str(kind.model_fields["type"].default)


def declared(*modules: ModuleType) -> tuple[type[Message], ...]:
    """Return the message classes that modules define or gather, each once."""
    found = {
        value: None
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Message)
        and "type" in value.model_fields
        and isinstance(value.model_fields["type"].default, str)
    }
    return tuple(found)


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that come more than once, sorted."""
    return sorted(name for name, times in Counter(names).items() if times > 1)


def _faults(protocol: Protocol) -> Iterator[str]:
    for kind in protocol.messages:
        if not isinstance(kind.model_fields["type"].default, str):
            yield f"the message {kind.__name__} says no type"
    for name in repeated(protocol.types):
        yield f"the message type {name} is declared twice"
    for name in repeated(info.seat for info in protocol.seats):
        yield f"the seat {name} is declared twice"
    for info in protocol.seats:
        if not re.fullmatch(SEAT_NAME, info.seat):
            yield f"{info.seat!r} is no name of a seat"
        if info.colour not in COLOURS:
            yield f"the seat {info.seat} has the colour {info.colour}, which no terminal has"
    for name in repeated(channel.name for channel in protocol.channels):
        yield f"the channel {name} is declared twice"
    for name in repeated(case.kind for case in protocol.cases):
        yield f"the kind of case {name} is declared twice"
    for name, mark in protocol.marks.items():
        if mark not in MARKS:
            yield f"the message type {name} is marked {mark!r}, which is none of {', '.join(MARKS)}"
    for machine in protocol.cases:
        for phase, asks in machine.asks.items():
            if asks.trigger not in protocol.triggers:
                yield f"the machine {machine.kind}, {phase}: the trigger {asks.trigger} is not declared"
    for act in protocol.acts:
        yield from kernel_acts.faults(act)
    for name in repeated(word for act in protocol.acts for word in {act.name, act.word}):
        yield f"the act {name} is declared twice"


def clashes(protocols: Sequence[Protocol]) -> Iterator[str]:
    """Say where protocols contradict each other: each sentence names the protocol.

    Two may not bring the same name; a later one that means a seat of an earlier one says `uses`.
    """
    types: dict[str, str] = {}
    seats: dict[str, str] = {}
    places: dict[str, str] = {}
    kinds: dict[str, str] = {}
    acts: dict[str, str] = {}
    codes: dict[str, str] = {}
    for name in repeated(protocol.name for protocol in protocols):
        yield f"there are two protocols {name}"
    for one in protocols:
        yield from _taken(one, "message type", one.types, types)
        yield from _taken(one, "seat", (info.seat for info in one.seats), seats, "; say uses instead")
        yield from _taken(one, "channel", (channel.name for channel in one.channels), places)
        yield from _taken(one, "kind of case", (case.kind for case in one.cases), kinds)
        yield from _taken(one, "trigger", one.triggers, codes)
        yield from _taken(one, "act", (word for act in one.acts for word in (act.name, act.word)), acts)
    for one in protocols:
        own = {info.seat for info in one.seats}
        for seat in one.uses:
            if seat not in seats:
                yield f"the protocol {one.name} uses the seat {seat}, which nobody brings"
        for row in one.rights:
            if row.type not in types:
                yield f"the protocol {one.name}: a right names the message type {row.type}, which nobody declares"
            for seat in sorted(row.seats - own - set(one.uses)):
                yield (
                    f"the protocol {one.name}: a right for {row.type} names the seat {seat}, which it neither brings "
                    "nor uses"
                )
            for place in sorted(row.channels - set(places) - {"*"}):
                yield f"the protocol {one.name}: a right for {row.type} names the channel {place}, which nobody brings"
        worded = {*one.wording, *one.unshown, *one.urgent, *one.marks, *one.quiet, *one.grounds.types}
        for name in sorted(worded - set(types)):
            yield f"the protocol {one.name} words the message type {name}, which nobody declares"
        yield from _misplaced(one, places, seats, protocols)
    open_to_people = {row.type for one in protocols for row in one.rights if row.seats & PEOPLE}
    for one in protocols:
        for act in one.acts:
            if act.type not in open_to_people:
                yield f"the protocol {one.name}: the act {act.name}: no right lets people post {act.type}"


def _taken(
    one: Protocol, what: str, names: Iterable[str], taken: dict[str, str], hint: str = ""
) -> Iterator[str]:
    for name in names:
        owner = taken.setdefault(name, one.name)
        if owner != one.name:
            yield f"the protocol {one.name} declares the {what} {name}, which {owner} brings already{hint}"


def _misplaced(
    one: Protocol, places: Mapping[str, str], seats: Mapping[str, str], protocols: Sequence[Protocol]
) -> Iterator[str]:
    """Say which duties of its machines nobody may do where they are owed."""
    allowed = {
        (seat, place, row.type)
        for protocol in protocols
        for row in protocol.rights
        for seat in row.seats
        for place in (places if row.channels == {"*"} else row.channels)
    }
    for machine in one.cases:
        for name, step in machine.steps.items():
            where = f"the protocol {one.name}: the step {name} of the machine {machine.kind}"
            if step.channel not in places:
                yield f"{where} is owed in the channel {step.channel}, which nobody brings"
            elif callable(step.seat):
                continue
            elif step.seat not in seats:
                yield f"{where} is owed by the seat {step.seat}, which nobody brings"
            elif not any((step.seat, step.channel, kind) in allowed for kind in step.expects):
                yield f"{where}: {step.seat} may post none of its answers in {step.channel}"
