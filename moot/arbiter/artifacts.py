"""Writes the folder of a run while it goes on: lines are added as they come, the rest stands whole at the end.

Source: Arbiter spec, "Artifact set"; rulings R-S1, R-S8.
"""

from __future__ import annotations

import base64
import errno
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from moot.arbiter.events import BatchEnded, EmbeddingFacts, Event, RunEnded, RunStarted, TrialEnded
from moot.arbiter.files import Lines, write_json, write_lines, write_text
from moot.arbiter.manifests import first_manifest, last_manifest
from moot.arbiter.receipt import receipt
from moot.arbiter.resolving import Prepared
from moot.arbiter.run_files import (
    AGGREGATES,
    ARROW,
    ASSIGNMENTS,
    CONFIG,
    DEBUG,
    EXECUTION,
    MANIFEST,
    PARSED,
    PLAN,
    PROVENANCE,
    RECEIPT,
    STATE,
    TRACE,
    TRIALS,
)
from moot.arbiter.vector_file import KeptVectors, arrow_generated, jsonl_fallback, not_generated
from moot.protocols.arbiter.convergence import aggregates
from moot.protocols.arbiter.generated import (
    ArrowGenerated,
    Artifact,
    ConvergenceRow,
    JsonlFallback,
    Manifest,
    NotGenerated,
    Policy,
)

LAST: Final = (PROVENANCE, ARROW, STATE, AGGREGATES, RECEIPT)
"""What is there only at the end of a run."""


class ArtifactWriter:
    """Keeps a run in a folder of its own.

    Attributes:
        manifest: What it says of itself by now; None before its start.
        receipt: Its lines, once the run ended.
    """

    def __init__(
        self,
        directory: Path,
        warn: Callable[[str], None],
        *,
        is_debug: bool = False,
        has_log: bool = False,
        extra: Sequence[str] = (),
        is_resumed: bool = False,
        notes: str | None = None,
        write_receipt: Callable[[Path, str], None] = write_text,
    ) -> None:
        """Take a folder, which is made when the run starts.

        Args:
            directory: Must not be there yet, or be empty but for what is named by `extra`.
            warn: Is told what went wrong and stops nothing.
            is_debug: Keep debug/embeddings.jsonl.
            has_log: Write execution.log.
            extra: Further files and folders that others keep in it; files are listed when they are there at the end.
            notes: What the manifest says besides why the run ended.
            is_resumed: The folder holds an earlier life of the run, whose files are written anew.
            write_receipt: Writes receipt.txt.
        """
        self._directory = directory
        self._warn = warn
        self._is_debug = is_debug
        self._has_log = has_log
        self._extra = tuple(extra)
        self._is_resumed = is_resumed
        self._notes = notes
        self._write_receipt = write_receipt
        self._lines: dict[str, Lines] = {}
        self._vectors = KeptVectors()
        self._last: ConvergenceRow | None = None
        self._prepared: Prepared | None = None
        self.manifest: Manifest | None = None
        self.receipt: list[str] = []

    def __call__(self, event: Event) -> None:
        """Write what a run tells.

        Raises:
            OSError: A file cannot be written.
        """
        match event:
            case TrialEnded():
                self._add_trial(event)
            case BatchEnded():
                self._add_batch(event)
            case RunStarted():
                self._start(event)
            case RunEnded():
                self._end(event)

    def _start(self, event: RunStarted) -> None:
        directory, prepared = self._directory, event.prepared
        started_at = event.started_at
        if self._is_resumed:
            # Its first trials stand in its ledger, and were made then.
            started_at = Manifest.from_json((directory / MANIFEST).read_bytes()).started_at
            for name in LAST:
                (directory / name).unlink(missing_ok=True)
        else:
            _make(directory, self._extra)
        clustering = prepared.config.measurement.clustering
        streams = [TRIALS, PARSED, TRACE, DEBUG]
        if clustering.enabled and clustering.stop_mode != "disabled":
            streams.append(ASSIGNMENTS)
        try:
            for name in streams:
                path = directory / name
                path.parent.mkdir(exist_ok=True)
                self._lines[name] = Lines(path)
            write_json(directory / CONFIG, prepared.config)
            write_lines(directory / PLAN, prepared.trials)
            self._prepared = prepared
            self.manifest = first_manifest(
                prepared, event.policy, started_at, self._entries(()), notes=self._notes
            )
            write_json(directory / MANIFEST, self.manifest)
            self._log(
                f"{event.started_at} run {event.run_id} begins: {event.k_planned} trials "
                f"of {prepared.config.protocol.type}"
            )
        except OSError:
            self._close()
            raise

    def _add_trial(self, event: TrialEnded) -> None:
        lines, embedding = self._lines, event.embedding
        lines[TRIALS].add(event.trial)
        lines[PARSED].add(event.parsed)
        lines[DEBUG].add(embedding)
        if embedding.vector_b64 is not None:
            self._vectors.add(embedding.trial_id, base64.b64decode(embedding.vector_b64))

    def _add_batch(self, event: BatchEnded) -> None:
        self._last = event.row
        self._lines[TRACE].add(event.row)
        if event.assignments:
            self._lines[ASSIGNMENTS].extend(event.assignments)
        self._vectors.end_batch()
        row = event.row
        self._log(
            f"{row.recorded_at} batch {row.batch_number}: {row.k_attempted} attempted, {row.k_eligible} eligible, "
            f"novelty {row.novelty_rate}, mean similarity {row.mean_max_sim_to_prior}"
        )

    def _end(self, event: RunEnded) -> None:
        assert self.manifest is not None and self._prepared is not None
        directory = self._directory
        self._close()
        provenance = self._write_vectors(event.embeddings)
        write_json(directory / PROVENANCE, provenance)
        if event.cluster_state is not None:
            write_json(directory / STATE, event.cluster_state)
        write_json(directory / AGGREGATES, event.aggregates)
        left = [PROVENANCE, AGGREGATES]
        if isinstance(provenance, ArrowGenerated):
            left.append(ARROW)
        if event.cluster_state is not None:
            left.append(STATE)
        self._log(f"{event.ended_at} run ends: {event.stop_reason}")
        event = event._replace(k_attempted=self._lines[TRIALS].count)
        ended = last_manifest(self.manifest, event, ())
        self.receipt = receipt(
            ended, self._prepared.config, self._last, _told(provenance, event.embeddings), str(directory)
        )
        try:
            self._write_receipt(directory / RECEIPT, "\n".join(self.receipt) + "\n")
            left.append(RECEIPT)
        except OSError as error:
            self._warn(f"{directory / RECEIPT}: cannot be written: {error.strerror or error}")
        left += [name for name in (EXECUTION, *self._extra) if (directory / name).is_file()]
        self.manifest = last_manifest(self.manifest, event, self._entries(left))
        write_json(directory / MANIFEST, self.manifest)

    def _write_vectors(self, facts: EmbeddingFacts) -> NotGenerated | ArrowGenerated | JsonlFallback:
        measurement = self._prepared.config.measurement if self._prepared else None
        assert measurement is not None
        if facts.dimensions is None:
            return not_generated(
                measurement,
                "no_successful_embeddings",
                "No answer was embedded: why stands in debug/embeddings.jsonl.",
                facts,
            )
        try:
            self._vectors.write(self._directory / ARROW, facts.dimensions)
        except Exception as error:
            # The vectors are safe in the working file, whatever Arrow has against them.
            line = " ".join(str(error).split()) or type(error).__name__
            self._warn(f"{self._directory / ARROW}: cannot be written, {DEBUG} is kept: {line}")
            return jsonl_fallback(measurement, facts, line)
        if not self._is_debug:
            working = self._directory / DEBUG
            working.unlink()
            working.parent.rmdir()
        return arrow_generated(measurement, facts, facts.dimensions, has_jsonl=self._is_debug)

    def _entries(self, left: Sequence[str]) -> list[Artifact]:
        """List the files there are, in the order in which they are described.

        Args:
            left: Those that are there only at the end.
        """
        assert self._prepared is not None
        counts = {name: lines.count for name, lines in self._lines.items()}
        counts[PLAN] = len(self._prepared.trials)
        counts[ARROW] = len(self._vectors)
        # The working file is none of a run's, unless it was asked for or holds what Arrow did not take.
        is_kept = (self._directory / DEBUG).exists() and (self._is_debug or counts[ARROW] > 0)
        names = [CONFIG, PLAN, TRIALS, PARSED, TRACE]
        names += [name for name in (AGGREGATES, PROVENANCE, ARROW, STATE) if name in left]
        names += [ASSIGNMENTS] * (ASSIGNMENTS in counts) + [DEBUG] * (is_kept and bool(left))
        names += [name for name in (RECEIPT, EXECUTION, *self._extra) if name in left]
        return [
            *(Artifact(path=name, record_count=counts.get(name)) for name in names),
            Artifact(path=MANIFEST),
        ]

    def _log(self, line: str) -> None:
        if self._has_log:
            with (self._directory / EXECUTION).open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")

    def _close(self) -> None:
        for lines in self._lines.values():
            lines.close()


