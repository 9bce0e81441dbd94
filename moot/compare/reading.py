"""A study's directory, read: what was registered, what was answered, what follows."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from moot.compare.arm_labels import labels_of
from moot.compare.registration import read_registration
from moot.compare.results import FILE, read_results
from moot.compare.study import Study
from moot.compare.summary import Summary, summarise
from moot.protocols.kernel.errors import BadInput

REPORT: Final = "report.json"


def study_in(registration: dict[str, Any]) -> Study:
    """Return the study that was registered."""
    fields = {info.alias or name for name, info in Study.model_fields.items()}
    return Study.model_validate({name: value for name, value in registration.items() if name in fields})


def needs_scipy() -> None:
    """Say before anything is asked that intervals cannot be computed.

    Raises:
        BadInput: scipy is not there.
    """
    if find_spec("scipy") is None:
        raise BadInput("the intervals of a study need scipy: pip install 'moot[study]'")


def is_published(directory: Path) -> bool:
    """Say whether a study's results were left out, and its figures kept."""
    return (directory / REPORT).exists() and not (directory / FILE).exists()


def published(directory: Path) -> Summary:
    """Return what a study that is published found, as it says; arms are labelled by its registration if it does not.

    Raises:
        BadInput: It cannot be read.
    """
    path = directory / REPORT
    try:
        found = Summary.of_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as exc:
        raise BadInput(f"{path}: cannot be read: {' '.join(str(exc).split())[:200]}") from None
    if any(found.labels.values()):
        return found
    return found.with_labels(labels_of(read_registration(directory)))


def summary_of(directory: Path) -> Summary:
    """Return what a study found: computed from what lies there, or as a published one says.

    Raises:
        BadInput: It holds none, or something in it is damaged.
    """
    if is_published(directory):
        return published(directory)
    needs_scipy()
    return summarise(read_registration(directory), read_results(directory / FILE))


def keep_report(directory: Path, found: Summary) -> None:
    """Keep the figures beside the results they come from; `moot verify` computes them again.

    Raises:
        OSError: They cannot be written.
    """
    text = json.dumps(found.as_json(), indent=1, ensure_ascii=False) + "\n"
    (directory / REPORT).write_text(text, encoding="utf-8")
