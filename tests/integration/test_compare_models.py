"""Studies with models: what was said is kept, is not paid twice, and answers a replay without a server."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import moot as moot_api
from moot.compare.results import FILE, read_results
from moot.place import LOG_NAME
from tests.doubles.command_line import complaint, done, moot
from tests.doubles.model_server import ModelServer

CASES = '{"id": "sum", "question": "What is 2 + 2?", "options": ["3", "4"], "truth": "4"}\n'
STUDY = """\
study: with-a-model
cases: {{from: cases.jsonl}}
arms:
  one: {{is: single, budget: 1, model: "{url}#tiny-1"}}
  debate: {{is: debate, budget: 9, model: "{url}#tiny-1"}}
  vote: {{is: vote, budget: 2, model: "{url}#tiny-1"}}
score: exact
"""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(latency_s=0.0) as one:
        one.prefers = {"confidence": 0.8, "option": "4"}
        yield one


def test_models_answer_a_study_and_its_replay_needs_no_server(server: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text(CASES, encoding="utf-8")
    study, out = tmp_path / "study.yaml", tmp_path / "out"
    study.write_text(STUDY.format(url=server.url), encoding="utf-8")
    done("compare", study, "--out", out, "--at-once", 1)
    one, debate, vote = read_results(out / FILE)
    assert (one.answer, one.calls, vote.calls, vote.votes) == ("4", 1, 2, ("4", "4"))
    assert 3 <= debate.calls <= 12
    asked = len(server.calls)
    assert asked >= one.calls + debate.calls + vote.calls

    # A kill behind the first answer: what the debate's model said is in its log, and is not asked again.
    killed = tmp_path / "killed"
    shutil.copytree(out, killed)
    lines = (out / FILE).read_bytes().splitlines(keepends=True)
    (killed / FILE).write_bytes(lines[0])
    server.forget()
    done("compare", study, "--out", killed, "--at-once", 1)
    assert (killed / FILE).read_bytes() == (out / FILE).read_bytes()
    assert not server.calls

    server.stop()
    assert "byte for byte" in moot("compare", "--replay", out, "--at-once", 1).stderr
    assert "all as it says" in done("verify", out)


PAID = """\
study: that-costs
cases: {{from: questions, seed: 5, count: 3}}
arms:
  one: {{is: single, budget: 1{usd}, model: {{url: "{url}", model: tiny-1, price: {{input: 1, output: 1}}}}}}
"""


def test_a_study_ends_before_a_case_that_its_money_might_not_cover_and_goes_on_with_more(
    server: ModelServer, tmp_path: Path
) -> None:
    study, out = tmp_path / "study.yaml", tmp_path / "out"
    study.write_text(PAID.format(url=server.url, usd=""), encoding="utf-8")
    ask = ("compare", study, "--out", out, "--at-once", 1, "--budget")
    assert "arms.one asks a model and has no usd" in complaint(2, *ask, 1)
    assert not out.exists(), "nothing is registered that could not be paid"

    study.write_text(PAID.format(url=server.url, usd=", usd: 0.5"), encoding="utf-8")
    said = moot(*ask, 0.5)
    assert said.exit_code == 1
    first, *others = read_results(out / FILE)
    assert not others and 0 < first.usd < 0.5
    (line,) = said.stderr.splitlines()
    assert f"${first.usd:,.4f} are spent, and the next case may cost $0.5000" in line
    assert "It is not over: 1 of 3 answers are there" in said.stdout

    done(*ask, 1.0)
    found = list(read_results(out / FILE))
    assert (len(found), found[0]) == (3, first)
    assert sum(one.usd for one in found) < 1.0


PANELS = """\
study: panels-of-a-model
cases: {{from: documents, seed: 5, count: 1}}
arms:
  blind: &panel
    {{is: panel, budget: 5, model: "{url}#tiny-1", options: {{reviewers: 2}}, minds: {{synthesizer: simulated}}}}
  together: {{<<: *panel, options: {{reviewers: 2, blind: false}}}}
