"""The commands on real societies: a simulated run, and one that lives in a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.command_line import complaint, data, done, moot, write

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two simulated days."""
    place = tmp_path_factory.mktemp("runs") / "run"
    done("simulate", "--days", 2, "--seed", 3, "--out", place)
    return place


def messages(place: Path, *options: object) -> list[Any]:
    return [json.loads(line) for line in done("log", place, "--json", *options).splitlines()]


def test_the_same_options_give_the_same_log(run: Path, tmp_path: Path) -> None:
    again = data("simulate", "--days", 2, "--seed", 3, "--out", tmp_path / "again")

    assert done("log", tmp_path / "again", "--json") == done("log", run, "--json")
    assert again["messages"] == len(messages(run))
    assert again["head_hash"] == messages(run)[-1]["hash"]


def test_a_simulated_run_verifies_and_an_altered_one_does_not(run: Path, tmp_path: Path) -> None:
    assert "every rule holds" in done("verify", run)

    done("export", run, tmp_path / "x.jsonl")
    lines = (tmp_path / "x.jsonl").read_text().splitlines()
    cut = write(tmp_path / "cut.jsonl", "\n".join(lines[:60] + lines[61:]) + "\n")
    result = moot("verify", cut)
    assert result.exit_code == 1
    assert "seq 61" in result.stdout


