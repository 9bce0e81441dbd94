"""What a world leaves holds no secret and stays small, and models were not paid more than there was: broken by hand."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from moot.chaos import remains
from moot.chaos.people import HOSTILE
from moot.chaos.remains import ROOM, left, overgrown, overspent, told_in_memory
from moot.chaos.world import live
from moot.host import Host
from moot.memory.bodies import InMemoryBodies
from moot.memory.bodies_file import CALLS_NAME, BodiesFile
from moot.memory.evidence import DirectoryEvidence, InMemoryEvidence
from moot.memory.inmemory import InMemoryStore
from moot.memory.records import Experience
from moot.memory.shelves import CAUSAL, Put
from tests.doubles.handmade import handmade
from tests.unit.moot.test_chaos_world import plain

SECRET = next(text for text in HOSTILE if text.startswith("sk-"))
AT = datetime(2026, 2, 23, tzinfo=UTC)
RECORD = Experience(
    key="cau_001", seq=3, at=AT, happened_at=AT, kind="success", hypothesis_id="hyp_1", lineage_id="hyp_1",
    seat=None, archetype="momentum", failure_code=None, regime="calm_up", summary="It passed.", metrics={},
)  # fmt: skip


def log_of(lines: Iterable[str]) -> list[Any]:
    made = handmade(lines)
    return [
        SimpleNamespace(body=SimpleNamespace(type=one["body"]["type"]), line=json.dumps(one)) for one in made
    ]


# ---------------------------------------------------------------- secrets


def memory(text: str) -> tuple[Any, InMemoryEvidence, list[InMemoryBodies]]:
    store = InMemoryStore()
    store.tables.put(Put(CAUSAL, replace(RECORD, summary=text)))
    return SimpleNamespace(store=store), InMemoryEvidence(), [InMemoryBodies()]


def test_a_secret_in_memory_is_found_on_whichever_shelf() -> None:
    host, evidence, bodies = memory("It passed.")
    evidence.put("context", {"text": "a work"})
    bodies[0].put(b"what do you think?")
    assert list(told_in_memory(host, evidence, bodies)) == []
    assert [one.says for one in told_in_memory(*memory(SECRET))] == [
        "causal cau_001 holds sk-a…, which looks like a secret"
    ]
    ref = evidence.put("context", {"text": f"the key is {SECRET}"})
    sha256 = bodies[0].put(SECRET.encode()).result()
    told = [one.says.partition(" holds")[0] for one in told_in_memory(host, evidence, bodies)]
    assert told == [ref, f"the body {sha256}"]


def _in_evidence(directory: Path) -> None:
    DirectoryEvidence(directory / "evidence").put("context", {"text": SECRET})


def _in_bodies(directory: Path) -> None:
    with BodiesFile(directory / CALLS_NAME) as bodies:
        bodies.put(SECRET.encode()).result()


def _in_text(directory: Path) -> None:
    (directory / "notes.txt").write_bytes(b"\xff\x00" + SECRET.encode())


@pytest.mark.parametrize("hide", [_in_evidence, _in_bodies, _in_text])
def test_a_secret_in_a_file_is_found_whatever_it_is_packed_in(
    tmp_path: Path, hide: Callable[[Path], None]
) -> None:
    (tmp_path / "clean.gz").write_bytes(gzip.compress(b"nothing of it"))
    assert list(left([], tmp_path, [])) == []
    hide(tmp_path)
    (found,) = left([], tmp_path, [])
    assert (found.name, "sk-a…" in found.says, SECRET in found.says) == ("secret", True, False)


# ---------------------------------------------------------------- bounded


def test_a_file_that_is_long_for_its_log_is_found_and_so_is_one_that_nobody_finished(tmp_path: Path) -> None:
    with (tmp_path / "long").open("wb") as file:
        file.truncate(ROOM + 1)
    (found,) = left([], tmp_path, [])
    assert found.says == "long has 1,048,577 bytes, the log's messages 0"
    (tmp_path / "long").unlink()
    draft = tmp_path / "evidence" / "context" / ".00.json.gz.1-1"
    draft.parent.mkdir(parents=True)
    draft.touch()
    assert [one.says for one in left([], tmp_path, [])] == [f"{draft.name} was left behind unfinished"]


def test_what_outlives_its_case_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plain("virtual", wall_s=8_000.0)
    assert live(plan).findings == []
    snapshot = Host.snapshot

    def leaks(host: Host) -> dict[str, Any]:
        return {**snapshot(host), "transcripts": {"hyp_0": []}}

    monkeypatch.setattr(Host, "snapshot", leaks)
    (found,) = live(plan).findings
    assert (found.name, found.says) == ("bounded", "host.transcripts holds 1 that are over, hyp_0 among them")


def test_a_fold_that_remembers_every_message_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts: list[Host] = []
    attach = Host.attach
    monkeypatch.setattr(Host, "attach", lambda host: (hosts.append(host), attach(host))[1])
    log = live(plain("virtual", wall_s=8_000.0)).log
    (host,) = hosts
    assert list(overgrown(host, len(log))) == []
    fold: Any = host.docket.context.fold_named("people")
    fold._times.update({f"somebody/{n}": n for n in range(remains.FEW + 1)})
    (found,) = overgrown(host, len(log))
    assert found.says.startswith(f"people._times holds {remains.FEW + 1}, of a log")
    for n in range(len(log) + 1):
        host.docket.ended[f"case_{n}"] = host.docket.ended.get("x")  # type: ignore[assignment]
    assert sorted(one.says.split()[0] for one in overgrown(host, len(log))) == [
        "docket.ended",
        "people._times",
    ]


# ---------------------------------------------------------------- money

CONFIG = "{budget: {day: {usd: '0.0001'}}, models: {tiny: {price: {input: '1', output: '2'}}}}"
STARTS = f"timekeeper SOCIETY_STARTED - {{config: {CONFIG}}}"
CALLS = [
    f"bursar CALL_RESERVED - {{call_id: {name}, seat: critic, case: hyp_1, model: tiny, max_cost: 0, max_tokens: 1}}"
    for name in "ab"
]


def reply(call_id: str) -> bytes:
    body = {"usage": {"prompt_tokens": 20, "completion_tokens": 20}}
    return json.dumps({"call_id": call_id, "body": json.dumps(body)}).encode()


def test_what_replies_tell_is_held_against_the_budget_whatever_was_booked() -> None:
    assert list(overspent(log_of([STARTS, CALLS[0]]), reply)) == []
    assert list(overspent(log_of([STARTS, *CALLS]), lambda _: None)) == []
    (found,) = overspent(log_of([STARTS, *CALLS]), reply)
    assert found.name == "overspent"
    assert found.says == "120 micro-USD were paid of day 2026-02-23, it holds 100"
    assert list(overspent(log_of([STARTS, CALLS[0], f"+1d {CALLS[1]}"]), reply)) == []
    raised = "referee ESCALATION_RESOLVED esc_1 {effect: raise_budget}"
    assert list(overspent(log_of([STARTS, *CALLS, raised]), reply)) == []


@pytest.mark.parametrize(
    ("scope", "budget"),
    [("society", "{tokens: 79}"), ("seat", "{seat: {tokens: 79}}"), ("case", "{case: {tokens: 79}}")],
)
def test_each_scope_is_held_to_its_widest_limit(scope: str, budget: str) -> None:
    starts = f"timekeeper SOCIETY_STARTED - {{config: {{budget: {budget}}}}}"
    less, more = (f"admin BUDGET_SET - {{scope: {scope}, tokens: {tokens}}}" for tokens in (10, 80))
    assert len(list(overspent(log_of([starts, less, *CALLS]), reply))) == 1
    assert list(overspent(log_of([starts, more, less, *CALLS]), reply)) == []
