"""The folder of a run: which files it has, what they hold, and that nothing in them is half."""

from __future__ import annotations

import base64
import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pytest
from referencing import Registry, Resource

from moot.arbiter import vector_file
from moot.arbiter.artifacts import ArtifactWriter
from moot.arbiter.events import BatchEnded, Event, RunEnded
from moot.arbiter.files import Lines, line_of, write_json
from moot.arbiter.ports import Embedded
from moot.protocols.arbiter.generated import ParsedTrial
from moot.protocols.arbiter.hashes import config_sha256, plan_sha256
from tests.doubles.arbiter_runs import Held, prepared
from tests.doubles.arbiter_schemas import FOLDER

ALWAYS = {
    "aggregates.json",
    "config.resolved.json",
    "convergence_trace.jsonl",
    "embeddings.provenance.json",
    "manifest.json",
    "parsed.jsonl",
    "receipt.txt",
    "trial_plan.jsonl",
    "trials.jsonl",
}
CLUSTERED = {"clusters/online.assignments.jsonl", "clusters/online.state.json"}
SCHEMA_OF = {"debug/embeddings.jsonl": "embeddings"}


def files(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}


def read(path: Path) -> list[Any]:
    text = path.read_text(encoding="utf-8")
    return [json.loads(text)] if path.suffix == ".json" else [json.loads(line) for line in text.splitlines()]


def obeys(directory: Path) -> None:
    """Hold every line of every file of a run against its schema, and the manifest against the files."""
    schemas = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.iterdir()}
    registry: Registry[Any] = Registry().with_resources(
        [(name, Resource.from_contents(schema)) for name, schema in schemas.items()]
    )
    there = files(directory)
    for name in there - {"embeddings.arrow", "receipt.txt", "execution.log"}:
        schema = schemas[f"{SCHEMA_OF.get(name, Path(name).stem)}.schema.json"]
        validator = jsonschema.Draft202012Validator(schema, registry=registry)
        for value in read(directory / name):
            validator.validate(value)
    (manifest,) = read(directory / "manifest.json")
    entries = {one["path"]: one.get("record_count") for one in manifest["artifacts"]["entries"]}
    assert entries.keys() <= there
    for name, count in entries.items():
        if name.endswith(".jsonl"):
            assert count == len(read(directory / name)), name


def held(
    directory: Path, *, more: dict[str, Any] | None = None, **script: Any
) -> tuple[Held, ArtifactWriter]:
    """Carry out a small run that is kept in a folder."""
    warned: list[str] = []
    run = Held(prepared(k_max=6, batch_size=4, workers=2), **script)
    writer = ArtifactWriter(directory, warned.append, **(more or {}))
    run.hold(writer)
    run.warned = warned  # type: ignore[attr-defined]
    return run, writer


@pytest.mark.rule("R-S1")
def test_a_run_leaves_the_files_that_are_always_there_and_they_obey_their_schemas(tmp_path: Path) -> None:
    directory = tmp_path / "runs" / "x"
    run, _ = held(directory)
    assert files(directory) == ALWAYS | CLUSTERED | {"embeddings.arrow"}
    obeys(directory)
    (manifest,) = read(directory / "manifest.json")
    (config,) = read(directory / "config.resolved.json")
    assert manifest["config_sha256"] == config_sha256(config)
    assert manifest["plan_sha256"] == plan_sha256(read(directory / "trial_plan.jsonl"))
    listed = [one["path"] for one in manifest["artifacts"]["entries"]]
    assert set(listed) == files(directory)
    assert (manifest["stop_reason"], manifest["incomplete"], manifest["k_attempted"]) == (
        "k_max_reached",
        False,
        6,
    )
    assert manifest["timestamps"] == {name: manifest[name] for name in ("started_at", "completed_at")}
    assert [one["trial_id"] for one in read(directory / "trial_plan.jsonl")] == list(range(6))
    assert read(directory / "aggregates.json") == [run.ended.aggregates.as_json()]


