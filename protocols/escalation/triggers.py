"""The trigger table: what escalates, how urgently, and what an admin may answer (spec 5.1, R-E1).

Each trigger has at least two options; the first is the conservative one, which silence leads to (5.3, R-B8).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Final, Literal, NamedTuple, get_args

from moot.protocols.escalation.messages import ANSWER_WITHIN, Option

FIRES_AGAIN_AFTER: Final = timedelta(hours=24)
"""A condition that never ended fires again after this (K19)."""

Effect = Literal[
    "none",
    "conservative",
    "restart_seat",
    "retire_lineage",
    "diversify",
    "conservative_b",
    "resume",
    "halt_desk",
    "deploy",
    "deploy_modified",
    "reject_deployment",
    "stay_silent",
    "simulate",
    "raise_budget",
    "stop_society",
]
"""What an answer does; `conservative` and `conservative_b` are R-B8's actions of System A and System B."""


Level = Literal["ATTENTION", "DECISION_NEEDED", "URGENT"]
System = Literal["A", "B", "panel", "society"]

CODE: Final = re.compile("[a-z][a-z0-9_]{0,59}")
"""What a code of a trigger, and the effect of an option, looks like."""


class Trigger(NamedTuple):
    """One row of spec 5.1.

    Attributes:
        level: R-E1.
        system: The system it concerns; `panel` for review panels, which serve both; `society` for all of it.
        text: What the admin reads; `{subject}` stands for the seat, lineage or case.
        options: (label, effect) in order; the first is the conservative action, for a spent budget what
            `[budget] on_exhausted` says. Those about panels have no effect:
            what a panel did not decide stays undecided, whatever is answered, and a person may open another.
        source: Where the rule stands.
        within: Time for an answer.
        default: Number of the option that silence takes, counted from 1.
    """

    level: Level
    system: System
    text: str
    options: tuple[tuple[str, str], ...]
    source: str
    within: timedelta = ANSWER_WITHIN
    default: int = 1


_CONSERVATIVE: Final[tuple[str, Effect]] = (
    "Go on with conservative defaults: reject uncertain hypotheses",
    "conservative",
)
_HALVE: Final[tuple[str, Effect]] = ("Halve every position and go on monitoring", "conservative_b")
_SPENT: Final = "A budget for language models is spent: their seats cannot call them"
_SILENT: Final[tuple[str, Effect]] = ("Leave the seats silent for which no call fits", "stay_silent")
_SIMULATED: Final[tuple[str, Effect]] = ("Let simulated minds answer for them", "simulate")
_RAISE: Final[tuple[str, Effect]] = ("Raise the budget by the same amount again", "raise_budget")
_STOP: Final[tuple[str, Effect]] = ("Stop the society", "stop_society")
_AS_BEFORE: Final[tuple[str, Effect]] = ("Go on as before", "none")

