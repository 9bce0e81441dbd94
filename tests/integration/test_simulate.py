"""Whole simulations: the same bytes for the same seed, a log that verifies, everything that should occur."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.doubles.checking import unlawful

MOOT = [sys.executable, "-m", "moot"]


def moot(*words: str, hash_seed: str = "0", code: int = 0) -> str:
    done = subprocess.run(
        [*MOOT, *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "NO_COLOR": "1"},
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Simulate the default week; return where it lies and its summary."""
    out = tmp_path_factory.mktemp("week") / "one"
    return out, json.loads(moot("simulate", "--days", "7", "--out", str(out), "--json"))


@pytest.fixture(scope="module")
def week(lived: tuple[Path, dict[str, Any]]) -> Path:
    return lived[0]


@pytest.mark.rule("K2")
def test_k2_two_processes_write_the_same_bytes(week: Path, tmp_path: Path) -> None:
    other = tmp_path / "two"
    moot("simulate", "--days", "7", "--seed", "1", "--out", str(other), hash_seed="4711")
    first, second = moot("log", str(week), "--json"), moot("log", str(other), "--json", hash_seed="99")
    assert first == second
    assert first.count("\n") > 500


def test_another_seed_is_another_week(week: Path, tmp_path: Path) -> None:
    moot("simulate", "--days", "1", "--seed", "2", "--out", str(tmp_path / "other"))
    assert moot("log", str(tmp_path / "other"), "--json") != moot("log", str(week), "--json")


def test_a_week_verifies(week: Path) -> None:
    assert "every rule holds" in moot("verify", str(week))


def test_a_week_breaks_no_law(week: Path) -> None:
    assert unlawful(moot("log", str(week), "--json").splitlines()) == []


def test_rebuilt_memory_equals_the_live_one(week: Path) -> None:
    import asyncio

    from moot.memory.sqlite import SqliteStore

    async def digest() -> str:
        async with await SqliteStore.open(week / "moot.memory.sqlite") as store:
            return store.read().digest()

    before = asyncio.run(digest())
    moot("rebuild", str(week))
    assert asyncio.run(digest()) == before


def test_rd19_a_default_week_shows_everything_that_a_society_can_do(
    lived: tuple[Path, dict[str, Any]],
) -> None:
    summary = SimpleNamespace(**lived[1])
    assert summary.seed == 1
    assert summary.revisions >= 1
    assert summary.extensions >= 1
    assert summary.concessions >= 1
    assert summary.early_ends >= 1
    assert summary.timeouts >= 1
    assert summary.backtests_failed >= 1
    assert summary.backtests_passed >= 1
    assert sum(summary.escalations.values()) >= 1
    assert summary.violations == 0
    assert sum(summary.escalations_ended.values()) >= 1


def test_a_log_is_not_written_over(week: Path) -> None:
    moot("simulate", "--days", "1", "--out", str(week), code=2)