def test_streams_stand_in_the_order_of_ends_and_assignments_and_vectors_in_that_of_trials(
    tmp_path: Path,
) -> None:
    run, _ = held(tmp_path, more={"is_debug": True}, seconds=lambda trial_id: 5 - trial_id % 4)

    def ids(name: str) -> list[int]:
        return [one["trial_id"] for one in read(tmp_path / name)]

    ended = [one.trial.trial_id for one in run.trials]
    assert ended != sorted(ended)
    assert ids("trials.jsonl") == ids("parsed.jsonl") == ids("debug/embeddings.jsonl") == ended
    assert ids("clusters/online.assignments.jsonl") == sorted(ended)
    table = pa.ipc.open_file(tmp_path / "embeddings.arrow").read_all()
    assert table.column("trial_id").to_pylist() == sorted(ended)
    lines = {one["trial_id"]: one["vector_b64"] for one in read(tmp_path / "debug/embeddings.jsonl")}
    for trial_id, vector in zip(sorted(ended), table.column("vector").to_pylist(), strict=True):
        assert np.frombuffer(base64.b64decode(lines[trial_id]), "<f4").tolist() == vector


def test_vectors_are_an_arrow_file_of_one_batch_with_the_types_that_are_specified(tmp_path: Path) -> None:
    held(tmp_path)
    file = pa.ipc.open_file(tmp_path / "embeddings.arrow")
    assert file.num_record_batches == 1
    assert file.schema.metadata is None
    item = pa.field("item", pa.float32(), nullable=False)
    assert file.schema == pa.schema([("trial_id", pa.int32()), ("vector", pa.list_(item, 4))])
    (provenance,) = read(tmp_path / "embeddings.provenance.json")
    assert (provenance["status"], provenance["dimensions"]) == ("arrow_generated", 4)
    assert provenance["debug_jsonl_present"] is False
    assert provenance["counts"] == {
        "total_trials": 6,
        "successful_embeddings": 6,
        "failed_embeddings": 0,
        "skipped_embeddings": 0,
    }


def test_the_working_file_is_kept_and_listed_when_asked_for(tmp_path: Path) -> None:
    held(tmp_path, more={"is_debug": True})
    assert "debug/embeddings.jsonl" in files(tmp_path)
    obeys(tmp_path)
    (manifest,) = read(tmp_path / "manifest.json")
    assert "debug/embeddings.jsonl" in [one["path"] for one in manifest["artifacts"]["entries"]]
    assert read(tmp_path / "embeddings.provenance.json")[0]["debug_jsonl_present"] is True


@pytest.mark.rule("R-S1")
def test_without_any_embedding_there_is_no_arrow_file_and_the_working_file_says_why(tmp_path: Path) -> None:
    held(tmp_path, embedded=lambda trial_id: Embedded(None, "the endpoint is away"))
    assert files(tmp_path) == ALWAYS | CLUSTERED | {"debug/embeddings.jsonl"}
    obeys(tmp_path)
    (provenance,) = read(tmp_path / "embeddings.provenance.json")
    assert (provenance["status"], provenance["reason"]) == ("not_generated", "no_successful_embeddings")
    (manifest,) = read(tmp_path / "manifest.json")
    assert "debug/embeddings.jsonl" not in [one["path"] for one in manifest["artifacts"]["entries"]]
    assert {one["error"] for one in read(tmp_path / "debug/embeddings.jsonl")} == {"the endpoint is away"}


