"""Rules of a foreign protocol that raise end their case, never the society; phases entered again ask again."""

import json
import signal

import pytest

from tests.integration.test_write_a_protocol import CODE, install, live, moot

SCENE = """start: 2026-02-23T10:00:00Z
until: 2h
cycle: none
systems: []
inject:
  - {after: 5m, seat: admin, body: {type: QUESTION, text: boom}}
  - {after: 6m, seat: admin, body: {type: QUESTION, text: Will it rain?}}
"""
BOOM, GOOD = "question_20260223_1005", "question_20260223_1006"
RAISES = """import os


def _boom(case_id):
    if case_id.endswith("1005") and not os.environ.get("CALM"):
        raise ZeroDivisionError


"""
TOP = "FORECASTER, SCEPTIC = Seat"
PLACES = {
    "start": ("    env = given.message\n", "    _boom(given.body.question_id)\n    env = given.message\n"),
    "effect": (
        '    return Effect({"probability": given.body.probability})',
        '    _boom(_state.case_id)\n    return Effect({"probability": given.body.probability})',
    ),
    "figure": (
        "lambda state, _given: Exactly(state.probability)",
        "lambda state, _given: (_boom(state.case_id), Exactly(state.probability))[1]",
    ),
    "an outcome that is no text": (
        'outcome="agreed" if given.body.agrees else "doubted"',
        'outcome=7 if _state.case_id.endswith("1005") else "agreed"',
    ),
    "a phase that is no row's": (
        'Effect({"probability": given.body.probability})',
        'Effect({"probability": 0.5}, to="nowhere" if _state.case_id.endswith("1005") else "")',
    ),
    "a field that the state lacks": (
        'Effect({"probability": given.body.probability})',
        'Effect({"mood" if _state.case_id.endswith("1005") else "probability": 0.5})',
    ),
}  # fmt: skip


def put(place, code, scene=SCENE):
    (place / "site" / "weather").mkdir(parents=True, exist_ok=True)
    (place / "site" / "weather" / "__init__.py").write_text(code.replace(TOP, RAISES + TOP, 1))
    (place / "rain.yaml").write_text(scene)
    install(place)


@pytest.mark.rule("R-G14")
@pytest.mark.parametrize("name", PLACES)
def test_a_rule_that_raises_ends_its_case_and_no_other(tmp_path, name):
    right, wrong = PLACES[name]
    assert CODE.count(right) == 1
    put(tmp_path, CODE.replace(right, wrong))
    done = moot(tmp_path, "scene", "rain.yaml", "--out", "rain")
    assert done.returncode == 0, done.stderr
    assert "records rule fault: " in done.stdout and f"{BOOM} ends as faulted" in done.stdout
    assert f"rules faulted in {BOOM}: exception" in done.stdout
    assert f"Case {BOOM}: a rule of its protocol failed, and the case ended" in done.stdout
    assert f"on {GOOD}" in done.stdout and f"rules faulted in {GOOD}" not in done.stdout
    judged = moot(tmp_path, "verify", "rain")
    assert judged.returncode == 0, judged.stdout


@pytest.mark.rule("R-G14")
def test_a_logged_fault_stands_where_the_rule_no_longer_raises_and_verify_says_so(tmp_path):
    put(tmp_path, CODE.replace(*PLACES["effect"]))
    assert moot(tmp_path, "scene", "rain.yaml", "--out", "rain").returncode == 0
    calm = moot(tmp_path, "verify", "rain", CALM="1")
    assert calm.returncode == 0, calm.stdout
    assert f"{BOOM} ended because a rule raised; the rule does not raise here" in calm.stderr
    assert f"Question {BOOM}  faulted" in moot(tmp_path, "case", "rain", BOOM, CALM="1").stdout


@pytest.mark.rule("R-G14")
def test_what_silence_is_ruled_may_raise_and_outcomes_are_the_protocols_own_words(tmp_path):
    ruled = 'Missed("weather 1", lambda s: (_boom(s.case_id), "nobody knows")[1], Move('
    silent = SCENE.replace("inject:", "minds: {forecaster: {script: [], then: silent}}\ninject:")
    put(tmp_path, CODE.replace('Missed("weather 1", "void", Move(', ruled), silent)
    done = moot(tmp_path, "scene", "rain.yaml", "--out", "rain")
    assert done.returncode == 0, done.stderr
    assert f"rules faulted in {BOOM}" in done.stdout and "rules nobody knows on the forecast" in done.stdout
    assert moot(tmp_path, "verify", "rain").returncode == 0


