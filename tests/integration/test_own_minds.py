"""Minds of one's own in whole societies: the same log twice, and nothing that one of them does ends a society."""

import subprocess
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from moot.cases.arena.offline import RunOptions, run_offline
from moot.cases.panel.offline import PanelOptions, run_panel
from moot.clock import VirtualClock
from moot.config.contracts import load_contract
from moot.config.settings import load_settings
from moot.minds import Mind
from moot.plan import Plan
from moot.simulation.simulate import DEFAULT_START
from moot.society import Society
from tests.doubles.checking import findings
from tests.doubles.own_minds import (
    Async,
    Exits,
    Hangs,
    Lenient,
    Nothing,
    Pure,
    PureExits,
    Raises,
    Words,
    assessment,
    line_of,
)

ROOT = Path(__file__).parents[2]
HERE = "tests.doubles.own_minds"


def lived(minds, hours=6):
    """Let a society live for some hours of virtual time; returns its log."""
    found = []
    settings = load_settings(schedules={"micro": {"cron": "0 */2 * * *"}}, desk={"enabled": False})
    plan = Plan(
        settings=settings, seed=1, start=DEFAULT_START, society_id="own", minds=minds, is_admin_simulated=True
    )

    async def main(clock):
        async with await Society.open(plan, clock) as society:
            await society.run_until(DEFAULT_START + timedelta(hours=hours))
            await society.close("the test is over")
            found.extend([env async for env in society.bus.read()])

    VirtualClock(DEFAULT_START).run(main)
    return found


def lines(log):
    return [env.line for env in log]


def assessed(log):
    return [env.body for env in log if env.body.type == "RISK_ASSESSMENT"]


def why_silent(log):
    return Counter(
        env.body.reason for env in log if env.body.type == "AUDIT" and env.body.event == "mind_failed"
    )


@pytest.mark.parametrize("kind", [Lenient, Pure, Async])
def test_the_same_mind_gives_the_same_log_however_long_it_thinks(kind):
    first, second = kind(), kind(pause_s=0.0 if kind is Pure else 0.01)
    log = lived({"critic": first})
    assert lines(log) == lines(lived({"critic": second}))
    assert len(assessed(log)) == first.answers >= 3
    assert first.most_inside == 1, "calls never overlap"
    assert all(name.startswith("mind ") for name in first.threads) is not kind.pure
    assert findings(log) == []


def test_a_pure_mind_says_what_it_would_say_on_a_thread():
    on_thread, in_loop = (assessed(lived({"critic": kind()})) for kind in (Lenient, Pure))
    assert on_thread == in_loop


def test_minds_of_two_seats_are_heard_in_the_order_in_which_they_were_asked():
    """Whichever of them takes longer to think."""

    class Stubborn(Mind):
        def __init__(self, pause_s):
            self.pause_s = pause_s

        def answer(self, view):
            if view.asked == ("RISK_ASSESSMENT",):
                return assessment(view.brief["round"], "CONDITIONAL_PASS", 0.5)
            if "REBUTTAL" in view.asked:
                point = {"critique_point": "tail risk", "response": "It is small.", "evidence": "The test."}
                return view.reply("REBUTTAL", responses=[point], modifications=[])
            return None

    both = [
        lines(lived({"critic": Stubborn(a), "explorer": Stubborn(b)}, 3)) for a, b in ((0, 0.01), (0.01, 0))
    ]
    assert both[0] == both[1]


def test_one_instance_in_two_seats_is_still_called_once_at_a_time():
    class Both(Lenient):
        def answer(self, view):
            self.seats.add(view.seat)
            said = super().answer(view) if view.debate is not None and "round" in view.brief else None
            return said if view.seat == "critic" else None

    both = Both(pause_s=0.01)
    both.seats = set()
    lived({"critic": both, "evolver": both}, 3)
    assert both.seats == {"critic", "evolver"}
    assert (both.most_inside, len(both.threads)) == (1, 1)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (
            Raises,
            f"raised RuntimeError: no idea, says <object object at 0x…> and nothing more at {line_of(Raises)}",
        ),
        (Exits, f"raised RuntimeError: SystemExit 3 at {line_of(Exits)}"),
        (PureExits, f"raised SystemExit: 3 at {line_of(Exits)}"),
        (Nothing, "gave nothing, where RISK_ASSESSMENT was asked for"),
        (
            Words,
            "gave a str, which is no message, where RISK_ASSESSMENT was asked for: return view.reply(...)",
        ),
    ],
)
def test_a_mind_that_fails_leaves_its_seat_silent_and_the_society_goes_on(kind, why):
    log = lived({"critic": kind()})
    (line,) = why_silent(log)
    assert line == f"{HERE}:{kind.__name__} {why}; the critic stays silent"
    assert not assessed(log)
    debates = Counter(env.body.type for env in log)
    assert debates["HYPOTHESIS"] == debates["MICRO_CYCLE_REPORT"] == 3, "every debate came to its end"
    assert any(env.body.type == "RULING" and env.body.reason == "timeout" for env in log)
    assert findings(log) == []
    assert lines(log) == lines(lived({"critic": kind()}))