def write_resolved(prepared: Prepared, directory: Path, policy: Policy, now: str) -> Manifest:
    """Write the folder of a run that makes no trial; the manifest comes last.

    Args:
        prepared: The run.
        directory: Is made; must not be there yet, or be empty.
        policy: What it allows.
        now: ISO 8601, UTC and ending in Z.

    Raises:
        OSError: The folder holds something, or cannot be written.
    """
    _make(directory)
    write_json(directory / CONFIG, prepared.config)
    write_lines(directory / PLAN, prepared.trials)
    for name in (TRIALS, PARSED, TRACE):
        write_lines(directory / name, ())
    write_json(directory / AGGREGATES, aggregates(None, incomplete=False))
    note = "The run was resolved only: nothing was asked, nothing embedded."
    write_json(directory / PROVENANCE, not_generated(prepared.config.measurement, "resolve_only", note))
    entries = [
        Artifact(path=CONFIG),
        Artifact(path=PLAN, record_count=len(prepared.trials)),
        *(Artifact(path=name, record_count=0) for name in (TRIALS, PARSED, TRACE)),
        *(Artifact(path=name) for name in (AGGREGATES, PROVENANCE, MANIFEST)),
    ]
    manifest = first_manifest(prepared, policy, now, entries, mode="resolve_only")
    write_json(directory / MANIFEST, manifest)
    return manifest


def _make(directory: Path, extra: Sequence[str] = ()) -> None:
    """Make the folder of a run; one that is there will do when it holds nothing else than `extra`.

    Raises:
        OSError: It holds something, or cannot be made.
    """
    directory.mkdir(parents=True, exist_ok=True)
    if any(path.name not in extra for path in directory.iterdir()):
        raise FileExistsError(errno.EEXIST, "it is there already, and not empty", str(directory))


def _told(provenance: NotGenerated | ArrowGenerated | JsonlFallback, facts: EmbeddingFacts) -> str:
    if isinstance(provenance, NotGenerated):
        return "none"
    return f"{provenance.status}, {facts.successful} vectors of {facts.dimensions} dimensions"
