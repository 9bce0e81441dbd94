"""The conditions of panels that escalate: too many of them shrink (spec 6), or one does not decide (R-P2)."""

from __future__ import annotations

from collections.abc import Iterable

from moot.protocols.escalation.watch import Condition, Source
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.panel.grammar import one_line
from moot.protocols.panel.panel import KIND
from moot.protocols.panel.rounds import NAME, Rounds
from moot.protocols.panel.state import PanelState
from moot.protocols.panel.synthesis import NONE_FIRED


class Shrinking(Source):
    """More than 5 % of all panels that ended have shrunk, and three or more; each panel that ends may turn it."""

    ends = frozenset({KIND})

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Condition]:
        """Judge the rate after each end of a panel; the fold of that name has counted it before."""
        if not any(isinstance(state, PanelState) for state in fx.ended):
            return ()
        rounds: Rounds = docket.context.fold_named(NAME)
        holds = rounds.is_alarming
        context = f"{rounds.shrunk} of {rounds.ended} panels have shrunk ({rounds.rate:.1%})"
        return (Condition("panel_shrunk", "", holds, context, rounds.seqs if holds else ()),)


class Undecided(Source):
    """A panel that was to abort when no condition fires, and did, by its case (R-P2)."""

    ends = frozenset({KIND})

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Condition]:
        """Ask the admin once for each; the panel has ended, so that the question never goes away by itself."""
        return [
            Condition(
                "panel_undecided",
                state.case_id,
                True,
                f"{one_line(state.title)}: {state.why}",
                (state.opened_seq, env.seq),
            )
            for state in fx.ended
            if isinstance(state, PanelState) and state.verdict == NONE_FIRED
        ]


def sources() -> tuple[Source, ...]:
    """Return fresh sources of all conditions of panels."""
    return (Shrinking(), Undecided())
