"""The page on writing a protocol, as it stands: a package outside the tree, found by its entry point."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from threading import Timer
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

from moot.cli.place import login_name
from tests.doubles.browser import browser, somebody
from tests.doubles.console_page import Consoled

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "write-a-protocol.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```\n", PAGE, re.S)
(CODE,) = (text for kind, text in BLOCKS if kind == "python")
(SCENE,) = (text for kind, text in BLOCKS if kind == "yaml")
PACKAGE, PROJECT, SETTINGS = (text for kind, text in BLOCKS if kind == "toml")
SAID = [text.split("\n", 1) for kind, text in BLOCKS if kind == "text"]


@pytest.fixture
def place(tmp_path):
    (tmp_path / "site" / "weather").mkdir(parents=True)
    (tmp_path / "site" / "weather" / "__init__.py").write_text(CODE)
    (tmp_path / "rain.yaml").write_text(SCENE)
    return tmp_path


def install(place):
    made = place / "site" / "moot_weather-1.0.dist-info"
    made.mkdir(exist_ok=True)
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: moot-weather\nVersion: 1.0\n")
    (made / "entry_points.txt").write_text(f"[moot.protocols]\n{PACKAGE.splitlines()[1]}\n".replace('"', ""))


def run(place, *args, **env):
    given = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{place / 'site'}", **env}
    done = subprocess.run(
        [sys.executable, *args], cwd=place, env=given, capture_output=True, timeout=120, check=False
    )
    return SimpleNamespace(
        returncode=done.returncode, stdout=done.stdout.decode(), stderr=done.stderr.decode()
    )


def moot(place, *args, **env):
    return run(place, "-m", "moot", *args, **env)


def test_one_folder_and_one_line_give_a_protocol_that_runs_as_the_page_says(place):
    assert CODE.count("\n") <= 150
    assert len(PACKAGE.splitlines()) == 2, "one line below the heading of its group"
    install(place)
    for command, expected in SAID:
        done = moot(place, *shlex.split(command.removeprefix("$ moot ")))
        assert (done.returncode, done.stdout) == (0, expected), done.stderr
    assert len(SAID) == 4
    assert "(root on cli) asks" in live(place, "Will it snow tomorrow?").replace(login_name(), "root")


def test_the_log_names_the_protocols_that_a_society_speaks(place):
    install(place)
    first = json.loads(moot(place, "scene", "rain.yaml", "--json").stdout.splitlines()[0])
    assert first["body"]["config"]["protocols"] == ["weather"]


def test_why_says_how_its_case_ended_and_by_which_rule(place):
    install(place)
    assert moot(place, "scene", "rain.yaml", "--out", "rain").returncode == 0
    told = " ".join(moot(place, "why", "rain", "question").stdout.split())
    assert told.startswith("Question question_20260223_1005 ended day")
    assert (
        "#4 Sceptic agrees with 39.26 % on question_20260223_1005 row: Question while doubting, doubt → ended"
        in told
    )
    assert "rule: End as the sceptic says." in told


def test_the_consoles_case_view_shows_its_phases(place):
    install(place)
    assert moot(place, "scene", "rain.yaml", "--out", "rain").returncode == 0
    look = """
import asyncio
from pathlib import Path
from moot.cli.speaking import speak_installed
from tests.doubles.console import watched

async def main():
    async with watched(Path("rain")) as model:
        view = await model.case("question_20260223_1005")
        print(view.kind, *view.phases, view.outcome, *(step.phase for step in view.path))

speak_installed()
asyncio.run(main())
"""
    done = run(place, "-c", look)
    assert done.stdout.splitlines()[-1:] == [
        "question forecasting doubting ended agreed forecasting doubting ended"
    ], done.stderr


def test_its_act_is_a_command_on_every_surface_and_at_the_console(place):
    install(place)
    look = """
import asyncio, json
from moot.channels.chat.commands import parse, usage
from moot.channels.discord.slash import listed
from moot.channels.inbound import draft_of
from moot.channels.surface import InboundAct
from moot.cli.speaking import speak_installed
from moot.console.page.views import commands_for
from moot.protocols.kernel.seats import ADMIN, VIEWER
from moot.protocols.rulebook import rules
from types import SimpleNamespace

speak_installed()
matrix = rules().matrix

def why_not(person, kind, channel):
    return "" if matrix.may_write(person.seat, "#weather", "QUESTION") else f"{person.seat} may not post QUESTION"

def may(seat):
    person = SimpleNamespace(seat=seat, is_admin=seat == ADMIN)
    (one,) = (c for c in commands_for(SimpleNamespace(why_not=why_not), person) if c["name"] == "ask")
    return one

said = parse("/ask Will it rain tomorrow?")
act = InboundAct(platform="slack", user_id="U1", user_name="Ana", platform_message_id="m", channel="#admin",
                 kind=said.kind, fields=said.fields)
