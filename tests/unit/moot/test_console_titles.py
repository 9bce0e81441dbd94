"""Titles of cases on the page, addresses of past moments, searches and folded routine."""

from __future__ import annotations

from typing import Any

import pytest

from moot.console.page.act_context import case_blank, fits, is_final
from moot.console.page.cards import card_of, says_nothing
from moot.console.page.places import asked_of, split_moment, words_of
from moot.console.page.titles import case_nouns, placeholder, title_of, unnumbered
from moot.protocols.rulebook import rulebook
from tests.doubles.copying import replace
from tests.unit.moot.test_console_page import envelope


@pytest.mark.parametrize(
    ("body", "case_id", "title"),
    [
        ({"type": "X", "title": "Move the deadline"}, "change_20261128_0850", "Move the deadline"),
        ({"type": "X", "text": "will it rain?"}, "question_20260223_1005", "Will it rain?"),
        ({"type": "X", "task": {"prompt": "Write a plan."}}, "arena_20260223_1005", "Write a plan."),
        ({"type": "X", "whatever": "Some words of its own"}, "thing_20260223_1005", "Some words of its own"),
        ({"type": "X", "trigger": "EXPLORER_START"}, "cycle_20260223_0200", "Micro-cycle of "),
        (
            {"type": "X", "action": "BUY", "symbol": "SIM-A", "quantity": 3},
            "sig_20260223_0200",
            "Buy 3 SIM-A",
        ),
        (
            {"type": "X", "trigger": "Deployment dep_20260225_0505: the reviewers disagree"},
            "esc_20260225_0516",
            "Deployment of 25 Feb 05:05: the reviewers disagree",
        ),
        (
            {"type": "X", "risk_profile": {"archetype": "mean_reversion"}},
            "dep_20260225_0505",
            "Deployment: mean",
        ),
    ],
)
def test_a_case_is_titled_by_what_its_first_message_says(
    body: dict[str, Any], case_id: str, title: str
) -> None:
    assert title_of(envelope(body), case_id).startswith(title)


def test_a_title_ends_behind_a_word_and_holds_no_control_character() -> None:
    title = title_of(envelope({"type": "X", "title": "seventeen words \x1b[31m " * 30}), "x_20260101_0000")
    assert title.endswith("…")
    assert len(title) <= 90
    assert "\x1b" not in title


def test_a_case_of_which_only_the_id_is_known_is_named_by_kind_and_time() -> None:
    assert placeholder("hyp_20261128_0850") == "debate of 28 Nov 08:50"
    assert unnumbered("strat_20260223_0208 and hyp_20260223_0018/rebuttal-2/critic") == (
        "strategy of 23 Feb 02:08 and debate of 23 Feb 00:18"
    )
    assert unnumbered("nothing_20260223_0018 stays") == "nothing_20260223_0018 stays"
    assert case_nouns()["hyp"] == "debate"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/c/a-arena?at=12", ("/c/a-arena", 12)),
        ("/search?q=a+b&at=7", ("/search?q=a+b", 7)),
        ("/inbox?at=soon", ("/inbox", "soon")),
        ("/inbox", ("/inbox", None)),
    ],
)
def test_a_past_moment_stands_in_an_address(path: str, found: tuple[str, object]) -> None:
    assert split_moment(path) == found


def test_a_search_has_its_words_under_q_and_takes_their_older_name() -> None:
    assert asked_of({"q": "tail risk"})["q"] == asked_of({"text": "tail risk"})["q"] == "tail risk"
    assert words_of("tail - (risk)") == ["tail", "(risk)"]


@pytest.mark.parametrize(("status", "is_routine"), [("HEALTHY", True), ("DEGRADED", False)])
def test_a_health_check_that_found_nothing_is_routine(status: str, is_routine: bool) -> None:
    body = rulebook().messages["HEALTH_CHECK"].model_construct(type="HEALTH_CHECK", status=status)
    assert says_nothing(replace(envelope({"type": "HEALTH_CHECK"}), body=body)) is is_routine


def test_a_seat_without_a_picture_is_told_by_its_initials_and_colour() -> None:
    assert "i" not in card_of(envelope({"type": "X"}, author="critic"))
    assert card_of(envelope({"type": "X"}, author="forecaster"))["i"]


@pytest.mark.parametrize(
    ("act", "kind", "does_fit"),
    [
        ("override", "debate", True),
        ("override", "halt", False),
        ("stop", "debate", True),
        ("answer", "escalation", True),
        ("answer", "debate", False),
        ("halt", "debate", False),
        ("debate", "motion", False),
    ],
)
def test_an_act_is_offered_for_the_cases_that_know_its_message(act: str, kind: str, does_fit: bool) -> None:
    assert fits(rulebook().acts[act], kind) is does_fit


def test_acts_that_decide_ask_for_confirmation() -> None:
    asked = {name for name, act in rulebook().acts.items() if is_final(act)}
    assert asked == {"answer", "budget", "halt", "override", "release", "resume", "stop", "take"}


def test_the_blank_that_takes_a_case_is_found() -> None:
    names = {name: blank.name for name, act in rulebook().acts.items() if (blank := case_blank(act))}
    assert names == {"override": "case", "stop": "scope", "ack": "id", "answer": "id"}
