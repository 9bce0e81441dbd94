"""Configurations of Arbiter for tests: plain data, as a file holds them."""

from __future__ import annotations

import hashlib
from typing import Any

SHA = "0" * 64


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def config(**sampling: Any) -> dict[str, Any]:
    """Return a small configuration of two models, three personas and a template; a new copy each time."""
    return {
        "schema_version": "1.0.0",
        "run": {"run_id": "pending", "seed": 424242},
        "question": {"text": "Should the library open on Sundays?"},
        "sampling": {
            "models": [{"model": "a/one", "weight": 1}, {"model": "b/two", "weight": 1}],
            "personas": [
                {"persona": "p0", "weight": 1},
                {"persona": "p1", "weight": 1},
                {"persona": "p2", "weight": 2},
            ],
            "protocols": [{"protocol": "t0", "weight": 1}, {"protocol": "t1", "weight": 1}],
            **sampling,
        },
        "protocol": {"type": "independent"},
        "execution": {
            "k_max": 8,
            "k_min": 4,
            "k_min_count_rule": "k_eligible",
            "batch_size": 4,
            "workers": 2,
            "retry_policy": {"max_retries": 1},
            "stop_mode": "advisor",
        },
        "measurement": {
            "embedding_model": "mock/vectors",
            "embed_text_strategy": "outcome_or_raw_assistant",
            "novelty_threshold": 0.9,
            "clustering": {
                "enabled": True,
                "algorithm": "online_leader",
                "tau": 0.8,
                "centroid_update_rule": "fixed_leader",
                "cluster_limit": 10,
                "stop_mode": "advisory",
            },
        },
        "output": {"runs_dir": "runs"},
    }


def resolved(kind: str = "independent", **sampling: Any) -> dict[str, Any]:
    """Return `config` with everything filled in, texts of prompts being their ids."""
    found = config(**sampling)
    for one in found["sampling"]["models"]:
        one["catalog_status"] = "known"
    for kinds, name in (("personas", "persona"), ("protocols", "protocol")):
        for one in found["sampling"][kinds]:
            one.update(sha256=sha256(one[name]), text=one[name])
    found["protocol"] = {
        "type": kind,
        "timeouts": {
            "per_call_timeout_ms": 90000,
            "per_call_max_retries": 2,
            "total_trial_timeout_ms": 300000,
        },
    }
    if kind == "debate_v1":
        roles = ("proposer_system", "critic_system", "proposer_final_system")
        found["protocol"]["prompts"] = {
            role: {"id": role, "sha256": sha256(f"You are {role}."), "text": f"You are {role}."}
            for role in roles
        }
    found["execution"]["retry_policy"]["backoff_ms"] = 0
    found["execution"]["stop_policy"] = {
        "novelty_epsilon": 0.05,
        "similarity_threshold": 0.95,
        "patience": 2,
    }
    found["measurement"]["embedding_max_chars"] = 8000
    return found


def verdict_contract(decision: Any) -> dict[str, Any]:
    """Return a resolved contract.

    Args:
        decision: The schema of what is decided.
    """
    return {
        "id": "verdict",
        "sha256": SHA,
        "schema": {"type": "object", "properties": {"decision": decision}},
        "embed_text_source": "decision",
    }
