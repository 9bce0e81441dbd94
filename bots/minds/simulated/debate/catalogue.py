"""Ideas for the system itself, from `catalogue.toml`: what the weekly architecture debate can be about (spec 3.1).

None names a single strategy or its parameter (R-D16).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import ConfigDict, TypeAdapter, with_config

Grade = Literal["low", "medium", "high"]


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """One change to the system.

    Attributes:
        scope: Which part of the system it touches.
        description: What would be done; its identity in memory.
        benefit: What it should bring.
        answers: What in a week's records asks for it: failure codes, and `silence`, `few_approvals`,
            `repeats`, `principles`.
        effort: How much work and risk it is.
        objection: What speaks against it.
        defence: What can be answered.
        assigned_to: Who would make it.
        notes: How it would be made.
    """

    scope: str
    description: str
    benefit: str
    answers: tuple[str, ...]
    effort: Grade
    objection: str
    defence: str
    assigned_to: Literal["explorer", "evolver"]
    notes: str


_DATA: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

IDEAS: Final = TypeAdapter(tuple[Idea, ...]).validate_python(_DATA["ideas"])
"""Every idea, in the order of the file."""
