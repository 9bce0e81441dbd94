"""What a person fills in: a form of every act, and words and values that become the fields of its message."""

from __future__ import annotations

import re
from typing import Any, Literal

import pytest

from moot.channels.filling import MOST_KEPT, form_of, from_fields, from_values, from_words, takes, with_kept
from moot.protocols.kernel.acts import Act, Blank
from moot.protocols.kernel.fields import FrozenJson
from moot.protocols.kernel.message import Instant, Message, Part, Share, Text, Texts
from moot.protocols.rulebook import rulebook


class Place(Part):
    """Where it is asked about."""

    city: Text
    height: int = 0


class Question(Message):
    """Ask whether something will come."""

    type: Literal["QUESTION"] = "QUESTION"
    text: Text
    days: int
    sure: Share = 0.5
    how: Literal["soon", "late"] = "soon"
    words: Texts = ()
    numbers: tuple[int, ...] = ()
    place: Place | None = None
    until: Instant | None = None
    more: FrozenJson | None = None
    loud: bool = False


NAMES = ("text", "days", "sure", "how", "words", "numbers", "place", "until", "more", "loud")
ASK = Act(name="ask", does="ask", message=Question, asks=tuple(Blank(name, f"the {name}") for name in NAMES))


def test_the_form_has_a_property_for_each_blank_told_by_the_field_that_it_becomes() -> None:
    form = form_of(ASK)
    assert list(form["properties"]) == list(NAMES)
    assert form["required"] == ["text", "days"]
    kinds = {name: one.get("type") for name, one in form["properties"].items()}
    assert kinds["days"] == "integer" and kinds["words"] == "array" and kinds["loud"] == "boolean"
    assert form["properties"]["how"]["enum"] == ["soon", "late"]
    assert form["properties"]["sure"]["maximum"] == 1
    assert "Place" in form["$defs"]
    assert form["properties"]["text"]["description"] == "the text"


@pytest.mark.parametrize("name", rulebook().acts)
def test_every_act_has_a_form(name: str) -> None:
    act = rulebook().acts[name]
    form = form_of(act)
    assert list(form["properties"]) == [blank.name for blank in act.asks]
    assert all(one["description"] for one in form["properties"].values())


def test_a_seat_and_choices_are_lists_to_choose_from() -> None:
    assert form_of(rulebook().acts["take"])["properties"]["seat"]["enum"] == sorted(rulebook().bots)
    verdict = form_of(rulebook().acts["override"])["properties"]["verdict"]
    assert verdict["enum"] == ["APPROVE", "REJECT"]


WORDS: dict[str, tuple[list[str], Any]] = {
    "text": (["3"], "3"),
    "days": (["3"], 3),
    "sure": (["0.25"], 0.25),
    "how": (["late"], "late"),
    "words": (["one", "two words"], ("one", "two words")),
    "numbers": (["1", "2"], (1, 2)),
    "place": (['{"city": "Bonn", "height": 3}'], Place(city="Bonn", height=3)),
    "more": (['{"a": [1]}'], {"a": (1,)}),
    "loud": (["true"], True),
}


@pytest.mark.parametrize("name", WORDS)
def test_words_are_read_as_the_message_wants_them(name: str) -> None:
    words, value = WORDS[name]
    fields = from_words(ASK, {"text": ["x"], "days": ["1"], name: words})
    assert fields[name] == value
    assert getattr(Question(**fields), name) == value


def test_one_word_of_a_list_is_a_list_and_json_is_one_too() -> None:
    asked = {"text": ["x"], "days": ["1"]}
    assert from_words(ASK, {**asked, "words": ["one, two"]})["words"] == ("one, two",)
    assert from_words(ASK, {**asked, "words": ['["one", "two"]']})["words"] == ("one", "two")


def test_the_values_of_a_form_are_read_as_json_is_and_what_is_blank_is_left_out() -> None:
    given: dict[str, object] = {
        "text": "x",
        "days": 0,
        "sure": None,
        "how": "late",
        "words": ["one"],
        "numbers": [],
        "place": {"city": "Bonn"},
        "until": "2026-11-19T14:30:00Z",
        "more": {"a": 1},
        "loud": False,
    }
    fields = from_values(ASK, given)
    asked = Question(**fields)
    assert "sure" not in fields and asked.sure == 0.5
    assert (asked.words, asked.numbers, asked.place, asked.days) == (("one",), (), Place(city="Bonn"), 0)
    assert asked.until is not None and asked.until.year == 2026
    assert asked.loud is False


