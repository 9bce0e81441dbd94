"""The configurations that a run can start from, by name; the files lie in `templates/`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from moot.config.arbiter.configuring import load_configuration
from moot.config.arbiter.moot_protocols import ARENA, DEBATE, PANEL
from moot.config.arbiter.reading import record
from moot.protocols.arbiter.generated import Configuration

FOLDER: Final = Path(__file__).with_name("templates")

TEMPLATES: Final = ("quickstart", "heterogeneity", "debate", "free", DEBATE, ARENA, PANEL)


def from_template(name: str, question: str = "", **known: str) -> Configuration:
    """Return a configuration to start from.

    Args:
        name: One of `TEMPLATES`.
        question: What it asks; "" leaves the template's.
        known: What a panel's reviewers know of the work beforehand: `title`, `field`. Those of the template's work are
            left out with it.
    """
    config = load_configuration(FOLDER / f"{name.replace(':', '_')}.json")
    found = config.as_json()
    if question:
        found["question"]["text"] = question
    if panel := found["protocol"].get("panel"):
        if question:
            panel = {"contract": panel["contract"]}
        found["protocol"]["panel"] = panel | known
    return record(found, Configuration, name)