@pytest.mark.parametrize(
    "command", ["status", "log", "obligations", "escalations", "calls", "positions", "strategies"]
)
def test_commands_that_show_read_moot_data_where_no_directory_is_named(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    (tmp_path / "moot-data").symlink_to(run)
    monkeypatch.chdir(tmp_path)
    assert done(command, "--json") == done(command, "moot-data", "--json")


@pytest.mark.parametrize("command", ["pause", "resume"])
def test_commands_that_set_the_pace_act_on_moot_data_where_no_directory_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "moot-data" in complaint(2, command)


ID = re.compile(r"(?<![\w/.#:-])[a-z]+_\d{3,}[\w-]*(?:/[\w.-]+)*")
"""How ids look in what commands print."""


def ids_in(value: Any, name: str = "") -> Iterator[str]:
    """Yield the ids in data that a command prints."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from ids_in(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from ids_in(item, name)
    elif isinstance(value, str) and value and (name == "id" or name.endswith("_id")):
        yield value


PAGES = ("status", "obligations", "escalations", "calls", "positions", "strategies")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_80_columns_where_it_is_piped(run: Path, page: str) -> None:
    assert max(map(len, done(page, run).splitlines())) <= 80


def test_every_id_that_a_command_prints_can_be_asked_about(run: Path) -> None:
    printed = "\n".join(done(word, run) for word in (*PAGES, "log"))
    found = {*ID.findall(printed), *ids_in([data(word, run) for word in PAGES]), *ids_in(messages(run))}
    of_each_kind = {re.sub(r"\d+", "9", one): one for one in sorted(found)}

    assert {"hyp_9_9", "strat_9_9", "cau_9", "cycle_9_9", "dep_9_9"} <= of_each_kind.keys()
    for one in of_each_kind.values():
        assert data("why", run, one)["id"] == one


def test_every_case_of_a_run_can_be_told(run: Path) -> None:
    ids = {message["case_id"] for message in messages(run) if message["case_id"]}

    stories = [data("case", run, case_id) for case_id in sorted(ids)]

    assert {story["kind"] for story in stories} >= {"cycle", "debate", "daily"}
    assert all(story["path"] and story["transcript"] for story in stories)


def test_rebuilt_memory_is_that_of_the_society(run: Path, tmp_path: Path) -> None:
    import asyncio

    from moot.memory.sqlite import SqliteStore

    async def digest(path: Path) -> tuple[int, str]:
        async with await SqliteStore.open(path) as store:
            return store.applied_seq, store.read().digest()

    copy = tmp_path / "copy"
    done("backup", run, copy)
    live = asyncio.run(digest(copy / "moot.memory.sqlite"))
    (copy / "moot.memory.sqlite").unlink()

    rebuilt = data("rebuild", copy)

    assert (rebuilt["seq"], rebuilt["digest"]) == live
    assert rebuilt["seq"] == len(messages(run))


def test_standing_and_escalations_of_a_run(run: Path) -> None:
    status = data("status", run)
    half = data("status", run, "--until", status["seq"] // 2)

    assert (status["running"], status["clock"]) == (False, "virtual")
    assert half["seq"] == status["seq"] // 2
    assert isinstance(data("escalations", run), list)


def test_a_scene_is_played(tmp_path: Path) -> None:
    scene = write(
        tmp_path / "scene.yaml",
        "start: 2026-02-23T10:00:00Z\nuntil: 4h\nseed: 7\ncycle: once\nminds:\n"
        "  evolver: {script: [{type: VERDICT, verdict: REVISE, confidence: 0.7}]}\n",
    )

    lines = [
        json.loads(line) for line in done("scene", scene, "--json", "--out", tmp_path / "kept").splitlines()
    ]

    assert "REVISE_REQUEST" in [line["body"]["type"] for line in lines]
    assert messages(tmp_path / "kept") == lines
    assert "every rule holds" in done("verify", tmp_path / "kept")


# ------------------------------------------------------------------ a society in a process of its own


@contextmanager
def up(place: Path, *options: object, with_page: bool = False) -> Iterator[subprocess.Popen[str]]:
    """Start a society and wait until it answers; kill it at the end if it is still there."""
    process = subprocess.Popen(
        [sys.executable, "-m", "moot", "up", *([] if with_page else ["--no-console"]), "--data", place,
         *map(str, options)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    try:
        wait_for(lambda: process.poll() is None and is_running(place), process, s=250)
        yield process
    finally:
        process.kill()
        process.communicate()


def is_running(place: Path) -> bool:
    if not (place / "log.sqlite").exists():
        return False
    result = moot("status", place, "--json")
    if result.exit_code:
        return False
    found = json.loads(result.stdout)
    return bool(found["running"] and not found["warm_up"])


def wait_for(
    condition: Callable[[], bool], process: subprocess.Popen[str] | None = None, s: float = 60
) -> None:
    end = time.perf_counter() + s
    while not condition():
        assert process is None or process.poll() is None, process.communicate()
        assert time.perf_counter() < end, "it never came"
        time.sleep(0.1)


def test_people_act_in_a_living_society(tmp_path: Path) -> None:
    place = tmp_path / "data"
    with up(place, "--speed", 300, "--warm-up", 1) as process:
        done("post", place, "a-arena", "Good morning")
        wait_for(lambda: data("status", place)["queued"] == 0)
        assert [m["body"]["text"] for m in messages(place, "--type", "NOTE")] == ["Good morning"]
        assert "is a viewer here" in complaint(3, "take", place, "critic", "--as", "nobody-here")

        assert "hosts a society" in complaint(3, "up", "--data", place)
        assert "hosts a society" in complaint(3, "rebuild", place)

        assert done("pause", place).startswith("paused")
        assert data("status", place)["paused"] is True
        assert done("step", place, 2).startswith("paused")
        assert done("speed", place, 60).startswith("×60")
        assert data("status", place)["speed"] == 60.0

        done("take", place, "critic")
        done("release", place, "critic")
        # A seat that a person held slows the clock to 1x for as long as it owes (K8).
        done("speed", place, 300)

        done("backup", place, tmp_path / "copy")
        assert "every rule holds" in done("verify", tmp_path / "copy")

        done("stop", place, "--why", "enough for today")
        output, _ = process.communicate(timeout=90)
        assert process.returncode == 0, output

    assert "Traceback" not in output
    assert data("status", place)["running"] is False
    assert "every rule holds" in done("verify", place)


def test_what_was_queued_is_said_once_by_the_next_society(tmp_path: Path) -> None:
    place = tmp_path / "data"
    with up(place, "--speed", 300) as process:
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=90)
        assert process.returncode == 0, output
    before = len(messages(place))
    assert done("post", place, "bridge", "for later").startswith("queued")

    with up(place, "--speed", 300) as process:
        wait_for(lambda: data("status", place)["queued"] == 0)
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=90)
        assert process.returncode == 0, output
    with up(place, "--speed", 300):
        time.sleep(0.5)

    notes = [m for m in messages(place) if m["body"]["type"] == "NOTE"]
    assert [(m["body"]["text"], m["seq"] > before) for m in notes] == [("for later", True)]
    assert "every rule holds" in done("verify", place)


def test_a_real_clock_has_no_pace(tmp_path: Path) -> None:
    place = tmp_path / "data"
    with up(place):
        assert "real clock" in complaint(3, "pause", place)
        assert "real time" in done("status", place)


@pytest.mark.parametrize("command", ["status", "obligations", "escalations"])
def test_a_directory_left_out_is_moot_data(command: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "moot", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    told = done.stderr.strip()
    assert "there is no moot-data: moot up" in told
    assert len(told.splitlines()) == 1
