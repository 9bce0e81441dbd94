"""How the messages of review panels read: one template a type. Data only.

The subject, the seat that speaks, is put in front. `moot.channels.showing.templates` explains the notation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WORDING: Final[Mapping[str, str]] = {
    "PANEL_OPENED": "puts {title} ({field}, {word_count|count:word}) before {panel_id}"
    "[ under {contract.contract_id}][ for {parent_id}]",
    "PHASE1": "commits itself in {panel_id} before it sees the work: {text|planned}",
    "PHASE2": "reviews the work in {panel_id}: {text|judged}",
    "LINT": "{is_passed|either:passes,faults} phase {phase} of the {role|seat} in {panel_id}"
    "[: {findings}][ {tag}]",
    "SYNTHESIS": "concludes {panel_id}: {text|judged}",
    "PANEL_DECIDED": "decides {panel_id}: {decision|action}[, by {fired_conditions}]{tags|notable}",
    "PANEL_ABORTED": "ends {panel_id} without a decision {tag}[: {why}]",
}

DUTIES: Final[Mapping[str, str]] = {
    "aborted": "end without a decision",
    "decided": "decision of the panel",
    "lint": "check of a seat's report",
    "phase1": "Phase 1 report",
    "phase2": "Phase 2 report",
}
"""What steps are called; `{n}` is the number behind their name."""
