"""A protocol is one object, and what contradicts itself or another is said in one line."""

import json
from typing import Literal

import pytest

from moot.channels.log.lines import open_line
from moot.channels.outbox.pacing import is_routine
from moot.console.page.cards import card_of
from moot.feed import is_quiet
from moot.protocols.kernel.catalogue import Channel, Right
from moot.protocols.kernel.errors import LocalProtocolError
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.protocol import Protocol, declared, type_of
from moot.protocols.kernel.seats import OFFICERS, Seat, SeatInfo
from moot.protocols.kernel.upcast import Opaque
from moot.protocols.research import messages as research
from moot.protocols.research.seats import CRITIC
from moot.protocols.rulebook import BUILT_IN, Rulebook, rulebook
from tests.doubles.copying import replace


class Guess(Message):
    """Say what the weather will be."""

    type: Literal["GUESS"] = "GUESS"
    text: str = ""


FORECASTER = Seat("forecaster")
HERE = frozenset({"#weather"})
LOOK = SeatInfo(FORECASTER, "guesses", "cyan", ":cloud:", "weather")
PLACE = Channel("#weather", "weather", "guesses")


def weather(**changes):
    return Protocol(
        **{
            "name": "weather",
            "messages": (Guess,),
            "wording": {"GUESS": "guesses"},
            "seats": (LOOK,),
            "channels": (PLACE,),
            "rights": (Right("GUESS", frozenset({FORECASTER}), HERE),),
            **changes,
        }
    )


def test_a_protocol_adds_to_the_rulebook_all_that_it_declares():
    book = Rulebook((*BUILT_IN, weather()))
    assert book.added == ("weather",)
    assert book.messages["GUESS"] is Guess and book.channel_of["GUESS"] == "#weather"
    assert FORECASTER in book.bots and book.seats[FORECASTER].shown == "Forecaster"
    matrix = book.rules().matrix
    assert matrix.may_write(FORECASTER, "#weather", "GUESS") and matrix.readable(FORECASTER) == HERE
    assert not matrix.may_read(CRITIC, "#weather")
    assert "weather" not in {one.name for one in rulebook().protocols}, "the rulebook in force is another"


