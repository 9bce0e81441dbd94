"""Buttons: what a button tells a platform about itself, and what a press of it means. Survives any restart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from moot.channels.showing.layout import units
from moot.channels.showing.person_duties import pressed
from moot.channels.showing.rendering import Button, predicate
from moot.channels.surface import Posting

_FORM: Final = re.compile(r"moot\|(?:(ack)|answer\|(-?[0-9]{1,18}))\|(.*)", re.DOTALL)
_ACT: Final = re.compile(r"moot\|act\|([a-z_]{1,32})\|([0-9]{1,3})\|(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Press:
    """What a button means.

    Attributes:
        kind: Kind of the `InboundAct`.
        escalation_id: Which escalation; empty where the id did not fit, then the message under which it stands says.
        option: Number of the answer; None for an acknowledgement.
        given: Fields of an act that answers a person's duty; None for an escalation.
    """

    kind: str
    escalation_id: str
    option: int | None = None
    given: Mapping[str, object] | None = None

    @property
    def fields(self) -> Mapping[str, object]:
        """Return the fields of the `InboundAct`."""
        if self.given is not None:
            return self.given
        if self.kind == "ack":
            return {"escalation_id": self.escalation_id}
        return {"escalation_id": self.escalation_id, "option": self.option, "text": None}


def button_id(button: Button, most: int) -> str | None:
    """Write what a button means in at most `most` characters, without the escalation's id where that is too long.

    Returns:
        `moot|ack|<escalation id>` or `moot|answer|<n>|<escalation id>`, for a duty `moot|act|<act>|<n>|<case id>`; None
        where not even that fits.
    """
    if button.kind == "act":
        return _act_id(button, most)
    option, escalation_id = button.fields.get("option"), str(button.fields.get("escalation_id") or "")
    start = "moot|ack|" if button.kind == "ack" else f"moot|answer|{option}|"
    whole = start + escalation_id
    fits = units(whole) <= most and not any("\ud800" <= char <= "\udfff" for char in escalation_id)
    found = whole if fits else start
    return found if units(found) <= most and _FORM.fullmatch(found) else None


def read_button_id(text: str) -> Press | None:
    """Read what `button_id` wrote; None for anything else."""
    found = _FORM.fullmatch(text)
    if found is None:
        return _read_act(text)
    ack, option, escalation_id = found.groups()
    return Press("ack", escalation_id) if ack else Press("answer", escalation_id, int(option))


def _act_id(button: Button, most: int) -> str | None:
    case_id = str(button.fields.get("case_id") or "")
    start = f"moot|act|{button.fields.get('act')}|{button.fields.get('n')}|"
    found = start + case_id if units(start + case_id) <= most else start
    return found if units(found) <= most and _ACT.fullmatch(found) else None


def _read_act(text: str) -> Press | None:
    found = _ACT.fullmatch(text)
    meant = pressed(found[1], int(found[2]), found[3]) if found is not None else None
    return Press(meant[0], "", given=meant[1]) if meant is not None else None


def outcome_of(item: Posting) -> str:
    """Return how an escalation ended, as its post shows it in place of its buttons (R-G13)."""
    return predicate(item.envelope, item.who).partition(": ")[2] or predicate(item.envelope, item.who)


def with_ids(buttons: Sequence[Button], most_id: int, most_buttons: int) -> tuple[tuple[str, Button], ...]:
    """Pair buttons with their ids, each id once; those that have none are left out."""
    found: dict[str, Button] = {}
    for button in buttons:
        text = button_id(button, most_id)
        if text is not None:
            found.setdefault(text, button)
    return tuple(found.items())[:most_buttons]
