"""`moot why`."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from moot.protocols.escalation.messages import EscalationAnswer
from moot.protocols.kernel.seats import ADMIN
from moot.simulation.scene import load_scene, run_scene
from tests.doubles.command_line import complaint, data, done
from tests.doubles.data_dir import write_log
from tests.doubles.table import START, Table

ROOT = Path(__file__).resolve().parents[3]
HYP, DEP, ESC = "hyp_20260223_1018", "dep_20260222_1332", "esc_20260222_1338"


def logged(scene: str, place: Path) -> Path:
    path = place / f"{Path(scene).stem}.jsonl"
    log = run_scene(load_scene(ROOT / scene)).envelopes
    path.write_text("".join(f"{env.line}\n" for env in log), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def debate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return logged("docs/tutorial/first-debate.yaml", tmp_path_factory.mktemp("debate"))


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return logged("docs/tutorial/first-deployment.yaml", tmp_path_factory.mktemp("deployment"))


def test_it_says_which_verdict_counted_for_nothing_and_by_which_row_the_referee_ruled(debate: Path) -> None:
    found = data("why", debate, HYP)

    illegal, ruled = found["decisions"][-2:]
    assert (found["kind"], found["came_to"]) == ("Debate", "revise → reject")
    assert illegal["broke"] == "one revision is the cap: a FINAL_VERDICT is APPROVE or REJECT"
    assert illegal["row"] is None
    assert ruled["what"] == "reject"
    assert ruled["broke"] == ""
    assert ruled["row"] == {
        "table": "Debate",
        "phase": "",
        "event": "ruling: revise cap",
        "leads_to": ["ended"],
        "says": "The referee rules REJECT (R-D7 to R-D10, R-D22).",
    }


def test_the_scores_of_a_verdict_are_held_against_the_limits_of_the_guards(debate: Path) -> None:
    verdict = data("why", debate, HYP)["decisions"][0]

    assert [(one["name"], one["relation"], one["limit"], one["holds"]) for one in verdict["held"]] == [
        ("confidence", "at least", 0.6, True),
        ("lead of the case for it", "at least", 0.05, False),
    ]


def test_a_deployment_names_its_row_of_the_decision_table_who_objected_and_what_the_admin_said(
    deployment: Path,
) -> None:
    found = data("why", deployment, DEP)

    decision, ruling = found["decisions"]
    applied = decision["applied"]
    assert applied["rows"][applied["on"]] == ["2", "elevated", "needs adjustment", "escalate"]
    assert decision["row"]["leads_to"] == ["escalated"]
    assert ruling["row"]["says"] == "The admin deploys it with the reviewers' limits (R-B1)."
    assert "it moves with what the desk holds" in found["objections"][0]["said"]["text"]
    assert [(one["said"]["by"], one["texts"]) for one in found["objections"]] == [
        ("Guardian", []),
        ("Trader", []),
    ]
    assert [(one["id"], one["came_to"]) for one in found["asked"]] == [(ESC, "decision needed → answered")]
    assert found["people"][-1]["text"] == f"answers {ESC} with option 3"
    assert [one["type"] for one in found["followed"]] == ["DEPLOY_NOTICE"]


def test_ids_of_one_story_lead_to_each_other(deployment: Path) -> None:
    def links(asked: str) -> set[str]:
        found = data("why", deployment, asked)
        return {one["id"] for one in (*found["links"], *found["asked"])}

    assert {"strat_1", ESC} <= links(DEP)
    assert DEP in links("strat_1")
    assert DEP in links(ESC)


def test_of_a_strategy_it_says_who_objected_to_its_deployment_and_what_the_admin_was_asked(
    deployment: Path,
) -> None:
    found = data("why", deployment, "strat_1")

    assert [one["said"]["by"] for one in found["objections"]] == ["Guardian", "Trader"]
    assert [one["id"] for one in found["asked"]] == [ESC]
    assert found["people"][-1]["text"] == f"answers {ESC} with option 3"
    kinds = [one["kind"] for one in found["links"]]
    assert kinds == sorted(kinds, key=lambda kind: kind == "session"), "the days come last"


@pytest.mark.parametrize("asked", ["7", "#7", f"{DEP}/decision/operator", f"{DEP}/decision/operator/0"])
def test_a_message_is_explained_within_its_case(deployment: Path, asked: str) -> None:
    found = data("why", deployment, asked)

    assert (found["id"], found["case_id"]) == (asked, DEP)
    assert [one["seq"] for one in found["about"]] == [7]


def test_an_obligation_that_nobody_has_answered_is_explained_by_its_case(deployment: Path) -> None:
    assert data("why", deployment, f"{DEP}/never/operator")["case_id"] == DEP


def test_a_case_that_no_grounds_decide_was_decided_by_what_ended_it(debate: Path) -> None:
    found = data("why", debate, "cycle_20260223_1000")

    (ended,) = found["decisions"]
    assert (found["came_to"], ended["what"], ended["said"]["type"]) == (
        "ended",
        "ended",
        "MICRO_CYCLE_REPORT",
    )
    assert ended["row"]["says"] == "The cycle ends with its result, reported or not."
    assert done("why", debate, "cycle_20260223_1000").startswith("Micro-cycle cycle_20260223_1000  ended\n")


def test_an_answer_that_came_too_late_says_that_it_counts_for_nothing(tmp_path: Path) -> None:
    table = Table(
        schedules={"micro": {"at": [(START + timedelta(hours=2 * n)).isoformat() for n in range(12)]}}
    )
    table.wait(hours=9)
    asked = "esc_20260223_1440"
    table.say(
        ADMIN, EscalationAnswer(escalation_id=asked, option=2), channel="#admin", case_id=asked, user="ann"
    )
    place = write_log(tmp_path / "d", table.log)

    found = data("why", place, asked)
    assert found["people"][0]["text"].endswith(
        "it counts for nothing: late: esc_20260223_1440 was expired before; that stands"
    )
    assert found["followed"] == []
    assert "trigger timeouts, level urgent, what the admin reads 3 consecutive timeouts from …" in " ".join(
        done("why", place, asked).split()
    )


def test_the_page_has_80_columns_in_a_pipe_too_and_says_it_in_words(deployment: Path) -> None:
    text = done("why", deployment, DEP)

    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith(f"Deployment {DEP}  escalate → deploy\n")
    assert "table: row 2, the Guardian says elevated, the Trader says needs" in text
    assert f"admin       {ESC} escalation: decision needed → answered\n" in text


def test_the_beginning_of_a_cases_id_will_do(deployment: Path) -> None:
    assert data("why", deployment, "dep_")["id"] == DEP


def test_an_id_that_is_not_there_is_one_line_with_the_nearest(deployment: Path) -> None:
    assert complaint(2, "why", deployment, "dep_20260222_1333") == (
        f"moot why: nothing here is called dep_20260222_1333: do you mean {DEP}?"
    )
    assert complaint(2, "why", deployment, "zzz") == "moot why: nothing here is called zzz"
    assert complaint(2, "why", deployment, "900") == "moot why: there is no message 900"
    assert complaint(2, "why", deployment, " ").endswith(
        "name a case, a strategy, or the number of a message"
    )


def test_of_an_escalation_that_nobody_answered_it_says_that_the_admin_was_asked(tmp_path: Path) -> None:
    place = logged("tests/acceptance/scenes/4.1-disagreement-and-the-admin-is-silent.yaml", tmp_path)
    asked = next(
        word for word in done("log", place, "--type", "ESCALATION").split() if word.startswith("esc_")
    )
    asked = asked.rstrip(",:")
    assert "admin the admin was asked, nobody has answered" in " ".join(done("why", place, asked).split())
