"""What of a trial cannot stand beside the rest of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import pairwise
from typing import Any, Final

from moot.arbiter.verify.comparing import instant
from moot.arbiter.verify.meetings import COURSES, of_meeting
from moot.protocols.arbiter.embed_text import is_blank
from moot.protocols.arbiter.generated import ResolvedConfiguration

TURNS: Final = ("proposer", "critic", "proposer")
"""Who speaks in the turns of a `debate_v1`."""

CODES: Final[Mapping[str, frozenset[str | None]]] = {
    "success": frozenset({None}),
    "error": frozenset({None, "shutdown_abort", "no_budget"}),
    "model_unavailable": frozenset({None}),
    "timeout_exhausted": frozenset({"timeout_exhausted"}),
}
"""Which `error_code` goes with a status."""

Told = Iterator[tuple[str, str]]
"""Fields, and what is wrong with each."""


def contradictions(trial: Mapping[str, Any], config: ResolvedConfiguration) -> Told:
    """Yield what of a trial cannot stand beside the rest of it, or beside the configuration of its run."""
    status, code = trial["status"], trial["error_code"]
    if trial["requested_model_slug"] != trial["assigned_config"]["model"]:
        yield "requested_model_slug", f"is not the model assigned, {trial['assigned_config']['model']}"
    if "error" in trial and status == "success":
        yield "error", f"is there, beside status {status}"
    if code is not None and code not in CODES[status]:
        yield "error_code", f"is {code}, beside status {status}"
    if trial["protocol"] == "debate_v1":
        yield from _of_debate(trial)
        yield from _of_whole(trial)
    elif trial["protocol"] in COURSES:
        yield from of_meeting(trial, config)
        yield from _of_whole(trial)
    elif "attempt" in trial:
        yield from _of_attempt("attempt", trial["attempt"])


def left_open(trial: Mapping[str, Any]) -> Told:
    """Yield what of a trial other programs need not tell, and Moot does."""
    status, calls = trial["status"], trial.get("calls", ())
    if status != "success" and "error" not in trial:
        yield "error", f"is missing, beside status {status}"
    if status == "timeout_exhausted" and trial["error_code"] is None:
        yield "error_code", f"is null, beside status {status}"
    if "attempt" not in trial and calls:
        yield "attempt", f"is missing, beside {len(calls)} calls"
    if status == "success" and "raw_assistant_text" not in trial:
        yield "raw_assistant_text", "is missing"
    for field, attempt in _attempts(trial):
        started, completed = instant(attempt["started_at"]), instant(attempt["completed_at"])
        if started and completed and _ms(completed - started) - attempt["latency_ms"] > 1:
            yield f"{field}.latency_ms", "is less than its instants are apart: it may count the last try only"


def _attempts(trial: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if trial["protocol"] == "independent" and "attempt" in trial:
        yield "attempt", trial["attempt"]
    for n, call in enumerate(trial.get("calls", ())):
        yield f"calls[{n}].attempt", call["attempt"]


def is_mocked(payload: Mapping[str, Any] | None) -> bool:
    """Return whether a request is none that was sent: it is missing, or says that it is a mock's."""
    return not payload or payload.get("mock") is True


def _of_attempt(field: str, attempt: Mapping[str, Any]) -> Told:
    started, completed = instant(attempt["started_at"]), instant(attempt["completed_at"])
    if started is None or completed is None or completed < started:
        yield field, "holds no two instants, one after the other"
    elif attempt["latency_ms"] - _ms(completed - started) > 1:
        # It may be less: some programs count the last try only.
        yield (
            f"{field}.latency_ms",
            f"is {attempt['latency_ms']}, its instants are {_ms(completed - started)} apart",
        )


def _ms(time: timedelta) -> int:
    return time // timedelta(milliseconds=1)


def _of_debate(trial: Mapping[str, Any]) -> Told:
    calls, said = trial["calls"], trial["transcript"]
    for n, turn in enumerate(said):
        if (turn["turn"], turn["role"]) != (n, TURNS[n] if n < len(TURNS) else None):
            yield f"transcript[{n}]", "is out of its turn"
    for n, call in enumerate(calls):
        if (call["call_index"], call["turn"], call["role"]) != (n, n, TURNS[n] if n < len(TURNS) else None):
            yield f"calls[{n}]", "is out of its turn"
        if call["model_requested"] != trial["role_assignments"].get(call["role"], {}).get("model_slug"):
            yield f"calls[{n}].model_requested", "is not the model of its role"
    answered = calls[-1]["model_actual"] if len(calls) == len(TURNS) else None
    if trial["actual_model"] != answered:
        yield "actual_model", f"is {trial['actual_model']}, the last turn was answered by {answered}"
    failed = [n for n, call in enumerate(calls) if call["error_message"] is not None]
    if len(said) != len(calls) - len(failed):
        yield "transcript", f"has {len(said)} turns, and {len(calls)} calls of which {len(failed)} failed"
    if failed and (failed != [len(calls) - 1] or trial["status"] == "success"):
        yield f"calls[{failed[0]}].error_message", "is there, though the debate went on"
    is_empty = bool(said) and is_blank(said[-1]["content"])
    if trial["status"] == "error" and trial["error_code"] is None and not failed and not is_empty:
        yield "calls", "have none that failed, though the trial did"
    if trial["status"] != "success":
        return
    if len(said) != len(TURNS):
        yield "transcript", f"has {len(said)} turns of {len(TURNS)}"
        return
    if said[-1]["content"] != trial.get("raw_assistant_text", said[-1]["content"]):
        yield "raw_assistant_text", "is not what the last turn says"


def _of_whole(trial: Mapping[str, Any]) -> Told:
    """A debate was held from its first call to its last; one after the other, or in a mock run all at once."""
    attempts = [call["attempt"] for call in trial["calls"]]
    for n, one in enumerate(attempts):
        yield from _of_attempt(f"calls[{n}].attempt", one)
    if "attempt" in trial and not attempts:
        yield "attempt", "is there, beside no calls"
    if "attempt" not in trial or not attempts or all(one == trial["attempt"] for one in attempts):
        return
    expected = {
        "started_at": attempts[0]["started_at"],
        "completed_at": attempts[-1]["completed_at"],
        "latency_ms": sum(one["latency_ms"] for one in attempts),
        "retry_count": sum(one["retry_count"] for one in attempts),
    }
    for name, value in expected.items():
        if trial["attempt"][name] != value:
            yield f"attempt.{name}", f"is {trial['attempt'][name]}, its calls make {value}"
    for n, (one, following) in enumerate(pairwise(attempts), 1):
        ended, began = instant(one["completed_at"]), instant(following["started_at"])
        if ended is not None and began is not None and began < ended:
            yield f"calls[{n}].attempt.started_at", "is before the call before it ended"
