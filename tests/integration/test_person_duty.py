"""A person's duty on every surface of a living society: terminal, page, chat; and over a crash (R-G16)."""

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

from tests.doubles.browser import browser, somebody
from tests.doubles.console_page import Consoled, wait_for
from tests.doubles.permits import code_of

ROOT = Path(__file__).parents[2]
CASE = "permit_20260223_1005"
DUTY = f"{CASE}/permit/admin"
SCENE = """start: 2026-02-23T10:00:00Z
until: 20m
cycle: none
systems: []
minds: {surveyor: {script: [{type: SURVEY, delay: 5m, safe: SAFE}]}}
inject:
  - {after: 5m, seat: admin, body: {type: PERMIT_REQUEST, text: a shed}}
"""


@pytest.fixture
def place(tmp_path):
    """Return a directory in whose `data` an admin owes a permit."""
    return made(tmp_path, "true")


def made(place, safe):
    (place / "site" / "permits").mkdir(parents=True)
    (place / "site" / "permits" / "__init__.py").write_text(code_of())
    info = place / "site" / "permits-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: permits\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[moot.protocols]\npermits = permits\n")
    (place / "permits.yaml").write_text(SCENE.replace("SAFE", safe))
    done = moot(place, "scene", "permits.yaml", "--out", "data")
    assert done.returncode == 0, done.stderr
    return place


def environment(place):
    return {
        **os.environ,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{place / 'site'}",
        "COLUMNS": "200",
        "PYTHONUNBUFFERED": "1",
    }


def moot(place, *args):
    done = subprocess.run(
        [sys.executable, "-m", "moot", *args],
        cwd=place,
        env=environment(place),
        capture_output=True,
        timeout=120,
        check=False,
    )
    return SimpleNamespace(
        returncode=done.returncode, stdout=done.stdout.decode(), stderr=done.stderr.decode()
    )


