"""Snapshots: used when they fit, passed over when anything about them does not (K18)."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import pickle
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from json import JSONEncoder
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from config.settings import load_settings
from moot import snapshot, society
from moot.clock import VirtualClock
from moot.society import Plan, Society
from moot.stored import hash_at, last_sent_at, stored_envelopes
from protocols.kernel.canonical import canonical_json
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


class Act:
    """Pickles as a call."""

    def __init__(self, function: Any, *given: object) -> None:
        self._call = function, given

    def __reduce__(self) -> Any:
        return self._call


def forged(directory: Path, body: bytes) -> None:
    """Put a pickle into a snapshot that fits in all else."""
    snapshot.write_snapshot(directory, seq=1, log_hash="ab", rules=rules(), state={})
    header = json.loads((directory / snapshot.NAME).read_bytes().partition(b"\n")[0])
    header["state"] = hashlib.sha256(body).hexdigest()
    (directory / snapshot.NAME).write_bytes(json.dumps(header).encode() + b"\n" + body)


def refusal(directory: Path) -> list[str]:
    """Return why a snapshot is passed over."""
    with capture_logs() as lines:
        assert snapshot.read_snapshot(directory, rules=rules(), hash_at=lambda seq: "ab") is None
    return [line["why"] for line in lines]


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda mark: Act(os.system, f"touch {mark}"), id="a function of the system"),
        pytest.param(lambda mark: Act(exec, f"open({str(mark)!r}, 'w')"), id="a builtin"),
        pytest.param(lambda mark: Act(Path.touch, mark), id="a method"),
        pytest.param(lambda mark: Act(importlib.import_module, "antigravity"), id="an import"),
        pytest.param(lambda mark: Act(canonical_json, {}), id="a function of the rules"),
        pytest.param(lambda mark: Act(JSONEncoder), id="a class from elsewhere"),
    ],
)
def test_a_snapshot_that_anybody_made_does_nothing(tmp_path: Path, act: Callable[[Path], Act]) -> None:
    forged(tmp_path, pickle.dumps({"docket": act(tmp_path / "done")}))
    assert ["a snapshot holds no" in why for why in refusal(tmp_path)] == [True]
    assert not (tmp_path / "done").exists()


@pytest.mark.parametrize(
    ("module", "name"),
    [("protocols.kernel.canonical", "JSONEncoder.encode"), ("protocols.kernel.canonical", "JSONEncoder")],
)
def test_what_a_module_of_the_rules_imports_is_not_reached_through_it(
    tmp_path: Path, module: str, name: str
) -> None:
    texts = b"".join(b"\x8c" + bytes([len(text)]) + text.encode() for text in (module, name))
    forged(tmp_path, b"\x80\x04" + texts + b"\x93.")
    assert refusal(tmp_path) == [f"a snapshot holds no {module}.{name}"]


def test_a_forged_snapshot_of_plain_data_is_read(tmp_path: Path) -> None:
    forged(tmp_path, pickle.dumps({"since": START}))
    found = snapshot.read_snapshot(tmp_path, rules=rules(), hash_at=lambda seq: "ab")
    assert found == (1, {"since": START})


def test_a_disk_that_takes_no_snapshot_costs_nothing(tmp_path: Path) -> None:
    snapshot.write_snapshot(tmp_path / "gone", seq=1, log_hash="", rules=rules(), state={})
    assert not (tmp_path / "gone").exists()
