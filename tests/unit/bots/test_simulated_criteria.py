from datetime import UTC, datetime, timedelta

import pytest

from moot.bots.minds.simulated.debate.criteria import (
    CRITERIA,
    NAMES,
    archetypes_in,
    listed,
    mentioned,
    speaks_against,
    spoken,
    symbols_in,
)
from moot.bots.minds.simulated.debate.heed import attention, heeded
from moot.bots.minds.simulated.wording import MOST_QUOTED, Voice, counted, percent, quoted, sentence, two
from moot.bots.tools.seeding import generator
from moot.protocols.kernel.envelope import Actor, Envelope
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import ADMIN

NOON = datetime(2026, 2, 23, 12, tzinfo=UTC)
SYMBOLS = ("SP500", "SIM-ALFA", "SIM-ALFAX")


def note(text, about=None, hours_ago=1.0, user="ann", case_id=None):
    return Envelope(
        v=1,
        seq=1,
        id="n",
        channel="#a-arena",
        author=ADMIN,
        actor=Actor("human", "test", user),
        case_id=case_id,
        obligation_id=None,
        attempt=0,
        tenure=0,
        in_reply_to=None,
        hops=0,
        sent_at=NOON - timedelta(hours=hours_ago),
        body=Note(text=text, about_case_id=about),
    )


def read(*notes, cases=("hyp_1",)):
    return heeded(notes, set(cases), SYMBOLS, NOON, 6.0)


def test_people_are_named_as_the_log_calls_them():
    said = note("mind the tail risk")
    (known,) = heeded([said], {"hyp_1"}, SYMBOLS, NOON, 6.0, {said.actor.user_id: "Ann Lee"})
    assert known.facts["who"] == "Ann Lee"


@pytest.mark.parametrize("name", CRITERIA)
def test_every_score_is_found_by_its_identifier_and_by_its_spoken_name(name):
    assert mentioned(f"what about {name}?") == (name,)
    assert mentioned(f"{NAMES[name].capitalize()} 0.72") == (name,)


def test_the_score_that_is_named_first_comes_first():
    assert mentioned("Crowding: a correlation of 0.79 with plain holding") == (
        "crowding_risk",
        "correlation_risk",
    )
    assert mentioned("nothing of the kind") == ()


def test_archetypes_and_symbols_are_found_as_whole_names():
    assert archetypes_in("Try mean-reversion or multi factor") == ("mean_reversion", "multi_factor")
    assert symbols_in("what about sim-alfa, then?", SYMBOLS) == ("SIM-ALFA",)


@pytest.mark.parametrize(
    ("text", "against"),
    [("avoid momentum", True), ("leave breakout alone", True), ("more momentum please", False)],
)
def test_a_warning_is_told_from_a_wish(text, against):
    assert speaks_against(text) is against


def test_identifiers_become_words():
    assert spoken("event_window_risk") == "event-window risk"
    assert spoken("mean_reversion") == "mean reversion"
    assert spoken("low_sharpe") == "low test Sharpe"
    assert listed(["a", "b", "c"]) == "a, b and c"


def test_notes_about_another_case_and_old_general_ones_are_left_out():
    about = note("tail risk worries me", about="hyp_1", hours_ago=30)
    other = note("tail risk worries me", about="hyp_2")
    recent, old = note("try breakout"), note("try momentum", hours_ago=7)
    found = read(about, other, recent, old)
    assert [one.quote for one in found] == ["“tail risk worries me”", "“try breakout”"]
    assert found[0].who == "ann" and found[0].criteria == ("tail_risk",)
    assert found[1].archetypes == ("breakout",) and not found[1].is_against


def test_a_note_that_names_a_score_takes_off_its_tolerance_and_one_about_the_archetype_sharpens_the_worst():
    (named,) = read(note("overfitting!"))
    assert attention((named,), "momentum", "tail_risk", 0.12) == {"overfitting": 0.12}
    (general,) = read(note("I distrust momentum here"))
    assert attention((general,), "momentum", "tail_risk", 0.12) == {"tail_risk": 0.06}
    assert attention((general,), "breakout", "tail_risk", 0.12) == {}


def test_a_quote_is_one_short_printable_line():
    text = quoted("a\nb\x1b[31m\u202e" + "x" * 500)
    assert "\n" not in text and "\x1b" not in text and "\u202e" not in text
    assert len(text) <= MOST_QUOTED + 2


def test_no_variant_comes_twice_while_others_are_left():
    voice = Voice(generator("test"))
    variants = ("a", "b", "c")
    assert sorted(voice.say(variants) for _ in range(3)) == ["a", "b", "c"]
    assert voice.say(variants) in variants


def test_figures_and_sentences_are_written_as_people_write_them():
    assert (two(-0.001), two(1.005e1), percent(0.0912), percent(-0.0001)) == (
        "0.00",
        "10.05",
        "9.1 %",
        "0.0 %",
    )
    assert sentence("it holds") == "It holds."
    assert sentence("hyp_20260223_1005 failed") == "hyp_20260223_1005 failed."
    assert (counted(0, "answer"), counted(1, "answer"), counted(2, "answer")) == (
        "no answers",
        "1 answer",
        "2 answers",
    )
