"""Approved changes before panels: one panel each, all at once, before any of them is refined (spec 3.2, R-D16)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.steps import Effect, Owe, RuleInput
from moot.protocols.opinion import BINDING, Opinion, check_contract, opinion_of
from moot.protocols.research.seats import EVOLVER

if TYPE_CHECKING:
    from moot.protocols.research.architecture import ArchitectureState

CONTRACTS: Final = "architecture"
"""Changes are judged under contracts whose ids begin so (R-P6)."""

PANEL, LIMIT = "panel", "panel-limit"
"""The steps: the Evolver opens a panel on a change, and the referee minds its time from then on."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A change that is put before a panel.

    Attributes:
        change_id: Which.
        panel_id: Its panel, "" before one is opened.
        opinion: How that ended; None before.
    """

    change_id: str
    panel_id: str = ""
    opinion: Opinion | None = None


@dataclass(frozen=True, slots=True)
class Panels:
    """The panels of one weekly cycle.

    Attributes:
        say: What they have to say, as configured when the changes were approved.
        asked: The changes.
    """

    say: str
    asked: tuple[Asked, ...]

    def updated(self, change_id: str, **changes: Any) -> Panels:
        """Return them with what is known of one change replaced."""
        asked = tuple(replace(a, **changes) if a.change_id == change_id else a for a in self.asked)
        return replace(self, asked=asked)

    def about(self, change_id: str) -> Asked | None:
        """Return what is known of a change, None where no panel is asked about it."""
        return next((one for one in self.asked if one.change_id == change_id), None)

    def passes(self, change_id: str) -> bool:
        """Say whether a change goes on: where panels bind, only one that its panel accepted (R-B2's spirit)."""
        one = self.about(change_id)
        opinion = one.opinion if one is not None else None
        return self.say != BINDING or (opinion is not None and opinion.consents)

    def plain(self, change_id: str) -> dict[str, Any]:
        """Return what the panel on a change says, for a brief."""
        one = self.about(change_id)
        opinion = one.opinion if one is not None else None
        return {"say": self.say, **(opinion.plain() if opinion is not None else {})}


def convened(say: str, change_ids: Iterable[str]) -> Panels:
    """Put changes before panels, all at once."""
    return Panels(say, tuple(Asked(change_id) for change_id in change_ids))


def changes_asked(state: ArchitectureState) -> tuple[str, ...]:
    """Return the changes that a panel is owed for."""
    return tuple(one.change_id for one in _panels(state).asked)


def opened(state: ArchitectureState, given: RuleInput) -> Effect:
    """A panel is opened on a change; whoever names none can only mean the last one (R-D16, R-P6)."""
    waiting = [owed for owed in state.owed if owed.rule == PANEL]
    if given.message.obligation_id is None and len(waiting) > 1:
        raise _unasked()
    check_contract(given.message, CONTRACTS)
    panels = _panels(state).updated(given.subject, panel_id=given.message.case_id or "")
    return Effect({"panels": panels}, owe=(Owe(LIMIT, given.subject),))


def not_asked(_state: ArchitectureState, given: RuleInput) -> Effect:
    """A panel is opened by the Evolver, on a change that waits for one (3.2)."""
    if given.message.author != EVOLVER:
        raise Violation("3.2", "the Evolver opens the panels of the weekly cycle", field="parent_id")
    raise _unasked()


def _unasked() -> Violation:
    return Violation("3.2", "no change waits for this panel", field="obligation_id")


def unopened(state: ArchitectureState, given: RuleInput) -> Effect:
    """A panel that nobody opens is as one that ended without a decision (R-D16)."""
    opinion = Opinion(why="no panel was opened")
    return Effect({"panels": _panels(state).updated(given.subject, opinion=opinion)})


def too_late(state: ArchitectureState, given: RuleInput) -> Effect:
    """A panel that does not end in time has decided nothing (R-D16)."""
    one = _panels(state).about(given.subject)
    assert one is not None
    opinion = Opinion(one.panel_id, why="the panel took too long")
    return Effect({"panels": _panels(state).updated(given.subject, opinion=opinion)})


def judged(state: ArchitectureState, given: RuleInput) -> Effect | None:
    """Take in how a panel ended; one that nothing waits for any more changes nothing."""
    panels, panel = _panels(state), given.child
    one = next((a for a in panels.asked if a.panel_id == panel.case_id and a.opinion is None), None)
    if one is None:
        return None
    return Effect(
        {"panels": panels.updated(one.change_id, opinion=opinion_of(panel))},
        drop=lambda owed: owed.rule == LIMIT and owed.subject == one.change_id,
    )


def all_judged(state: ArchitectureState, _given: RuleInput) -> Effect:
    """When no panel is awaited any more, what passed is refined (R-D16)."""
    return Effect({"approved": tuple(one for one in state.approved if _panels(state).passes(one[0]))})


def _panels(state: ArchitectureState) -> Panels:
    assert state.panels is not None
    return state.panels