def test_a_mind_that_hangs_is_silent_after_its_limit_and_keeps_nobody_waiting():
    hangs = Hangs()
    log = lived({"critic": hangs})
    assert why_silent(log) == {f"{HERE}:Hangs has no answer after 0.2 s; the critic stays silent": 3}
    assert findings(log) == []
    hangs.freed.set()


HANGING = """
from tests.integration.test_own_minds import lived
from tests.doubles.own_minds import Hangs
print(len(lived({"critic": Hangs()}, 3)))
"""


def test_a_thread_that_hangs_does_not_keep_the_process_from_ending():
    done = subprocess.run(
        [sys.executable, "-c", HANGING], cwd=ROOT, capture_output=True, timeout=100, check=False
    )
    assert (done.returncode, int(done.stdout.split()[-1]) > 10) == (0, True), done.stderr


def test_an_answer_that_breaks_a_rule_is_asked_for_again_with_the_reason():
    class Learns(Mind):
        def __init__(self):
            self.refused = []

        def answer(self, view):
            self.refused.append(view.refused)
            return assessment(view.brief["round"] if view.attempt else 3)

    mind = Learns()
    log = lived({"critic": mind}, 2)
    assert mind.refused[:2] == ["", "round: this is round 1 [1.4]"]
    assert [env.body.of_seq for env in log if env.body.type == "VIOLATION"]
    assert findings(log) == []


class Planner(Mind):
    def answer(self, view):
        return view.reply(
            text=f"# Plan, round {view.arena.round} of {view.arena.max_rounds}\n{view.arena.prompt}"
        )


class Reviewer(Mind):
    def answer(self, view):
        said = "REVISE\n1. Say more." if view.arena.round == 1 else "APPROVED"
        return view.reply(text=f"{view.arena.draft[:20]}\n\nVERDICT: {said}\n")


TASK = {"task_id": "t", "initial_prompt": "Plan it.", "session_id": "s"}
ALONE = {"notebook_enabled": False}


def test_minds_of_one_s_own_give_the_words_of_an_arena_run():
    warned = []
    minds = {"planner": Planner, "reviewer": Reviewer()}
    record = run_offline(RunOptions(task=TASK, config=ALONE, minds=minds, warn=warned.append))
    assert record["terminal_state"] == "TERMINATED_APPROVED"
    assert [one["verdict"] for one in record["rounds"]] == ["REVISE", "APPROVED"]
    assert record["final_output"] == "# Plan, round 2 of 5\nPlan it.\n"
    assert warned == []


def test_a_seat_of_the_arena_whose_mind_fails_is_silent():
    warned = []
    record = run_offline(
        RunOptions(
            task=TASK, config=ALONE, minds={"planner": Raises, "reviewer": Reviewer}, warn=warned.append
        )
    )
    assert record["terminal_reason"] == "TIMEOUT: the Planner owed DRAFT and was silent"
    assert len(warned) == 1 and "raised RuntimeError" in warned[0] and "the planner stays silent" in warned[0]


def test_a_mind_that_gives_another_message_than_a_text_is_told_so():
    class Wrong(Mind):
        def answer(self, view):
            return assessment(1)

    warned = []
    run_offline(RunOptions(task=TASK, config=ALONE, minds={"planner": Wrong}, warn=warned.append))
    assert warned[0].endswith(
        "Wrong gave a RISK_ASSESSMENT, where DRAFT was asked for; the planner stays silent"
    )


def test_a_mind_of_one_s_own_sits_on_a_panel_and_is_shown_the_work_only_when_it_has_committed():
    seen = []

    class Eic(Mind):
        def answer(self, view):
            seen.append((view.panel.phase, bool(view.panel.work), view.panel.title))
            return view.reply(text="I will see.")

    options = PanelOptions(
        contract=load_contract("methodology_focus"),
        content="# A\n\nWork.",
        title="T",
        field="F",
        minds={"eic": Eic},
    )
    record = run_panel(options).record
    assert record["outputs"]["eic"]["phase1"] == ["I will see.", "I will see."], "the lint asked once more"
    assert seen == [("PHASE1", False, "T")] * 2
    assert "reviewer=eic" in str(record["tags"])
