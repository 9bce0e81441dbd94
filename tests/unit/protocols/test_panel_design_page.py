"""The design page of panels says what the code does: states, parts, time limits, tags."""

import re
from pathlib import Path

import pytest

from moot.protocols.kernel.machine import rows
from moot.protocols.kernel.steps import ENDED
from moot.protocols.kernel.times import minutes
from moot.protocols.panel import audit, panel, state
from moot.protocols.panel.synthesis import NONE_FIRED

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "design" / "panel.md").read_text(encoding="utf-8")

UNNAMED = {"__init__", "messages", "rights", "findings"}
"""Modules whose names say all there is to say."""


def test_the_diagram_has_every_step_of_the_machine_and_no_other():
    drawn = re.findall(r"^    (\S+) --> (\S+?)(?::.*)?$", PAGE, re.MULTILINE)
    starts = {("[*]", phase) for start in panel.PANEL.start.values() for phase in start.phases}
    steps = {
        (row.phase, "[*]" if to == ENDED else to)
        for row in rows(panel.PANEL)
        if row.phase
        for to in row.move.to
    }
    assert set(drawn) == (starts | steps) - {(state.OPEN, state.OPEN)}


def test_every_module_of_the_package_has_its_place_among_the_parts():
    modules = {path.stem for path in (ROOT / "protocols" / "panel").glob("*.py")} - UNNAMED
    named = set(re.findall(r"`(?:protocols/panel/)?(\w+)\.py`", PAGE))
    assert modules <= named, modules - named


def test_every_path_that_the_page_names_is_there():
    paths = re.findall(r"`((?:protocols|config|bots|moot)/[\w/.]+)`", PAGE)
    assert paths and not [path for path in paths if not (ROOT / path).exists()]


def test_the_time_limits_are_those_of_the_duties():
    assert (minutes(30), minutes(60)) == (panel.PHASE1_WITHIN, panel.PHASE2_WITHIN)
    assert (minutes(10), minutes(10)) == (panel.SYNTHESIS_WITHIN, panel.GRACE)
    assert "| PHASE1 | 30 min and 10 |" in PAGE and "| PHASE2 | 60 min and 10 |" in PAGE
    assert "The Synthesizer has 10 minutes and 10" in PAGE


@pytest.mark.rule("panel 11")
def test_11_every_tag_that_a_panel_may_end_in_is_explained():
    tags = [
        audit.ACKNOWLEDGED, NONE_FIRED, audit.SYNTHESIS_MISMATCH, audit.panel_shrunk(1, 2),
        audit.expression_unrecognised("F1", "x"), audit.contract_invalid("x"), audit.contract_ineligible("x"),
        "[PANEL-STOPPED]",
    ]  # fmt: skip
    assert not [tag for tag in tags if f"`[{audit.name_of(tag)}" not in PAGE]
    for made, shown in (
        (audit.phase1_failed("eic", "x"), "phase1_lint_failed=true"),
        (audit.phase2_failed("eic", "x", "<check>"), "phase2_lint_failed=<check>"),
        (audit.multi_dissent("eic", "x"), "multi_dissent=true"),
        (audit.timed_out("eic", "x", "<phase>"), "timed_out=<phase>"),
    ):
        assert shown in made and f"{shown}]`" in PAGE
