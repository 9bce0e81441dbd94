"""Rounds of a motion and of a run of the Arena, from every surface."""

from __future__ import annotations

import json
from typing import Any

import pytest

import moot
from moot.channels.chat.commands import CommandError, Said, parse
from moot.channels.discord.slash import line_of, listed
from moot.channels.filling import form_of, from_values
from moot.protocols.kernel.acts import Doer
from moot.protocols.kernel.errors import BadInput
from moot.protocols.motion.messages import Motion
from moot.protocols.rulebook import rulebook
from tests.doubles.command_line import complaint, data


def said(log: Any) -> list[str]:
    kinds = ("OBJECTIONS", "REPLIES", "EXTEND_MOTION", "JUDGMENT")
    return [one.body.type for one in log if one.body.type in kinds]


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_a_motion_has_as_many_rounds_as_it_says(rounds: int) -> None:
    result = moot.debate("Where do we meet?", options=["Rome", "Oslo"], seed=3, rounds=rounds)
    assert said(result.log) == ["OBJECTIONS", "REPLIES"] * rounds + ["JUDGMENT"]
    result.log.verify()
    (motion,) = [one for one in result.log if one.body.type == "MOTION"]
    # A motion that has the usual rounds stands in the log as it always did.
    assert ('"rounds"' in motion.line) == (rounds != 2)


@pytest.mark.parametrize("rounds", [0, 4, -1, "2", 2.0, True, None])
def test_another_number_of_rounds_is_refused(rounds: Any) -> None:
    with pytest.raises(BadInput, match="rounds"):
        moot.debate("Where do we meet?", rounds=rounds)


def test_the_command_takes_rounds() -> None:
    told = data("debate", "Where?", "--options", "Rome,Oslo", "--rounds", 1, "--seed", 3)
    assert max(one["number"] for one in told["objections"]) >= 1
    assert "rounds" in complaint(2, "debate", "Where?", "--rounds", 7)


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("/debate Where? | Rome | Oslo --rounds 1", {"options": ("Rome", "Oslo"), "rounds": 1}),
        ("/debate Where? --rounds 3", {"rounds": 3}),
        ("/debate Where? | Rome | Oslo", {"options": ("Rome", "Oslo")}),
        ("/debate Where?", {}),
    ],
)
def test_a_line_of_chat_says_the_rounds_of_a_motion(line: str, fields: dict[str, Any]) -> None:
    found = parse(line)
    assert isinstance(found, Said) and found.fields == {"question": "Where?", **fields}


def test_a_line_of_chat_says_the_rounds_of_a_run() -> None:
    found = parse("/arena Plan this --rounds 2")
    assert isinstance(found, Said)
    act = rulebook().acts["arena"]
    body = act.message.model_validate(
        {"type": act.type, **act.complete(found.fields, Doer("ann", "cli", "k"))}
    )
    assert json.loads(body.model_dump_json())["config"] == {"notebook_enabled": False, "max_rounds": 2}
    for wrong in ("0", "6", "two", "1.5"):
        with pytest.raises(CommandError, match="rounds must be a whole number from 1 to 5"):
            parse(f"/arena Plan this --rounds {wrong}")


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("debate", {"question": "Where?", "rounds": "1"}, {"question": "Where?", "rounds": 1}),
        ("debate", {"question": "Where?", "rounds": 3}, {"question": "Where?", "rounds": 3}),
        ("debate", {"question": "Where?", "rounds": ""}, {"question": "Where?"}),
        ("arena", {"prompt_or_task": "Plan", "rounds": "4"}, {
            "task": {"initial_prompt": "Plan"}, "config": {"notebook_enabled": False, "max_rounds": 4}
        }),
        ("arena", {"prompt_or_task": "Plan", "rounds": None}, {"task": {"initial_prompt": "Plan"}}),
    ],
)  # fmt: skip
def test_a_form_says_the_rounds(name: str, values: dict[str, Any], expected: dict[str, Any]) -> None:
    act = rulebook().acts[name]
    assert "rounds" in form_of(act)["properties"] and "rounds" not in form_of(act)["required"]
    assert from_values(act, values) == expected


def test_discord_offers_rounds_that_may_be_left_out() -> None:
    for name in ("debate", "arena"):
        (command,) = [one for one in listed() if one["name"] == name]
        (option,) = [one for one in command["options"] if one["name"] == "rounds"]
        assert not option["required"]
    line = line_of("debate", {"question": "Where?", "options": "Rome | Oslo", "rounds": "1"})
    found = parse(line)
    assert isinstance(found, Said)
    assert found.fields == {"question": "Where?", "options": ("Rome", "Oslo"), "rounds": 1}


def test_a_motion_without_rounds_is_written_as_before() -> None:
    assert "rounds" not in Motion(question="Where?").model_dump_json()
