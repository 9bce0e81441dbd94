"""Commands on a log of a protocol that is configured, and of one that is not to be found."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "write-a-protocol.md").read_text(encoding="utf-8")
(CODE,) = re.findall(r"```python\n(.*?)```\n", PAGE, re.S)
(SCENE,) = re.findall(r"```yaml\n(.*?)```\n", PAGE, re.S)
CASE = "question_20260223_1005"
MIND = """
import moot


class Doubter(moot.Mind):
    def answer(self, view):
        return view.reply(agrees=False)


class Wrong(moot.Mind):
    def answer(self, view):
        return view.reply(agrees="perhaps")
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    here = tmp_path_factory.mktemp("foreign")
    (here / "site" / "weather").mkdir(parents=True)
    (here / "site" / "weather" / "__init__.py").write_text(CODE)
    (here / "site" / "my_minds.py").write_text(MIND)
    (here / "rain.yaml").write_text(SCENE)
    (here / "moot.toml").write_text('[protocols]\nmodules = ["weather"]\n')
    made = moot(here, "scene", "rain.yaml", "--out", "rain", MOOT_CONFIG="moot.toml")
    assert made.returncode == 0, made.stderr
    return here


def moot(place, *args, **env):
    done = subprocess.run(
        [sys.executable, "-m", "moot", *args],
        cwd=place,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{place / 'site'}", "COLUMNS": "200", **env},
        capture_output=True,
        timeout=120,
        check=False,
    )
    return SimpleNamespace(
        returncode=done.returncode, stdout=done.stdout.decode(), stderr=done.stderr.decode()
    )


COMMANDS = [
    (["log", "rain"], 0, "Will it rain tomorrow?"),
    (["log", "rain", "--type", "QUESTION"], 0, "asks question"),
    (["log", "rain", "--channel", "weather"], 0, "agrees with"),
    (["case", "rain", "question"], 0, "forecasting → doubting → ended"),
    (["case", "rain", CASE], 0, "agreed"),
    (["why", "rain", CASE], 0, "End as the sceptic says."),
    (["status", "rain"], 0, "messages"),
    (["obligations", "rain"], 0, ""),
    (["escalations", "rain"], 0, ""),
    (["verify", "rain"], 0, "every rule holds"),
    (["view", "rain", "sceptic"], 0, "39.26 %"),
    (["calls", "rain"], 0, ""),
    (["export", "rain", "-"], 0, "QUESTION"),
    (["rebuild", "rain"], 0, "5 messages"),
    (["act", "rain", "ask", "text=Will it snow?"], 0, "queued"),
]


@pytest.mark.parametrize(("command", "code", "said"), COMMANDS, ids=[" ".join(c[:3]) for c, _, _ in COMMANDS])
def test_every_command_speaks_what_moot_config_names(place, command, code, said):
    done = moot(place, *command, MOOT_CONFIG="moot.toml")
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert said in done.stdout and "not installed" not in done.stderr


@pytest.mark.parametrize(
    "command", [c for c, _, _ in COMMANDS], ids=[" ".join(c[:3]) for c, _, _ in COMMANDS]
)
def test_every_command_names_the_protocol_that_is_lacking(place, command):
    done = moot(place, *command)
    assert done.stderr.count("weather") == 1 and "which is not installed here" in done.stderr
    assert "install" in done.stderr and done.stderr.count("\n") == 1
    assert not re.search("never opened|there is no|Traceback", done.stderr)


def test_a_log_of_no_foreign_protocol_is_told_nothing_of_one(place):
    assert moot(place, "simulate", "--days", "0.1", "--out", "plain").returncode == 0
    for command in (["status", "plain"], ["log", "plain"], ["case", "plain", "nothing_1"]):
        assert "not installed" not in moot(place, *command).stderr


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (None, "moot: MOOT_CONFIG odd.toml: cannot be read: no such file or directory"),
        ("[protocols", "moot: MOOT_CONFIG odd.toml: is not TOML"),
        ("[protocols]\nmodules = 3", "moot: odd.toml: protocols.modules must be a list of module names"),
        ('[protocols]\nmodules = ["wether"]', "moot: protocols: the module wether cannot be imported"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_one_line(place, text, line):
    (place / "odd.toml").unlink(missing_ok=True)
    if text is not None:
        (place / "odd.toml").write_text(text)
    done = moot(place, "log", "rain", MOOT_CONFIG="odd.toml")
    assert done.returncode == 2 and done.stderr.startswith(line) and done.stderr.count("\n") == 1


def test_minds_check_tries_the_seats_of_a_foreign_protocol(place):
    config = {"MOOT_CONFIG": "moot.toml"}
    right = moot(place, "minds", "check", "my_minds:Doubter", "--seat", "sceptic", "--days", "1", **config)
    assert right.returncode == 0 and "question doubt" in right.stdout, right.stdout + right.stderr
    wrong = moot(place, "minds", "check", "my_minds:Wrong", "--seat", "sceptic", "--days", "1", **config)
    assert wrong.returncode == 1 and "agrees" in wrong.stdout


def test_why_speaks_of_people_and_not_of_an_admin_or_a_debate(place):
    told = moot(place, "why", "rain", CASE, MOOT_CONFIG="moot.toml").stdout
    assert "\npeople " in told and "\nadmin " not in told
    assert not re.search("debate|strategy|trade|hypothesis", told)


def test_verify_names_the_people_who_acted(place):
    code = f"""
import moot, weather
with moot.society(weather, people=["ann"]) as s:
    s.post("ann", weather.Question(text="Rain?"))
    s.expect("DOUBT")
    s.log.write({str(place / "said.jsonl")!r})
"""
    made = subprocess.run(
        [sys.executable, "-c", code],
        cwd=place,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{place / 'site'}"},
        capture_output=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    told = moot(place, "verify", "said.jsonl", MOOT_CONFIG="moot.toml")
    assert "1 by people" in told.stdout and "what people said: 1 by ann on test" in told.stdout
    found = json.loads(moot(place, "verify", "said.jsonl", "--json", MOOT_CONFIG="moot.toml").stdout)
    assert found["people"] == {"ann on test": 1}
    assert "by people" in moot(place, "verify", "said.jsonl", "--protocol", "weather").stdout
