"""Evidence: content-addressed, whole or not there."""

import gzip
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.memory.errors import CorruptEvidence, StoreUnavailable, UnknownEvidence
from moot.memory.evidence import DirectoryEvidence, Evidence, InMemoryEvidence

CURVE = {"dates": ["2018-01-02", "2018-01-03"], "equity": [1.0, 1.0025], "note": "ä"}
REF = "equity/cc20a4d2b66b6d33"


@pytest.fixture(params=["memory", "directory"])
def evidence(request: pytest.FixtureRequest, tmp_path: Path) -> Evidence:
    return (
        InMemoryEvidence() if request.param == "memory" else DirectoryEvidence(tmp_path / "data" / "evidence")
    )


def files(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


def test_what_was_put_comes_back_and_belongs_to_the_caller(evidence: Evidence) -> None:
    ref = evidence.put("equity", CURVE)
    got = evidence.get(ref)
    assert got == CURVE
    got["equity"].append(7.0)
    assert evidence.get(ref) == CURVE


def test_equal_content_has_one_reference_whatever_its_order(evidence: Evidence) -> None:
    turned = dict(reversed(CURVE.items()))
    assert list(turned) != list(CURVE)
    assert evidence.put("equity", turned) == evidence.put("equity", CURVE) == REF
    assert evidence.put("trades", CURVE) == REF.replace("equity", "trades")
    assert evidence.put("equity", {**CURVE, "note": "a"}) != REF


@pytest.mark.parametrize("kind", ["", "Equity", "a/b", "..", "equity\n", "x" * 33, "-a", "é"], ids=ascii)
def test_a_kind_is_a_plain_name(evidence: Evidence, kind: str) -> None:
    with pytest.raises(ValueError, match="kind of evidence"):
        evidence.put(kind, CURVE)


@pytest.mark.parametrize(
    "payload",
    [[1], {"a": float("nan")}, {"a": object()}, {"a": "\ud800"}, {"a": {1, 2}}],
    ids=["list", "nan", "object", "surrogate", "set"],
)
def test_what_is_not_json_is_refused(evidence: Evidence, payload: Any) -> None:
    with pytest.raises(ValueError):
        evidence.put("equity", payload)


@pytest.mark.parametrize(
    "ref",
    [
        "equity/0000000000000000",
        "equity",
        "",
        "../../etc/passwd",
        "equity/../../../secret",
        "equity/CC20A4D2B66B6D33",
        "equity/cc20a4d2b66b6d33\n",
        "/equity/cc20a4d2b66b6d33",
    ],
)
def test_an_unknown_reference_says_so(evidence: Evidence, ref: str) -> None:
    evidence.put("equity", CURVE)
    with pytest.raises(UnknownEvidence):
        evidence.get(ref)


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
            lambda inner: st.lists(inner),
        ),
    )
)
def test_any_json_object_survives(payload: dict[str, Any]) -> None:
    keeper = InMemoryEvidence()
    assert keeper.get(keeper.put("equity", payload)) == payload


def test_a_reference_never_leads_out_of_the_directory(tmp_path: Path) -> None:
    (tmp_path / "secret.json.gz").write_bytes(gzip.compress(b"{}"))
    (tmp_path / "evidence" / "equity").mkdir(parents=True)
    for ref in ("../secret", "equity/../../secret", str(tmp_path / "secret")):
        with pytest.raises(UnknownEvidence, match="no reference"):
            DirectoryEvidence(tmp_path / "evidence").get(ref)


def test_a_directory_is_read_by_the_next_process_and_holds_each_piece_once(tmp_path: Path) -> None:
    first = DirectoryEvidence(tmp_path)
    first.put("equity", CURVE)
    path = tmp_path / f"{REF}.json.gz"
    written = path.stat().st_mtime_ns, path.stat().st_ino
    first.put("equity", CURVE)
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == written, "kept, not written again"
    assert files(tmp_path) == [f"{REF}.json.gz"]
    assert DirectoryEvidence(tmp_path).get(REF) == CURVE


def test_the_same_evidence_is_the_same_file_on_every_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, now in (("a", 1_000.0), ("b", 2_000.0)):
        monkeypatch.setattr("time.time", lambda now=now: now)
        DirectoryEvidence(tmp_path / name).put("equity", CURVE)
    a, b = (tmp_path / name / f"{REF}.json.gz" for name in "ab")
    assert a.read_bytes() == b.read_bytes()


def _other(path: Path) -> None:
    path.write_bytes(gzip.compress(b'{"equity":[9.0]}'))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [_other, _cut, _empty, _flipped])
def test_damaged_evidence_is_noticed_and_can_be_put_again(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    keeper = DirectoryEvidence(tmp_path)
    keeper.put("equity", CURVE)
    damage(tmp_path / f"{REF}.json.gz")
    with pytest.raises(CorruptEvidence):
        keeper.get(REF)
    keeper.put("equity", CURVE)
    assert keeper.get(REF) == CURVE


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    keeper = DirectoryEvidence(tmp_path / "evidence")
    with pytest.raises(StoreUnavailable, match="No space left"):
        keeper.put("equity", CURVE)
    assert files(tmp_path) == []


def test_the_file_and_every_new_directory_are_synced_before_put_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    real = os.fsync

    def note(handle: int) -> None:
        kind = "folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file"
        synced.append(kind if kind == "file" else str(Path(f"/proc/self/fd/{handle}").readlink()))
        real(handle)

    monkeypatch.setattr(os, "fsync", note)
    DirectoryEvidence(tmp_path / "data" / "evidence").put("equity", CURVE)
    assert synced[0] == "file"
    assert set(synced[1:]) == {
        str(tmp_path / "data" / "evidence" / "equity"),
        str(tmp_path / "data" / "evidence"),
        str(tmp_path / "data"),
        str(tmp_path),
    }


def test_many_threads_may_put_the_same_evidence(tmp_path: Path) -> None:
    keeper = DirectoryEvidence(tmp_path)
    refs: list[str] = []
    threads = [threading.Thread(target=lambda: refs.append(keeper.put("equity", CURVE))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refs == [REF] * 8
    assert files(tmp_path) == [f"{REF}.json.gz"]
