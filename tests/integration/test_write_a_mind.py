"""The page on writing a mind, as it stands: a file in a folder outside the tree, tried and seated as the page says."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from moot.config.settings import load_settings
from moot.minds.choosing import chosen

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "write-a-mind.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```\n", PAGE, re.S)
CODE, FROM_PYTHON = (text for kind, text in BLOCKS if kind == "python")
(SETTINGS,) = (text for kind, text in BLOCKS if kind == "toml")
(COMMANDS,) = (text for kind, text in BLOCKS if kind == "sh")
SAID = [text.split("\n", 1) for kind, text in BLOCKS if kind == "text"]
TABLE = dict(re.findall(r"^\| (.*?) \| `(minds.*?)` \|$", PAGE, re.M))


@pytest.fixture
def place(tmp_path):
    (tmp_path / "my_minds.py").write_text(CODE)
    return tmp_path


def moot(place, *args):
    """Run the program where the file stands; nothing but Moot itself is on the path."""
    return run(place, "-m", "moot", *args, PYTHONSAFEPATH="1")


def run(place, *args, **env):
    given = {**os.environ, "PYTHONPATH": str(ROOT), **env}
    given.pop("COLUMNS", None)  # which some runners of tests set, and lines would be broken there
    done = subprocess.run(
        [sys.executable, *args], cwd=place, env=given, capture_output=True, timeout=110, check=False
    )
    return SimpleNamespace(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())


def test_the_example_has_under_30_lines():
    assert CODE.count("\n") < 30


@pytest.mark.parametrize(("command", "expected"), SAID, ids=lambda text: text[:80])
def test_the_check_says_what_the_page_says(place, command, expected):
    done = moot(place, *command.removeprefix("$ moot ").split())
    assert (done.code, done.out) == (0 if "\npasses" in expected else 1, expected), done.err


def test_the_mind_sits_in_a_society_as_the_page_says(place):
    debated, simulated, logged, verified = (
        moot(place, *shlex.split(line)[1:]) for line in COMMANDS.splitlines()
    )
    assert "objections  1 major" in debated.out and "critic: the mind my_minds:MyCritic" in debated.out
    assert (simulated.code, simulated.err) == (0, "")
    assert "rates hyp_" in logged.out
    assert verified.code == 0 and "every rule holds" in verified.out
    (opinions,) = re.findall(r"`(\d+ critic by the mind\s'my_minds:MyCritic', \d+ simulated)`", PAGE)
    assert opinions.replace("\n", " ") in verified.out
    started = json.loads(moot(place, "log", "run", "--type", "SOCIETY_STARTED", "--json").out)
    assert started["body"]["config"]["minds"]["critic"] == "my_minds:MyCritic"


def test_the_mind_sits_in_a_debate_from_python_as_the_page_says(place):
    (place / "debate.py").write_text(FROM_PYTHON)
    done = run(place, "debate.py")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(" ['Who pays for it?'] ()\n")


def test_the_configuration_of_the_page_seats_it(place, monkeypatch):
    (place / "my-society.toml").write_text(SETTINGS)
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(str(place))
    try:
        found = chosen(load_settings(place / "my-society.toml").minds)
    finally:
        sys.modules.pop("my_minds", None)
    assert (found["critic"].mind.limit, found["critic"].timeout_s) == (3, 20.0)
    assert (found["evolver"].name, found["trader"].name) == ("simulated", "silent")


OPTION = "give an option that the class does not take"
WRONG = {
    "misspell the module": "critic=my_mind:MyCritic",
    "misspell the class": "critic=my_minds:MyCritik",
    "name what is no mind": "critic=my_minds:SCORES",
    "name a seat that is none": "critc=my_minds:MyCritic",
    "name an officer's seat": "referee=my_minds:MyCritic",
}


@pytest.mark.parametrize(("what", "given"), WRONG.items(), ids=list(WRONG))
def test_what_goes_wrong_is_the_line_of_the_page_and_nothing_starts(place, what, given):
    done = moot(place, "simulate", "--days", "1", "--mind", given, "--out", "run")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"moot simulate: {TABLE[what].removesuffix('…')}")
    assert done.err.count("\n") == 1
    assert not (place / "run").exists()


def test_an_option_that_the_class_does_not_take_is_the_line_of_the_page(place):
    line = TABLE[OPTION]
    assert moot(
        place, "minds", "check", "my_minds:MyCritic", "--seat", "critic", "--option", "limits=1"
    ).err == (f"moot minds: {line}\n")
    (place / "mine.toml").write_text('[minds]\ncritic = { module = "my_minds:MyCritic", limits = 1 }\n')
    done = moot(place, "up", "--config", "mine.toml", "--data", "life")
    assert (done.code, done.err) == (2, f"moot up: mine.toml: {line}\n"), "with its file"
    assert not (place / "life").exists()
    assert {*TABLE} == {*WRONG, OPTION}, "every line of the table is tried"