draft = draft_of(act, ADMIN)
(option,) = next(c for c in listed() if c["name"] == "ask")["options"]
print(json.dumps([draft.channel, draft.body.type, draft.body.text, option["description"], may(ADMIN), may(VIEWER),
                  [line for line in usage().splitlines() if "/ask" in line]]))
"""
    done = run(place, "-c", look)
    assert done.returncode == 0, done.stderr
    channel, kind, text, help_, admins, viewers, lines = json.loads(done.stdout)
    assert (channel, kind, text) == ("#weather", "QUESTION", "Will it rain tomorrow?")
    assert help_ == "what"
    assert admins == {
        "name": "ask",
        "usage": "/ask TEXT",
        "does": "ask for a forecast",
        "asks": False,
        "act": "ask",
        "seat": False,
        "may": "",
    }
    assert viewers["may"] == "Only an admin may write /ask; you are a viewer."
    assert [line.split() for line in lines] == [["/ask", "TEXT", "ask", "for", "a", "forecast"]]


FIELDS = """    text: str
    days: Annotated[int, Field(ge=1, le=14)]
    how: Literal["rain", "snow", "hail"] = "rain"
    places: tuple[str, ...] = ()
"""
ASKED = {"text": "what", "days": "in how many days", "how": "what kind", "places": "where"}
BLANKS = "".join(f'Blank("{name}", "{help_}"), ' for name, help_ in ASKED.items())
IMPORTS = "import Annotated, Any, ClassVar, Literal\n\nfrom pydantic import Field\n"
RICHER = (
    CODE.replace("    text: str\n", FIELDS)
    .replace('Blank("text", "what"),', BLANKS)
    .replace("{question_id}: {text}", "{question_id}: {text} ({days}, {how}, {places})")
    .replace("import Any, ClassVar, Literal\n", IMPORTS)
)


def richer(place):
    (place / "site" / "weather" / "__init__.py").write_text(RICHER)
    (place / "rain.yaml").write_text(SCENE.partition("inject:")[0])
    install(place)
    assert moot(place, "scene", "rain.yaml", "--out", "rain").returncode == 0


def test_its_act_takes_numbers_choices_and_lists_on_the_command_line(place):
    richer(place)
    ask = ("act", "rain", "ask", "text=Wet?", "days=3")
    wrong = moot(place, *ask[:-1], "days=soon")
    assert wrong.returncode == 2 and wrong.stderr.startswith("moot act: ask: days: give a whole number, not")
    assert "write moot act DIR ask text=TEXT days=DAYS [how=HOW] [places=PLACES]" in wrong.stderr
    refused = moot(place, *ask, "--as", "ann")
    assert refused.returncode == 3 and "viewer may not post QUESTION: only admin may" in refused.stderr
    assert "ask for a forecast: text, days, how, places" in moot(place, "act", "--help").stdout
    assert moot(place, *ask, "how=hail", "places=Bonn", "places=Ulm").returncode == 0
    assert "Wet? (3, hail, Bonn; Ulm)" in live(place, "Wet?")


LOSE_ONE = """() => {
    const root = getElement(document.querySelector(".moot").id.slice(1)), answer = root.answer;
    window.lost = 0;
    root.answer = (id, result, fault) => {
        if (!result?.seq || window.lost++) return answer(id, result, fault);
        const { reject, timer } = root.open[id];
        delete root.open[id];
        clearTimeout(timer);
        reject(Object.assign(new Error("lost"), { isLost: true }));
        root.answer = answer;
    };
}"""


def test_its_act_is_a_form_on_the_page(place, monkeypatch):
    richer(place)
    monkeypatch.setenv("PYTHONPATH", str(place / "site"))
    (place / "work").mkdir()
    society = Consoled(place / "rain", place / "work")
    try:
        society.start_society()
        society.start_console()
        with browser() as chromium:
            with somebody(chromium, society.owner, "/acts") as page:
                page.get_by_role("link", name="Ask for a forecast").click()
                form, send = page.locator("form.form"), page.get_by_role("button", name="Send", exact=True)
                expect(page.get_by_label("text what")).to_be_visible()
                send.click()
                expect(form.locator("[role=status]")).to_contain_text("Not sent")
                expect(form.locator(".err")).to_have_count(2)
                page.get_by_label("text what").fill("Wet?")
                page.get_by_label(re.compile("^days")).fill("30")
                expect(form).to_contain_text("choose at most 14, not 30")
                page.get_by_label(re.compile("^days")).fill("3")
                expect(form.locator(".err")).to_have_count(0)
                page.get_by_label(re.compile("^how")).select_option("hail")
                page.get_by_label(re.compile("^places")).fill("Bonn\nUlm")
                # What was filled in outlives a reload, until it is sent.
                page.reload()
                expect(page.get_by_label(re.compile("^places"))).to_have_value("Bonn\nUlm")
                # The first answer is lost: what was sent is sent again, and is one message all the same.
                page.evaluate(LOSE_ONE)
                send.click()
                form.get_by_role("link", name="Show it").click()
                assert page.evaluate("window.lost") == 1
                expect(page.locator(".msg[data-type=QUESTION]")).to_contain_text("Wet? (3, hail, Bonn; Ulm)")
                expect(page.locator(".msg[data-type=QUESTION] .own")).to_have_text("this question")
                expect(page.locator(".msg[data-type=QUESTION] .chip")).to_have_text("Wet?")
            with somebody(chromium, society.viewer, "/act/ask") as page:
                expect(page.locator("form.form")).to_contain_text(
                    "Only an admin may write /ask; you are a viewer."
                )
                expect(page.get_by_role("button", name="Send", exact=True)).to_be_disabled()
    finally:
        society.stop()
    said = moot(place, "log", "rain", "--type", "QUESTION", "--json").stdout.splitlines()
    assert [json.loads(line)["body"]["places"] for line in said] == [["Bonn", "Ulm"]]


def test_a_log_of_a_protocol_that_is_not_installed_is_passed_over_and_said_once(place):
    (place / "rain.yaml").write_text(
        SCENE.replace("inject:", "minds: {sceptic: {script: [], then: silent}}\ninject:")
    )
    install(place)
    ruled = moot(place, "scene", "rain.yaml", "--out", "rain")
    assert "reminds the Sceptic" in ruled.stdout and "rules void" in ruled.stdout
    assert moot(place, "verify", "rain").returncode == 0
    (place / "site" / "moot_weather-1.0.dist-info" / "entry_points.txt").unlink()
    told = moot(place, "verify", "rain")
    assert told.returncode == 0 and told.stderr.count("weather") == 1
    assert "QUESTION is of the protocol weather, which is not installed here" in told.stderr
    for command in (["status", "rain"], ["log", "rain"], ["obligations", "rain"]):
        done = moot(place, *command)
        assert done.returncode == 0, done.stderr
    named = moot(place, "verify", "rain", "--protocol", "weather")
    assert (named.returncode, named.stderr) == (0, "")


def live(place, until, *, ends=signal.SIGINT, **more):
    """Let the society in rain live until it prints a line with some words, and send it a signal; return its output."""
    env = {
        **os.environ,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{place / 'site'}",
        "COLUMNS": "200",
        "PYTHONUNBUFFERED": "1",
        **more,
    }
    command = [sys.executable, "-m", "moot", "up", "--speed", "600", "--data", "rain", "--no-console"]
    printed = []
    with subprocess.Popen(
        command, cwd=place, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as society:
        assert society.stdout is not None
        patience = Timer(90, society.kill)
        patience.start()
        try:
            for line in society.stdout:
                printed.append(line)
                if until in line:
                    break
            society.send_signal(ends)
            printed += society.stdout
        finally:
            patience.cancel()
            society.kill()
    return "".join(printed)


def test_nobody_owes_what_a_society_did_not_speak_until_it_speaks_it_again(place):
    silent = "minds: {forecaster: {script: [], then: silent}}\ninject:"
    (place / "rain.yaml").write_text(SCENE.replace("inject:", silent).replace("2h", "10m"))
    install(place)
    assert moot(place, "scene", "rain.yaml", "--out", "rain").returncode == 0
    points = place / "site" / "moot_weather-1.0.dist-info" / "entry_points.txt"
    named = points.read_text()
    points.unlink()
    told = live(place, "starts the micro cycle")
    assert (
        told.count(
            "the log speaks weather, which is not installed here: what was said by it counts as nothing"
        )
        == 1
    )
    assert "starts the micro cycle" in told and "reminds the Forecaster" not in told
    assert moot(place, "verify", "rain").returncode == 0
    judged = moot(place, "verify", "rain", "--protocol", "weather")
    assert judged.returncode == 0, judged.stdout
    points.write_text(named)
    back = live(place, "reminds the Forecaster of the forecast in question_20260223_1005")
    assert "the log speaks" not in back and "reminds the Forecaster of" in back
    judged = moot(place, "verify", "rain")
    assert judged.returncode == 0, judged.stdout


def test_what_only_looks_foreign_is_found_where_no_protocol_is_lacking(place):
    install(place)
    moot(place, "scene", "rain.yaml", "--out", "rain")
    lines = moot(place, "export", "rain").stdout.replace('"channel":"#weather"', '"channel":"#nowhere"')
    (place / "x.jsonl").write_text(lines)
    assert moot(place, "verify", "x.jsonl").returncode == 1


def test_the_configuration_names_a_module_as_well(place):
    (place / "moot.toml").write_text(SETTINGS)
    done = moot(place, "config", "show", "--config", "moot.toml")
    assert done.returncode == 0, done.stderr
    through_env = moot(place, "scene", "rain.yaml", "--out", "rain", MOOT_PROTOCOLS__MODULES='["weather"]')
    assert "forecasts question_20260223_1005" in through_env.stdout, through_env.stderr
    through_file = moot(place, "scene", "rain.yaml", MOOT_CONFIG="moot.toml")
    assert through_file.stdout == through_env.stdout, through_file.stderr
    ask = ("act", "rain", "ask", "text=Will it hail?")
    unknown = moot(place, *ask)
    assert (
        unknown.returncode == 2
        and "speaks the protocol weather, which is not installed here" in unknown.stderr
    )
    assert moot(place, *ask, "--protocol", "weather").returncode == 0


def test_a_scene_scripts_a_seat_of_a_protocol_that_the_configuration_alone_names(place):
    script = "minds: {sceptic: {script: [{type: DOUBT, agrees: false}]}}\ninject:"
    (place / "rain.yaml").write_text(SCENE.replace("inject:", script))
    done = moot(place, "scene", "rain.yaml", MOOT_PROTOCOLS__MODULES='["weather"]')
    assert "doubts 39.26 % on question_20260223_1005" in done.stdout, done.stderr


def test_a_seat_that_nobody_brings_is_refused_live(place):
    (place / "rain.yaml").write_text(SCENE.replace("type: QUESTION", "type: NOTE").replace("admin", "oracle"))
    install(place)
    done = moot(place, "scene", "rain.yaml")
    assert done.returncode == 2 and "there is no seat 'oracle'" in done.stderr


WRONG = {
    "a type twice": (
        "messages=(Question, Forecast, Doubt)",
        "messages=(Question, Question, Forecast, Doubt)",
        "the message type QUESTION is declared twice",
    ),
    "a type of Moot's": (
        'Literal["DOUBT"] = "DOUBT"',
        'Literal["NOTE"] = "NOTE"',
        "the message type NOTE, which people",
    ),
    "a seat of Moot's": (
        'Seat("sceptic")',
        'Seat("critic")',
        "the seat critic, which research brings already; say uses",
    ),
    "a channel of Moot's": ('PLACE = "#weather"', 'PLACE = "#lab"', "the channel #lab, which lab brings already"),
    "an unreachable phase": (
        "Forecast: Move((DOUBTING,), keep)",
        "Forecast: Move((ENDED,), close)",
        "the machine question: nothing leads to the phase doubting",
    ),
    "no rule for silence": (
        "missed=silence",
        "missed=None",
        "the step forecast does not say what silence leads to",
    ),
    "a figure that is no field": (
        'ByField({"probability"',
        'ByField({"mood"',
        "the step doubt: the figure mood is no field of DOUBT",
    ),
    "an import that fails": (
        "from datetime import timedelta",
        "import nowhere",
        "ModuleNotFoundError: No module named 'nowhere'",
    ),
    "no protocol": ("PROTOCOL = Protocol(", "OTHER = Protocol(", "holds no PROTOCOL"),
    "an act that no right allows": (
        'Right("QUESTION", frozenset({ADMIN})',
        'Right("QUESTION", frozenset({FORECASTER})',
        "no right lets people post QUESTION",
    ),
    "an act that Moot has": ('name="ask"', 'name="halt"', "the act halt, which trading brings already"),
    "a question that Moot has": ('name="ask"', 'name="help"', "the act help: /help is taken by Moot itself"),
    "a blank that is no field": ('Blank("text"', 'Blank("mood"', "the act ask: mood is no field of QUESTION"),
    "a seat without uses": ("uses=(ADMIN,)", "uses=()", "names the seat admin, which it neither brings nor uses"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_one_line_at_the_start_and_nothing_starts(place, name):
    right, wrong, line = WRONG[name]
    assert CODE.count(right) == 1
    (place / "site" / "weather" / "__init__.py").write_text(CODE.replace(right, wrong))
    install(place)
    done = moot(place, "scene", "rain.yaml", "--out", "rain")
    assert (done.returncode, done.stdout) == (2, "")
    (said,) = done.stderr.splitlines()
    assert said.startswith("moot: protocols: ") and line in said
    assert not (place / "rain").exists()


def test_a_module_that_is_not_there_is_one_line_for_a_society(place):
    (place / "moot.toml").write_text(SETTINGS.replace("weather", "wether"))
    done = moot(place, "up", "--config", "moot.toml", "--data", "here")
    assert done.returncode == 2 and not (place / "here" / "log.sqlite").exists()
    (said,) = done.stderr.splitlines()
    assert "the module wether cannot be imported: ModuleNotFoundError: No module named 'wether'" in said
