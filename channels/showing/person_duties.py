"""Duties of people: which acts answer them, and which answers are a single press."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from moot.channels.filling import choices_of, is_needed
from moot.channels.showing.wording import clean, plain, words
from moot.protocols.kernel.acts import Act, Blank
from moot.protocols.rulebook import rulebook

NOTICE: Final = "DUTY_NOTICE"
"""Type of the message that asks a person for what they owe."""

MAX_ANSWERS: Final = 20
"""Answers of one duty that are buttons at most."""

MAX_LABEL: Final = 80


class Answer(NamedTuple):
    """An answer that is given by a press.

    Attributes:
        act: Name of the act.
        n: Its number among the answers by this act, from 1 on.
        label: What it says.
        fields: Fields of the act besides the case.
    """

    act: str
    n: int
    label: str
    fields: Mapping[str, Any]


def acts_for(expects: Collection[str]) -> list[Act]:
    """Return the acts whose message answers a duty that expects one of these types."""
    return [act for act in rulebook().acts.values() if act.type in expects and case_field(act)]


def case_field(act: Act) -> str:
    """Return the field of an act that takes the case, "" for none."""
    takes = act.about or act.message.case_field
    return takes if takes and any(takes in (blank.becomes, blank.name) for blank in act.asks) else ""


def answers_to(expects: Collection[str]) -> list[Answer]:
    """Return the answers to a duty that need no form: those of acts that ask for one choice besides the case."""
    return [answer for act in acts_for(expects) for answer in answers_by(act)][:MAX_ANSWERS]


def answers_by(act: Act) -> list[Answer]:
    """Return the answers by an act that need no form."""
    takes = case_field(act)
    asked = [
        blank for blank in act.asks if takes not in (blank.becomes, blank.name) and is_needed(act, blank)
    ]
    if act.read is not None or len(asked) > 1:
        return []
    if not asked:
        return [Answer(act.name, 1, clean(f"{act.does[:1].upper()}{act.does[1:]}", MAX_LABEL), {})]
    (blank,) = asked
    name = words(blank.name).capitalize()
    return [
        Answer(act.name, n, clean(f"{name}: {plain(value)}", MAX_LABEL), {blank.becomes: value})
        for n, value in enumerate(_values(act, blank), 1)
    ]


def pressed(act_name: str, n: int, case_id: str) -> tuple[str, Mapping[str, Any]] | None:
    """Return the kind and the fields of the act that a press means, None where there is no such answer."""
    act = rulebook().acts.get(act_name)
    answer = next((one for one in answers_by(act) if one.n == n), None) if act is not None else None
    if act is None or answer is None:
        return None
    return act.name, {case_field(act): case_id, **answer.fields}


def context_lines(context: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a duty is shown with, by name."""
    for name, value in context.items():
        if value not in (None, "", (), [], {}):
            yield words(str(name)), clean(plain(value), 2_000)


def _values(act: Act, blank: Blank) -> list[Any]:
    """Return the values that a blank can have, none where they are not few."""
    if choices := choices_of(blank):
        return list(choices) if len(choices) <= MAX_ANSWERS else []
    shape = act.message.model_json_schema()["properties"].get(blank.becomes, {})
    if shape.get("type") == "boolean":
        return [True, False]
    found = shape.get("enum", [])
    return list(found) if len(found) <= MAX_ANSWERS else []
