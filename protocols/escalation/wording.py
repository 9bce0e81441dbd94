"""How the messages of escalations read: one template a type. Data only.

The subject, the seat that speaks, is put in front. `moot.channels.showing.templates` explains the notation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WORDING: Final[Mapping[str, str]] = {
    "ESCALATION": "escalates {escalation_id}, {level|words}: {trigger|derived}[ ({context|spoken})]"
    "[; options: {options|each:label}]",
    "ESCALATION_PAGED": "pages the admin again about {escalation_id}, time {n}[, for another reason: {added|spoken}]",
    "ESCALATION_ACK": "has seen {escalation_id}",
    "ESCALATION_ANSWER": "answers {escalation_id}[ with option {option}][: {text}]",
    "ESCALATION_RESOLVED": "resolves {escalation_id}: {how|ended}[ by {by}][; {effect|effect}]",
    "MODE_CHANGED": "turns System {system} {mode}, because of {because}",
}

UNSHOWN: Final[Mapping[str, frozenset[str]]] = {
    "ESCALATION": frozenset(
        {"default", "evidence_seqs", "options", "subject", "suggested_actions", "trigger", "within_s"}
    ),
}
"""Fields that no card shows: they say again what stands there already, or nothing to people."""

DUTIES: Final[Mapping[str, str]] = {
    "answer": "answer to the escalation",
    "answer-acked": "answer to the escalation",
    "expire": "end of the escalation if nobody answers",
    "page": "reminder to the admin",
    "resolve": "end of the escalation",
}
"""What steps are called; `{n}` is the number behind their name."""