FOLD = '''class Broken(Fold):
    """Fail at everything."""

    name = "broken"

    def apply(self, env, fx, docket):
        """Fail."""
        raise KeyError("apply")

    def alarm(self, docket):
        """Fail."""
        raise KeyError("alarm")

    def ring(self, now, docket):
        """Fail."""
        raise KeyError("ring")

    def was_owed(self, env, docket):
        """Fail."""
        raise KeyError("was_owed")


PROTOCOL = Protocol(
    folds=(Broken,),
'''


@pytest.mark.rule("R-G14")
def test_a_fold_that_raises_is_told_once_and_its_cases_go_on(tmp_path):
    code = CODE.replace("PROTOCOL = Protocol(\n", FOLD)
    put(
        tmp_path,
        "from moot.protocols.kernel.context import Fold\n".join(
            code.partition("from moot.protocols.kernel.fields")[:1]
        )
        + "from moot.protocols.kernel.context import Fold\nfrom moot.protocols.kernel.fields"
        + code.partition("from moot.protocols.kernel.fields")[2],
    )
    done = moot(tmp_path, "scene", "rain.yaml", "--out", "rain")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("records rule fault: KeyError in rule Broken.apply") == 1
    assert f"on {BOOM}" in done.stdout and f"on {GOOD}" in done.stdout
    assert moot(tmp_path, "verify", "rain").returncode == 0


@pytest.mark.rule("R-G15")
def test_a_phase_entered_again_asks_again_and_keeps_both_answers(tmp_path):
    code = (
        CODE.replace(
            "    probability: float | None = None\n\n\ndef ask",
            "    probability: float | None = None\n    rounds: int = 1\n\n\ndef ask",
        )
        .replace(
            '    return Effect(outcome="agreed" if given.body.agrees else "doubted")',
            '    if _state.rounds < 3:\n        return Effect({"rounds": _state.rounds + 1}, to=FORECASTING)\n'
            '    return Effect(to=ENDED, outcome="agreed")',
        )
        .replace("{Doubt: Move((ENDED,), close)}", "{Doubt: Move((ENDED, FORECASTING), close)}")
    )
    put(tmp_path, code)
    done = moot(tmp_path, "scene", "rain.yaml", "--out", "rain")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(f"forecasts {GOOD}") == 3 and done.stdout.count(f" on {GOOD}") == 3
    log = moot(tmp_path, "log", "rain", "--json").stdout
    for name in ("forecast/forecaster", "forecast@2/forecaster", "forecast@3/forecaster", "doubt@3/sceptic"):
        assert f"{GOOD}/{name}" in log
    assert moot(tmp_path, "verify", "rain").returncode == 0


@pytest.mark.rule("R-G14")
def test_a_society_with_faulted_cases_is_killed_and_continued(tmp_path):
    put(tmp_path, CODE.replace(*PLACES["effect"]))
    code = tmp_path / "site" / "weather" / "__init__.py"
    code.write_text(code.read_text().replace('case_id.endswith("1005") and ', ""))
    assert moot(tmp_path, "scene", "rain.yaml", "--out", "rain").returncode == 0
    assert moot(tmp_path, "act", "rain", "ask", "text=Once?").returncode == 0
    assert "Once?" in live(tmp_path, "Once?", ends=signal.SIGKILL)
    assert moot(tmp_path, "act", "rain", "ask", "text=Twice?").returncode == 0
    assert "Traceback" not in live(tmp_path, "Twice?", CALM="1")
    log = [json.loads(line) for line in moot(tmp_path, "log", "rain", "--json").stdout.splitlines()]
    ruled = [one["case_id"] for one in log if one["body"].get("outcome") == "faulted"]
    assert {BOOM, GOOD} <= set(ruled) and len(ruled) == len(set(ruled)), "no case ends twice"
    judged = moot(tmp_path, "verify", "rain")
    assert judged.returncode == 0, judged.stdout
