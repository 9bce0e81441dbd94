"""What a page is given: cards, faults of a form, changes of a draft, drawdowns; pure and total."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import moot.console.page
from moot.channels.log.lines import open_line
from moot.channels.showing.rendering import Speakers
from moot.console.model.interface import (
    CaseView,
    ChannelView,
    EscalationView,
    OptionView,
    Person,
    PhaseStep,
    Progress,
    StandingView,
)
from moot.console.model.views import SocietyTime
from moot.console.page import acts
from moot.console.page.cards import MOST_BARS, bars, card_of, whole
from moot.console.page.case_motions import motion_tables
from moot.console.page.case_runs import changes, rounds_of
from moot.console.page.case_targets import target_table
from moot.console.page.cases import drawn
from moot.console.page.figures_b import drawdown, trading_tile
from moot.console.page.figures_parts import figure
from moot.console.page.places import seq_of
from moot.console.page.questions import OPS
from moot.console.page.seats import faults_of
from moot.console.page.views import case_prefixes, clock_of, groups_of, raised_of
from moot.console.phases import phases_of
from moot.desk import Market
from moot.protocols.kernel.catalogue import Channel
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.minds import Minds
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.research.messages import CycleContext, CycleTrigger
from moot.protocols.rulebook import rulebook, rules
from tests.doubles import bodies
from tests.doubles.biglog import Chance
from tests.doubles.copying import replace
from tests.doubles.motion_table import MotionTable
from tests.doubles.table import START

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda some: st.lists(some, max_size=4) | st.dictionaries(st.text(max_size=12), some, max_size=4),
    max_leaves=12,
)


def envelope(body: dict[str, Any], **over: Any) -> Envelope:
    fields = {
        "v": 1, "seq": 7, "id": "x", "channel": "#a-arena", "author": "critic", "case_id": "hyp_20260223_0018",
        "actor": {"kind": "bot", "platform": "moot", "user_id": ""}, "obligation_id": None, "attempt": 0,
        "tenure": 0, "in_reply_to": None, "hops": 0, "sent_at": "2026-02-23T00:21:23.944000Z",
        "body": body, **over, "hash": "ab",
    }  # fmt: skip
    return open_line(json.dumps(fields, separators=(",", ":")))


def test_a_risk_assessment_has_its_scores_as_bars_the_worst_first_and_marked() -> None:
    body = bodies.assessment(1).model_dump(mode="json") | {"confidence": 0.62}
    body["scores"] = dict.fromkeys(body["scores"], 0.1) | {"tail_risk": 0.33, "overfitting": 0.71}
    found = card_of(envelope(body))
    assert found["b"][0] == ["overfitting", 0.71, True, "0.71"]
    assert found["b"][1] == ["tail risk", 0.33, False, "0.33"]
    assert ["confidence", 0.62, False, "0.62"] in found["b"]
    assert found["n"] == "Critic" and found["k"] == "hyp_20260223_0018" and found["x"].startswith("rates ")


@given(score=st.floats(0.3, 1.0))
def test_a_bar_and_its_sentence_say_the_same_number(score: float) -> None:
    body = bodies.assessment(1).model_dump(mode="json")
    body["scores"] = dict.fromkeys(body["scores"], 0.0) | {"tail_risk": score}
    found = card_of(envelope(body))
    assert f"tail risk {found['b'][0][3]}" in found["x"]


def test_texts_that_a_sentence_cuts_can_be_had_whole() -> None:
    text = "So it goes on. " * 60 + "\n\nThis is its end."
    note = envelope({"type": "NOTE", "text": text})
    assert card_of(note)["l"] is True and "its end" not in card_of(note)["x"]
    assert whole(note)["texts"] == [["text", text]]
    answers = [{"objection": f"objection {n}", "response": f"response no {n}"} for n in range(5)]
    rebuttal = envelope({"type": "REBUTTAL", "hypothesis_id": "hyp_20260223_0018", "responses": answers})
    assert "and 2 more" in card_of(rebuttal)["x"]
    assert ["responses 5, response", "response no 4"] in whole(rebuttal)["texts"]


def test_a_message_that_is_shown_whole_offers_no_more() -> None:
    for text in ("hello", "first one … then two"):
        short = envelope({"type": "NOTE", "text": text})
        assert "l" not in card_of(short) and whole(short)["texts"] == []


def raised(**over: Any) -> EscalationView:
    at = datetime(2026, 2, 23, 10, tzinfo=UTC)
    fields: dict[str, Any] = {
        "escalation_id": "esc_1", "seq": 1, "level": "URGENT", "code": "halt", "trigger": "t", "context": "c",
        "options": (OptionView(1, "Halve", "conservative_b"), OptionView(2, "Go on", "none")),
        "raised_at": at, "answer_by": at, "state": "open",
    }  # fmt: skip
    return EscalationView(**{**fields, **over})


@pytest.mark.rule("R-E2")
@pytest.mark.parametrize(
    ("over", "said"),
    [
        ({}, ""),
        ({"state": "acknowledged", "acknowledged_by": "ann"}, ""),
        ({"state": "answered", "answered_by": "ann", "answer": 2}, "answered by ann: Go on"),
        (
            {"state": "answered", "answered_by": "ann", "answer": "Go on, but slowly"},
            "answered by ann in own words, which choose no option: “Go on, but slowly”",
        ),
        ({"state": "expired"}, "nobody answered, so the first answer was taken: Halve"),
        ({"state": "withdrawn"}, "withdrawn: what it was about has ended"),
    ],
)
def test_r_e2_how_an_escalation_ended_names_what_was_chosen(over: dict[str, Any], said: str) -> None:
    assert raised_of(raised(**over))["said"] == said


@pytest.mark.rule("R-E2")
def test_r_e2_a_field_for_own_words_says_that_they_choose_nothing() -> None:
    assert "not even the first: trading stays halted" in raised_of(raised())["freely"]
    assert "nothing is deployed" in raised_of(raised(code="deployment"))["freely"]
    assert "nothing is done" in raised_of(raised(code="timeouts"))["freely"]


def a_case(kind: str, path: tuple[str, ...], outcome: str | None) -> CaseView:
    at = datetime(2026, 2, 23, 10, tzinfo=UTC)
    return CaseView(
        case_id="c", kind=kind, phase=path[-1], phases=phases_of(kind), outcome=outcome, parent=None, children=(),
        opened_seq=1, ended_seq=9 if outcome else None, transcript=(), older=None,
        path=tuple(PhaseStep(name, n, at) for n, name in enumerate(path, 1)), obligations=(), late=(),
        waits_for_ruling=False, state=None, progress=Progress(1, 1, ""),
    )  # fmt: skip


def test_a_case_is_drawn_with_all_its_states_and_the_path_it_took() -> None:
    found = drawn(a_case("deployment", ("reviewing", "deciding", "notifying", "ended"), "deployed"))
    assert [(one["phase"], bool(one["seq"])) for one in found] == [
        ("reviewing", True), ("deciding", True), ("escalated", False), ("notifying", True), ("returning", False),
        ("ended: deployed", True),
    ]  # fmt: skip
    assert found[-1]["end"]
    going_on = drawn(a_case("run", ("INIT", "DRAFTING", "REVIEWING", "REVISING", "DRAFTING"), None))
    steps = [one for one in going_on if one["seq"]]
    assert [one["phase"] for one in steps] == ["init", "drafting", "reviewing", "revising", "drafting"]
    assert [one["now"] for one in steps] == [False] * 4 + [True]
    assert {"seeding", "finalizing", "terminated approved"} <= {
        one["phase"] for one in going_on if not one["seq"]
    }


def test_every_kind_of_case_has_its_states_listed_and_no_others_are_entered() -> None:
    assert all(phases_of(kind) for kind in rules().types)
    chance = Chance(lambda _env: None, seed=3, silence=0.1, faults=0.05)
    seen: set[tuple[str, str]] = set()
    while chance.seq < 600:
        chance.live(messages=chance.seq + 1)
        seen |= {(case.kind, str(case.phase)) for case in chance.docket.cases.values()}
    assert {"cycle", "debate", "escalation"} <= {kind for kind, _ in seen}
    assert not [(kind, phase) for kind, phase in seen if phase not in phases_of(kind)]


def test_the_trading_tile_says_what_the_exchange_does_and_a_halt_before_it() -> None:
    now = datetime(2026, 2, 23, 10, tzinfo=UTC)
    hours = Market(False, now.replace(hour=14, minute=30))
    standing = StandingView(
        seq=1, is_halted=False, halt_id="", is_conservative=False, stopped=(), holders={}, cases={}, ended=0,
        seed=1, rules_version="1",
    )  # fmt: skip
    assert trading_tile(standing, hours, now) == ["exchange until 14:30 UTC", "closed", ""]
    tomorrow = Market(True, now.replace(day=24))
    assert trading_tile(standing, tomorrow, now) == ["exchange until Tue 24 Feb 10:00 UTC", "open", ""]
    halted = replace(standing, is_halted=True, halt_id="halt_1")
    assert trading_tile(halted, hours, now)[1:] == ["halted", "late"]


def test_a_drawdown_is_said_in_per_cent_wherever_it_stands() -> None:
    assert figure("max_drawdown", 0.0492) == "4.92 %"
    assert figure("sharpe", 0.0492) == "0.049"
    assert figure("max_drawdown", None) == "none"


def test_violations_rulings_escalations_and_people_stand_out() -> None:
    marks = {
        kind: card_of(envelope({"type": kind}))["m"]
        for kind in ("VIOLATION", "RULING", "ESCALATION", "DRAFT")
    }
    assert marks == {"VIOLATION": "violation", "RULING": "ruling", "ESCALATION": "escalation", "DRAFT": ""}
    ann = {"kind": "human", "platform": "console", "user_id": "ann"}
    said = card_of(envelope({"type": "NOTE", "text": "hello"}, actor=ann, author="admin"))
    assert (said["m"], said["h"], said["p"]) == ("human", "ann", "console")


def test_what_no_model_wrote_on_a_free_question_is_labelled_on_its_card_and_beside_its_round() -> None:
    minds = Minds()
    minds.put(8, {"planner": {"module": "mine:Planner"}, "reviewer": "scripted"})
    run, who = {"channel": "#r-arena", "case_id": "arena_1"}, Speakers({}, minds)
    ann = {"kind": "human", "platform": "console", "user_id": "ann"}
    said = [
        envelope({"type": "DRAFT", "round_index": 1, "text": "Hold."}, seq=7, author="planner", **run),
        envelope({"type": "REVIEW", "round_index": 1, "text": "No."}, seq=7, author="reviewer", **run),
        envelope({"type": "DRAFT", "round_index": 2, "text": "Sell."}, seq=8, author="planner", **run),
        envelope({"type": "REVIEW", "round_index": 2, "text": "Yes."}, seq=9, author="reviewer", **run),
        envelope({"type": "FINAL_OUTPUT", "text": "Sell."}, seq=10, author="finalizer", actor=ann, **run),
    ]
    labels = [card_of(one, who).get("u") for one in said]
    assert labels == ["simulated, no model", "simulated, no model", None, "scripted, no model", None]
    assert [(one["left"], one["right"]) for one in rounds_of(said, minds)] == [
        ("Draft (simulated, no model)", "Review (simulated, no model)"),
        ("What changed since the draft before", "Review (scripted, no model)"),
        ("What changed since the draft before", ""),
    ]
    assert "u" not in card_of(envelope({"type": "RUN_TERMINATED"}, author="orchestrator"), who)
    assert "u" not in card_of(envelope(bodies.assessment(1).model_dump(mode="json")), who)


def test_a_motion_shows_its_objections_with_what_became_of_them_and_whose_word_it_is() -> None:
    table, minds = MotionTable(question="Where do we meet?", options=("Rome", "Oslo")), Minds()
    asked = [env for env in table.log if env.case_id == table.motion_id]
    early, none = motion_tables(asked, None, minds)
    assert early["rows"] == [["claim", "none yet"]] and none["rows"] == []
    table.claim("Rome")
    table.object("fatal", "minor", "major")
    table.reply(2, conceded=(1,))
    table.object()
    table.judge("UNDECIDED")
    said = [env for env in table.log if env.case_id == table.motion_id]
    told, objections = motion_tables(said, table.outcome, minds)
    assert told["title"] == "Where do we meet?"
    assert dict(told["rows"])["claim"] == "Rome"
    assert dict(told["rows"])["judgment"] == "undecided"
    assert dict(told["rows"])["by"] == "simulated, no model"
    text = "Shops must stay open."
    assert objections["rows"] == [
        ["1", "fatal", text, "conceded", "stands"],
        ["2", "minor", text, "They take turns.", "–"],
        ["3", "major", text, "no answer", "stands"],
    ]
    assert motion_tables([], None, minds) == []


def test_what_a_form_gets_wrong_is_said_in_plain_words() -> None:
    person = Person("ann", ADMIN)
    act = rulebook().acts["debate"]
    assert acts.faults_of(person, act, {"question": "Where?", "options": ["Rome"]}) == {
        "options": "one option is no choice: give two or more, or none for yes and no"
    }
    assert acts.faults_of(person, act, {"question": " "}) == {"question": "is needed"}
    good = {"question": "Where?", "options": ["Rome", "", "Oslo"], "context": "Half live in Oslo."}
    assert acts.faults_of(person, act, good) == {}


def test_a_type_of_a_newer_version_is_a_card_and_its_json_is_there() -> None:
    """K4."""
    strange = envelope({"type": "NEW_THING", "depth": {"a": [1, {"b": 2}]}}, author="oracle")
    assert "NEW_THING" in card_of(strange)["x"]
    assert card_of(strange)["n"] == "Oracle"
    assert '"depth"' in whole(strange)["json"]


@given(body=st.dictionaries(st.text(max_size=12), JSON, max_size=6))
def test_any_body_makes_a_card_that_is_plain_json(body: dict[str, Any]) -> None:
    found = card_of(envelope(json.loads(json.dumps({**body, "type": "X"}, default=str).replace("NaN", "0"))))
    json.dumps(found)
    assert len(found["b"]) <= MOST_BARS


@pytest.mark.parametrize("value", [True, None, "0.5", 1.2, -0.1, float("nan"), float("inf")])
def test_only_shares_become_bars(value: object) -> None:
    assert bars({"confidence": value, "scores": {"tail_risk": value}}) == []


def test_a_long_message_is_cut_where_it_is_shown_whole() -> None:
    text = whole(envelope({"type": "NOTE", "text": "x" * 300_000}))["json"]
    assert len(text) < 201_000 and text.endswith("characters more")


def test_what_is_missing_in_a_form_is_named_field_by_field() -> None:
    found = faults_of(
        "RISK_ASSESSMENT", {"type": "RISK_ASSESSMENT", "confidence": 7, "scores": None, "reasoning": "x"}
    )
    assert found["scores"] == "is needed" and found["risk_rating"] == "is needed"
    assert found["confidence"] == "choose at most 1, not 7"
    assert faults_of("NO_SUCH", {})[""].startswith("there is no message")
    right = bodies.assessment(1).model_dump(mode="json")
    assert faults_of("RISK_ASSESSMENT", right) == {}


@given(body=JSON)
def test_any_form_is_judged_and_none_breaks_it(body: Any) -> None:
    for kind in ("VERDICT", "HYPOTHESIS"):
        assert faults_of(kind, body)


def test_changes_between_drafts_name_what_came_and_what_went() -> None:
    assert changes([], ["a"]) == [["", "a"]]
    assert changes(["a", "b"], ["a", "c"]) == [["", "a"], ["del", "b"], ["add", "c"]]


def test_a_drawdown_is_measured_from_the_highest_value_before() -> None:
    assert drawdown([100.0, 110.0, 99.0, 120.0]) == [0.0, 0.0, -10.0, 0.0]


@pytest.mark.parametrize(
    ("given_", "found"),
    [(7, 7), ("7", 7), (True, None), (-1, None), ("٣", None), ("x", None), ("9" * 30, None), (None, None)],
)
def test_a_seq_from_a_browser_is_a_number_or_nothing(given_: object, found: int | None) -> None:
    assert seq_of(given_) == found


def test_every_channel_has_its_place_on_the_left() -> None:
    views = [
        ChannelView(one.name, one.system, one.purpose, one.heading, 0, 0)
        for one in (*rulebook().channels, Channel("#weather", "weather", "forecasts"))
    ]
    shown = {group["name"]: [one["name"] for one in group["channels"]] for group in groups_of(views)}
    assert shown == {
        "System A": ["#a-arena", "#a-verdict", "#a-research", "#a-report"],
        "System B": ["#b-ops", "#b-desk", "#b-risk", "#b-report"],
        "People": ["#bridge", "#admin"],
        "Arena and panels": ["#r-arena", "#r-panel"],
        "Motions": ["#motions"],
        "Calls": ["#calls"],
        "Experiments": ["#lab"],
        "Weather": ["#weather"],
    }


def test_a_page_can_ask_only_what_is_listed() -> None:
    reads = {
        "open",
        "window",
        "message",
        "case",
        "search",
        "memory",
        "calls",
        "why",
        "explain",
        "origins",
        "titles",
        "unread",
        "at",
    }
    assert reads | {"check"} | {"say", "act", "fill", "control", "suggest", "fulfil"} == OPS


@pytest.mark.parametrize(
    ("act", "values", "faults"),
    [
        ("override", {}, {"case": "is needed", "verdict": "is needed", "why": "is needed"}),
        ("override", {"case": "hyp_1", "verdict": "APPROVE", "why": "so"}, {}),
        (
            "override",
            {"case": "h" * 201, "verdict": "APPROVE", "why": "so"},
            {"case": "has 201 characters, 200 are the most: shorten it"},
        ),
        ("override", {"case": 3, "verdict": "APPROVE", "why": "so"}, {"case": "give a text, not 3"}),
        ("stop", {"scope": "system C", "why": "so"}, {}),
        ("stop", {"scope": "system", "why": "C so"}, {"": "a system is A or B, not 'C'"}),
        ("take", {"seat": "critic"}, {}),
        ("arena", {"prompt_or_task": "{"}, {"": "the task is no JSON object"}),
        ("note", {"text": "x", "mood": 1}, {"": "there is no 'mood', it takes text"}),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_form_is_said_by_the_blank(
    act: str, values: dict[str, Any], faults: dict[str, str]
) -> None:
    found = acts.faults_of(Person("owner", ADMIN), rulebook().acts[act], values)
    assert found.keys() == faults.keys()
    assert all(found[name].startswith(why) for name, why in faults.items()), found


def test_the_ids_of_all_kinds_of_case_are_links() -> None:
    assert {"hyp", "dep", "prom", "esc", "alert", "cycle", "arena", "panel", "session", "sig", "fb"} <= {
        *case_prefixes()
    }


def test_every_message_type_reads_as_a_card() -> None:
    for kind in rulebook().messages:
        assert card_of(envelope({"type": kind}))["y"] == kind


def test_no_part_of_the_page_makes_markup_of_a_text() -> None:
    web = Path(moot.console.page.__path__[0]) / "web"
    parts = {path.name: path.read_text(encoding="utf-8") for path in web.glob("*.js")}
    assert len(parts) > 10
    for name, text in parts.items():
        for way in (
            "v-html",
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "setHTML",
            "document.write",
            "eval(",
        ):
            assert way not in text, (name, way)


def a_cycle(*said: tuple[int, dict[str, Any]]) -> list[Envelope]:
    """Return messages so many minutes after 10:00, the trigger of a micro-cycle first."""
    context = CycleContext(last_verdict=None, priority_direction=None, available_parents=())
    trigger = CycleTrigger(trigger="EXPLORER_START", mode="micro", nominal_at=START, context=context)
    return [
        envelope(body, seq=n, sent_at=f"2026-02-23T{10 + minute // 60}:{minute % 60:02d}:30.000000Z")
        for n, (minute, body) in enumerate(((0, trigger.model_dump(mode="json")), *said), 1)
    ]


@pytest.mark.rule("R-D1")
def test_r_d1_the_targets_of_a_micro_cycle_are_shown_beside_what_came() -> None:
    first, answer, second = bodies.assessment(1), bodies.rebuttal(), bodies.assessment(2)
    said = a_cycle(
        *(
            (minute, body.model_dump(mode="json"))
            for minute, body in ((45, first), (58, answer), (71, second))
        )
    )
    found = target_table(said, is_over=False)
    assert found is not None
    assert found["rows"] == [
        ["hypothesis", "10:30", "", "not yet"],
        ["risk assessment, round 1", "10:45", {"t": "10:45", "go": "/m/2"}, "in time"],
        ["rebuttal or concede, round 2", "10:55", {"t": "10:58", "go": "/m/3"}, "3 min after it"],
        ["risk assessment, round 2", "11:10", {"t": "11:11", "go": "/m/4"}, "1 min after it"],
        ["verdict", "11:25", "", "not yet"],
        ["backtest result", "11:35", "", "not yet"],
        ["micro cycle report", "11:40", "", "not yet"],
    ]
    over = target_table(said, is_over=True)
    assert over is not None
    assert [row[3] for row in over["rows"]].count("did not come") == 4
    assert target_table(said[1:], is_over=True) is None


@pytest.mark.parametrize(
    ("reason", "speed", "told"),
    [
        (
            "waiting for ann in the seat of the Critic, 10 min at most",
            1.0,
            "Time is slowed to 1×: waiting for ann in the seat of the Critic, 10 min at most.",
        ),
        ("set by ann", 1.0, ""),
        ("nobody is waited for", 120.0, ""),
    ],
)
def test_a_page_says_when_time_is_slowed_and_for_whom(reason: str, speed: float, told: str) -> None:
    time = SocietyTime(
        at=None, speed=speed, is_paused=False, is_running=True, clock="paced", limit=None, reason=reason
    )
    assert clock_of(time)["held"] == told
