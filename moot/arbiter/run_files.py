"""The files in the folder of a run; what each holds is said by the schema of its name (`schemas/NAME.schema.json`)."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

CONFIG: Final = "config.resolved.json"
MANIFEST: Final = "manifest.json"
PLAN: Final = "trial_plan.jsonl"
TRIALS: Final = "trials.jsonl"
PARSED: Final = "parsed.jsonl"
TRACE: Final = "convergence_trace.jsonl"
AGGREGATES: Final = "aggregates.json"
PROVENANCE: Final = "embeddings.provenance.json"
ARROW: Final = "embeddings.arrow"
DEBUG: Final = "debug/embeddings.jsonl"
ASSIGNMENTS: Final = "clusters/online.assignments.jsonl"
STATE: Final = "clusters/online.state.json"
CERTIFICATE: Final = "certificate.json"
RECEIPT: Final = "receipt.txt"
EXECUTION: Final = "execution.log"

DOCUMENTS: Final = (MANIFEST, CONFIG, PROVENANCE, AGGREGATES, STATE, CERTIFICATE)
"""Those that hold one record each."""

LINES: Final = (PLAN, TRIALS, PARSED, TRACE, ASSIGNMENTS, DEBUG)
"""Those that hold a record in each line."""


def schema_name(file: str) -> str:
    """Return the name of the schema of a record of a file."""
    return PurePath(file).stem
