"""How the messages of officers and people read: one template a type. Data only.

The subject, the seat that speaks, is put in front. `moot.channels.showing.templates` explains the notation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OFFICERS: Final[Mapping[str, str]] = {
    "SOCIETY_STARTED": "opens the society on the {clock} clock[ at speed {speed}], seed {seed}, "
    "rules {rules_version}[; {config|models}][; a rehearsal: {rehearsal|percent} of occasions are made to go wrong]",
    "SOCIETY_STOPPED": "closes the society: {reason}",
    "CONFIG_CHANGED": "changes the configuration: {reason}[ ({changes})]",
    "CLOCK_SET": "sets the clock to {society_at|when}, speed {speed}, {paused|either:paused,running}"
    "[: {reason}]",
    "ANCHOR": "anchors what was said until {nominal_at|when}: message {seq}, hash {hash}",
    "TIMEOUT_PING": "reminds the {seat|seat} of {obligation_id|duty}, due for {waited_min} min",
    "DUTY_NOTICE": "asks the {seat|seat} for {obligation_id|duty}[, reminder {n|unless:0}]; ruled on at {until|when}"
    " otherwise",
    "RULING": "rules {outcome|words}[ on {obligation_id|duty}][ in {case_id}]: {reason|words}",
    "VIOLATION": "finds a violation by the {seat|seat} in message {of_seq}: {why|derived}",
    "AUDIT": "records {event|recorded}[ by the {seat|seat}][ in {channel}]: {reason|unnumbered}"
    "[, {count|unless:1} times]",
    "PERSON_NAMED": "learns that {user_id} on {platform} is called {display_name}",
}

PEOPLE: Final[Mapping[str, str]] = {
    "NOTE": "notes[ on {about_case_id}]: {text}",
    "OVERRIDE": "overrides {case_id}: {verdict}[, because {why}]",
    "SEAT_TAKEN": "puts {user_id} in the seat of the {seat|seat}[: {reason}]",
    "SEAT_RELEASED": "gives the seat of the {seat|seat} back from {user_id}[: {reason}]",
    "STOP": "stops {scope}: {why}",
}

UNSHOWN: Final[Mapping[str, frozenset[str]]] = {
    "DUTY_NOTICE": frozenset({"expects"}),
    "AUDIT": frozenset({"bytes", "truncated"}),
    "RULING": frozenset({"rule"}),
    "VIOLATION": frozenset({"bytes", "truncated", "rule"}),
}
"""Fields that no card shows: they say again what stands there already, or nothing to people."""
