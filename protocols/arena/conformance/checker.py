"""The thirteen checks of section 12, in their order, and the SHOULDs of a record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from moot.protocols.arena.conformance import hooks, inputs, states, verdicts
from moot.protocols.arena.conformance.content import check_content
from moot.protocols.arena.conformance.reading import SECTIONS, read
from moot.protocols.arena.conformance.report import (
    COMPLIANT,
    CONDITIONAL,
    NON_COMPLIANT,
    Check,
    Conformance,
    Findings,
    Should,
)
from moot.protocols.arena.conformance.shoulds import shoulds_of
from moot.protocols.arena.conformance.trail import check_trail
from moot.protocols.arena.conformance.walk import Walk

__all__ = ["COMPLIANT", "CONDITIONAL", "NON_COMPLIANT", "Check", "Conformance", "Should", "check"]


class _Rule(NamedTuple):
    """A check of section 12, what it is judged by, and the sections of the record that it cannot do without."""

    title: str
    rule: str
    needs: tuple[str, ...]
    judge: Callable[[Walk, Findings], None]


_END: Final = ("terminal_state", "terminal_reason")

RULES: Final = (
    _Rule("ProtocolConfig satisfies section 4.1", "4.1, 6.2", ("config",), inputs.check_config),
    _Rule(
        "All states are in the ProtocolState enum",
        "4.4",
        ("transitions", "events", "terminal_state"),
        states.check_states,
    ),
    _Rule(
        "All transitions follow section 5.1",
        "5.1, 5.2",
        ("config", "transitions", "events", "rounds"),
        states.check_transitions,
    ),
    _Rule(
        "Reviewer mode is enforced as read-only",
        "3.2, 10.4",
        ("config", "transitions", "events", "rounds", "parser", *_END),
        inputs.check_read_only,
    ),
    _Rule(
        "Verdict parsing follows section 7.3",
        "7.3",
        ("transitions", "events", "rounds", "parser", "artifacts"),
        verdicts.check_parsing,
    ),
    _Rule(
        "Missing verdict handling uses exactly one retry",
        "9.1",
        ("transitions", "events", "rounds", "parser", *_END),
        verdicts.check_retry,
    ),
    _Rule(
        "The max_rounds cap is enforced", "9.3", ("config", "transitions", "rounds", *_END), states.check_cap
    ),
    _Rule(
        "Session resume is enforced when required",
        "6.3, 9.5",
        ("config", "task", "transitions", "events", "rounds", *_END),
        inputs.check_session,
    ),
    _Rule(
        "Notebook hooks execute for enabled phases",
        "4.3, 8, 9.4",
        tuple(section for section in SECTIONS if section not in ("notebook",)),
        hooks.check_hooks,
    ),
    _Rule(
        "The after-hook includes the drift-check query",
        "8.3",
        ("config", "transitions", "hooks", "final_output", *_END),
        hooks.check_drift,
    ),
    _Rule(
        "studio_create is optional, not mandatory",
        "8.3",
        ("transitions", "events", *_END),
        hooks.check_studio,
    ),
    _Rule("The audit trail contains all required events and records", "11", SECTIONS, check_trail),
)
"""The first twelve; the thirteenth looks at the record as a whole."""


def check(record: object) -> Conformance:
    """Judge the audit record of a run.

    An invalid config passes check 1 only where the run refused it as 6.2 asks: INIT → TERMINATED_ERROR, no round, and a
    reason that names the config. The same holds for a task without a valid session_id and check 8 (6.3).

    Args:
        record: Parsed JSON of any shape. Garbage fails its checks; nothing is raised.

    Returns:
        The thirteen checks in order, the SHOULDs left undone, and the level. For a SHOULD that is broken without a
        justification see `Conformance.level`.
    """
    walk = Walk(read(record))
    checks = [_judge(number, rule, walk) for number, rule in enumerate(RULES, 1)]
    content = Findings()
    check_content(walk, record, content)
    for fault in walk.reading.faults["artifacts"]:
        content.wrong("", fault)
    checks.append(content.as_check(13, "No prohibited excess content is introduced into artifacts", "10.3"))
    return Conformance(tuple(checks), shoulds_of(walk))


def _judge(number: int, rule: _Rule, walk: Walk) -> Check:
    """Judge one check, or say why it cannot be judged."""
    found = Findings()
    for section in rule.needs:
        for fault in walk.reading.faults[section]:
            found.wrong("", fault)
    if not found.faults:
        rule.judge(walk, found)
    return found.as_check(number, rule.title, rule.rule)
