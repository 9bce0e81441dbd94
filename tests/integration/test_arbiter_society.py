"""Mock runs of which a real `moot up` hears: a person stops one, the society is killed in the middle of another."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from moot.logs import open_log
from moot.stored import stored_envelopes
from moot.verify import verify
from tests.doubles.arbiter_files import changed
from tests.doubles.command_line import complaint, done
from tests.integration.test_arbiter_interrupted import Running, manifest_of
from tests.integration.test_up_kill import head, start, wait_for
from tests.unit.moot.test_arbiter_artifacts import read

PATIENCE_S = 60
MANY = "3000"


Begin = Callable[..., Running]


class Society:
    """A `moot up` on a directory, started anew as often as the test wants."""

    def __init__(self, folder: Path) -> None:
        self.directory, self._config = folder / "data", folder / "moot.toml"
        self._config.write_text("[desk]\nenabled = false\n")
        self._process: Any = None

    def start(self) -> None:
        before = head(self.directory)
        self._process = start(self.directory, self._config)
        wait_for(lambda: head(self.directory) > before, PATIENCE_S, "society")

    def end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(PATIENCE_S)
            self._process = None

    def told(self, kind: str, running: Running) -> list[Any]:
        """Return what the lab told of a run, oldest first."""
        envelopes = [env for env in stored_envelopes(self.directory) if env.body.type == kind]
        return [env.body for env in envelopes if env.case_id == f"exp_{running.directory.name}"]

    def findings(self) -> list[str]:
        with open_log(self.directory) as source:
            return [str(finding) for finding in verify(source).findings]


@pytest.fixture(scope="module")
def society(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Society]:
    found = Society(tmp_path_factory.mktemp("society"))
    found.start()
    try:
        yield found
    finally:
        found.end(signal.SIGKILL)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    done("arbiter", "init", "Is tea better than coffee?", "--out", path)
    return path


@pytest.fixture
def begin(society: Society, config: Path) -> Iterator[Begin]:
    """Begin mock runs of which the society hears; none outlives the test."""
    found = []

    def begun(*options: str, delay_ms: str) -> Running:
        found.append(Running(config, "--data", str(society.directory), *options, delay_ms=delay_ms))
        return found[-1]

    yield begun
    for running in found:
        running.process.kill()
        running.process.communicate()


def test_who_is_no_admin_is_refused_before_anything_is_asked(
    society: Society, config: Path, tmp_path: Path
) -> None:
    said = complaint(
        3,
        "arbiter",
        "mock-run",
        config,
        "--out",
        tmp_path / "runs",
        "--data",
        society.directory,
        "--as",
        "eve",
    )
    assert "refuses this run: eve on cli is no admin of this society" in said
    assert not (tmp_path / "runs").exists()
    assert all(env.body.type != "EXPERIMENT_STARTED" for env in stored_envelopes(society.directory))


@pytest.mark.parametrize(
    ("kind", "contract", "labels"),
    [
        ("moot:debate", "binary_decision_v1", {"yes", "no"}),
        ("moot:arena", "arena_outcome_v1", {"approved", "unresolved"}),
        ("moot:panel", "editorial_decision_v1", {"reject_or_major_revision"}),
    ],
)
def test_a_society_hears_of_trials_that_are_protocols_of_its_own(
    society: Society, config: Path, kind: str, contract: str, labels: set[str]
) -> None:
    protocol = {"type": kind, "decision_contract": {"id": contract}}
    changed(config, lambda plain: plain.update(protocol=protocol))
    changed(config, lambda plain: plain["execution"].update(k_max=6, k_min=1, batch_size=3))
    options = ("--out", config.parent / "runs", "--data", society.directory, "--quiet")
    directory = Path(done("arbiter", "mock-run", config, *options).strip())

    def heard() -> dict[str, Any]:
        log = stored_envelopes(society.directory)
        return {env.body.type: env.body for env in log if env.case_id == f"exp_{directory.name}"}

    wait_for(lambda: "EXPERIMENT_ENDED" in heard(), PATIENCE_S, "end")
    told = heard()
    assert told["EXPERIMENT_STARTED"].protocol == kind
    last = told["EXPERIMENT_BATCH"]
    assert (last.k_attempted, {one.label for one in last.labels} <= labels) == (6, True)
    assert sum(one.count for one in last.labels) > 0
    assert told["EXPERIMENT_ENDED"].stop_reason == "k_max_reached"
    assert society.findings() == []


@pytest.mark.timeout(300)
def test_a_person_stops_a_run_and_its_end_says_who(society: Society, begin: Begin) -> None:
    running = begin("--max-trials", MANY, "--batch-size", "5", delay_ms="50")
    running.wait_for(lambda: len(society.told("EXPERIMENT_BATCH", running)) >= 2)
    (started,) = society.told("EXPERIMENT_STARTED", running)
    done("stop", society.directory, "--scope", started.experiment_id, "--why", "it is clear")
    code, errors = running.ended()

    assert code == 0, errors
    assert f"{started.started_by.user_id} on cli stopped this run: no further trial begins" in errors
    manifest = manifest_of(running.directory)
    assert (manifest["stop_reason"], manifest["incomplete"]) == ("user_interrupt", True)
    (ended,) = society.told("EXPERIMENT_ENDED", running)
    assert ended.stopped_by == started.started_by
    rows = read(running.directory / "convergence_trace.jsonl")
    batches = society.told("EXPERIMENT_BATCH", running)
    assert [(b.batch_number, b.k_eligible, b.novelty_rate, b.clusters.entropy) for b in batches] == [
        (row["batch_number"], row["k_eligible"], row["novelty_rate"], row["entropy"]) for row in rows
    ]
    assert society.findings() == []
    done("arbiter", "verify", running.directory)


@pytest.mark.timeout(300)
def test_a_society_that_is_killed_hears_all_of_it_once_when_it_is_back(
    society: Society, config: Path, begin: Begin
) -> None:
    running = begin("--max-trials", "150", "--batch-size", "10", delay_ms="60")
    running.wait_for(lambda: len(society.told("EXPERIMENT_BATCH", running)) >= 2)
    society.end(signal.SIGKILL)
    code, errors = running.ended()

    assert code == 0, errors
    assert errors.count("is away: what this run tells waits for it") == 1
    assert society.told("EXPERIMENT_ENDED", running) == []
    said = complaint(3, "arbiter", "mock-run", config, "--data", society.directory)
    assert "no society lives in" in said
    society.start()
    wait_for(lambda: society.told("EXPERIMENT_ENDED", running), PATIENCE_S, "end")
    rows = read(running.directory / "convergence_trace.jsonl")
    assert [b.batch_number for b in society.told("EXPERIMENT_BATCH", running)] == [
        row["batch_number"] for row in rows
    ]
    (ended,) = society.told("EXPERIMENT_ENDED", running)
    manifest = manifest_of(running.directory)
    assert ended.stop_reason == manifest["stop_reason"]
    assert ended.k_attempted == manifest["k_attempted"]
    assert society.findings() == []


def test_a_society_that_does_not_live_hears_of_nothing_and_nothing_is_asked(
    config: Path, tmp_path: Path
) -> None:
    said = complaint(
        2, "arbiter", "mock-run", config, "--out", tmp_path / "runs", "--data", tmp_path / "nowhere"
    )
    assert "there is no society: start one with moot up --data" in said
    assert not (tmp_path / "runs").exists()