def test_vectors_that_arrow_does_not_take_stay_in_the_working_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: object, path: Path, dimensions: int) -> None:
        raise pa.ArrowInvalid("no such\nbuffer")

    monkeypatch.setattr(vector_file.KeptVectors, "write", refuse)
    run, _ = held(tmp_path)
    obeys(tmp_path)
    (provenance,) = read(tmp_path / "embeddings.provenance.json")
    assert (provenance["status"], provenance["arrow_error"]) == ("jsonl_fallback", "no such buffer")
    (manifest,) = read(tmp_path / "manifest.json")
    listed = [one["path"] for one in manifest["artifacts"]["entries"]]
    assert "debug/embeddings.jsonl" in listed
    assert "embeddings.arrow" not in listed
    assert manifest["stop_reason"] == "k_max_reached"
    assert run.warned[0].endswith("is kept: no such buffer")  # type: ignore[attr-defined]


def test_without_clustering_there_is_no_folder_of_clusters(tmp_path: Path) -> None:
    run = prepared(k_max=2)
    clustering = run.config.measurement.clustering.model_copy(update={"stop_mode": "disabled"})
    measurement = run.config.measurement.model_copy(update={"clustering": clustering})
    object.__setattr__(run, "config", run.config.model_copy(update={"measurement": measurement}))
    Held(run).hold(ArtifactWriter(tmp_path, print))
    assert files(tmp_path) == ALWAYS | {"embeddings.arrow"}
    obeys(tmp_path)


@pytest.mark.rule("R-S8")
def test_before_its_end_a_run_says_that_it_is_incomplete(tmp_path: Path) -> None:
    seen: list[Any] = []

    def look(event: Event) -> None:
        if isinstance(event, BatchEnded):
            seen.append(read(tmp_path / "manifest.json")[0])

    Held(prepared()).hold(ArtifactWriter(tmp_path, print), look)
    assert [(one["stop_reason"], one["incomplete"], one["k_attempted"]) for one in seen] == [
        ("completed", True, 0)
    ] * 2
    assert read(tmp_path / "manifest.json")[0]["incomplete"] is False


@pytest.mark.rule("R-S1", "R-S8")
def test_an_interrupted_run_is_whole_and_says_that_it_is_incomplete(tmp_path: Path) -> None:
    run = Held(prepared(k_max=8, batch_size=8, workers=2), seconds=lambda trial_id: 4)
    run.hold(ArtifactWriter(tmp_path, print), stops={5: 1})
    obeys(tmp_path)
    assert files(tmp_path) == ALWAYS | CLUSTERED | {"embeddings.arrow"}
    (manifest,) = read(tmp_path / "manifest.json")
    assert (manifest["stop_reason"], manifest["incomplete"]) == ("user_interrupt", True)
    assert (manifest["k_planned"], manifest["k_attempted"], manifest["k_eligible"]) == (8, 4, 4)
    assert len(read(tmp_path / "trial_plan.jsonl")) == 8
    assert read(tmp_path / "aggregates.json")[0]["incomplete"] is True
    assert "user_interrupt (incomplete)" in (tmp_path / "receipt.txt").read_text(encoding="utf-8")


def test_a_receipt_that_cannot_be_written_is_warned_of_and_not_listed(tmp_path: Path) -> None:
    def refuse(path: Path, text: str) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    run, writer = held(tmp_path, more={"write_receipt": refuse})
    assert run.error is None
    assert files(tmp_path) == (ALWAYS - {"receipt.txt"}) | CLUSTERED | {"embeddings.arrow"}
    assert writer.receipt[0] == "Arbiter receipt"
    obeys(tmp_path)
    assert run.warned == [f"{tmp_path}/receipt.txt: cannot be written: Permission denied"]  # type: ignore[attr-defined]


def test_a_log_of_batches_is_written_when_asked_for(tmp_path: Path) -> None:
    held(tmp_path, more={"has_log": True})
    lines = (tmp_path / "execution.log").read_text(encoding="utf-8").splitlines()
    assert [line.split()[1] for line in lines] == ["run", "batch", "batch", "run"]
    (manifest,) = read(tmp_path / "manifest.json")
    assert [one["path"] for one in manifest["artifacts"]["entries"]][-2:] == [
        "execution.log",
        "manifest.json",
    ]


