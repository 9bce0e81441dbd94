"""Models in the seats of whole societies, from the command line: what they cost, what verifies, what ends a start."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

import moot
from moot.protocols.kernel.officers import SocietyStarted
from tests.doubles.command_line import data, done, write
from tests.doubles.command_line import moot as command_line
from tests.doubles.model_server import ModelServer

PREFERRED = {"fatal_flaws": [], "confidence": 0.8}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as one:
        one.prefers = PREFERRED
        yield one


def test_a_day_with_a_models_critic_verifies_and_its_calls_are_told(
    server: ModelServer, tmp_path: Path
) -> None:
    out = tmp_path / "one"
    config = write(
        tmp_path / "society.toml",
        f'[models.local]\nurl = "{server.url}"\nmodel = "tiny-1"\nprice = {{ input = 1, output = 10 }}\n'
        '[minds]\ncritic = { model = "local", temperature = 0.3 }\n[budget]\nusd = 1\n',
    )
    done("simulate", "--days", "1", "--seed", "1", "--config", config, "--out", out)
    checked = done("verify", out)
    assert "every rule holds" in checked and "critic by the model local (tiny-1)" in checked
    asked = [one.body for one in server.calls[1:]]
    assert len(asked) >= 4 and {body["temperature"] for body in asked} == {0.3}
    told = data("calls", out)
    assert len(told["calls"]) == len(asked)
    (report,) = [env for env in moot.open_log(out).messages() if env.body.type == "DAILY_REPORT"]
    before = [one for one in told["calls"] if one["settled_seq"] < report.seq]
    figures = report.body.models
    assert 0 < figures.calls <= len(before)
    assert (figures.limit, figures.cost > figures.tokens) == (1_000_000, True)


def test_models_a_class_of_ones_own_and_simulated_seats_live_through_a_day_together(
    server: ModelServer, tmp_path: Path
) -> None:
    out = tmp_path / "one"
    config = write(
        tmp_path / "society.toml",
        f'[models.local]\nurl = "{server.url}"\nmodel = "tiny-1"\n[minds]\n'
        'critic = "tests.doubles.own_minds:Lenient"\nevolver = { model = "local" }\ntrader = "simulated"\n',
    )
    done("simulate", "--days", "1", "--seed", "1", "--config", config, "--out", out)
    checked = done("verify", out)
    assert "every rule holds" in checked
    for said in (
        "critic by the mind 'tests.doubles.own_minds:Lenient'",
        "evolver by the model local (tiny-1)",
    ):
        assert said in checked
    assert {call["seat"] for call in data("calls", out)["calls"]} == {"evolver"}
    assert "byte for byte" in command_line("simulate", "--replay", out, "--out", tmp_path / "two").stderr


HELD: dict[str, Callable[..., object]] = {
    "debate": partial(moot.debate, "Is a short week better?"),
    "arena": partial(moot.arena, "Write a haiku about rain.", max_rounds=1),
    "panel": partial(moot.panel, "# Rain\n\nIt rains.\n", contract="methodology_focus", field="poetry"),
}


@pytest.mark.parametrize("what", HELD)
def test_what_is_held_offline_with_models_in_all_seats_verifies(
    server: ModelServer, tmp_path: Path, what: str
) -> None:
    HELD[what](model=f"{server.url}#tiny-1", out=tmp_path / "one", seed=1)
    assert "every rule holds" in done("verify", tmp_path / "one")
    assert len(data("calls", tmp_path / "one")["calls"]) == len(server.calls) - 1 > 1


def test_a_spent_budget_leaves_the_seat_to_a_simulated_mind_where_that_is_configured(
    server: ModelServer, tmp_path: Path
) -> None:
    out = tmp_path / "one"
    config = write(
        tmp_path / "society.toml",
        f'[models.local]\nurl = "{server.url}"\nmodel = "tiny-1"\n[minds]\ncritic = {{ model = "local" }}\n'
        '[budget]\ncalls = 3\non_exhausted = "simulated"\n',
    )
    done("simulate", "--days", "1", "--seed", "1", "--config", config, "--out", out)
    assert len(server.calls) == 1 + 3
    assert "every rule holds" in done("verify", out)
    said = [json.loads(line) for line in done("log", out, "--json", "--type", "CONFIG_CHANGED").splitlines()]
    assert [one["body"]["changes"]["minds"]["critic"] for one in said] == ["simulated"]
    rated = done("log", out, "--json", "--type", "RISK_ASSESSMENT").splitlines()
    assert len(rated) > 6
    refused = done("log", out, "--json", "--type", "CALL_REFUSED").splitlines()
    assert len(refused) == 1


def test_a_start_without_a_server_ends_with_one_line(tmp_path: Path) -> None:
    with ModelServer() as gone:
        url = gone.url
    result = command_line("debate", "Is it?", "--model", f"{url}#tiny-1")
    assert result.exit_code == 2
    line = result.stderr.strip().splitlines()[-1]
    assert line.startswith("moot debate: models.tiny-1: no connection to")
    assert "Traceback" not in result.output
    assert "start the server, or correct url" in line


def test_a_directory_whose_start_was_refused_can_be_named_again(server: ModelServer, tmp_path: Path) -> None:
    with ModelServer() as gone:
        url = gone.url
    out = tmp_path / "one"
    for command in (("debate", "Is it?"), ("simulate", "--days", "0.1", "--seats", "critic")):
        assert command_line(*command, "--model", f"{url}#tiny-1", "--out", out).exit_code == 2
    assert command_line("debate", "Is it?", "--model", f"{server.url}#tiny-1", "--out", out).exit_code != 2
    assert "every rule holds" in done("verify", out)


def test_the_log_says_which_prompts_the_models_were_told_and_a_folder_replaces_them(
    server: ModelServer, tmp_path: Path
) -> None:
    server.prefers = {
        "concede": False,
        "confidence": 0.8,
        "for_score": 0.7,
        "against_score": 0.4,
        "option": "yes",
    }
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "judge.md").write_text("# Judge\n\nJudge as a gardener would.\n", encoding="utf-8")
    config = write(tmp_path / "society.toml", f'[prompts]\nfolder = "{folder}"\n')
    model = ("--model", f"{server.url}#tiny-1")
    started = []
    for out, more in (("one", ()), ("two", ("--config", config))):
        done("debate", "Is a short week better?", *model, *more, "--out", tmp_path / out)
        (first,) = moot.open_log(tmp_path / out).messages(type="SOCIETY_STARTED")
        assert isinstance(first.body, SocietyStarted)
        started.append(first.body.config["prompts"])
    assert [one["folder"] for one in started] == ["", str(folder)]
    changed = {name for name, digest in started[0]["sha256"].items() if started[1]["sha256"][name] != digest}
    assert changed == {"judge"}
    assert set(started[0]["sha256"]) == {"general", "advocate", "critic", "judge"}
    told = [one.body["messages"][0]["content"] for one in server.calls if "gardener" in str(one.body)]
    assert told and all(text.startswith("You fill the seat judge") for text in told)


def test_a_folder_of_prompts_that_cannot_be_used_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "jugde.md").write_text("# Judge\n", encoding="utf-8")
    config = write(tmp_path / "society.toml", f'[prompts]\nfolder = "{tmp_path}"\n')
    result = command_line("debate", "Is a short week better?", "--config", config)
    assert result.exit_code != 0
    assert "prompts.folder" in result.stderr and "did you mean judge.md?" in result.stderr
    assert "Traceback" not in result.stderr
