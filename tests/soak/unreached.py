"""Rows of the machines' tables that no log can take, each with its reason: tests/unit/test_soak.py holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.chaos.coverage import SEP

SOONER: Final = "the limits of the steps up to there end it before the cycle's 2.5 hours do"

UNREACHED: Final[Mapping[str, str]] = {
    SEP.join((kind, phase, "RULING budget")): SOONER
    for kind, phases in (
        ("debate", ("assessing_1", "rebutting_2", "assessing_2", "rebutting_3", "requesting")),
        ("architecture", ("proposing", "critiquing_1", "rebutting", "critiquing_2")),
    )
    for phase in phases
}
"""Why, by the row's name in `moot.chaos.coverage`."""
