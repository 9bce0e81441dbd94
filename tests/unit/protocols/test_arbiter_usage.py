from __future__ import annotations

from typing import Any

from moot.protocols.arbiter.generated import Trial
from moot.protocols.arbiter.usage import Spending


def trial(calls: list[tuple[str | None, dict[str, Any] | None]] | None = None, **fields: Any) -> Trial:
    attempt = {
        "started_at": "2026-11-05T09:00:00Z",
        "completed_at": "2026-11-05T09:00:01Z",
        "latency_ms": 1000,
        "retry_count": 0,
    }
    role = {"model_slug": "a/one", "persona_id": None}
    debate: dict[str, Any] = {}
    if calls is not None:
        debate = {
            "role_assignments": {"proposer": role, "critic": role},
            "transcript": (),
            "calls": tuple(
                {
                    "call_index": n,
                    "turn": n,
                    "role": "proposer",
                    "model_requested": "a/one",
                    "model_actual": actual,
                    "request_payload": {},
                    "response_payload": None,
                    "attempt": attempt,
                    "error_message": None,
                    **({"usage": used} if used else {}),
                }
                for n, (actual, used) in enumerate(calls)
            ),
        }
    given = {
        "trial_id": 0,
        "requested_model_slug": "a/one",
        "actual_model": None,
        "protocol": "independent" if calls is None else "debate_v1",
        "status": "success",
        "assigned_config": {"model": "a/one", "persona": None, "protocol": None},
        "error_code": None,
    }
    return Trial.model_validate({**given, **debate, **fields})


def used(prompt: int, completion: int, **cost: float) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        **cost,
    }


def test_a_run_whose_replies_tell_no_usage_has_none() -> None:
    spending = Spending()
    spending.add(trial())
    spending.add(trial([(None, None)]))
    assert spending.total() is None


def test_usage_is_summed_by_the_model_that_answered_else_by_the_one_asked() -> None:
    spending = Spending()
    spending.add(trial(usage=used(10, 1, cost=0.5)))
    spending.add(trial(usage=used(20, 2), actual_model="b/two"))
    spending.add(trial([("b/two", used(1, 1, cost=0.25)), (None, used(2, 2)), (None, None)]))
    total = spending.total()
    assert total is not None
    assert total.as_json() == {
        "totals": used(33, 6, cost=0.75),
        "by_model": {"a/one": used(12, 3, cost=0.5), "b/two": used(21, 3, cost=0.25)},
    }
