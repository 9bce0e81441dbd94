"""Answers that are other than they were to be: fields of a body drawn anew, as its schema and its brief allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from moot.bots.minds.generic import filled
from moot.bots.minds.mind import View
from moot.bots.tools.seeding import generator
from moot.chaos.dice import Dice
from moot.protocols.kernel.message import Message
from moot.protocols.rulebook import rulebook

MOST: Final = 3
"""So many fields are drawn anew at most."""
WORD, SCORE, TEXT, OTHER = 4.0, 3.0, 0.15, 1.0
"""How often a field is drawn anew that is one word, a score, a text, or something else.

What is decided is mostly one word, and what it is held against mostly a score.
"""


def altered(dice: Dice, body: Message, given: Mapping[str, Any], view_now: Any) -> Message:
    """Draw some fields of a body anew.

    Args:
        dice: Draw which, and what they say.
        body: What was to be said.
        given: What other fields must say: their values by name.
        view_now: What a time is drawn as.
    """
    plain: dict[str, Any] = body.model_dump(mode="json", by_alias=False)
    for _ in range(dice.whole(1, MOST)):
        _without_one(dice, plain)
    rng = generator("altered", dice.whole(0, 2**31))
    try:
        return filled(type(body), {**plain, **given}, rng, view_now)
    except (ValidationError, ValueError):
        return body


def _without_one(dice: Dice, plain: dict[str, Any]) -> None:
    """Take one field out of a body, or out of a part of it."""
    names = [name for name in plain if name != "type"]
    if not names:
        return
    name = dice.weighed([(name, _weight(plain[name])) for name in names])
    part = plain[name]
    if isinstance(part, dict) and part and dice.chance(0.7):
        _without_one(dice, part)
    else:
        del plain[name]


def _weight(value: Any) -> float:
    if not isinstance(value, str):
        return SCORE if isinstance(value, float) else OTHER
    return WORD if value.isalpha() else TEXT if " " in value else OTHER


def any_answer(dice: Dice, view: View) -> Message:
    """Draw an answer of any of the types that are owed, as the rules fix it and its schema allows."""
    kind = rulebook().messages[dice.pick(view.obligation.expects)]
    given = dict(view.brief)
    if kind.case_field:
        given.setdefault(kind.case_field, view.obligation.case_id)
    return filled(kind, given, generator("answer", dice.whole(0, 2**31)), view.now)