def test_what_the_message_does_not_want_is_passed_on_for_it_to_say() -> None:
    assert from_words(ASK, {"text": ["x"], "days": ["soon"]})["days"] == "soon"
    assert from_values(ASK, {"text": "x", "days": "soon"})["days"] == "soon"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"text": ["x"]}, "the days is missing"),
        ({"text": [" "], "days": ["1"]}, "the text is missing"),
        ({"text": ["x"], "days": ["1"], "mood": ["good"]}, "there is no 'mood', it takes text, days, sure"),
    ],
)
def test_a_missing_or_unknown_blank_is_said(words: dict[str, list[str]], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        from_words(ASK, words)
    with pytest.raises(ValueError, match=says):
        from_values(ASK, {name: found[0] for name, found in words.items()})


def test_an_act_that_reads_words_itself_is_given_them_by_a_form_too() -> None:
    take, answer = rulebook().acts["take"], rulebook().acts["answer"]
    assert from_values(take, {"seat": "critic"}) == {"seat": "critic", "reason": ""}
    assert from_values(answer, {"id": "esc_1", "option_or_text": 2}) == {
        "escalation_id": "esc_1",
        "option": 2,
        "text": None,
    }
    with pytest.raises(ValueError, match=r"no seat 'critc' that a person can take, did you mean critic\?"):
        from_values(take, {"seat": "critc"})


DEBATE = rulebook().acts["debate"]


def test_a_list_with_a_sign_is_split_and_its_blank_items_are_nothing() -> None:
    for given in (["Rome | Oslo"], ["Rome", "Oslo"], ["Rome |", " Oslo"]):
        assert from_words(DEBATE, {"question": ["Where?"], "options": given})["options"] == ("Rome", "Oslo")
    assert from_words(DEBATE, {"question": ["Where?"], "options": ["Rome"]})["options"] == ("Rome",)
    found = from_values(DEBATE, {"question": "Where?", "options": ["Rome", "", "Oslo", " "], "context": " "})
    assert found == {"question": "Where?", "options": ("Rome", "Oslo")}


def test_a_text_that_is_kept_becomes_its_reference_and_holds_no_secret() -> None:
    form = form_of(DEBATE)
    assert form["properties"]["context"]["maxLength"] == MOST_KEPT
    assert form["required"] == ["question"]
    kept: list[str] = []

    def keep(text: str) -> str:
        kept.append(text)
        return "context/0123456789abcdef"

    secret = "xoxb-" + "1" * 12 + "-" + "a" * 24
    given = from_values(DEBATE, {"question": "Where?", "context": f"true\n{secret}"})
    assert with_kept(DEBATE, given, keep)["context_ref"] == "context/0123456789abcdef"
    assert len(kept) == 1
    assert kept[0].startswith("true\n[redacted:")
    assert with_kept(DEBATE, {"question": "Where?"}, keep) == {"question": "Where?"}
    with pytest.raises(ValueError, match="the context has 100,001 characters, 100,000 are the most"):
        with_kept(DEBATE, {"question": "Where?", "context_ref": "x" * (MOST_KEPT + 1)}, keep)
    assert len(kept) == 1


# ---------------------------------------------------------------- fields by any of their names

ESC = "esc_20260223_1000"


@pytest.mark.parametrize(
    ("kind", "given", "wanted"),
    [
        ("answer", {"id": ESC, "option_or_text": "3"}, {"escalation_id": ESC, "option": 3, "text": None}),
        ("answer", {"id": ESC, "option_or_text": 3}, {"escalation_id": ESC, "option": 3, "text": None}),
        ("answer", {"escalation_id": ESC, "option_or_text": "wait"}, {"escalation_id": ESC, "text": "wait"}),
        ("answer", {"escalation": ESC, "option": 2}, {"escalation_id": ESC, "option": 2}),
        ("answer", {"escalation": ESC, "option": "2"}, {"escalation_id": ESC, "option": 2}),
        ("answer", {"case_id": ESC, "text": "wait"}, {"escalation_id": ESC, "text": "wait"}),
        ("answer", {"escalation_id": ESC, "option": 2, "text": None}, {"escalation_id": ESC, "option": 2}),
        ("answer", {"escalation_id": ESC, "option": "2"}, {"escalation_id": ESC, "option": 2}),
        ("answer", {"id": ESC, "answer": "1"}, {"escalation_id": ESC, "option": 1}),
        ("ack", {"id": ESC}, {"escalation_id": ESC}),
        ("ack", {"escalation": ESC}, {"escalation_id": ESC}),
        ("ack", {"escalation_id": ESC}, {"escalation_id": ESC}),
        ("halt", {"why": "odd"}, {"reason": "odd"}),
        ("halt", {"reason": "odd"}, {"reason": "odd"}),
        ("resume", {"why": "calm", "lifts": ["3", "5"]}, {"reason": "calm", "lifts": ("3", "5")}),
        ("note", {"text": "hello"}, {"text": "hello"}),
        (
            "override",
            {"case": "hyp_1", "verdict": "reject", "why": "bad data"},
            {"case_id": "hyp_1", "verdict": "REJECT", "why": "bad data"},
        ),
        (
            "override",
            {"case_id": "hyp_1", "verdict": "REJECT", "why": "bad data"},
            {"case_id": "hyp_1", "verdict": "REJECT", "why": "bad data"},
        ),
        ("take", {"seat": "critic"}, {"seat": "critic"}),
        ("release", {"seat": "critic"}, {"seat": "critic"}),
        ("stop", {"scope": "system B", "reason": "enough"}, {"scope": "system B", "why": "enough"}),
        ("budget", {"scope": "day", "amount": "$5"}, {"scope": "day"}),
        ("arena", {"prompt_or_task": "plan it"}, {"task": {"initial_prompt": "plan it"}}),
        ("arena", {"prompt_or_task": {"initial_prompt": "x"}}, {"task": {"initial_prompt": "x"}}),
        ("arena", {"task": {"initial_prompt": "x"}}, {"task": {"initial_prompt": "x"}}),
        (
            "debate",
            {"question": "tea?", "options": ["yes", "no"]},
            {"question": "tea?", "options": ("yes", "no")},
        ),
        ("debate", {"question": "tea?", "context": "a text"}, {"question": "tea?", "context_ref": "a text"}),
    ],
)
def test_a_program_gives_the_fields_of_an_act_by_any_of_their_names(kind, given, wanted):
    found = from_fields(rulebook().acts[kind], given)
    assert {
        name: found[name] if not isinstance(found[name], list) else tuple(found[name]) for name in wanted
    } == wanted


def test_every_act_takes_the_names_that_it_prints_and_those_of_its_form():
    for act in rulebook().acts.values():
        for blank in act.asks:
            assert all(name in takes(act) for name in blank.names)
        with pytest.raises(ValueError, match="unknown field 'colour'; " + act.name + " takes "):
            from_fields(act, {"colour": "red"})
        if act.asks:
            with pytest.raises(ValueError, match=f"missing field .*{act.asks[0].name}"):
                from_fields(act, {})


@pytest.mark.parametrize(
    ("kind", "given", "why"),
    [
        ("answer", {"option": 3}, "missing field 'escalation_id' or 'id'"),
        ("answer", {"id": ESC}, "missing field 'option' or 'option_or_text'"),
        ("answer", {"id": ESC, "option_or_text": " "}, "missing field 'option' or 'option_or_text'"),
        ("answer", {"id": ESC, "choice": 3}, "unknown field 'choice'"),
        ("answer", {"id": ESC, "escalation": "esc_2", "option": 1}, "are the same field"),
        ("ack", {}, "missing field 'escalation_id' or 'id'"),
        ("halt", {}, "missing field 'why' or 'reason'"),
        ("override", {"case": "hyp_1", "why": "x"}, "missing field 'verdict'"),
        ("override", {"case": "hyp_1", "verdict": "MAYBE", "why": "x"}, "MAYBE"),
    ],
)
def test_what_is_missing_or_unknown_is_named(kind, given, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        from_fields(rulebook().acts[kind], given)
