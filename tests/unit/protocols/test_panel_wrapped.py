"""A report that stands in one code fence as a whole: one finding says so, from rules version 4 on."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.config.contracts import load_contract
from moot.protocols.panel.findings import LintFinding
from moot.protocols.panel.grammar import WRAPPED, wrapping_fence
from moot.protocols.panel.lint_phase1 import PARAPHRASE, lint_phase1
from moot.protocols.panel.lint_phase2 import lint_phase2
from moot.protocols.panel.reports import ReportError, parse_report
from moot.protocols.panel.synthesis_text import SynthesisError, parse_synthesis
from tests.doubles.command_line import moot
from tests.doubles.panel_papers import paper, reviewed

CONTRACT = load_contract("methodology_focus")
SEEN = reviewed("eic", CONTRACT, paper("good"), 1)
PLAN = lint_phase1(SEEN.phase1, CONTRACT).plan
SYNTHESIS = "fired_conditions: [F2]\neditorial_decision=major_revision\n"
SAMPLES = Path(__file__).parents[3] / "docs" / "how-to" / "a-panel"

WRAPPINGS = [
    ("```\n", "```\n", 1),
    ("```markdown\n", "```", 1),
    ("````md\n", "````\n\n", 1),
    ("~~~\n", "~~~\n", 1),
    ("   ```\n", "  ```\n", 1),
    ("\n\n```\n", "```\n", 3),
    ("Here is my report:\n\n```markdown\n", "```\n\nI hope this helps.\n", 3),
    ("```markdown\r\n", "```\r\n", 1),
    ("```markdown\n", "", 1),
]
"""What stands before and after, and the line of the fence; the last one never closes."""

NOT_READ = LintFinding("sections", 1, f"there is no section '## Dimension Scores' {WRAPPED}")
CODE = "\n```python\nassert x == 1\n```\n"


@pytest.mark.parametrize(("before", "after", "line"), WRAPPINGS)
def test_a_wrapped_text_has_one_finding(before: str, after: str, line: int) -> None:
    phase1 = lint_phase1(f"{before}{SEEN.phase1}{after}", CONTRACT)
    phase2 = lint_phase2(f"{before}{SEEN.phase2}{after}", CONTRACT, PLAN)
    assert phase1.findings == (
        LintFinding("sections", line, f"there is no section '## {PARAPHRASE}' {WRAPPED}"),
    )
    assert phase2.findings == (NOT_READ._replace(line=line),)
    with pytest.raises(ReportError) as refused:
        parse_report(f"{before}{SEEN.phase2}{after}", CONTRACT)
    assert str(refused.value) == f"[REPORT-PARSE: {NOT_READ._replace(line=line)}]"
    with pytest.raises(SynthesisError) as wrong:
        parse_synthesis(f"{before}{SYNTHESIS}{after}", CONTRACT)
    assert str(wrong.value) == (
        f"[SYNTHESIS-PARSE: line {line}: no line begins with 'fired_conditions:' {WRAPPED}]"
    )


def test_code_inside_a_wrapped_report_changes_nothing() -> None:
    inside = SEEN.phase2.replace("## Review Body\n", f"## Review Body\n{CODE}")
    assert lint_phase2(f"```markdown\n{inside}```\n", CONTRACT, PLAN).findings == (NOT_READ,)
    assert lint_phase2(f"````markdown\n{inside}````\n", CONTRACT, PLAN).findings == (NOT_READ,)


@pytest.mark.parametrize(
    "text",
    [
        SEEN.phase2,
        f"{CODE}{SEEN.phase2}{CODE}",
        f"```\nscore: pass\n```\n{SEEN.phase2}",
        SEEN.phase2.replace("## Review Body\n", f"## Review Body\n{CODE}"),
        "",
        "```\n```\n",
        CODE,
        "A line without any form.",
        f"{SEEN.phase2}\n```\n## Dimension Scores\n```\n",
    ],
)
def test_a_text_that_only_quotes_in_a_fence_is_not_wrapped(text: str) -> None:
    assert wrapping_fence(text) == 0
    assert WRAPPED not in str(lint_phase2(text, CONTRACT, PLAN).findings)


def test_what_is_missing_beside_a_quotation_is_told_as_before() -> None:
    text = SEEN.phase2.replace("## Review Body", "## Body")
    found = lint_phase2(f"{text}{CODE}", CONTRACT, PLAN)
    assert found.findings[0].why == "there is no section '## Review Body'"


@pytest.mark.rule("R-G17")
@pytest.mark.parametrize("version", [2, 3])
def test_logs_of_older_rules_tell_what_is_missing(version: int) -> None:
    text = f"```\n{SEEN.phase2}```\n"
    assert len(lint_phase2(text, CONTRACT, PLAN, version).findings) > 3
    assert len(lint_phase1(f"```\n{SEEN.phase1}```\n", CONTRACT, version).findings) == 3
    with pytest.raises(SynthesisError) as wrong:
        parse_synthesis(f"```\n{SYNTHESIS}```\n", CONTRACT, version)
    assert len(wrong.value.faults) == 2


def test_the_commands_say_it_once(tmp_path: Path) -> None:
    for name in ("eic.phase1.md", "eic.phase2.md", "synthesis.md"):
        text = (SAMPLES / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(f"```markdown\n{text}```\n", encoding="utf-8")
    phases = ("--phase1", tmp_path / "eic.phase1.md", "--phase2", tmp_path / "eic.phase2.md")
    said = moot("panel", "lint", "--contract", "methodology_focus", *phases)
    assert (said.exit_code, said.stdout.count(WRAPPED)) == (3, 2), "once for each phase"
    plain, other = SAMPLES / "eic.phase2.md", SAMPLES / "methodology.phase2.md"
    verify = ("panel", "verify", "--contract", "methodology_focus", "--report", other)
    said = moot(*verify, "--report", plain, "--synthesis", tmp_path / "synthesis.md")
    assert said.exit_code == 1
    assert said.stdout.count(WRAPPED) == 1
    said = moot(*verify, "--report", tmp_path / "eic.phase2.md", "--synthesis", SAMPLES / "synthesis.md")
    assert said.exit_code == 3
    assert said.stdout.count("REPORT-PARSE") == said.stdout.count(WRAPPED) == 1


@pytest.mark.parametrize("unit", ["```\n", "~~~\n## a\n", "```\n## a\n```\n", "score: \n", "``` `\n", "#"])
def test_it_takes_time_linear_in_the_text(unit: str) -> None:
    wrapping_fence(unit * (1_000_000 // len(unit)))
