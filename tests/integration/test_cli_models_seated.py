"""Models in seats as somebody uses them: on the command line and from Python, against a server over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import moot
from tests.doubles.command_line import complaint, data, done, write
from tests.doubles.command_line import moot as run
from tests.doubles.model_server import ModelServer

KEY = "sk-test-0123456789abcdefghij"
PAPER = "# On widgets\n\nWidgets hold, as 3 of 4 trials show.\n"
BY = "by the model tiny-1"


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as one:
        one.prefers = {"option": "yes", "confidence": 0.7}
        yield one


def priced(place: Path, server: ModelServer, more: str = "") -> Path:
    model = f'[models.local]\nurl = "{server.url}"\nmodel = "tiny-1"\nprice = {{ input = 1, output = 4 }}\n'
    return write(place / "society.toml", model + more)


def test_a_model_debates_a_question_and_every_line_says_so(server: ModelServer, tmp_path: Path) -> None:
    place, address = tmp_path / "log", f"{server.url}#tiny-1"
    held = run("debate", "Is it so?", "--model", address, "--seats", "advocate,critic", "--out", place)
    assert held.exit_code == 0, held.output
    assert held.stderr.splitlines()[:2] == [
        "who writes here: advocate: the model tiny-1; critic: the model tiny-1; judge: simulated, no model",
        f"advocate, critic: tiny-1 at {server.url}; no budget",
    ]
    said = [line for line in held.stdout.splitlines() if "#motions" in line]
    by_models = [line for line in said if "Advocate  " in line or "Critic  " in line]
    assert len(by_models) >= 2 and all(f"({BY})" in line for line in by_models)
    assert "(simulated, no model)" in said[-1] and "#calls" not in held.stdout
    assert "by          advocate: the model tiny-1; critic: the model tiny-1; judge: simulated" in held.stdout
    assert f"advocate {BY}" in done("verify", place)
    assert "models        advocate, critic: the model tiny-1\n" in done("status", place)
    assert [one["seat"] for one in data("calls", place)["calls"]][:2] == ["advocate", "critic"]


def test_what_a_budget_has_no_room_for_is_not_sent_and_is_told(server: ModelServer, tmp_path: Path) -> None:
    config, before = priced(tmp_path, server), len(server.sent)
    given = (
        "debate",
        "Is it so?",
        "--model",
        "local",
        "--seats",
        "critic",
        "--budget",
        0,
        "--config",
        config,
    )
    held = run(*given)
    assert f"critic: tiny-1 at {server.url}; budget $0.00" in held.stderr
    assert "the model local (tiny-1) was not asked: the budget of the society is $0.00" in held.stderr
    asked = [one.body for one in server.sent[before:] if one.path.endswith("completions")]
    assert "Is it so?" not in json.dumps(asked), "nothing but the probes of the start"


def test_a_simulated_mind_that_answers_for_a_model_is_labelled_so(
    server: ModelServer, tmp_path: Path
) -> None:
    config = priced(tmp_path, server, '[budget]\ncalls = 0\non_exhausted = "simulated"\n')
    place = tmp_path / "log"
    done("debate", "Is it so?", "--model", "local", "--config", config, "--out", place)
    said = [one for one in done("log", place).splitlines() if "claims" in one or "judges" in one]
    assert len(said) == 2 and all("(simulated, no model)" in one for one in said)
    assert BY not in done("verify", place)


def test_a_model_refines_a_task_and_judges_a_work(server: ModelServer, tmp_path: Path) -> None:
    address = f"{server.url}#tiny-1"
    given = {"task_id": "t", "initial_prompt": "Plan it.", "session_id": "t-1"}
    task = write(tmp_path / "task.json", json.dumps(given))
    refined = run(
        "arena", "run", "--task", task, "--no-notebook", "--model", address, "--seats", "planner", "--json"
    )
    assert json.loads(refined.stdout)["written_by"]["planner"] == ["the model tiny-1"]
    paper = write(tmp_path / "paper.md", PAPER)
    works = ("--contract", "methodology_focus", "--paper", paper, "--title", "T", "--field", "F")
    judged = run("panel", "run", *works, "--model", address, "--seats", "methodology", "--json")
    assert json.loads(judged.stdout)["written_by"]["methodology"] == ["the model tiny-1"]
    assert f"methodology: tiny-1 at {server.url}; no budget" in judged.stderr


def test_a_model_sits_in_a_simulation_and_in_a_scene(server: ModelServer, tmp_path: Path) -> None:
    address = ("--model", f"{server.url}#tiny-1", "--seats", "critic")
    place = tmp_path / "run"
    lived = run("simulate", "--days", "0.1", "--out", place, *address)
    assert lived.stderr.startswith(f"critic: tiny-1 at {server.url}; no budget\n"), lived.output
    rated = [
        line for line in done("log", place).splitlines() if "RISK_ASSESSMENT" in line or " rates " in line
    ]
    assert rated and all(BY in line for line in rated)
    assert "; critic: the model tiny-1" in done("log", place).splitlines()[0]
    assert done("verify", place)
    scene = write(
        tmp_path / "scene.yaml", "start: 2026-02-23T10:00:00Z\nuntil: 1h\ncycle: once\nsystems: [A]\n"
    )
    assert BY in done("scene", scene, *address)


def test_a_model_that_cannot_be_called_ends_the_start_with_one_line(tmp_path: Path) -> None:
    with ModelServer(key=KEY) as locked:
        held = run("debate", "Is it so?", "--model", f"{locked.url}#tiny-1", MOOT_MODEL_KEY=f"{KEY}-x")
        assert (held.exit_code, held.stdout) == (2, "")
        (*_, why) = held.stderr.splitlines()
        assert why.startswith("moot debate: models.tiny-1: HTTP 401") and KEY not in held.output
        held = run("debate", "Is it so?", "--model", f"{locked.url}#other", MOOT_MODEL_KEY=KEY)
        assert held.exit_code == 2 and "the model other does not exist" in held.stderr
        secure = locked.url.replace("http:", "https:")
        held = run("debate", "Is it so?", "--model", f"{secure}#tiny-1", MOOT_MODEL_KEY=KEY)
        assert held.exit_code == 2 and "no secure connection" in held.stderr
    held = run("debate", "Is it so?", "--model", f"{locked.url}#tiny-1", MOOT_MODEL_KEY=KEY)
    assert held.exit_code == 2 and "start the server, or correct url" in held.stderr


def test_minds_check_says_how_a_model_is_tried(server: ModelServer, tmp_path: Path) -> None:
    config = priced(tmp_path, server, '[minds]\ncritic = { model = "local" }\n')
    said = complaint(2, "minds", "check", "--seat", "critic", "--config", config)
    assert said.endswith(
        "the model local fills the critic: this tries classes; moot models check local tries a model"
    )


def test_from_python_a_model_takes_seats_and_is_named(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MOOT_MODEL_KEY", raising=False)
    held = moot.debate("Is it so?", model=f"{server.url}#tiny-1", seats=["critic"])
    assert "critic: the model tiny-1" in held.written_by
    assert len(held.log.calls()) >= 1
    given = {"url": server.url, "model": "tiny-1", "price": {"input": 1, "output": 4}, "temperature": 0.5}
    spent = moot.debate("Is it so?", model=given, seats=["critic"], budget=0)
    assert "was not asked: the budget of the society is $0.00" in spent.warnings[0]
    with pytest.raises(moot.ConfigError, match="seats: there is no seat 'critc': did you mean critic"):
        moot.debate("Is it so?", model=given, seats=["critc"])
