"""`moot case` of a review panel, and what `moot status` says of panels."""

from pathlib import Path
from typing import Any

import pytest

from tests.doubles.command_line import data, done
from tests.doubles.data_dir import write_log
from tests.doubles.panel_samples import FOCUS, FULL, report
from tests.doubles.panel_table import PanelTable

ID = "panel_20260223_1000"


def sat(tmp_path: Path, *, texts: dict[str, str] | None = None, contract: Any = None, **how: Any) -> Path:
    table = PanelTable(FULL)
    table.panel(contract)
    if contract is None:
        for role in table.roles:
            table.commit(role)
            table.review(role, (texts or {}).get(role), **how.get(role, {}))
        if table.panel_id in table.docket.cases:
            table.conclude()
    return write_log(tmp_path / "d", table.log)


@pytest.fixture
def decided(tmp_path: Path) -> Path:
    texts = {"domain": report("domain", {"D2": "warn"}, dissent="D2: the facts are newer than my plan")}
    texts["eic"] = report("eic", {"D4": "block"}, body="It is harmful to its neighbours.")
    return sat(tmp_path, texts=texts, da={"D1": "warn", "D2": "warn"})


def test_a_panel_is_its_matrix_its_conditions_its_dissent_and_its_decision(decided: Path) -> None:
    text = done("case", decided, ID)

    assert text.startswith(f"Panel {ID}  decided\n")
    assert (
        "                                             eic    methodology  domain  perspective  da\n"
        "D1  methodology_rigor             mandatory  pass   pass         pass    pass         warn\n"
    ) in text
    assert "F3   fires  severity 60   any high-priority dimension scores 'block'\n" in text
    assert "     any: holds for 1 of 5 (eic), 1 needed: fires\n" in text
    assert "     majority: holds for 1 of 5 (da), ⌈5/2⌉ + 1 = 4 needed: does not fire\n" in text
    assert "dissent: domain sets D2 aside\n" in text
    assert "Phase 1 committed" in text and "Phase 2 found" in text
    assert "fired_conditions: [F3]\neditorial_decision=major_revision\n" in text
    assert "nobody was late" in text


def test_a_panel_as_data_has_matrix_arithmetic_and_tags_beside_the_transcript(decided: Path) -> None:
    found = data("case", decided, "panel")

    assert (found["kind"], found["phase"], found["outcome"]) == ("panel", "ended", "decided")
    panel = found["panel"]
    assert panel["matrix"]["D4"] == {
        "eic": "block", "methodology": "pass", "domain": "pass", "perspective": "pass", "da": "pass"
    }  # fmt: skip
    assert (panel["fired_conditions"], panel["editorial_decision"]) == (
        ["F3"],
        "major_revision",
    )
    assert panel["tags"] == ["[CONTRACT-ACKNOWLEDGED]"] * 5
    assert len(panel["arithmetic"]) == 4 and "outputs" not in panel


def test_a_shrunk_panel_shows_the_scores_it_has_and_its_tag(tmp_path: Path) -> None:
    place = sat(tmp_path, texts={"da": "nothing"}, eic={"D2": "warn"})
    text = done("case", place, ID)

    assert "D2  domain_accuracy               mandatory  warn  pass         pass    pass         -\n" in text
    assert "4 of 5 reviewers are usable, not da\n" in text
    assert "[PANEL-SHRUNK: usable=4, panel_size=5]\n" in text
    assert "phase2_lint_failed=role" in text
    assert data("case", place, ID)["panel"]["aborted"]["tag"] == "[PANEL-SHRUNK: usable=4, panel_size=5]"


@pytest.mark.rule("R-P2")
def test_r_p2_no_condition_fired_stands_where_the_decision_is(tmp_path: Path) -> None:
    text = done("case", sat(tmp_path, eic={"D1": "warn"}), ID)

    assert "[NO-CONDITION-FIRED]\nfired_conditions: []\neditorial_decision=accept\n" in text
    assert f"decides {ID}: accept [NO-CONDITION-FIRED]" in " ".join(text.split())


def test_an_open_panel_shows_how_far_it_is_and_no_tag(tmp_path: Path) -> None:
    table = PanelTable(FOCUS)
    table.panel()
    table.commit("eic")
    table.review("eic", D1="block")
    table.commit("methodology")
    place = write_log(tmp_path / "d", table.log)
    text = done("case", place, ID)

    assert text.startswith(f"Panel {ID}  open, reviewing\n")
    assert "1 of 2 reviewers are usable, not methodology\n" in text
    assert "D1  methodology_rigor      mandatory  block  -\n" in text
    assert "PANEL-SHRUNK" not in text and "editorial_decision=" not in text


def test_a_panel_whose_contract_was_refused_says_why(tmp_path: Path) -> None:
    text = done("case", sat(tmp_path, contract={"mode": "x"}), ID)

    assert "On widgets: its contract is invalid: " in text
    assert "[CONTRACT-INVALID: " in text


# ---------------------------------------------------------------- moot status


def test_status_counts_panels_and_the_rate_of_shrunk_ones(tmp_path: Path) -> None:
    place = sat(tmp_path, texts={"da": "nothing"})

    assert data("status", place)["panels"] == {
        "ended": 1, "decided": 0, "shrunk": 1, "shrunk_rate": 1.0, "is_alarming": False
    }  # fmt: skip
    assert "panels        1 ended, 0 with a decision, 1 in [PANEL-SHRUNK] (100.00 %)\n" in done(
        "status", place
    )


def test_status_without_panels_says_nothing_of_them(tmp_path: Path) -> None:
    place = write_log(tmp_path / "d", PanelTable().log)

    assert data("status", place)["panels"] is None
    assert "PANEL-SHRUNK" not in done("status", place)


def test_an_open_panel_is_counted_and_its_reviewers_owe(tmp_path: Path) -> None:
    table = PanelTable(FULL)
    table.panel()
    place = write_log(tmp_path / "d", table.log)

    text = done("status", place)
    assert "open          1 panel\n" in text
    assert "EIC          Phase 1 report" in text and "DA           Phase 1 report" in text
    assert {o["seat"] for o in data("obligations", place)} == set(table.roles)
