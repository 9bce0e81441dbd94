"""Snapshots: used when they fit, passed over when anything about them does not (K18)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from moot import snapshot, stores
from moot.clock import VirtualClock
from moot.config.settings import load_settings
from moot.plain import decode, encode
from moot.plan import Plan
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.rules import Rules
from moot.protocols.rulebook import rules
from moot.society import Society
from moot.stored import hash_at, last_sent_at, stored_envelopes
from tests.doubles.call_table import CallTable
from tests.doubles.table import START

CLASSES = {"docket": Docket, "context": RuleContext, "obligation": Obligation, "rules": Rules}


@pytest.fixture(autouse=True)
def short_logs_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    monkeypatch.setattr(import_module("moot.society"), "SNAPSHOT_FROM", 1)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
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


@pytest.mark.rule("K18")
def test_k18_a_restart_from_a_snapshot_holds_what_folding_the_whole_log_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live(tmp_path)
    asked: list[int] = []
    monkeypatch.setattr(
        stores,
        "stored_envelopes",
        lambda where, first=1: asked.append(first) or stored_envelopes(where, first),
    )
    held = live(tmp_path)
    assert asked == [held["opened_at"]]
    assert same(held["docket"], refolded(tmp_path))


@pytest.mark.rule("K18")
def test_k18_a_desk_that_was_briefed_goes_on_from_its_snapshot(tmp_path: Path) -> None:
    """A strategy remembers what briefs say of it; that is worked out anew, not kept."""
    life = live(tmp_path, 24)["docket"].context.fold_named("life")
    assert any("plain" in vars(known) for known in life.strategies.values())

    kept = read(tmp_path, rules())
    assert kept is not None
    read_back = kept[1]["docket"].context.fold_named("life")
    assert read_back.strategies == life.strategies
    assert [known.plain for known in read_back.strategies.values()] == [
        known.plain for known in life.strategies.values()
    ]


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


def forged(directory: Path, change: Callable[[Any], None], *, sealed: bool = True) -> None:
    """Alter what a snapshot that fits holds, and seal it as its writer would, or not."""
    header, _, body = (directory / snapshot.NAME).read_bytes().partition(b"\n")
    told, data = json.loads(header), json.loads(body)
    change(data)
    altered = json.dumps(data).encode()
    if sealed:
        told["seal"] = snapshot._seal(snapshot.key_file().read_bytes(), told, altered)
    (directory / snapshot.NAME).write_bytes(json.dumps(told).encode() + b"\n" + altered)


def refusal(directory: Path) -> list[str]:
    """Return why a snapshot is passed over."""
    with capture_logs() as lines:
        assert read(directory, rules()) is None
    return [line["why"] for line in lines]


@pytest.fixture
def lived(tmp_path: Path) -> Path:
    live(tmp_path, 2)
    assert read(tmp_path, rules()) is not None
    return tmp_path


def test_a_wrong_state_that_is_well_formed_is_not_believed_without_the_key(lived: Path) -> None:
    """Whoever can write the data directory could put any state there, but the key lies elsewhere."""

    def conservative(data: Any) -> None:
        assert "false" in json.dumps(data["tree"])
        data["tree"] = json.loads(json.dumps(data["tree"]).replace("false", "true", 1))

    forged(lived, conservative, sealed=False)
    assert refusal(lived) == ["it was not written here by this user"]
    assert same(live(lived)["docket"], refolded(lived))


def test_a_directory_from_somebody_else_is_read_from_its_log(
    lived: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("another")))
    assert refusal(lived) == ["it was not written here by this user"]
    assert same(live(lived)["docket"], refolded(lived))
    assert read(lived, rules()) is not None
    assert snapshot.key_file().stat().st_mode & 0o777 == 0o600


def test_a_damaged_key_costs_nothing_but_the_snapshot(lived: Path) -> None:
    snapshot.key_file().write_bytes(b"short")
    assert ["is damaged" in why for why in refusal(lived)] == [True]
    assert same(live(lived)["docket"], refolded(lived))


def docket_of(data: Any) -> Any:
    """Return the node of the docket."""
    return next(node for node in data["tree"] if isinstance(node, list) and node[0] == "o")


def rules_as_state(data: Any) -> None:
    """Build rules of one's own where the docket refers to those in force."""
    data["classes"].append(["moot.protocols.kernel.rules", "Rules", ["types"]])
    docket = docket_of(data)
    docket[docket.index(["R"])] = ["o", len(data["classes"]) - 1, ["m"]]


