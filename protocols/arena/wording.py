"""How the messages of the Arena read: one template a type. Data only.

The subject, the seat that speaks, is put in front. `moot.channels.showing.templates` explains the notation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WORDING: Final[Mapping[str, str]] = {
    "ARENA_TASK": "opens {run_id}[ on {task.task_id}][ for {parent_id}][: {task.initial_prompt}]",
    "HOOK_RESULT": "asks the notebook {phase} the loop of {run_id}: {status|words}"
    "[, {evidence_refs|count:passage}][, on {findings|each:claim}][, {why}]",
    "DRAFT": "drafts round {round_index} of {run_id}[: {text}]",
    "REVIEW": "{text|verdict} round {round_index} of {run_id}: {text|open}",
    "RUN_FAULT": "stops work on {run_id}: {fault|words}[ with {tool}], {detail}",
    "FINAL_OUTPUT": "gives the final output of {run_id}[: {text}]",
    "RUN_TERMINATED": "ends {run_id} after {rounds|count:round}: {reason|derived}",
}

DUTIES: Final[Mapping[str, str]] = {
    "after": "search of the notebook after the last round",
    "before": "search of the notebook before the first draft",
    "draft": "draft of round {n}",
    "during": "search of the notebook during the review",
    "final": "final output",
    "review": "review of round {n}",
    "terminated": "end of the run",
}
"""What steps are called; `{n}` is the number behind their name."""
