"""Runs of the Arena: scripted, five rounds, without notebook, through bus, docket, seats and Orchestrator; the parser.

A run is thirteen messages: ARENA_TASK, five times DRAFT and REVIEW, FINAL_OUTPUT, RUN_TERMINATED. Its audit record is
made as well. Drafts and reviews differ from round to round and from measurement to measurement.
"""

from __future__ import annotations

from statistics import median
from time import perf_counter

from moot.cases.arena.offline import RunOptions, run_many
from moot.cases.arena.script import script_from
from moot.protocols.arena.verdict import parse_verdict
from moot.protocols.kernel.redact import redact

RUNS = 400
ROUNDS = 5
MEGABYTES = 10


def arena_runs_per_s() -> float:
    """Median of 5 times so many runs, all at once."""
    return median(_runs(n) for n in range(5))


def _runs(salt: int) -> float:
    script = script_from(
        {
            "planner": [f"Draft {n} of {salt}.\n\n- one step\n- another step" for n in range(ROUNDS)],
            "reviewer": [f"Round {n} of {salt}.\n- no risk named\n\nVERDICT: REVISE" for n in range(ROUNDS)],
            "finalizer": [f"Final of {salt}."],
        }
    )
    many = [
        RunOptions(
            task={"task_id": f"t{n}", "initial_prompt": "Plan it.", "session_id": f"s{n}"},
            config={"notebook_enabled": False},
            script=script,
        )
        for n in range(RUNS)
    ]
    began = perf_counter()
    records = run_many(many)
    took = perf_counter() - began
    assert [len(record["rounds"]) for record in records] == [ROUNDS] * RUNS
    return RUNS / took


def parser_mb_per_s() -> float:
    """Median of 7 over lines of 80 characters, a verdict at the end."""
    text = ("x" * 79 + "\n") * (MEGABYTES * 1_000_000 // 80) + "VERDICT: APPROVED"
    return median(_parsed(text) for _ in range(7))


def parser_blank_lines_s() -> float:
    """Median of 7 over ten megabytes of blank lines."""
    text = "\n" * (MEGABYTES * 1_000_000)
    return median(MEGABYTES / _parsed(text) for _ in range(7))


def _parsed(text: str) -> float:
    began = perf_counter()
    parse_verdict(text)
    return len(text) / 1e6 / (perf_counter() - began)


def redact_mb_per_s() -> float:
    """Median of 7 over lines of 80 characters without a secret: what every message goes through."""
    text = "The strategy holds its weekly returns in the test split, its drawdown is 13.1 %.\n"
    whole = text * (MEGABYTES * 1_000_000 // len(text))
    return median(_redacted(whole) for _ in range(7))


def _redacted(text: str) -> float:
    began = perf_counter()
    assert redact(text) == text
    return len(text) / 1e6 / (perf_counter() - began)
