"""Read the folder of a run, whole or as far as it was written: what a report, a comparison or a picture needs of it.

A run that was killed leaves files that end in the middle of a line, and lacks some: that is told as a remark. Anything
else that is wrong with a file is refused in one line; `moot.arbiter.verify` judges in full.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from moot.arbiter.run_files import (
    ARROW,
    ASSIGNMENTS,
    CERTIFICATE,
    CONFIG,
    DEBUG,
    MANIFEST,
    PARSED,
    PROVENANCE,
    TRACE,
    TRIALS,
)
from moot.config.arbiter.reading import Faulty, parsed_file, read_record, record
from moot.config.json_files import BadJson, parsed
from moot.protocols.arbiter.generated import (
    Assignment,
    Certificate,
    ClusteredRow,
    ConvergenceRow,
    EmbeddingLine,
    Manifest,
    ParsedTrial,
    ResolvedConfiguration,
    RunUsage,
    Trial,
)
from moot.protocols.arbiter.record import SCHEMA_VERSION, Record
from moot.protocols.arbiter.usage import Spending

Kind = TypeVar("Kind", bound=Record)

MOST_LINE: Final = 64_000_000
"""Bytes of a line; a longer one is none of Arbiter's."""


class TrialFacts(NamedTuple):
    """What a report says of a trial; requests and replies are left out, for they are long.

    Attributes:
        model: That answered; the one that was asked where no reply named any.
        error: What went wrong, in a few words; "" when nothing did.
        tokens: That its calls used; None when no reply told it.
        cost: What they cost, in US dollars; None when no reply told it.
    """

    trial_id: int
    model: str
    status: str
    error_code: str | None
    error: str
    tokens: int | None
    cost: float | None


@dataclass(frozen=True, slots=True)
class ReadRun:
    """A run as its folder tells it.

    Attributes:
        trials: In the order in which they ended.
        parsed: By trial_id.
        rows: One for each batch that ended.
        assignments: By trial_id.
        embedded_by: The model that embedded; None when no reply named one, or several did, and before the end.
        usage: Added up again; None when no reply told any.
        certificate: None for a run without one.
        remarks: What is missing or cut off, a line each.
    """

    directory: Path
    manifest: Manifest
    config: ResolvedConfiguration
    trials: tuple[TrialFacts, ...]
    parsed: Mapping[int, ParsedTrial]
    rows: tuple[ConvergenceRow, ...]
    assignments: Mapping[int, Assignment]
    embedded_by: str | None
    usage: RunUsage | None
    certificate: Certificate | None
    remarks: tuple[str, ...]


class Vectors(NamedTuple):
    """The embeddings of a run.

    Attributes:
        trial_ids: Ascending, shape (answers,).
        rows: Shape (answers, dimensions).
    """

    trial_ids: NDArray[np.integer]
    rows: NDArray[np.float32]


def read_run(directory: Path) -> ReadRun:
    """Read a run.

    Raises:
        Faulty: The folder holds no run, or one of another version, or a file of it is not what its schema says.
    """
    manifest = _manifest(directory)
    config = read_record(directory / CONFIG, ResolvedConfiguration)
    lines = _Lines(directory, is_partial=manifest.incomplete)
    spending = Spending()
    trials = tuple(_facts(trial, spending) for trial in lines.of(TRIALS, Trial))
    parsed_trials = {one.trial_id: _without_raw(one) for one in lines.of(PARSED, ParsedTrial)}
    rows = tuple(_rows(lines))
    certificate = directory / CERTIFICATE
    assigned = directory / ASSIGNMENTS
    assignments = lines.of(ASSIGNMENTS, Assignment) if assigned.exists() else iter(())
    return ReadRun(
        directory=directory,
        manifest=manifest,
        config=config,
        trials=trials,
        parsed=parsed_trials,
        rows=rows,
        assignments={one.trial_id: one for one in assignments},
        embedded_by=_embedded_by(directory / PROVENANCE),
        usage=spending.total(),
        certificate=read_record(certificate, Certificate) if certificate.exists() else None,
        remarks=tuple(lines.remarks),
    )


def read_vectors(run: ReadRun) -> Vectors | None:
    """Read the embeddings of a run; None when it has none.

    Raises:
        Faulty: The file of them cannot be read.
    """
    path = run.directory / ARROW
    if path.exists():
        return _arrow(path)
    if not (run.directory / DEBUG).exists():
        return None
    lines = _Lines(run.directory, is_partial=True)
    found: dict[int, NDArray[np.float32]] = {}
    for one in lines.of(DEBUG, EmbeddingLine):
        if one.vector_b64 is not None:
            try:
                found[one.trial_id] = np.frombuffer(base64.b64decode(one.vector_b64), dtype="<f4")
            except ValueError:
                raise Faulty(
                    [f"{run.directory / DEBUG}: the vector of trial {one.trial_id} is none"]
                ) from None
    if not found:
        return None
    if len({vector.shape for vector in found.values()}) > 1:
        raise Faulty([f"{run.directory / DEBUG}: its vectors differ in length"])
    ids = sorted(found)
    return Vectors(np.array(ids), np.stack([found[one] for one in ids]).astype(np.float32))


