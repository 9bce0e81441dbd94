"""The configurations that a run can start from, by name; the files lie in `templates/`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from moot.config.arbiter.configuring import load_configuration
from moot.protocols.arbiter.generated import Configuration

FOLDER: Final = Path(__file__).with_name("templates")

TEMPLATES: Final = ("quickstart", "heterogeneity", "debate", "free")


def from_template(name: str, question: str = "") -> Configuration:
    """Return a configuration to start from.

    Args:
        name: One of `TEMPLATES`.
        question: What it asks; "" leaves the template's.
    """
    config = load_configuration(FOLDER / f"{name}.json")
    if not question:
        return config
    return config.model_copy(update={"question": config.question.model_copy(update={"text": question})})
