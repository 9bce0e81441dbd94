"""`moot verify`: what it prints; what it finds is tested elsewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doubles.command_line import complaint, data, done, moot, write
from tests.doubles.data_dir import a_debate, write_log

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log(tmp_path_factory.mktemp("log") / "data", a_debate().log)


def test_a_log_that_holds_is_summed_up(place: Path) -> None:
    text = done("verify", place)

    assert text.startswith("11 messages, every rule holds  2026-02-23 10:00 to 2026-02-23 11:04\n")
    assert data("verify", place)["ok"] is True


def test_a_log_that_does_not_names_the_message_and_fails(place: Path, tmp_path: Path) -> None:
    lines = done("log", place, "--json").splitlines()
    lines[3] = lines[3].replace('"confidence":0.6', '"confidence":0.7')
    file = write(tmp_path / "x.jsonl", "\n".join(lines) + "\n")

    result = moot("verify", file)
    assert result.exit_code == 1
    assert result.stdout.startswith("1 finding in 11 messages\nseq 4 ")
    assert "hash, K15" in result.stdout

    result = moot("verify", file, "--json")
    assert result.exit_code == 1
    assert '"seq": 4' in result.stdout


def test_what_is_not_borne_out_is_always_told_and_fails_a_strict_check(place: Path, tmp_path: Path) -> None:
    lines = done("log", place, "--json").splitlines()
    bare = [re.sub(r',"hash":"[0-9a-f]{64}"', "", line) for line in lines]
    file = write(tmp_path / "bare.jsonl", "\n".join(bare) + "\n")

    plain, strict = moot("verify", file), moot("verify", file, "--strict")
    for result in (plain, strict):
        assert "not borne out: seq 1: no message has a hash" in result.stderr
    assert (plain.exit_code, strict.exit_code) == (0, 1)
    assert strict.stdout.startswith("11 messages, every rule holds, not all of it is borne out\n")
    assert "opinions, taken as said: " in plain.stdout
    assert "contradict each other" in complaint(2, "verify", file, "--strict", "--no-evidence")


def test_a_log_may_come_from_the_input(place: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "moot", "verify", "-"],
        cwd=ROOT, input=done("export", place, "-").encode(), capture_output=True, check=True,
    )  # fmt: skip

    assert found.stdout.startswith(b"11 messages, every rule holds")


def test_what_is_no_log_is_usage(tmp_path: Path, place: Path) -> None:
    assert "there is no such file or directory" in complaint(2, "verify", tmp_path / "x")
    assert "holds no log.sqlite" in complaint(2, "verify", tmp_path)
    assert f"holds a run: name it, {place}" in complaint(2, "verify", place.parent)
    assert "is no Moot log" in complaint(2, "verify", write(tmp_path / "y", "hello"))
