"""Keeps the events of a run as its files, for as long as the artifact writer has not landed."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from moot.arbiter.events import BatchEnded, Event, RunEnded, RunStarted, TrialEnded
from moot.arbiter.resolving import write_resolved
from moot.protocols.arbiter.records import Record
from moot.protocols.arbiter.run import Artifact, Artifacts, Manifest


class Keeping:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.vectors: dict[int, np.ndarray] = {}

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            from datetime import datetime

            manifest = write_resolved(
                event.prepared, self.directory, event.policy, datetime.fromisoformat(event.started_at)
            )
            mode = event.prepared.config.execution.stop_mode
            self.manifest = manifest.model_copy(update={"incomplete": True, "stopping_mode": mode})
            self.document("manifest.json", self.manifest)
            (self.directory / "aggregates.json").unlink()
            (self.directory / "embeddings.provenance.json").unlink()
            (self.directory / "clusters").mkdir()
        elif isinstance(event, TrialEnded):
            self.line("trials.jsonl", event.trial)
            self.line("parsed.jsonl", event.parsed)
            (self.directory / "debug").mkdir(exist_ok=True)
            self.line("debug/embeddings.jsonl", event.embedding)
            if event.embedding.vector_b64:
                self.vectors[event.trial.trial_id] = np.frombuffer(
                    base64.b64decode(event.embedding.vector_b64), "<f4"
                )
        elif isinstance(event, BatchEnded):
            self.line("convergence_trace.jsonl", event.row)
            for one in event.assignments:
                self.line("clusters/online.assignments.jsonl", one)
        elif isinstance(event, RunEnded):
            self.end(event)

    def end(self, event: RunEnded) -> None:
        if self.vectors:
            ids = sorted(self.vectors)
            width = len(self.vectors[ids[0]])
            flat = pa.array(np.concatenate([self.vectors[one] for one in ids]), pa.float32())
            column = pa.FixedSizeListArray.from_arrays(flat, width)
            table = pa.table({"trial_id": pa.array(ids, pa.int32()), "vector": column})
            with ipc.new_file(self.directory / "embeddings.arrow", table.schema) as writer:
                writer.write_table(table)
            (self.directory / "debug" / "embeddings.jsonl").unlink()
            (self.directory / "debug").rmdir()
        if event.cluster_state is not None:
            self.document("clusters/online.state.json", event.cluster_state)
        self.document("aggregates.json", event.aggregates)
        update = {
            "incomplete": event.incomplete,
            "stop_reason": event.stop_reason,
            "k_attempted": event.k_attempted,
            "k_eligible": event.aggregates.k_eligible,
            "completed_at": event.ended_at,
            "usage": event.usage.as_json() if event.usage else None,
            "notes": event.notes,
            "artifacts": Artifacts(
                entries=tuple(
                    Artifact(path=name) for name in ("manifest.json", "trials.jsonl", "embeddings.arrow")
                )
            ),
        }
        self.document("manifest.json", Manifest.model_validate({**dict(self.manifest), **update}))

    def line(self, name: str, record: Record) -> None:
        with (self.directory / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(record.as_json(), ensure_ascii=False) + "\n")

    def document(self, name: str, record: Record) -> None:
        (self.directory / name).write_text(json.dumps(record.as_json(), ensure_ascii=False, indent=2) + "\n")