def live(place, until, *, sign=signal.SIGINT, speed="600"):
    """Let the society live until it prints a line with some words, then send it a signal; return what it printed."""
    command = [sys.executable, "-m", "moot", "up", "--speed", speed, "--data", "data", "--no-console"]
    printed = []
    with subprocess.Popen(
        command,
        cwd=place,
        env=environment(place),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as society:
        assert society.stdout is not None
        patience = Timer(120, society.kill)
        patience.start()
        try:
            for line in society.stdout:
                printed.append(line)
                if until in line:
                    break
            society.send_signal(sign)
            printed += society.stdout
        finally:
            patience.cancel()
            society.kill()
    return "".join(printed)


def messages(place, *kinds):
    lines = moot(place, "log", "data", "--json").stdout.splitlines()
    return [one for one in map(json.loads, lines) if one["body"]["type"] in kinds]


@pytest.mark.rule("R-G16")
def test_the_terminal_lists_the_duty_with_its_context_and_takes_its_answer(place):
    told = moot(place, "escalations", "data").stdout
    assert CASE in told and "a shed" in told and "then refuse" in told
    assert f"moot act data permit request_id={CASE} granted=true|granted=false" in told
    (found,) = json.loads(moot(place, "escalations", "data", "--json").stdout)
    assert (found["kind"], found["id"], found["silence"]) == ("duty", DUTY, "refuse")
    assert found["context"] == {"request": "a shed", "safe": True}
    assert (found["due_at"], found["void_at"]) == (
        "2026-02-23T12:10:00.000000Z",
        "2026-02-23T12:10:00.000000Z",
    )
    owed = moot(place, "obligations", "data").stdout
    assert "Admin" in owed and "permit" in owed and DUTY in owed
    seen = moot(place, "escalations", "data", "--as", "nobody-here")
    assert seen.returncode == 2 or CASE in seen.stdout

    refused = moot(place, "answer", "data", DUTY, "--as", "nobody-here", "--body", "permits.yaml")
    assert refused.returncode == 3 and "the admin owes this, and nobody-here is a viewer" in refused.stderr
    assert "PERMIT" in moot(place, "answer", "data", DUTY, "--schema").stdout
    (place / "answer.json").write_text(json.dumps({"request_id": CASE, "granted": True, "why": "small"}))
    done = moot(place, "answer", "data", DUTY, "--body", "answer.json")
    assert done.returncode == 0 and "queued" in done.stdout
    live(place, "grants permit_")
    assert f"Permit {CASE}  granted" in moot(place, "case", "data", CASE).stdout
    assert moot(place, "verify", "data").returncode == 0
    assert "nothing waits for an admin" in moot(place, "escalations", "data").stdout


@pytest.mark.rule("R-G16")
def test_the_act_of_the_duty_answers_it_in_the_terminal(place):
    words = shlex.split(f"act data permit request_id={CASE} granted=false")
    assert moot(place, *words).returncode == 0
    live(place, "refuses permit_")
    assert f"Permit {CASE}  refused" in moot(place, "case", "data", CASE).stdout


@pytest.mark.rule("R-G16", "K6")
def test_an_open_duty_outlives_a_crash_and_is_ruled_on_when_its_time_has_run(place):
    live(place, "reminder 1", sign=signal.SIGKILL)
    assert not messages(place, "RULING")
    told = live(place, "rules refuse")
    assert "rules refuse on the permit" in told and "the Admin" in told
    said = messages(place, "DUTY_NOTICE", "RULING", "TIMEOUT_PING", "SOCIETY_STARTED", "SOCIETY_STOPPED")
    kinds = [one["body"]["type"] for one in said]
    assert kinds.count("RULING") == 1 and "TIMEOUT_PING" not in kinds
    assert [one["body"]["n"] for one in said if one["body"]["type"] == "DUTY_NOTICE"] == [0, 1, 2, 3]
    late = moot(place, "act", "data", "permit", f"request_id={CASE}", "granted=true")
    assert late.returncode == 0
    live(place, "late:")
    assert moot(place, "verify", "data").returncode == 0
    assert f"Permit {CASE}  lapsed" in moot(place, "case", "data", CASE).stdout
    assert [one["body"]["rule"] for one in messages(place, "VIOLATION")] == ["R-E4"]


@pytest.mark.rule("R-G16", "K8")
def test_the_page_shows_the_duty_everywhere_and_answers_it_by_a_button_with_confirmation(place, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(place / "site"))
    (place / "work").mkdir()
    society = Consoled(place / "data", place / "work")
    try:
        society.start_society()
        society.start_console()
        with browser() as chromium:
            with somebody(chromium, society.viewer, "/inbox") as page:
                duty = page.locator(".duty")
                expect(duty).to_contain_text("a shed")
                expect(duty.get_by_role("button", name="Granted: yes")).to_be_disabled()
                expect(duty).to_contain_text("only the admin answers this")
            with somebody(chromium, society.owner, "/inbox") as page:
                duty = page.locator(".duty")
                expect(duty).to_contain_text("permit")
                expect(duty).to_contain_text("a shed")
                expect(duty).to_contain_text("left, then “refuse”")
                expect(page.locator(f'.board [data-owed="{DUTY}"]')).to_contain_text("decision needed")
                # A duty that is shown is waited for at 1x (K8).
                wait_for(
                    lambda: any("waiting for" in m["body"]["reason"] for m in messages(place, "CLOCK_SET")),
                    "1x",
                )
                # The form of its act is opened from it, filled in with the case, and shows what is needed.
                duty.get_by_role("link", name=re.compile("Grant or refuse")).click()
                expect(page.locator(".context")).to_contain_text("a shed")
                expect(page.locator(".context")).to_contain_text("Without an answer")
                expect(page.locator(".context")).to_contain_text("refuse at 23 Feb 12:10 UTC")
                expect(page.get_by_label(re.compile("^request"))).to_have_count(0)
                page.goto(f"{society.base}/case/{CASE}")
                duty = page.locator(".duty")
                duty.get_by_role("button", name="Granted: yes").click()
                dialog = page.get_by_role("dialog")
                expect(dialog).to_contain_text("a shed")
                dialog.get_by_role("button", name=re.compile("Cancel|No|Back")).first.click()
                assert not messages(place, "PERMIT")
                duty.get_by_role("button", name="Granted: yes").click()
                page.get_by_role("dialog").get_by_role("button", name="Send this answer").click()
                expect(page.locator(".msg[data-type=PERMIT]")).to_contain_text("grants")
                expect(page.locator(".duty")).to_have_count(0)
    finally:
        society.stop()
    assert f"Permit {CASE}  granted" in moot(place, "case", "data", CASE).stdout
    assert moot(place, "verify", "data").returncode == 0


@pytest.mark.rule("R-G16")
def test_a_protocol_without_an_act_for_it_has_the_form_of_its_message(place, monkeypatch):
    code = code_of()
    begin, end = code.index("    acts=("), code.index("    minted=")
    (place / "site" / "permits" / "__init__.py").write_text(code[:begin] + code[end:])
    assert f"moot answer data {DUTY} --body FILE" in moot(place, "escalations", "data").stdout
    monkeypatch.setenv("PYTHONPATH", str(place / "site"))
    (place / "work").mkdir()
    society = Consoled(place / "data", place / "work")
    try:
        society.start_society()
        society.start_console()
        with browser() as chromium, somebody(chromium, society.owner, "/inbox") as page:
            page.locator(".duty").get_by_role("link", name="Answer …").click()
            expect(page.locator(".context")).to_contain_text("a shed")
            page.get_by_label(re.compile("^granted")).select_option("true")
            page.get_by_role("button", name=re.compile("^(Answer|Send)")).first.click()
            page.get_by_role("dialog").get_by_role("button", name="Send this answer").click()
            expect(page.locator("form [role=status]")).to_contain_text("Noted as message")
    finally:
        society.stop()
    assert f"Permit {CASE}  granted" in moot(place, "case", "data", CASE).stdout


@pytest.mark.rule("R-G16")
def test_an_escalation_of_the_protocol_stands_beside_those_of_moots_own(tmp_path):
    place = made(tmp_path, "false")
    told = moot(place, "escalations", "data").stdout
    assert f"Permit {CASE}: the surveyor finds it unsafe" in told and "then option 2" in told
    assert "Grant it with conditions" in told and "Asked for: a shed" in told
    esc = json.loads(moot(place, "escalations", "data", "--json").stdout)[0]["escalation_id"]
    assert moot(place, "reply", "data", esc, "1").returncode == 0
    live(place, "rules grant")
    assert "granted with conditions" in moot(place, "case", "data", CASE).stdout
    why = moot(place, "why", "data", CASE).stdout
    assert "permit unsafe: answered" in why and "Do as the escalation's answer says" in why
    assert moot(place, "verify", "data").returncode == 0
