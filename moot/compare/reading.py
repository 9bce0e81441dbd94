"""A study's directory, read: what was registered, what was answered, what follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from moot.compare.registration import read_registration
from moot.compare.results import FILE, read_results
from moot.compare.study import Study
from moot.compare.summary import Summary, summarise


def study_in(registration: dict[str, Any]) -> Study:
    """Return the study that was registered."""
    fields = {info.alias or name for name, info in Study.model_fields.items()}
    return Study.model_validate({name: value for name, value in registration.items() if name in fields})


def summary_of(directory: Path) -> Summary:
    """Compute what a study found from what lies there.

    Raises:
        BadInput: It holds none, or something in it is damaged.
    """
    registration = read_registration(directory)
    planned = registration["planned"]
    return summarise(registration, read_results(directory / FILE), planned)
