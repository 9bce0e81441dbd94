"""Slash commands, as Discord lists them and as a person would type them."""

import pytest

from moot.channels.chat.commands import commands, parse
from moot.channels.discord.slash import NotOneWord, is_same, line_of, listed
from moot.protocols.rulebook import rulebook


def test_every_command_is_listed_within_discords_limits():
    found = listed()
    assert [one["name"] for one in found] == [command.name for command in commands()]
    for one in found:
        assert 1 <= len(one["description"]) <= 100
        needed = [option["required"] for option in one["options"]]
        assert needed == sorted(needed, reverse=True), "Discord wants what is needed first"
        for option in one["options"]:
            assert 1 <= len(option["description"]) <= 100
            assert len(option.get("choices", [])) <= 25


def test_seats_and_verdicts_are_chosen_from_a_list():
    options = {one["name"]: {o["name"]: o for o in one["options"]} for one in listed()}
    assert {choice["value"] for choice in options["take"]["seat"]["choices"]} == {
        str(seat) for seat in rulebook().bots
    }
    assert [c["value"] for c in options["override"]["verdict"]["choices"]] == ["APPROVE", "REJECT"]


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.name)
def test_what_is_filled_in_is_what_the_grammar_reads(command):
    given = {"verdict": "REJECT", "seat": "critic", "scope": "system A", "option_or_text": "2", "rounds": "2"}
    if command.name == "budget":
        given |= {"scope": "day", "amount": "$5, 100 calls"}
    options = {name: given.get(name, "word") for name in (blank.name for blank in command.blanks)}
    line = line_of(command.name, options)
    signs = {blank.name: f"{blank.sign} " for blank in command.blanks if blank.sign}
    typed = " ".join(f"{signs.get(name, '')}{word}" for name, word in options.items())
    assert parse(line) == parse(f"/{command.name} {typed}")


def test_a_list_may_be_left_out_and_a_question_has_many_words():
    (debate,) = [one for one in listed() if one["name"] == "debate"]
    assert [(option["name"], option["required"]) for option in debate["options"]] == [
        ("question", True),
        ("options", False),
        ("rounds", False),
    ], "a context is for forms"
    assert all(option["max_length"] == 6_000 for option in debate["options"])
    asked = {"question": "Where do we meet?"}
    assert line_of("debate", asked) == "/debate Where do we meet?"
    line = line_of("debate", {**asked, "options": "Rome | Oslo"})
    assert parse(line).fields == {"question": "Where do we meet?", "options": ("Rome", "Oslo")}


def test_an_id_of_two_words_is_refused_and_a_reason_of_many_is_not():
    with pytest.raises(NotOneWord, match="the id is one word"):
        line_of("reply", {"id": "a b", "option_or_text": "2"})
    assert line_of("halt", {"reason": " fire  drill "}) == "/halt fire  drill"


def test_the_list_is_the_same_when_discord_adds_its_own_and_another_when_a_word_differs():
    shown = [{**one, "id": str(n), "version": "1", "nsfw": False} for n, one in enumerate(listed())]
    assert is_same(shown[::-1])
    assert not is_same(shown[1:])
    shown[3]["description"] += "!"
    assert not is_same(shown)


def test_a_command_of_another_version_comes_in_as_it_is():
    assert line_of("dance", {"how": "well"}) == "/dance well"
