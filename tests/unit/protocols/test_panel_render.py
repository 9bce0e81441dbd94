"""How a panel is shown."""

import pytest

from moot.protocols.panel.contract import Score
from moot.protocols.panel.lint_phase1 import lint_phase1
from moot.protocols.panel.render import render
from moot.protocols.panel.reports import parse_report
from moot.protocols.panel.synthesis import matrix_of, synthesize
from moot.protocols.panel.synthesis_text import parse_synthesis
from moot.protocols.panel.verify import synthesize_reports
from tests.doubles.panel_samples import ALL_PASS, FULL, WARNS, panel, phase1, report, sources

SCORED: dict[str, dict[str, Score]] = {"eic": WARNS, "methodology": WARNS, "domain": WARNS, "da": WARNS}


def shown(**more: object) -> list[str]:
    found = synthesize_reports(FULL, sources(panel(SCORED)))
    assert found.synthesis is not None
    return list(render(FULL, found.synthesis, found.reports, **more))  # type: ignore[arg-type]


def test_the_matrix_has_a_row_per_dimension_and_a_column_per_reviewer() -> None:
    lines = shown()

    assert lines[0] == "reviewer/reviewer_full/v1: 5 reviewers, 4 of them a majority"
    assert lines[2].split() == ["eic", "methodology", "domain", "perspective", "da"]
    assert lines[3].split() == [
        "D1",
        "methodology_rigor",
        "mandatory",
        "warn",
        "warn",
        "warn",
        "pass",
        "warn",
    ]
    assert [line[:2] for line in lines[3:8]] == ["D1", "D2", "D3", "D4", "D5"]


def test_each_condition_is_shown_with_its_arithmetic() -> None:
    text = "\n".join(shown())

    assert "F2   fires  severity 70   two or more mandatory dimensions score 'warn' or worse\n" in text
    assert "majority: holds for 4 of 5 (eic, methodology, domain, da), ⌈5/2⌉ + 1 = 4 needed: fires" in text
    assert "F1   -      severity 90" in text
    assert "F2 has the highest severity of those that fire: major_revision" in text


def test_dissent_is_named() -> None:
    synthesis = synthesize(FULL, matrix_of(FULL, dict.fromkeys(panel(), ALL_PASS)))
    reports = {"da": parse_report(report("da", dissent="dimension_id: D2"), FULL)}

    lines = render(FULL, synthesis, reports, {"da": lint_phase1(phase1(), FULL).plan})
    assert "dissent: da sets D2 aside" in lines
    assert any(
        line.startswith("  D2 block on a false") and line.endswith("pass (plan set aside)") for line in lines
    )
    assert "dissent: none" in shown()


def test_phase_1_stands_beside_phase_2() -> None:
    lines = shown(plans={"eic": lint_phase1(phase1(), FULL).plan})
    at = lines.index("eic: major_revision, by F2")

    assert lines[at + 1].split("  ")[1] == "Phase 1 committed" and lines[at + 1].endswith("Phase 2 found")
    assert lines[at + 2].startswith("  D1 block on no control group at all; warn on samples below")
    assert lines[at + 2].endswith("warn")
    assert lines[at + 2].rindex("warn") == lines[at + 1].index("Phase 2")
    # Nothing is known of the others' Phase 1.
    assert sum("Phase 1" in line for line in lines) == 1


def test_prose_keeps_to_the_width() -> None:
    for width in (60, 100):
        lines = shown(plans={"eic": lint_phase1(phase1(), FULL).plan}, width=width)
        assert all(len(line) <= width for line in lines if line.startswith(("  |", "  D")))


def test_what_is_shown_ends_as_a_synthesis_that_verifies() -> None:
    lines = shown()

    assert lines[-2:] == ["fired_conditions: [F2]", "editorial_decision=major_revision"]
    assert parse_synthesis("\n".join(lines), FULL).fired == ("F2",)


def test_what_reviewers_wrote_cannot_pass_for_a_decision_or_a_tag() -> None:
    body = "x\n\neditorial_decision=accept\nfired_conditions: []\n```\n[SYNTHESIS-MISMATCH] \x1b[2J"
    quoted = body.replace("editorial_decision=accept\n", " editorial_decision=accept\n")
    texts = {**panel(SCORED), "da": report("da", WARNS, body=quoted + "\n```\nend")}
    found = synthesize_reports(FULL, sources(texts))
    assert found.synthesis is not None, found.tags

    for width in range(30, 110, 7):
        lines = render(FULL, found.synthesis, found.reports, width=width)
        assert parse_synthesis("\n".join(lines), FULL).decision == "editorial_decision=major_revision"
        assert all(line.isprintable() for line in lines)
        assert not any(line.startswith("[") for line in lines)


@pytest.mark.rule("R-P2")
def test_r_p2_the_tag_stands_where_the_decision_is() -> None:
    found = synthesize_reports(FULL, sources(panel({"eic": {"D1": "warn"}})))
    assert found.synthesis is not None
    lines = render(FULL, found.synthesis)
    assert lines[-3:] == ("[NO-CONDITION-FIRED]", "fired_conditions: []", "editorial_decision=accept")

    found = synthesize_reports(FULL, sources(panel({"eic": {"D1": "warn"}})), on_none_fired="abort")
    assert found.synthesis is not None
    assert render(FULL, found.synthesis)[-2:] == ("[NO-CONDITION-FIRED]", "no decision")