def test_a_seat_that_a_protocol_uses_reads_the_channels_that_it_may_write_and_no_others():
    rights = (Right("GUESS", frozenset({FORECASTER, CRITIC}), HERE),)
    places = (PLACE, Channel("#storms", "weather", "storms"))
    book = Rulebook((*BUILT_IN, weather(uses=(CRITIC,), rights=rights, channels=places)))
    before, after = rulebook().rules().matrix, book.rules().matrix
    assert after.readable(CRITIC) == before.readable(CRITIC) | HERE
    assert after.readable(FORECASTER) == {"#weather", "#storms"}
    others = before.seats.keys() - {CRITIC, Seat("admin"), Seat("viewer")} - OFFICERS
    assert all(after.readable(seat) == before.readable(seat) for seat in others)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"messages": (Guess, Guess)}, "the protocol weather: the message type GUESS is declared twice"),
        ({"seats": (LOOK, LOOK)}, "the protocol weather: the seat forecaster is declared twice"),
        ({"channels": (PLACE, PLACE)}, "the protocol weather: the channel #weather is declared twice"),
        (
            {"seats": (LOOK._replace(colour="mauve"),)},
            "the protocol weather: the seat forecaster has the colour mauve, which no terminal has",
        ),
        (
            {"seats": (LOOK._replace(seat=Seat("The Forecaster")),)},
            "the protocol weather: 'The Forecaster' is no name of a seat",
        ),
        (
            {"marks": {"GUESS": "storm"}},
            "the protocol weather: the message type GUESS is marked 'storm', "
            "which is none of violation, ruling, escalation, halt",
        ),
    ],
)
def test_a_protocol_that_contradicts_itself_is_refused(changes, sentence):
    with pytest.raises(LocalProtocolError) as refused:
        weather(**changes)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"messages": (Guess, research.Hypothesis)},
            "the protocol weather declares the message type HYPOTHESIS, which research brings already",
        ),
        (
            {"seats": (LOOK, SeatInfo(CRITIC, "guesses", "cyan", ":cloud:"))},
            "the protocol weather declares the seat critic, which research brings already; say uses instead",
        ),
        (
            {"channels": (PLACE, Channel("#lab", "weather", "guesses"))},
            "the protocol lab declares the channel #lab, which weather brings already",
        ),
        ({"name": "research"}, "there are two protocols research"),
        (
            {"rights": (Right("GUESS", frozenset({CRITIC}), HERE),)},
            "the protocol weather: a right for GUESS names the seat critic, which it neither brings nor uses",
        ),
        (
            {"rights": (Right("GUESS", frozenset({FORECASTER}), frozenset({"#sky"})),)},
            "the protocol weather: a right for GUESS names the channel #sky, which nobody brings",
        ),
        (
            {"rights": (Right("GOSSIP", frozenset({FORECASTER}), HERE),)},
            "the protocol weather: a right names the message type GOSSIP, which nobody declares",
        ),
        ({"uses": (Seat("oracle"),)}, "the protocol weather uses the seat oracle, which nobody brings"),
        (
            {"wording": {"GOSSIP": "says"}},
            "the protocol weather words the message type GOSSIP, which nobody declares",
        ),
        (
            {"urgent": frozenset({"GOSSIP"})},
            "the protocol weather words the message type GOSSIP, which nobody declares",
        ),
    ],
)
def test_protocols_that_contradict_each_other_are_refused(changes, sentence):
    with pytest.raises(LocalProtocolError) as refused:
        Rulebook((*BUILT_IN[:-1], weather(**changes), BUILT_IN[-1]))
    assert sentence in str(refused.value)


def said(body):
    line = {
        "v": 1, "seq": 7, "id": "x", "channel": "#weather", "author": "forecaster", "case_id": None,
        "actor": {"kind": "bot", "platform": "moot", "user_id": ""}, "obligation_id": None, "attempt": 0,
        "tenure": 0, "in_reply_to": None, "hops": 0, "sent_at": "2026-02-23T00:21:23.944000Z",
        "body": body.model_dump(), "hash": "ab",
    }  # fmt: skip
    return replace(open_line(json.dumps(line, separators=(",", ":"))), body=body)


def test_surfaces_show_a_message_as_its_protocol_says(monkeypatch):
    added = weather(
        urgent=frozenset({"GUESS"}), marks={"GUESS": "ruling"}, quiet={"GUESS": lambda body: body.text == ""}
    )
    monkeypatch.setattr("moot.protocols.rulebook._spoken", Rulebook((*BUILT_IN, added)))
    assert not is_routine("GUESS", "case_1") and is_routine("VERDICT", "case_1")
    assert card_of(said(Guess(text="rain")))["m"] == "ruling"
    assert (is_quiet(said(Guess(text="rain"))), is_quiet(said(Guess()))) == (False, True)
    unread = Opaque(type="GUESS", data={"type": "GUESS"})
    assert not is_quiet(said(unread)), "what a newer version says is not judged"


def test_a_seat_of_another_protocol_may_be_used():
    row = Right("GUESS", frozenset({CRITIC}), HERE)
    book = Rulebook((*BUILT_IN, weather(uses=(CRITIC,), rights=(row,))))
    assert book.rules().matrix.may_write(CRITIC, "#weather", "GUESS")


def test_every_message_of_moot_is_worded_and_every_type_may_be_posted():
    book = rulebook()
    assert set(book.wording) == set(book.messages) == book.rules().matrix.types


def test_what_a_module_declares_is_gathered_once():
    kinds = declared(research, research)
    assert len(kinds) == len({*map(type_of, kinds)}) and research.Hypothesis in kinds
