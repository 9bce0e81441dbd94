"""What people are called: cleaned, once in the log, and two people never alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.kernel.errors import OfficerFault
from moot.protocols.kernel.naming import MOST_NAME, NameBook, display_name
from moot.protocols.kernel.officers import PersonNamed
from moot.protocols.kernel.seats import REFEREE
from moot.protocols.rulebook import rulebook
from tests.doubles.table import Table

ANN, BEN = "234567890123456789", "U0BEN"


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("Ann Lee", "Ann Lee"),
        ("  Ann\n\tLee  ", "Ann Lee"),
        ("@everyone", "everyone"),
        ("<@1234>", "1234"),
        ("**Ann** [x](https://x.example)", "Ann x https //x.example"),
        ("Ann\u202eeeL\u0000", "Ann eeL"),
        ("Ann (123 on discord)", "Ann 123 on discord"),
        ("Zoë 李", "Zoë 李"),
        ("xoxb-123456789012-abcdef", "redacted slack_token"),
        ("x" * 300, "x" * MOST_NAME),
        ("🎉 \u200b", ""),
        ("u0ben", ""),
        ("", ""),
    ],
)
def test_a_name_is_one_clean_line_without_markup_mention_or_secret(raw, name):
    assert display_name(raw, BEN) == name


@given(st.text())
def test_a_name_that_was_cleaned_stays_as_it_is(raw):
    name = display_name(raw)
    assert display_name(name) == name
    assert len(name) <= MOST_NAME and not set(name) & set("@<>[](){}#`*|\\:")


def test_people_of_one_name_are_told_apart_and_alone_again_when_one_is_called_otherwise():
    book = NameBook(rulebook().seats)
    book.learn("discord", ANN, "Sam")
    assert book.called == {ANN: "Sam"}
    book.learn("slack", BEN, "SAM")
    assert book.called == {ANN: f"Sam ({ANN})", BEN: f"SAM ({BEN})"}
    book.learn("slack", BEN, "Ben")
    assert book.called == {ANN: "Sam", BEN: "Ben"}


@pytest.mark.parametrize("name", ["Referee", "admin", "Moot", "CRITIC"])
def test_nobody_is_called_like_a_seat_alone(name):
    book = NameBook(rulebook().seats)
    book.learn("discord", ANN, name)
    assert book.called == {ANN: f"{name} ({ANN})"}


def test_an_id_that_two_platforms_use_stands_for_itself():
    book = NameBook(rulebook().seats)
    book.learn("discord", "ann", "Ann of Discord")
    book.learn("slack", "ann", "Ann of Slack")
    assert book.called == {}
    assert book.name_of("slack", "ann") == "Ann of Slack"


def named(table, name, key, user_id=ANN):
    body = PersonNamed(platform="discord", user_id=user_id, display_name=name)
    return table.post(REFEREE, body, channel="#admin", key=key)


def people(table):
    return table.docket.context.fold_named("people")


@pytest.mark.rule("K9")
def test_k9_the_log_has_a_name_once_and_again_when_it_is_another():
    table = Table()
    for n, name in enumerate(("Ann", "Annie", "Ann")):
        named(table, name, f"named/discord/{ANN}/{n}")
    assert people(table).called == {ANN: "Ann"}


@pytest.mark.rule("K5")
@pytest.mark.parametrize(
    ("name", "key", "why"),
    [
        ("Ann", f"named/discord/{ANN}/1", "called Ann already"),
        ("Annie", f"named/discord/{ANN}/7", "this is named/discord"),
        ("<@Ann>", f"named/discord/{ANN}/1", "not as names are cleaned"),
    ],
)
def test_k5_a_name_that_stands_or_is_unclean_or_has_anothers_id_is_the_referees_fault(name, key, why):
    table = Table()
    named(table, "Ann", f"named/discord/{ANN}/0")
    with pytest.raises(OfficerFault, match=why):
        named(table, name, key)
