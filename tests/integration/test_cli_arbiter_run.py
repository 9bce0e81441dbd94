"""`moot arbiter run`: a live run on the command line, in processes that are signalled, killed, or meet a full disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.command_line import complaint, data, done, moot
from tests.doubles.model_server import ModelServer, Turn, completion, embedding, refusal

KEY = "sk-test-0123456789abcdefghij"
PATIENCE_S = 120

FULL = (
    "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    "resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000)); from moot.__main__ import main; main()"
)
"""A process whose files are no longer than that."""


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.forget().always = completion("Yes, on Sundays.")
    running.latency_s, running.key = 0.0, ""
    return running


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    done("arbiter", "init", "Should the library open on Sundays?", "--out", path)
    plain = json.loads(path.read_text(encoding="utf-8"))
    plain["execution"] |= {"k_max": 6, "k_min": 4, "batch_size": 3, "workers": 2}
    path.write_text(json.dumps(plain), encoding="utf-8")
    return path


def run(config: Path, server: ModelServer, *options: object, **env: str) -> Any:
    return data(
        "arbiter", "run", config, "--endpoint", server.url, "--out", config.parent / "runs", *options, **env
    )


def test_a_run_asks_every_trial_and_leaves_a_folder_that_verifies(config: Path, server: ModelServer) -> None:
    server.key = KEY
    found = run(config, server, "--key-env", "A_KEY", A_KEY=KEY)
    assert (found["stop_reason"], found["incomplete"], found["k_attempted"]) == ("k_max_reached", False, 6)
    assert (len(server.calls), len(server.embedded)) == (6, 6)
    directory = Path(found["path"])
    done("arbiter", "verify", directory)
    assert done("verify", directory / "ledger").startswith("30 messages, every rule holds")
    trials = [json.loads(line) for line in (directory / "trials.jsonl").read_text().splitlines()]
    assert {one["raw_assistant_text"] for one in trials} == {"Yes, on Sundays."}
    assert found["usage"]["totals"]["total_tokens"] == 720
    assert all(KEY.encode() not in path.read_bytes() for path in directory.rglob("*") if path.is_file())


def test_why_trials_failed_is_told_when_the_run_ended(config: Path, server: ModelServer) -> None:
    command = ("arbiter", "run", config, "--endpoint", server.url, "--out", config.parent / "runs", "--quiet")
    server.plays(refusal(404, "no such model", "model_not_found"))
    server.embedding_script.extend([embedding([1.0, 0.0]), embedding([1.0])])
    ended = moot(*command, "--workers", 1, "--max-trials", 3)
    assert ended.exit_code == 0
    assert ended.stderr.splitlines()[1:] == [
        "moot arbiter run: 1 of 3 trials failed: HTTP 404: no such model",
        "moot arbiter run: 1 of 3 trials could not be embedded: the vector has 1 dimensions, those before it 2",
    ]
    server.key = KEY
    told = moot(*command, "--key-env", "A_KEY", A_KEY="sk-test-of-another").stderr.splitlines()
    assert told[-1].startswith("moot arbiter run: 6 of 6 trials failed: HTTP 401: Incorrect API key provided")


def test_a_run_pays_for_no_trial_after_its_mode_is_certain(config: Path, server: ModelServer) -> None:
    server.always = completion('{"decision": "yes", "rationale": "People have time on Sundays."}')
    found = run(config, server, "--max-trials", 60, "--stop", "certified")
    # Nine of nine for one of three outcomes, in batches of three: 2^9 / 10 reaches 2 / 0.05.
    assert (found["stop_reason"], found["incomplete"], found["k_attempted"]) == ("completed", False, 9)
    assert len(server.calls) == 9
    done("arbiter", "verify", found["path"])
    certified = data("arbiter", "certify", found["path"])
    assert certified["mode"] == {"label": "yes", "at_trial": 9}
    assert certified == json.loads((Path(found["path"]) / "certificate.json").read_text())


def test_the_options_name_other_models_and_are_kept_in_the_resolved_file(
    config: Path, server: ModelServer
) -> None:
    found = run(config, server, "--endpoint", f"{server.url}#tiny-1", "--embeddings", "wordllama")
    assert not server.embedded and {one.body["model"] for one in server.calls} == {"tiny-1"}
    kept = json.loads((Path(found["path"]) / "config.resolved.json").read_text())
    assert [one["model"] for one in kept["sampling"]["models"]] == ["tiny-1"]
    assert found["warnings"] == []
    assert kept["measurement"]["embedding_model"] == "wordllama"
    provenance = json.loads((Path(found["path"]) / "embeddings.provenance.json").read_text())
    assert provenance["actual_embedding_model"].startswith("wordllama/l2_supercat_256@")
    assert provenance["dimensions"] == 256


def test_a_slug_that_names_a_configured_model_is_that_model(
    config: Path, server: ModelServer, tmp_path: Path
) -> None:
    settings = tmp_path / "moot.toml"
    settings.write_text(
        f'[models.local]\nurl = "{server.url}"\nmodel = "tiny-1"\nprice = {{ input = 1, output = 1 }}\n'
        f'[models.vectors]\napi = "embeddings"\nurl = "{server.url}"\nmodel = "embed-1"\n'
        "[budget]\ncalls = 100\n"
    )
    plain = json.loads(config.read_text(encoding="utf-8"))
    plain["sampling"]["models"] = [{"model": "local", "weight": 1}]
    plain["measurement"]["embedding_model"] = "vectors"
    config.write_text(json.dumps(plain), encoding="utf-8")
    found = data("arbiter", "run", config, "--out", tmp_path / "runs", MOOT_CONFIG=str(settings))
    assert found["k_attempted"] == 6
    assert {one.body["model"] for one in server.sent} == {"tiny-1", "embed-1"}
    assert found["warnings"] == []
    assert data("arbiter", "validate", config, MOOT_CONFIG=str(settings))["warnings"] == []
    assert len(data("arbiter", "validate", config)["warnings"]) == 2
    plain["sampling"]["models"] = [{"model": "vectors", "weight": 1}]
    config.write_text(json.dumps(plain), encoding="utf-8")
    said = complaint(1, "arbiter", "run", config, MOOT_CONFIG=str(settings))
    assert said == (
        "moot arbiter: [models.vectors] embeds texts, and answers none: choose another in sampling.models"
    )


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            [],
            "moot arbiter: openai/gpt-4o-mini is asked at https://openrouter.ai/api/v1, whose key is missing: set"
            " OPENROUTER_API_KEY, or name another address with --endpoint and the variable of its key with --key-env",
        ),
        (
            ["--endpoint", "localhost"],
            "moot arbiter: --endpoint: is an address such as http://127.0.0.1:8080/v1",
        ),
        (["--budget", "much"], "moot arbiter: --budget: "),
        (["--resume", "nowhere"], "moot arbiter: --resume goes on with the run as nowhere holds it: "),
    ],
)
def test_what_cannot_be_called_is_one_line_and_leaves_nothing(
    config: Path, options: list[str], line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    said = complaint(1, "arbiter", "run", config, "--out", config.parent / "runs", *options)
    assert said.startswith(line)
    assert not (config.parent / "runs").exists()


def test_a_budget_in_dollars_needs_the_price_of_each_model(config: Path, server: ModelServer) -> None:
    runs = config.parent / "runs"
    command = ("arbiter", "run", config, "--endpoint", server.url, "--out", runs, "--quiet")
    said = complaint(1, *command, "--budget", "1")
    assert "a budget in US dollars needs its price" in said
    assert not runs.exists() and not server.sent


def test_a_contract_that_answers_break_fails_a_run_when_the_policy_says_so(
    config: Path, server: ModelServer
) -> None:
    plain = json.loads(config.read_text(encoding="utf-8"))
    plain["protocol"]["decision_contract"] = {"id": "binary_decision_v1"}
    config.write_text(json.dumps(plain), encoding="utf-8")
    command = ("arbiter", "run", config, "--endpoint", server.url, "--out", config.parent / "runs", "--json")
    result = moot(*command, "--contract-failure", "fail")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["stop_reason"], found["incomplete"]) == (1, "error", True)
    assert found["aggregates"]["incomplete"] is True
    assert found["notes"] == "6 of 6 answers have not the form that was asked for"
    found = run(config, server, "--contract-failure", "exclude")
    assert (found["stop_reason"], found["k_attempted"], found["k_eligible"]) == ("k_max_reached", 6, 0)


# ---------------------------------------------------------------- in a process of its own


class Running:
    """A live run in a process of its own."""

    def __init__(self, config: Path, server: ModelServer, *options: str, code: str = "") -> None:
        self.runs = config.parent / "runs"
        words = ["arbiter", "run", str(config), "--endpoint", server.url, "--out", str(self.runs), *options]
        self.errors = config.parent / "errors.txt"
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, *(["-c", code] if code else ["-m", "moot"]), *words],
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "NO_COLOR": "1"},
            )

    @property
    def directory(self) -> Path:
        (found,) = self.runs.iterdir()
        return found

    def wait_for(self, what: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not what():
            assert self.process.poll() is None, self.errors.read_text(encoding="utf-8")
            assert time.monotonic() < end, "it did not come"
            time.sleep(0.02)

    def ended(self) -> tuple[int, str]:
        """Return the exit code and standard error."""
        self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, self.errors.read_text(encoding="utf-8")


def test_a_run_that_is_killed_goes_on_and_pays_for_nothing_twice(config: Path, server: ModelServer) -> None:
    # The fifth call is never answered, so the kill comes while one is under way.
    server.plays(*[completion("Yes, on Sundays.")] * 4, Turn(stall="before"))
    one = Running(config, server, "--workers", "1")
    one.wait_for(lambda: len(server.calls) >= 5)
    one.process.kill()
    one.ended()
    directory = one.directory
    assert json.loads((directory / "manifest.json").read_text())["incomplete"] is True
    found = data("arbiter", "run", "--resume", directory)
    assert (found["stop_reason"], found["incomplete"], found["k_attempted"]) == ("k_max_reached", False, 6)
    # The one of which nobody knows whether it was answered is asked once more, and booked twice.
    assert (len(server.calls), len(server.embedded)) == (7, 6)
    assert "PASS" in done("arbiter", "verify", directory) and "WARN" not in done(
        "arbiter", "verify", directory
    )
    done("verify", directory / "ledger")
    said = complaint(1, "arbiter", "run", "--resume", directory)
    assert said.endswith("has ended, as k_max_reached: there is nothing to go on with")


def test_two_signals_cancel_what_is_in_flight_and_the_folder_is_whole(
    config: Path, server: ModelServer
) -> None:
    server.plays(*[completion("Yes, on Sundays.")] * 3, *[Turn(stall="before")] * 2)
    one = Running(config, server)
    one.wait_for(lambda: len(server.calls) >= 5)
    one.process.send_signal(signal.SIGINT)
    one.wait_for(lambda: "interrupted" in one.errors.read_text(encoding="utf-8"))
    one.process.send_signal(signal.SIGTERM)
    code, errors = one.ended()
    assert code == 0, errors
    assert f"moot arbiter run --resume {one.directory} goes on" in errors
    manifest = json.loads((one.directory / "manifest.json").read_text())
    assert (manifest["stop_reason"], manifest["incomplete"]) == ("user_interrupt", True)
    done("arbiter", "verify", one.directory)
    done("verify", one.directory / "ledger")
    server.always = completion("Yes, on Sundays.")
    assert data("arbiter", "run", "--resume", one.directory)["k_attempted"] == 6
    assert len(server.calls) == 3 + 2 + 3


def test_a_disk_that_is_full_ends_a_run_with_one_line_and_it_goes_on_later(
    config: Path, server: ModelServer
) -> None:
    server.always = completion("y" * 60_000)
    one = Running(config, server, "--workers", "1", "--quiet", code=FULL)
    code, errors = one.ended()
    assert code == 1
    assert errors.count("\n") == 1 and "cannot be written: File too large" in errors, errors
    manifest = json.loads((one.directory / "manifest.json").read_text())
    assert (manifest["stop_reason"], manifest["incomplete"]) == ("error", True)
    asked = len(server.calls)
    assert 0 < asked < 6
    found = data("arbiter", "run", "--resume", one.directory)
    assert (found["incomplete"], found["k_attempted"]) == (False, 6)
    # Whatever was answered was settled before it was used.
    assert (len(server.calls), len(server.embedded)) == (6, 6)
    done("arbiter", "verify", one.directory)


# ---------------------------------------------------------------- validate --live


def test_validate_reaches_the_endpoints_without_asking_any_model(config: Path, server: ModelServer) -> None:
    command = ("arbiter", "validate", config, "--live", "--endpoint", f"{server.url}#tiny-1")
    told = done(*command, "--embeddings", "wordllama")
    assert f"tiny-1 at {server.url}" in told and f"{server.url} answers" in told
    assert "wordllama/l2_supercat_256" in told
    assert {one.path for one in server.sent} == {"/v1/models"}
    server.key = KEY
    result = moot(*command, "--key-env", "A_KEY", "--embeddings", "wordllama", "--json", A_KEY="sk-wrong")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["valid"], found["live"][0]["ok"]) == (1, False, False)
    assert KEY not in result.output and "sk-wrong" not in result.output
    said = complaint(1, "arbiter", "validate", config, "--endpoint", server.url)
    assert said == "moot arbiter: --endpoint, --key-env and --embeddings go with --live"


def test_a_quickstart_asks_models_where_it_is_told_to(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    where = ("--endpoint", f"{server.url}#tiny-1", "--embeddings", "wordllama")
    found = data("arbiter", "quickstart", "Is tea better?", "--live", "--yes", *where)
    assert len(server.calls) == found["k_attempted"] > 0 and found["stop_reason"] == "k_max_reached"
    said = complaint(1, "arbiter", "quickstart", "--yes", *where)
    assert said.endswith("--endpoint, --key-env, --embeddings and --budget go with --live")


def test_a_report_says_that_a_budget_had_no_room_left(
    config: Path, server: ModelServer, tmp_path: Path
) -> None:
    settings = tmp_path / "moot.toml"
    settings.write_text("[budget]\ncalls = 3\n", encoding="utf-8")
    endpoint = ("--endpoint", f"{server.url}#tiny-1", "--out", tmp_path / "runs")
    found = data("arbiter", "run", config, *endpoint, MOOT_CONFIG=str(settings))
    assert data("arbiter", "report", found["path"])["state"] == "spent"
    assert "out of budget after" in done("arbiter", "report", found["path"])
