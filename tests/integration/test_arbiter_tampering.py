"""`moot arbiter verify` finds what is changed in the folder of a run, but for what is listed here with its reason."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
import pyarrow as pa
import pytest

from moot.arbiter.verify import reading, verify_run
from tests.doubles.arbiter_golden import FOLDER
from tests.doubles.arbiter_tampering import Alteration, Tampered, alterations

NAMES: Final = sorted(path.name for path in FOLDER.iterdir())

INVISIBLE: Final[Mapping[str, frozenset[str]]] = {
    "the version that made it, and what its user allowed": frozenset(
        {
            "manifest.json arbiter_version",
            "manifest.json policy.strict",
            "manifest.json policy.allow_free",
            "manifest.json policy.allow_aliased",
        }
    ),
    "words for people": frozenset(
        {
            "embeddings.provenance.json note",
            "debug/embeddings.jsonl error",
            "parsed.jsonl parse_error.message",
            "trials.jsonl error.message",
            "trials.jsonl error.code",
            "trials.jsonl error.retryable",
        }
    ),
    "what replies to embeddings called themselves: those replies stand in the ledger": frozenset(
        {
            "embeddings.provenance.json actual_embedding_model",
            "embeddings.provenance.json generation_ids",
        }
    ),
    "how often a request was sent before the one that is kept: that stands in the ledger": frozenset(
        {"trials.jsonl attempt.retry_count"}
    ),
    "what an endpoint was not sent because it refuses it, and a bound that nobody configured": frozenset(
        {
            "trials.jsonl request_payload.max_tokens",
            "trials.jsonl request_payload.temperature",
            "trials.jsonl request_payload.top_p",
            "trials.jsonl calls.request_payload.max_tokens",
        }
    ),
    "what a reply holds besides its text, its model and its usage": frozenset(
        {
            f"trials.jsonl {calls}response_payload.{field}"
            for calls in ("", "calls.")
            for field in ("id", "choices.message.role", "choices.message.content", "error")
        }
        | {"trials.jsonl response_payload.error.code", "trials.jsonl response_payload.error.message"}
        | {"trials.jsonl calls.response_payload.content", "trials.jsonl calls.response_payload.mock"}
    )
    - {"trials.jsonl calls.response_payload.error"},
}
"""Fields whose change nothing else in the folder contradicts, by the reason."""


schema_fault = reading.schema_fault


@functools.cache
def known_fault(name: str, text: str) -> reading.Fault | None:
    return schema_fault(name, json.loads(text))


@pytest.fixture(autouse=True)
def _each_record_is_held_against_its_schema_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "schema_fault", lambda name, value: known_fault(name, json.dumps(value)))


def is_found(run: Tampered) -> bool:
    report = verify_run(run.folder)
    return not report.ok or report.count("WARN") > 0


def unseen(name: str, folder: Path, seen: set[tuple[str, str]]) -> Iterator[Alteration]:
    """Yield the alterations of a run that are not found."""
    run = Tampered(FOLDER / name, folder)
    for file, raw in run.files.items():
        if not file.endswith((".json", ".jsonl")):
            continue
        for one in alterations(file, raw.decode(), seen):
            run.put(file, one.apply(raw.decode()).encode())
            if not is_found(run):
                yield one
        run.mend(file)


def test_every_field_that_is_changed_is_found(tmp_path: Path) -> None:
    seen: set[tuple[str, str]] = set()
    found = {one.field for name in NAMES for one in unseen(name, tmp_path / name, seen)}
    assert len(seen) > 700
    assert found == frozenset().union(*INVISIBLE.values())


@pytest.mark.parametrize("name", NAMES)
def test_a_line_that_is_dropped_doubled_or_cut_is_found(name: str, tmp_path: Path) -> None:
    run = Tampered(FOLDER / name, tmp_path)
    for file, raw in run.files.items():
        if not file.endswith(".jsonl") or not raw:
            continue
        lines = raw.decode().split("\n")[:-1]
        for n in {0, len(lines) // 2, len(lines) - 1}:
            for altered in (
                [*lines[:n], *lines[n + 1 :]],
                [*lines[:n], lines[n], *lines[n:]],
                [*lines[:n], lines[n][: len(lines[n]) // 2], *lines[n + 1 :]],
                [*lines[:n], "", *lines[n:]],
            ):
                run.put(file, "".join(f"{line}\n" for line in altered).encode())
                assert is_found(run), (file, n)
        run.put(file, raw[:-1])
        assert is_found(run), file
        run.mend(file)
    assert not is_found(run)


@pytest.mark.parametrize("name", NAMES)
def test_lines_that_changed_places_are_found(name: str, tmp_path: Path) -> None:
    """Only in the working file of embeddings the order within a batch says nothing."""
    run = Tampered(FOLDER / name, tmp_path)
    for file, raw in run.files.items():
        if file.endswith(".jsonl") and not file.startswith("debug/") and raw.count(b"\n") > 1:
            first, *middle, last = raw.splitlines(keepends=True)
            run.put(file, b"".join((last, *middle, first)))
            assert is_found(run), file
            run.mend(file)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_gone_or_holds_something_else_is_found(name: str, tmp_path: Path) -> None:
    run = Tampered(FOLDER / name, tmp_path)
    for file in run.files:
        if file != "debug/embeddings.jsonl" or name != "interrupted-at-once":
            run.put(file, None)
            assert is_found(run), file
        if file != "execution.log":
            for raw in (
                b"",
                b"\xff\xfe",
                b"null",
                b"[]\n",
                b'{"a": 1, "a": 2}\n',
                b"[" * 99_999,
                b'"\\ud800"\n',
            ):
                if raw != run.files[file]:
                    run.put(file, raw)
                    assert is_found(run), (file, raw[:20])
        run.mend(file)
    run.put("surplus.txt", b"Whose is it?")
    assert is_found(run)


def arrow(rows: Mapping[int, list[float]], kind: pa.DataType, number: pa.DataType) -> bytes:
    width = len(next(iter(rows.values())))
    vector = pa.list_(pa.field("item", number, nullable=False), width)
    schema = pa.schema([("trial_id", kind), ("vector", vector)])
    ids = pa.array(list(rows), kind)
    flat = pa.array(np.ravel(list(rows.values())).astype(number.to_pandas_dtype()), number)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema) as file:
        file.write_batch(
            pa.record_batch([ids, pa.FixedSizeListArray.from_arrays(flat, type=vector)], schema=schema)
        )
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("name", [name for name in NAMES if (FOLDER / name / "embeddings.arrow").exists()])
def test_vectors_that_are_changed_moved_or_lost_are_found(name: str, tmp_path: Path) -> None:
    run = Tampered(FOLDER / name, tmp_path)
    with pa.ipc.open_file(run.files["embeddings.arrow"]) as file:
        table = file.read_all()
    rows = dict(zip(table["trial_id"].to_pylist(), table["vector"].to_pylist(), strict=True))
    first, *_, last = rows
    int32, float32 = pa.int32(), pa.float32()

    def put(
        altered: Mapping[int, list[float]], kind: pa.DataType = int32, number: pa.DataType = float32
    ) -> None:
        run.put("embeddings.arrow", arrow(altered, kind, number))

    put(rows)
    assert not is_found(run)
    for altered in (
        {**rows, last: [0.75 * rows[last][0], *rows[last][1:]]},
        {**rows, last: rows[first], first: rows[last]},
        {trial: vector for trial, vector in rows.items() if trial != last},
        {last: rows[last], **rows},
        {**rows, last + 1: rows[last]},
        {**rows, 99: rows[last]},
        {**rows, first: [float("nan"), *rows[first][1:]]},
        {trial: vector[:-1] for trial, vector in rows.items()},
    ):
        put(altered)
        assert is_found(run), altered
    put(rows, kind=pa.int64())
    assert is_found(run)
    put(rows, number=pa.float64())
    assert is_found(run)


@pytest.mark.parametrize("name", NAMES)
def test_each_figure_of_the_receipt_is_held_against_the_run(name: str, tmp_path: Path) -> None:
    run = Tampered(FOLDER / name, tmp_path)
    lines = run.files["receipt.txt"].decode().split("\n")
    unread = set()
    for n, line in enumerate(lines[:-1]):
        run.put("receipt.txt", "\n".join([*lines[:n], *lines[n + 1 :]]).encode())
        if not is_found(run):
            unread.add(line.split()[0])
    assert unread == {"Output"}


def test_whatever_bytes_a_file_holds_there_is_a_report(tmp_path: Path) -> None:
    """Pieces are cut out, doubled and overwritten; nothing is raised, and every word can be printed."""
    random = Random(1)
    for name in NAMES:
        run = Tampered(FOLDER / name, tmp_path / name)
        for file, raw in run.files.items():
            for _ in range(2):
                noisy = bytearray(raw)
                start = random.randrange(max(1, len(noisy)))
                piece = random.choice(
                    (b"", b"\0", b"1e999", b"-1", b'"', b"9" * 20, random.randbytes(8), raw[:30])
                )
                noisy[start : start + random.randrange(40)] = piece
                run.put(file, bytes(noisy))
                report = verify_run(run.folder)
                assert all(line.isprintable() for line in report.lines())
            run.mend(file)


def test_whatever_json_a_field_holds_there_is_a_report(tmp_path: Path) -> None:
    values = ("", "x", -1, 0, 2**70, 1e308, None, True, [], {}, [[]], {"a": "b"}, "9999-99-99T99:99:99Z")
    random = Random(2)
    for name in NAMES:
        run = Tampered(FOLDER / name, tmp_path / name)
        for file, raw in run.files.items():
            if file.endswith((".json", ".jsonl")):
                found = list(alterations(file, raw.decode(), set()))
                for one in random.sample(found, min(5, len(found))):
                    run.put(file, one._replace(value=random.choice(values)).apply(raw.decode()).encode())
                    verify_run(run.folder)
                run.mend(file)