"""


def test_a_model_reviews_documents_and_is_shown_an_earlier_review_only_where_reviewers_are_not_blind(
    server: ModelServer, tmp_path: Path
) -> None:
    study, out = tmp_path / "study.yaml", tmp_path / "out"
    study.write_text(PANELS.format(url=server.url), encoding="utf-8")
    server.prefers = {"score": "warn", "finding": "lines 3 to 4: no source is given; line 6: it is 12"}
    done("compare", study, "--out", out, "--at-once", 1)
    blind, together = read_results(out / FILE)
    for one in (blind, together):
        answer: Any = one.answer
        assert [list(found["lines"]) for found in answer] == [[3, 4], [6, 6]]
        assert (one.calls, one.confidence) == (4, 1.0)
    said = [str(call.body["messages"][1:]) for call in server.calls]
    reviewing = [text for text in said if "1: # " in text]
    assert ["=== review by eic ===" in text for text in reviewing] == [False, False, False, True]

    server.stop()
    assert "byte for byte" in moot("compare", "--replay", out, "--at-once", 1).stderr
    assert "all as it says" in done("verify", out)


DEBATED = {
    "strategies": (
        "{from: markets, seed: 5, count: 1}",
        {"fatal_flaws": [], "alpha_argument_score": 0.3, "verdict": "REJECT", "next_action": "archive"}
        | {"confidence": 0.8, "concede": False, "strategy": None},
        "VERDICT",
    ),
    "questions": (
        "{from: cases.jsonl}",
        {"confidence": 0.8, "option": "4", "for_score": 0.7, "against_score": 0.4},
        "JUDGMENT",
    ),
}
"""Cases, what a model prefers to say of them, and the last message of a debate of them."""

WITH_A_KEY = """\
study: debates-of-a-model
cases: {cases}
arms:
  debate: {{is: debate, budget: 11, model: {{url: "{url}", model: tiny-1, key_env: KEY_OF_THE_STUDY}}}}
"""


@pytest.mark.parametrize("what", DEBATED)
def test_a_debate_of_models_that_was_killed_asks_for_the_rest_alone_and_a_replay_needs_no_key(
    what: str, tmp_path: Path
) -> None:
    (tmp_path / "cases.jsonl").write_text(CASES, encoding="utf-8")
    study, out, killed = (tmp_path / one for one in ("study.yaml", "out", "killed"))
    cases, prefers, last = DEBATED[what]
    key = {"KEY_OF_THE_STUDY": "of-the-study"}
    with ModelServer(key="of-the-study") as server:
        server.prefers = prefers
        study.write_text(WITH_A_KEY.format(cases=cases, url=server.url), encoding="utf-8")
        done("compare", study, "--out", out, "--at-once", 1, **key)
        (debate,) = read_results(out / FILE)
        asked = len(server.calls) - 1  # one finds out how it is to be asked
        assert (debate.calls, debate.confidence) == (asked, 0.8)
        assert asked >= 3
        log = moot_api.open_log(out / debate.log.removesuffix(".jsonl"))
        assert log.verify().ok
        said = [env.body.type for env in log.messages()]
        assert said[-1] == last, "nobody is asked for what comes after it"

        shutil.copytree(out, killed)
        (killed / FILE).write_bytes(b"")
        _kill_behind_a_call(killed / debate.log.removesuffix(".jsonl"))
        server.forget()
        done("compare", study, "--out", killed, "--at-once", 1, **key)
        (again,) = read_results(killed / FILE)
        # What was asked again took another time, and its log says so.
        assert replace(again, head="") == replace(debate, head="")
        assert len(server.calls) == asked - 1

    for directory in (out, killed):
        assert "byte for byte" in moot("compare", "--replay", directory, "--at-once", 1).stderr
    assert "all as it says" in done("verify", out)


def _kill_behind_a_call(place: Path) -> None:
    """Leave a data directory as a kill behind its first call leaves it."""
    first = next(moot_api.open_log(place).messages(type="CALL_SETTLED"))
    with closing(sqlite3.connect(place / LOG_NAME)) as db:
        db.execute("DELETE FROM log WHERE seq > ?", (first.seq,))
        db.commit()
    (place / "head").unlink()
