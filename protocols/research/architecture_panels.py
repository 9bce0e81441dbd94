"""Approved changes before panels: one panel each, all at once, before any of them is refined (spec 3.2, R-D16)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from moot.protocols.kernel.case import CaseState, Decision
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.table import Duty
from moot.protocols.kernel.times import minutes
from moot.protocols.opinion import BINDING, LATE, OPENER, PLACE, Opinion, check_contract, opinion_of, wait
from moot.protocols.research.seats import EVOLVER

PANELLING: Final = "panelling"
"""The phase of the weekly cycle in which its panels sit; only where the configuration asks for them."""

DUTY: Final = Duty(EVOLVER, (OPENER,), PLACE, minutes(10), minutes(10), "panel")
"""What the Evolver owes for each change."""
SILENT: Final = Decision("skip", "timeout", "R-D16")
"""What the referee rules when no panel is opened: it is as if it had ended without a decision."""

CONTRACTS: Final = "architecture"
"""Changes are judged under contracts whose ids begin so (R-P6)."""

_LIMIT: Final = "panel-limit"


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


Owed = tuple[Obligation, ...]


@dataclass(frozen=True, slots=True)
class Panels:
    """The panels of one weekly cycle.

    Attributes:
        case_id: The cycle.
        say: What they have to say, as configured when the changes were approved.
        asked: The changes.
    """

    case_id: str
    say: str
    asked: tuple[Asked, ...]

    def convene(self, env: Envelope) -> Owed:
        """Let the Evolver owe a panel for each change."""
        due = env.sent_at + DUTY.within
        return tuple(
            Obligation(
                self._opening(one), self.case_id, DUTY.seat, DUTY.expects, PLACE, env.sent_at, due, DUTY.grace
            )
            for one in self.asked
        )

    def _opening(self, one: Asked) -> str:
        return f"{self.case_id}/{DUTY.step}-{one.change_id}/{DUTY.seat}"

    def _limit(self, one: Asked) -> str:
        return f"{_LIMIT}-{one.change_id}"

    def about(self, obligation_id: str) -> Asked | None:
        """Return the change that an opening is owed for, None when it is about none."""
        return next((one for one in self.asked if self._opening(one) == obligation_id), None)

    def opened(self, env: Envelope, owed: Owed) -> tuple[Panels, Owed]:
        """Take the opener of a panel; the Referee minds its time from then on.

        Raises:
            Violation: It is not the Evolver's, names no change that waits for one, or another kind of contract.
        """
        if env.author != DUTY.seat:
            raise Violation("3.2", "the Evolver opens the panels of the weekly cycle", field="parent_id")
        waiting = [o.id for o in owed if o.seat == DUTY.seat]
        # Whoever answers nothing in particular can only mean the last one.
        meant = env.obligation_id or (waiting[0] if len(waiting) == 1 else "")
        one = self.about(meant)
        if one is None:
            raise Violation("3.2", "no change waits for this panel", field="obligation_id")
        check_contract(env, CONTRACTS)
        left = tuple(o for o in owed if o.id != meant)
        limit = wait(self.case_id, env, PLACE, self._limit(one))
        return self._with(replace(one, panel_id=env.case_id or "")), (*left, limit)

    def ended(self, panel: CaseState, owed: Owed) -> tuple[Panels, Owed]:
        """Take in how a panel ended; one that nothing waits for any more changes nothing."""
        one = next((a for a in self.asked if a.panel_id == panel.case_id and a.opinion is None), None)
        if one is None:
            return self, owed
        left = tuple(o for o in owed if o.step != self._limit(one))
        return self._with(replace(one, opinion=opinion_of(panel))), left

    def missed(self, obligation: Obligation, owed: Owed) -> tuple[Panels, Owed]:
        """Take in that a panel was not opened, or did not end in time."""
        left = tuple(o for o in owed if o.id != obligation.id)
        one = self.about(obligation.id)
        if one is not None:
            return self._with(replace(one, opinion=Opinion(why="no panel was opened"))), left
        one = next(a for a in self.asked if self._limit(a) == obligation.step)
        return self._with(replace(one, opinion=Opinion(one.panel_id, why="the panel took too long"))), left

    def _with(self, changed: Asked) -> Panels:
        asked = tuple(changed if a.change_id == changed.change_id else a for a in self.asked)
        return replace(self, asked=asked)

    def passes(self, change_id: str) -> bool:
        """Say whether a change goes on: where panels bind, only one that its panel accepted (R-B2's spirit)."""
        opinion = self._opinion(change_id)
        return self.say != BINDING or (opinion is not None and opinion.consents)

    def plain(self, change_id: str) -> dict[str, Any]:
        """Return what the panel on a change says, for a brief."""
        opinion = self._opinion(change_id)
        return {"say": self.say, **(opinion.plain() if opinion is not None else {})}

    def _opinion(self, change_id: str) -> Opinion | None:
        return next((one.opinion for one in self.asked if one.change_id == change_id), None)


def is_limit(obligation: Obligation) -> bool:
    """Say whether the Referee owes the end of a wait for a panel."""
    return obligation.step.startswith(_LIMIT)


def late(case_id: str) -> Ruling:
    """Make the ruling that ends it."""
    return Ruling(obligation_id=None, case_id=case_id, outcome="skip", reason=LATE, rule="R-D16", of_seq=None)
