"""Every single alteration of a good record is caught, or stands on the list of those that break no MUST."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from moot.protocols.arena.conformance.checker import check
from tests.doubles.arena_alterations import Alteration, alterations
from tests.doubles.arena_records import Json, good_records


class Harmless(NamedTuple):
    """Alterations that may pass.

    Attributes:
        where: What the path has to look like, whole.
        why: Why no MUST is broken.
        how: Which alterations; empty for any.
        event: The type of the event it lies in, if it lies in one.
        of: In which records; empty for any.
    """

    where: str
    why: str
    how: tuple[str, ...] = ()
    event: str = ""
    of: tuple[str, ...] = ()


REFUSED = ("bad config", "no session")
"""Records of runs that refused what they were given."""

TOLD = (
    "round_index|attempt|status|evidence_refs|reason|verdict|matches|output_ref|prior_critiques|resume_ref|"
    "resumed_round|unresolved|is_best_effort|session_id|why|run_id|seat|tool|detail"
)

HARMLESS = (
    Harmless(rf"events\[\d+\]\.data\.({TOLD})", "section 11 asks for the event, not for this detail", ("drop",)),
    Harmless(r"events\[\d+\]\.data", "the same for an event that section 11 does not ask for", ("empty",),
             "RUN_STARTED|PLANNER_INVOKED|FINALIZER_INVOKED|REVIEWER_RETRIED|SAFETY_VIOLATION|SESSION_RESUME_MISSING"),
    Harmless(r"events\[\d+\]\.data(\.state)?", "section 11 asks for the event alone", ("empty", "drop"),
             "RUN_TERMINATED"),
    Harmless(r"events\[\d+\]\.data(\.from|\.to)?", "the same; no other event of its type tells more", ("empty", "drop"),
             "STATE_TRANSITION", REFUSED),
    Harmless(r"events\[\d+\]\.data", "the same", ("empty",), "ROUND_RECORDED",
             ("T01", "T01 bare", "T04 helped", "T05", "T08 after", "T08 degraded", "T09")),
    Harmless(r"events\[\d+\]\.data(\.phase)?", "the same", ("empty", "drop"), "HOOK_EXECUTED", ("T08 before",)),
    Harmless(r"events\[\d+\]\.data(\.code)?", "the same, and its type tells the code", ("empty", "drop"),
             "PARSER_(ERROR|WARNING)", ("T04 helped", "T05")),
    Harmless(r"events\[\d+\]\.data\.(round_index|attempt)", "outside a review there may be none to tell", ("null",),
             "HOOK_EXECUTED"),
    Harmless(r"events\[\d+\]\.data\.run_id", "the record holds no other word on the run's name"),
    Harmless(r"events\[\d+\]\.data\.(why|seat|tool|detail)", "wording; nothing else tells it"),
    Harmless(r"events\[0\]\.at", "a run may have started long before its first step", ("earlier",)),
    Harmless(r"events\[\d+\]\.at", "and may be closed long after its last", ("later",), "RUN_TERMINATED"),
    Harmless(r"events\[\d+\]", "a second try to write, or to resume, changes nothing", ("double",),
             "SAFETY_VIOLATION|SESSION_RESUME_MISSING"),
    Harmless(r"events\[\d+\]\.data\.attempt", "outside a review nothing is attempted: 0 and 1 mean the same",
             ("more", "less"), "HOOK_EXECUTED"),
    Harmless(r"events\[\d+\]\.data\.round_index", "what a disabled notebook skips belongs to no round",
             (), "HOOK_EXECUTED", ("no notebook",)),
    Harmless(r"events\[\d+\]\.data\.evidence_refs\[\d+\]", "a set: no order, no number", ("double", "swap"),
             "PLANNER_INVOKED"),
    Harmless(r"events\[\d+\]\.data\.resume_ref", "only the session knows what it is resumed with", ("longer",)),
    Harmless(r"events\[\d+\]\.data\.unresolved(\[\d+\](\.id|\.text)?)?", "it still names every unresolved issue",
             ("one more", "one more null", "double", "a list"), "FINALIZER_INVOKED"),
    Harmless(r"artifacts\.final/.*", "the final output stands in final_output, too", ("drop",)),
    Harmless(r"config\.max_rounds", "the run did not come to the cap", ("less", "more")),
    Harmless(r"hooks\[\d+\]\.query", "wording", ("longer",)),
    Harmless(r"hooks\[\d+\]\.query", "a query that failed may never have been put", ("blank",), "",
             ("T08 before", "T08 during", "T08 after", "T08 degraded")),
    Harmless(r"hooks\[\d+\]\.query", "no query was made", ("blank",), "", ("no notebook",)),
    Harmless(r"notebook\.notebook_id|task\.task_id|task\.initial_prompt", "nothing else names it", ("longer",)),
    Harmless(r"task\.session_id", "no event tells in which session a review was invoked", ("longer",), "",
             ("T01 bare", "T08 before")),
    Harmless(r"notebook\.profile|task\.(notebook_required|round_history_refs)", "4.2 and 4.3 do not require it",
             ("drop",)),
    Harmless(r"task\.notebook_required", "no hook failed, so nothing follows from it", ("not",)),
    Harmless(r"task\.round_history_refs", "a SHOULD (4.2); what it refers to lies outside the record", ("one more",)),
    Harmless(r"notebook\.tools(\[\d+\])?", "notebook_query is still there",
             ("one more", "double", "drop", "longer", "swap")),
    Harmless(r"notebook", "the notebook is disabled", (), "", ("no notebook",)),
    Harmless(r"rounds\[\d+\]\.issues", "one more issue, of any form, after which no review came",
             ("one more",)),
    Harmless(r"rounds\[\d+\]\.issues\[\d+\].*", "an issue may have any form; it is still told as unresolved",
             ("a list", "drop"), "", ("T08 after", "T09", "no notebook")),
    Harmless(r"rounds\[\d+\]\.issues\[\d+\]\.(claim|text)", "wording", ("longer",)),
    Harmless(r"(config|task|notebook)(\..*)?", "so given, the run had to refuse it, and it did", (), "", REFUSED),
)  # fmt: skip


def is_harmless(altered: Alteration, name: str, record: Json) -> Harmless | None:
    lies_in = re.match(r"events\[(\d+)\]", altered.where)
    type_ = record["events"][int(lies_in[1])]["type"] if lies_in else ""
    for one in HARMLESS:
        if (
            re.fullmatch(one.where, altered.where)
            and (not one.how or altered.how in one.how)
            and (not one.event or re.fullmatch(one.event, type_))
            and (not one.of or name in one.of)
        ):
            return one
    return None


@pytest.mark.parametrize("name", good_records())
def test_every_alteration_is_caught_or_known_to_be_harmless(name: str) -> None:
    record = good_records()[name]
    missed, tried = [], 0
    for altered in alterations(record):
        tried += 1
        if check(altered.record).is_conformant and not is_harmless(altered, name, record):
            missed.append(f"{altered.where}: {altered.how}")
    assert missed == []
    assert tried > 300


def test_nothing_stands_on_the_harmless_list_that_is_always_caught() -> None:
    used = set()
    for name, record in good_records().items():
        for altered in alterations(record):
            one = is_harmless(altered, name, record)
            if one is not None and one not in used and check(altered.record).is_conformant:
                used.add(one)
    assert [one.where for one in HARMLESS if one not in used] == []
