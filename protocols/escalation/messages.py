"""Escalations as messages: raised, paged, acknowledged, answered, resolved; and modes (5.2, R-E2, R-F2)."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from moot.protocols.kernel.fields import Minted, Several
from moot.protocols.kernel.message import Count, Ident, Message, Part, Text
from moot.protocols.kernel.seats import PEOPLE

ANSWER_WITHIN: Final = timedelta(hours=4)
"""Then the system takes the conservative action (spec 5.3)."""

AUTO_RESOLUTION: Final = "4h (if no response, system takes conservative action)"
"""The words of spec 5.2."""


class Option(Part):
    """One answer an admin may choose, and what it does."""

    n: Count
    label: Text
    effect: Ident


class Escalation(Message):
    """Ask the admin. Referee, #admin (spec 5.1, 5.2, R-E1).

    `within_s` are the seconds for an answer, and `default` is the option that silence takes, where these are not four
    hours and the first one (R-G16).
    """

    case_field: ClassVar[str] = "escalation_id"
    type: Literal["ESCALATION"] = "ESCALATION"
    escalation_id: Minted = ""
    level: Literal["ATTENTION", "DECISION_NEEDED", "URGENT"]
    system: Literal["A", "B", "panel", "society"]
    trigger: Text
    context: Text
    suggested_actions: Several[Text]
    auto_resolution_timeout: Text = AUTO_RESOLUTION
    trigger_code: Ident
    subject: Minted = ""
    evidence_seqs: Several[Count]
    options: Several[Option]
    within_s: Annotated[Count, Field(exclude_if=operator.not_)] = 0
    default: Annotated[Count, Field(exclude_if=operator.not_)] = 0

    @property
    def within(self) -> timedelta:
        """Return the time for an answer."""
        return timedelta(seconds=self.within_s) if self.within_s else ANSWER_WITHIN

    @property
    def default_option(self) -> Option:
        """Return the option that silence takes."""
        return next((one for one in self.options if one.n == self.default), self.options[0])


class EscalationPaged(Message):
    """Page the admin again about an urgent escalation. Referee, #admin (R-E2, R-G12).

    `added` is a reason that came up since: such a page is sent at once, and `n` counts these pages.
    """

    case_field: ClassVar[str] = "escalation_id"
    type: Literal["ESCALATION_PAGED"] = "ESCALATION_PAGED"
    escalation_id: Minted = ""
    n: Count
    added: Annotated[Text, Field(exclude_if=operator.not_)] = ""


class EscalationAck(Message):
    """Say that a person has seen it; the four hours run on. Admin, #admin (R-E2)."""

    case_field: ClassVar[str] = "escalation_id"
    type: Literal["ESCALATION_ACK"] = "ESCALATION_ACK"
    escalation_id: Minted = ""


class EscalationAnswer(Message):
    """Answer with an option's number or with free text. Admin, #admin (R-E2, R-E4)."""

    case_field: ClassVar[str] = "escalation_id"
    type: Literal["ESCALATION_ANSWER"] = "ESCALATION_ANSWER"
    escalation_id: Minted = ""
    option: Count | None = None
    text: Text | None = None


class EscalationResolved(Message):
    """End an escalation. Referee, #admin (spec 5.3, R-E2)."""

    case_field: ClassVar[str] = "escalation_id"
    type: Literal["ESCALATION_RESOLVED"] = "ESCALATION_RESOLVED"
    escalation_id: Minted = ""
    how: Literal["answered", "expired", "withdrawn"]
    by: Ident
    effect: Ident


ESCALATION_ANSWERS: Final = frozenset({"ESCALATION_ACK", "ESCALATION_ANSWER"})
"""Types that a person answers an escalation with."""


def is_case_duty(seat: str, expects: Iterable[str]) -> bool:
    """Return whether a person owes it to a case of a protocol, and not as the answer to an escalation (R-G16)."""
    return seat in PEOPLE and ESCALATION_ANSWERS.isdisjoint(expects)


class ModeChanged(Message):
    """Say that a system acts conservatively from here on, or no longer. Referee, #a-arena or #b-ops (5.3, R-F2).

    `because` is the case of the message that led to it, which this one replies to.
    """

    type: Literal["MODE_CHANGED"] = "MODE_CHANGED"
    system: Literal["A", "B"]
    mode: Literal["conservative", "normal"]
    because: Ident
