"""Walks a record's events along its transitions: in which state and which round each event happened."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from moot.protocols.arena.conformance.parser import Verdict, verdict_of
from moot.protocols.arena.conformance.reading import Happening, Reading, Round, Row
from moot.protocols.arena.conformance.words import ERROR

INVOCATIONS: Final = frozenset({"PLANNER_INVOKED", "REVIEWER_INVOKED", "FINALIZER_INVOKED"})
OUR_DATA: Final = frozenset({"prior_critiques", "resume_ref", "resumed_round", "is_best_effort"})
"""What an invocation tells in Moot's form."""


@dataclass(frozen=True, slots=True)
class Place:
    """An event and where it happened: the state then, the round then (0 before the first), the transitions so far."""

    index: int
    event: Happening
    state: str
    round_index: int
    moved: int

    @property
    def path(self) -> str:
        """Return where the event stands in the record."""
        return f"events[{self.index}]"

    @property
    def type(self) -> str:
        """Return the event's type."""
        return self.event.type


@dataclass(frozen=True, slots=True)
class Visit:
    """One stay in REVIEWING: its round, the transition that entered it, and the state it was left for ("" if never)."""

    round_index: int
    entered: int
    left_for: str


class Walk:
    """A reading with everything in its place. Whatever is malformed or does not match ends up somewhere."""

    def __init__(self, reading: Reading) -> None:
        """Take a reading."""
        self.reading = reading

    @cached_property
    def rounds_entered(self) -> Sequence[int]:
        """The round after each number of transitions, from none on."""
        rounds = [0]
        for step in self.reading.transitions:
            rounds.append(rounds[-1] + (step.target == "DRAFTING"))
        return rounds

    @property
    def drafts(self) -> int:
        """How many rounds were begun."""
        return self.rounds_entered[-1]

    @cached_property
    def places(self) -> Sequence[Place]:
        """All events, each in its place."""
        steps, moved, found = self.reading.transitions, 0, []
        for index, event in enumerate(self.reading.events):
            if event.type == "STATE_TRANSITION" and moved < len(steps):
                moved += 1
            state = steps[moved - 1].target if moved else "INIT"
            found.append(Place(index, event, state, self.rounds_entered[moved], moved))
        return found

    @cached_property
    def by_type(self) -> Mapping[str, Sequence[Place]]:
        """The events of each type."""
        found = defaultdict(list)
        for place in self.places:
            found[place.type].append(place)
        return found

    def of_type(self, *types: str) -> Sequence[Place]:
        """Return the events of some types, in order."""
        if len(types) == 1:
            return self.by_type.get(types[0], ())
        return [place for place in self.places if place.type in types]

    @cached_property
    def visits(self) -> Sequence[Visit]:
        """The stays in REVIEWING."""
        steps = self.reading.transitions
        return [
            Visit(
                self.rounds_entered[index + 1],
                index,
                steps[index + 1].target if index + 1 < len(steps) else "",
            )
            for index, step in enumerate(steps)
            if step.target == "REVIEWING"
        ]

    @cached_property
    def rounds(self) -> Mapping[int, Round]:
        """The round records by their index; the first of several."""
        return {round_.index: round_ for round_ in reversed(self.reading.rounds)}

    @cached_property
    def rows(self) -> Mapping[int, Sequence[Row]]:
        """The parser's rows by round."""
        found = defaultdict(list)
        for row in self.reading.parser:
            found[row.round_index].append(row)
        return found

    @cached_property
    def verdicts(self) -> Mapping[str, Verdict]:
        """What the texts of the parsed reviews say, by reference, read anew."""
        texts, refs = self.reading.artifacts, {row.output_ref for row in self.reading.parser}
        return {ref: verdict_of(texts[ref]) for ref in refs if ref in texts}

    @cached_property
    def in_review(self) -> Mapping[int, Sequence[Place]]:
        """The events within REVIEWING, by round."""
        found = defaultdict(list)
        for place in self.places:
            if place.state == "REVIEWING":
                found[place.round_index].append(place)
        return found

    @cached_property
    def base(self) -> int:
        """The number of a first attempt: 1, or 0 in a record that counts attempts from 0."""
        told = [row.attempt for row in self.reading.parser]
        for places in self.in_review.values():
            for place in places:
                attempt = place.event.data.get("attempt")
                if isinstance(attempt, int) and not isinstance(attempt, bool):
                    told.append(attempt)
        return 0 if told and min(told) == 0 else 1

    @cached_property
    def is_telling(self) -> bool:
        """Whether the record also holds the invocations in Moot's form; then none of them may be missing."""
        return any(place.type in INVOCATIONS and place.event.data.keys() & OUR_DATA for place in self.places)

    def tells(self, type_: str, key: str) -> bool:
        """Say whether any event of a type tells something; then all have to. Section 11 does not ask for it."""
        return key in self._told.get(type_, ())

    @cached_property
    def _told(self) -> Mapping[str, Set[str]]:
        """What the events of each type tell."""
        return {
            type_: {key for place in places for key in place.event.data}
            for type_, places in self.by_type.items()
        }

    @property
    def ended_at_init(self) -> bool:
        """Whether the run did nothing but refuse its inputs (6.2, 6.3)."""
        reading = self.reading
        path = [(step.source, step.target) for step in reading.transitions]
        return (
            not reading.faults["transitions"]
            and path == [("INIT", ERROR)]
            and not reading.rounds
            and not reading.parser
            and not any(place.type in INVOCATIONS for place in self.places)
        )

    def refused(self, *words: str) -> bool:
        """Say whether the run refused its inputs with a reason that names one of some words."""
        said = self.reading.terminal_reason.lower()
        return self.ended_at_init and any(word in said for word in words)

    @property
    def is_off(self) -> bool:
        """Whether the notebook is disabled."""
        return self.reading.field("config", "notebook_enabled") is False

    @property
    def is_enabled(self) -> bool:
        """Whether the notebook is enabled."""
        return self.reading.field("config", "notebook_enabled") is True

    @property
    def is_required(self) -> bool:
        """Whether the task requires the notebook."""
        return self.reading.field("task", "notebook_required") is True