TRIGGERS: Final[Mapping[str, Trigger]] = {
    "timeouts": Trigger(
        "URGENT",
        "A",
        "3 consecutive timeouts from {subject}",
        (_CONSERVATIVE, ("Restart the seat's bot", "restart_seat"), _AS_BEFORE),
        "5.1",
    ),
    "deadlocked": Trigger(
        "DECISION_NEEDED",
        "A",
        "REVISE issued 3+ times for lineage {subject}: deadlocked",
        (_CONSERVATIVE, ("Retire the lineage", "retire_lineage"), _AS_BEFORE),
        "5.1, R-D11",
    ),
    "no_approve": Trigger(
        "ATTENTION",
        "A",
        "No successful APPROVE in 24h: review the research direction",
        (_CONSERVATIVE, ("Widen the search to other archetypes", "diversify"), _AS_BEFORE),
        "5.1, R-E1",
    ),
    "approve_rate": Trigger(
        "ATTENTION",
        "A",
        "Weekly meta-reflection shows an approve rate below 20%: review system parameters",
        (_CONSERVATIVE, ("Widen the search to other archetypes", "diversify"), _AS_BEFORE),
        "5.1, R-E1",
    ),
    "timeouts_b": Trigger(
        "URGENT",
        "B",
        "3 consecutive timeouts from {subject}",
        (_HALVE, ("Restart the seat's bot", "restart_seat"), _AS_BEFORE),
        "5.1, R-E1",
    ),
    "halt": Trigger(
        "URGENT",
        "B",
        "Trading is halted: {subject}",
        (
            ("Stay halted and halve every position", "conservative_b"),
            ("Resume trading", "resume"),
            ("Stay halted", "none"),
        ),
        "5.1, R-B5, R-E1",
    ),
    "daily_loss": Trigger(
        "URGENT",
        "B",
        "Daily P&L at or below -5%: manual review suggested",
        (_HALVE, ("Halt the desk", "halt_desk"), _AS_BEFORE),
        "5.1, R-B6, R-E1",
    ),
    "deployment": Trigger(
        "DECISION_NEEDED",
        "B",
        "Deployment {subject}: the reviewers disagree",
        (
            ("Do not deploy, halve every position", "conservative_b"),
            ("Deploy as proposed", "deploy"),
            ("Deploy with the reviewers' limits", "deploy_modified"),
            ("Do not deploy", "reject_deployment"),
        ),
        "5.1, R-B1, R-E1",
    ),
    "infeasible": Trigger(
        "URGENT",
        "B",
        "Alert {subject}: the risk grows, and exposure cannot be reduced",
        (_HALVE, ("Halt the desk", "halt_desk"), _AS_BEFORE),
        "R-F16",
    ),
    "panel_shrunk": Trigger(
        "ATTENTION",
        "panel",
        "More than 5% of the review panels ended in [PANEL-SHRUNK]: reviewers are unusable too often",
        (
            ("Leave those rounds undecided and look into the reviewers that their tags name", "none"),
            ("Go on as before", "none"),
        ),
        "sprint contracts 6",
    ),
    "panel_undecided": Trigger(
        "DECISION_NEEDED",
        "panel",
        "Panel {subject}: no condition fired, and it does not decide then",
        (
            ("Leave it undecided: nothing follows from it", "none"),
            ("Put the work before a panel again", "none"),
            ("Decide it without a panel", "none"),
        ),
        "R-P2",
    ),
    "faulted": Trigger(
        "DECISION_NEEDED",
        "society",
        "Case {subject}: a rule of its protocol failed, and the case ended",
        (
            ("Leave it ended: nothing follows from it", "none"),
            ("Stop the society", "stop_society"),
        ),
        "R-G14",
    ),
    "budget": Trigger("DECISION_NEEDED", "society", _SPENT, (_SILENT, _SIMULATED, _RAISE, _STOP), "K27"),
    "budget_simulated": Trigger(
        "DECISION_NEEDED", "society", _SPENT, (_SIMULATED, _SILENT, _RAISE, _STOP), "K27"
    ),
}
"""All triggers, by code."""


MAX_ANSWER_WITHIN: Final = timedelta(days=30)
"""Longest time that a trigger of another protocol gives for an answer."""

MAX_OPTIONS: Final = 20
"""Options of a trigger at most: chat platforms show them as buttons."""


def options_of(code: str) -> tuple[Option, ...]:
    """Return the numbered options of a trigger of Moot's own."""
    return numbered(TRIGGERS[code])


def numbered(trigger: Trigger) -> tuple[Option, ...]:
    """Return the numbered options of a trigger."""
    return tuple(
        Option(n=n, label=label, effect=effect) for n, (label, effect) in enumerate(trigger.options, 1)
    )


def faults(code: str, trigger: object) -> Iterator[str]:
    """Yield what is wrong with a trigger that a protocol declares, a sentence each."""
    if not isinstance(trigger, Trigger):
        yield f"the trigger {code} is a Trigger, not {type(trigger).__name__}"
        return
    if not CODE.fullmatch(code):
        yield f"the trigger {code!r} must be named by small letters, digits and _"
    if trigger.level not in get_args(Level):
        yield f"the trigger {code}: there is no level {trigger.level!r}"
    if trigger.system not in get_args(System):
        yield f"the trigger {code}: there is no system {trigger.system!r}: say society"
    try:
        trigger.text.format(subject="")
    except (LookupError, ValueError) as exc:
        yield f"the trigger {code}: its text has a place for {exc}; there is one for {{subject}}"
    if not 2 <= len(trigger.options) <= MAX_OPTIONS:
        yield f"the trigger {code} must have 2 to {MAX_OPTIONS} options, not {len(trigger.options)}"
    for label, effect in trigger.options:
        if effect != "none" and effect in get_args(Effect):
            yield f"the trigger {code}: the effect {effect} is Moot's own: choose another word"
        if not CODE.fullmatch(effect) or not label.strip():
            yield f"the trigger {code}: an option is (label, effect), its effect small letters, digits and _"
    if not 1 <= trigger.default <= len(trigger.options):
        yield f"the trigger {code}: its default must be the number of an option, not {trigger.default}"
    if not timedelta(minutes=1) <= trigger.within <= MAX_ANSWER_WITHIN:
        yield f"the trigger {code}: an answer has a minute to {MAX_ANSWER_WITHIN.days} days, not {trigger.within}"
