"""Snapshots: used when they fit, passed over when anything about them does not (K18)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from config.settings import load_settings
from moot import snapshot, society
from moot.clock import VirtualClock
from moot.society import Plan, Society
from moot.stored import hash_at, last_sent_at, stored_envelopes
from protocols.kernel.docket import Docket
from protocols.kernel.rules import Rules
from protocols.rulebook import rules
from tests.doubles.table import START


@pytest.fixture(autouse=True)
def short_logs_count(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(society, "SNAPSHOT_FROM", 1)
    yield


def live(directory: Path, hours: float = 5) -> dict[str, Any]:
    """Let a society live on a directory and return what its docket holds at the end."""
    at: datetime = last_sent_at(directory) or START
    plan = Plan(settings=load_settings(), seed=3, start=at, directory=directory, bus="sqlite")
    held: dict[str, Any] = {}

    async def main(clock: VirtualClock) -> None:
        async with await Society.open(plan, clock) as running:
            held["opened_at"] = running.host.docket.seq
            await running.run_until(at + timedelta(hours=hours))
        held["docket"] = running.host.docket

    VirtualClock(at).run(main)
    return held


def refolded(directory: Path) -> Docket:
    docket = Docket(rules())
    for env in stored_envelopes(directory):
        docket.fold(env)
    return docket


def same(one: Docket, two: Docket) -> bool:
    return (one.seq, one.cases, one.open, one.ended, one.attempts) == (
        two.seq,
        two.cases,
        two.open,
        two.ended,
        two.attempts,
    )


def test_k18_a_restart_from_a_snapshot_holds_what_folding_the_whole_log_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live(tmp_path)
    asked: list[int] = []
    monkeypatch.setattr(
        society,
        "stored_envelopes",
        lambda where, first=1: asked.append(first) or stored_envelopes(where, first),
    )
    held = live(tmp_path)
    assert asked == [held["opened_at"]]
    assert same(held["docket"], refolded(tmp_path))


def test_counted_ids_go_on_after_a_snapshot(tmp_path: Path) -> None:
    live(tmp_path, 11)
    live(tmp_path, 11)
    records = [
        env.body.record.record_id  # type: ignore[attr-defined]
        for env in stored_envelopes(tmp_path)
        if env.body.type in ("REFLECTION", "CAUSAL_RECORD")
    ]
    assert len(records) == len(set(records))


@pytest.mark.parametrize("fault", ["other code", "other hash", "cut", "flipped", "not ours"])
def test_a_snapshot_that_does_not_fit_is_passed_over(
    tmp_path: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    live(tmp_path)
    path = tmp_path / snapshot.NAME
    raw = path.read_bytes()
    if fault == "other code":
        monkeypatch.setattr(snapshot, "code_fingerprint", lambda: "another")
    elif fault == "other hash":
        path.write_bytes(raw.replace(b'"hash": "', b'"hash": "f', 1))
    elif fault == "cut":
        path.write_bytes(raw[:-10])
    elif fault == "flipped":
        path.write_bytes(raw[:-10] + bytes([raw[-10] ^ 1]) + raw[-9:])
    else:
        path.write_bytes(b"hello")
    assert read(tmp_path, rules()) is None
    assert same(live(tmp_path)["docket"], refolded(tmp_path))


def read(directory: Path, rulebook: Rules) -> tuple[int, Any] | None:
    return snapshot.read_snapshot(directory, rules=rulebook, hash_at=lambda seq: hash_at(directory, seq))


def test_a_disk_that_takes_no_snapshot_costs_nothing(tmp_path: Path) -> None:
    snapshot.write_snapshot(tmp_path / "gone", seq=1, log_hash="", rules=rules(), state={})
    assert not (tmp_path / "gone").exists()