def no_rules(data: Any) -> None:
    docket = docket_of(data)
    docket[docket.index(["R"])] = None


def a_class_as_value(data: Any) -> None:
    data["classes"].append(["moot.protocols.kernel.docket", "Docket", ["fold"]])


def a_field_of_another_kind(data: Any) -> None:
    n = next(n for n, row in enumerate(data["classes"]) if row[1] == "Obligation")
    at = data["classes"][n][2].index("due_at")

    def walk(node: Any) -> bool:
        if isinstance(node, list):
            if node[:2] == ["o", n]:
                node[2 + at] = "tomorrow"
                return True
            return any(walk(one) for one in node)
        return False

    assert walk(data["tree"])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (rules_as_state, "plain data names no moot.protocols.kernel.rules.Rules"),
        (no_rules, "it holds no docket of its seq"),
        (a_class_as_value, "Docket.fold is no field"),
        (a_field_of_another_kind, "Obligation.due_at is no str"),
        (lambda data: data["classes"].append(["os", "system", []]), "plain data names no os.system"),
        (
            lambda data: data["classes"].append(["subprocess", "Popen", []]),
            "plain data names no subprocess.Popen",
        ),
        (
            lambda data: data["classes"].append(["moot.protocols.kernel.canonical", "JSONEncoder", []]),
            "plain data names no",
        ),
        (
            lambda data: data["classes"].append(["moot.protocols.rulebook", "rules", []]),
            "plain data names no",
        ),
        (
            lambda data: data["classes"].append(["moot.protocols.kernel.docket", "Docket", ["__class__"]]),
            "has no field",
        ),
        (lambda data: data.update(tree=["x"]), "it is not understood: KeyError"),
        (lambda data: data.update(tree=["r", 0]), "it is not understood: IndexError"),
        (lambda data: data.update(tree={"m": 1}), "a dict stands where none is written"),
        (lambda data: data.update(tree=["u", ["r", 0]]), "something that cannot change holds itself"),
        (lambda data: data.update(tree=["m", "docket"]), "a key without a value"),
        (lambda data: data.update(tree=["m"]), "it holds no docket of its seq"),
    ],
)
def test_what_a_snapshot_may_not_hold_is_passed_over_even_with_the_key(
    lived: Path, change: Callable[[Any], None], why: str
) -> None:
    forged(lived, change)
    (told,) = refusal(lived)
    assert why in told


def test_nothing_that_is_read_has_changed_the_rules_or_a_class(lived: Path) -> None:
    before = {name: set(vars(kind)) for name, kind in CLASSES.items()}
    rulebook = rules()
    held = vars(rulebook).copy()
    assert read(lived, rulebook) is not None
    assert {name: set(vars(kind)) for name, kind in CLASSES.items()} == before
    assert vars(rulebook) == held


def test_a_disk_that_takes_no_snapshot_costs_nothing(tmp_path: Path) -> None:
    snapshot.write_snapshot(tmp_path / "gone", seq=1, log_hash="", rules=rules(), state={})
    assert not (tmp_path / "gone").exists()


def test_a_snapshot_holds_the_ledger_of_calls_to_the_last_digit() -> None:
    table = CallTable({"calls": 2, "on_exhausted": "simulated"})
    table.settle(table.reserve().body.call_id)
    table.reserve(turn=2)
    table.refuse(turn=3)
    table.officers()

    written = json.loads(json.dumps(encode(table.docket, table.rules)))
    read = decode(written, table.rules)

    for name in ("ledger", "exhaustion"):
        was, found = (one.context.fold_named(name) for one in (table.docket, read))
        assert encode(found, table.rules) == encode(was, table.rules)
    (call,) = read.context.fold_named("ledger").open.values()
    assert call.price.output == Decimal(4)