def _manifest(directory: Path) -> Manifest:
    path = directory / MANIFEST
    if not directory.is_dir():
        why = "is a file" if directory.exists() else "there is no such folder"
        raise Faulty([f"{directory}: {why}: name the folder of a run"])
    if not path.exists():
        raise Faulty([f"{directory}: is no run of Arbiter: it holds no {MANIFEST}"])
    value = parsed_file(path)
    version = value.get("schema_version") if isinstance(value, dict) else None
    if isinstance(version, str) and version != SCHEMA_VERSION:
        raise Faulty([f"{path}: is of schema version {version[:20]!a}, and this Moot reads {SCHEMA_VERSION}"])
    return record(value, Manifest, str(path))


def _embedded_by(path: Path) -> str | None:
    value = parsed_file(path) if path.exists() else None
    model = value.get("actual_embedding_model") if isinstance(value, dict) else None
    return model if isinstance(model, str) else None


def _facts(trial: Trial, spending: Spending) -> TrialFacts:
    spending.add(trial)
    usages = [one for one in (trial.usage, *(call.usage for call in trial.calls or ())) if one is not None]
    costs = [one.cost for one in usages if one.cost is not None]
    return TrialFacts(
        trial_id=trial.trial_id,
        model=trial.actual_model or trial.requested_model_slug,
        status=trial.status,
        error_code=trial.error_code,
        error=trial.error.message if trial.error else "",
        tokens=sum(one.total_tokens for one in usages) if usages else None,
        cost=sum(costs) if costs else None,
    )


def _without_raw(line: ParsedTrial) -> ParsedTrial:
    """Keep what was read from a text, not all of the text."""
    return line.model_copy(update={"raw_assistant_text": None})


def _rows(lines: _Lines) -> Iterator[ConvergenceRow]:
    kinds: TypeAdapter[ClusteredRow | ConvergenceRow] = TypeAdapter(ClusteredRow | ConvergenceRow)
    for number, text in lines.texts(TRACE):
        try:
            yield kinds.validate_json(text)
        except ValidationError:
            # A union names each fault twice: ask the one that was meant.
            is_clustered = b'"cluster_count"' in text
            yield lines.faulty(TRACE, number, text, ClusteredRow if is_clustered else ConvergenceRow)


class _Lines:
    """Reads the files of a run that hold a record in each line.

    Attributes:
        remarks: What was missing or cut off.
    """

    def __init__(self, directory: Path, *, is_partial: bool) -> None:
        """Take a folder; a partial run may lack files, and the ends of lines."""
        self._directory = directory
        self._is_partial = is_partial
        self.remarks: list[str] = []

    def of(self, name: str, kind: type[Kind]) -> Iterator[Kind]:
        """Read a file.

        Raises:
            Faulty: It is missing, or a line is not what its schema says.
        """
        for number, text in self.texts(name):
            try:
                found = kind.from_json(text)
            except ValidationError:
                found = self.faulty(name, number, text, kind)
            yield found

    def texts(self, name: str) -> Iterator[tuple[int, bytes]]:
        """Read the lines of a file, each with its number from 1."""
        path = self._directory / name
        try:
            with path.open("rb") as file:
                for number, text in enumerate(iter(lambda: file.readline(MOST_LINE), b""), 1):
                    if not text.endswith(b"\n") and self._is_partial:
                        self.remarks.append(f"{name}: its last line is cut off, and left out")
                        return
                    yield number, text
        except FileNotFoundError:
            if not self._is_partial:
                raise Faulty([f"{path}: there is no such file, though the run is complete"]) from None
            self.remarks.append(f"{name}: there is no such file")
        except OSError as error:
            raise Faulty([f"{path}: cannot be read: {error.strerror or error}"]) from None

    def faulty(self, name: str, number: int, text: bytes, kind: type[Kind]) -> Kind:
        """Say what is wrong with a line."""
        where = f"{self._directory / name}, line {number}"
        try:
            value = parsed(text.decode("utf-8"))
        except (BadJson, UnicodeDecodeError) as error:
            why = str(error) if isinstance(error, BadJson) else "is not UTF-8"
            raise Faulty([f"{where}: {why}"]) from None
        return record(value, kind, where)


def _arrow(path: Path) -> Vectors:
    import pyarrow
    from pyarrow import ipc

    try:
        with pyarrow.memory_map(str(path)) as source, ipc.open_file(source) as file:
            table = file.read_all().combine_chunks()
            column = table.column("vector").combine_chunks()
            rows = column.flatten().to_numpy().reshape(len(column), column.type.list_size).copy()
            return Vectors(table.column("trial_id").to_numpy().copy(), rows)
    except (pyarrow.ArrowException, KeyError, ValueError, AttributeError, OSError) as error:
        raise Faulty([f"{path}: cannot be read: {' '.join(str(error).split())[:200]}"]) from None
