"""Whose word a text on a free question is."""

from moot.channels.log.lines import open_line
from moot.protocols.arena.messages import ArenaDraft, Review
from moot.protocols.arena.seats import PLANNER, REVIEWER
from moot.protocols.authorship import is_modelless, label, labels, summary, will_write, written_by
from moot.protocols.kernel.envelope import Actor
from moot.protocols.kernel.minds import STAND_IN, Minds
from moot.protocols.rulebook import rulebook
from tests.doubles import bodies
from tests.doubles.small_log import SmallLog

ANN = Actor("human", "console", "ann")


def said():
    log = SmallLog()
    for n, actor in enumerate([None, ANN, None], 1):
        body = ArenaDraft(run_id="arena_1", round_index=n, text="Hold half.")
        more = {"actor": actor} if actor else {}
        log.append(body, channel="#r-arena", author=PLANNER, case_id="arena_1", **more)
    review = Review(run_id="arena_1", text="VERDICT: APPROVED")
    log.append(review, channel="#r-arena", author=REVIEWER, case_id="arena_1")
    log.say("looks good", case_id="arena_1")
    return log.envelopes


def test_what_seats_write_on_free_questions_and_nothing_else_is_labelled():
    arena = {"DRAFT", "REVIEW", "FINAL_OUTPUT", "HOOK_RESULT"}
    panel = {"PHASE1", "PHASE2", "SYNTHESIS"}
    motion = {"CLAIM", "OBJECTIONS", "REPLIES", "EXTEND_MOTION", "JUDGMENT"}
    assert rulebook().free_texts == arena | panel | motion, "a question is not, which people ask"
    for name in ("research", "trading", "people", "officers", "escalation"):
        (one,) = [one for one in rulebook().protocols if one.name == name]
        assert not rulebook().free_texts & {*one.types}, "they are about generated strategies, or are code"


def test_officers_never_write_one():
    officers = {
        row.type for row in rulebook().rights if row.seats <= {"referee", "orchestrator", "timekeeper"}
    }
    assert not rulebook().free_texts & officers


def test_a_message_is_labelled_however_its_body_is_read():
    typed = said()
    assert [label(env, Minds()) for env in typed] == [
        "simulated, no model", "", "simulated, no model", "simulated, no model", "",
    ]  # fmt: skip
    assert [label(open_line(env.line), Minds()) for env in typed] == [label(env, Minds()) for env in typed]


def test_a_case_names_everybody_who_wrote():
    found = written_by(said(), Minds())
    assert found == {"planner": ["simulated, no model", "a person"], "reviewer": ["simulated, no model"]}
    assert labels(found) == "simulated, no model"
    assert not is_modelless(found)
    assert summary(found) == "planner: simulated, no model and a person; reviewer: simulated, no model"


def test_what_holds_for_all_is_said_once():
    found = will_write([PLANNER, REVIEWER], {})
    assert found == {"planner": ["simulated, no model"], "reviewer": ["simulated, no model"]}
    assert summary(found) == "simulated, no model"
    assert is_modelless(found)
    assert summary({}) == "" == labels({})


LOCAL = {"local": {"model": "qwen3:8b"}}


def test_whatever_a_model_says_is_labelled_with_its_name():
    minds = Minds()
    minds.put(0, {"planner": {"model": "local"}}, LOCAL)
    planner, person, _, reviewer, note = said()
    assert label(planner, minds) == "by the model qwen3:8b"
    assert (label(person, minds), label(note, minds)) == ("", "")
    assert label(reviewer, minds) == "simulated, no model"
    log = SmallLog()
    answer = log.append(bodies.assessment(1), channel="#a-arena", author=PLANNER)
    assert label(answer, minds) == "by the model qwen3:8b", "on a question that is not free too"
    assert label(answer, Minds()) == ""


def test_what_a_simulated_mind_says_in_a_model_s_seat_is_never_the_model_s():
    minds = Minds()
    minds.put(0, {"planner": {"model": "local"}}, LOCAL)
    log = SmallLog()
    draft = ArenaDraft(run_id="arena_1", round_index=1, text="Hold half.")
    written = log.append(draft, channel="#r-arena", author=PLANNER, actor=STAND_IN)
    figures = log.append(bodies.assessment(1), channel="#a-arena", author=PLANNER, actor=STAND_IN)
    assert (label(written, minds), label(figures, minds)) == ("simulated, no model", "")
    assert minds.author(written) == "simulated, no model"


def test_a_model_is_named_where_a_whole_is_labelled():
    found = will_write([PLANNER, REVIEWER], {"reviewer": {"model": "local"}}, LOCAL)
    assert found["reviewer"] == ["the model local (qwen3:8b)"]
    assert not is_modelless(found)
    assert labels(found) == "simulated, no model; by the model qwen3:8b"


def test_a_mind_of_ones_own_has_no_label():
    found = will_write([PLANNER, REVIEWER], {"reviewer": {"module": "mine:Stern"}})
    assert found["reviewer"] == ["the mind mine:Stern"]
    assert not is_modelless(found)
    assert labels(found) == "simulated, no model"
    assert labels({"reviewer": ["a person", "the mind x, no model"]}) == ""