def test_a_folder_that_holds_something_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("mine", encoding="utf-8")
    run, _ = held(tmp_path)
    assert str(run.error) == f"{tmp_path}: cannot be written: it is there already, and not empty"
    assert files(tmp_path) == {"manifest.json"}
    assert run.scripted.log == []


def test_a_run_that_goes_on_writes_its_folder_anew(tmp_path: Path) -> None:
    held(tmp_path)
    (tmp_path / "ledger").mkdir()
    stale = (tmp_path / "embeddings.arrow").read_bytes()
    run = Held(prepared(k_max=2, batch_size=2), embedded=lambda trial_id: Embedded(None, "away"))
    run.hold(ArtifactWriter(tmp_path, print, is_resumed=True))
    assert stale
    assert files(tmp_path) == ALWAYS | CLUSTERED | {"debug/embeddings.jsonl"}
    obeys(tmp_path)


def fails_at(count: int) -> Callable[[int], None]:
    def before(trial_id: int) -> None:
        if trial_id == count:
            raise OSError(errno.ENOSPC, "No space left on device", "x")

    return before


def test_a_run_that_fails_leaves_what_it_has_and_says_so(tmp_path: Path) -> None:
    run, _ = held(tmp_path, before=fails_at(5))
    assert str(run.error) == "x: cannot be written: No space left on device"
    assert isinstance(run.ended, RunEnded)
    obeys(tmp_path)
    (manifest,) = read(tmp_path / "manifest.json")
    assert (manifest["stop_reason"], manifest["incomplete"]) == ("error", True)
    assert manifest["notes"] == str(run.error)
    assert manifest["k_attempted"] == len(read(tmp_path / "trials.jsonl"))
    # What was embedded after the last whole batch is kept, too.
    assert pa.ipc.open_file(tmp_path / "embeddings.arrow").read_all().num_rows == manifest["k_eligible"]


def line(outcome: str) -> ParsedTrial:
    return ParsedTrial(trial_id=0, parse_status="success", parser_version="live-v0", outcome=outcome)


def test_a_line_ends_where_every_reader_says_it_does(tmp_path: Path) -> None:
    odd = "a\u2028b\u2029c\u0085d\ne\u00fc"
    written = line_of(line(odd)).decode()
    assert written.splitlines() == [written.removesuffix("\n")]
    assert json.loads(written)["outcome"] == odd
    assert "ü" in written


def test_a_whole_number_is_written_as_one_wherever_it_stands() -> None:
    assert b'"confidence":1,' in line_of(line("about 0.0, they say").model_copy(update={"confidence": 1.0}))


class Narrow:
    """A file on a disk with room for so many bytes."""

    def __init__(self, file: Any, room: int) -> None:
        self.file, self.room = file, room

    def write(self, block: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        taken = block[: self.room]
        self.room -= len(taken)
        written: int = self.file.write(taken)
        return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


def test_a_full_disk_leaves_no_half_line(tmp_path: Path) -> None:
    lines = Lines(tmp_path / "trials.jsonl")
    lines.add(line("first"))
    lines._file = Narrow(lines._file, 10)  # type: ignore[assignment]
    with pytest.raises(OSError, match=r"No space left on device: '.*trials.jsonl'"):
        lines.extend([line("second"), line("third")])
    assert [one["outcome"] for one in read(tmp_path / "trials.jsonl")] == ["first"]
    lines._file.room = 1000  # type: ignore[attr-defined]
    lines.add(line("fourth"))
    lines.close()
    assert [one["outcome"] for one in read(tmp_path / "trials.jsonl")] == ["first", "fourth"]
    assert lines.count == 2


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "there" / "x.json"
    with pytest.raises(FileNotFoundError):
        write_json(path, {"a": 1})
    path.parent.mkdir()
    write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        write_json(path, {"a": object()})
    assert path.read_text(encoding="utf-8") == '{\n  "a": 1\n}\n'
    assert files(tmp_path) == {"there/x.json"}
