"""A mind asked for everything that its seat owes, on the side: what it answers, and what is wrong with that."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from moot.bots.minds.mind import Mind, Reply, View
from moot.channels.showing.wording import an
from moot.host import Host
from moot.minds.seated import SeatedMind
from moot.protocols.kernel.envelope import seal
from moot.protocols.kernel.errors import Violation

TIMES: Final = 3
"""So often is a mind asked for the same step."""


@dataclass(slots=True)
class StepTried:
    """What a mind answered to one step of one kind of case.

    Attributes:
        case: The kind of case.
        step: The step, as its machine names it.
        asked: The types of message that settle it.
        right: Answers that break no rule.
        silent: How often it gave nothing.
        wrong: What was wrong, each with how often.
    """

    case: str
    step: str
    asked: tuple[str, ...]
    right: int = 0
    silent: int = 0
    wrong: Counter[str] = field(default_factory=Counter)

    @property
    def times(self) -> int:
        """Return how often the mind was asked."""
        return self.right + self.silent + self.wrong.total()

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "case": self.case,
            "step": self.step,
            "asked": list(self.asked),
            "times": self.times,
            "right": self.right,
            "silent": self.silent,
            "wrong": dict(self.wrong),
        }


@dataclass(slots=True)
class Rehearsal:
    """What a mind did with everything that its seat owes.

    Attributes:
        mind: Its name.
        seat: Where it sat.
        steps: What it was asked for, in the order in which that first came up.
        missed: Steps of the seat that never came up, as `case step`.
    """

    mind: str
    seat: str
    steps: dict[tuple[str, str], StepTried] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)

    def step(self, case: str, step: str, asked: tuple[str, ...]) -> StepTried:
        """Return what is known of a step."""
        return self.steps.setdefault((case, step), StepTried(case, step, asked))

    @property
    def is_passed(self) -> bool:
        """Say whether it answered something, and nothing that it answered was wrong."""
        return any(one.right for one in self.steps.values()) and not any(
            one.wrong for one in self.steps.values()
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "mind": self.mind,
            "seat": self.seat,
            "is_passed": self.is_passed,
            "steps": [one.as_json() for one in self.steps.values()],
            "missed": self.missed,
        }


class Understudied(Mind):
    """A seat's simulated mind, behind which a mind of one's own is asked the same, and judged, and not heard.

    So the society goes its way whatever the other says, and comes to every step.
    """

    def __init__(self, leading: Mind, understudy: SeatedMind, rehearsal: Rehearsal) -> None:
        """Take both."""
        self._leading = leading
        self._understudy = understudy
        self._rehearsal = rehearsal
        self.host: Host | None = None

    def consider(self, view: View) -> timedelta | None:
        return self._leading.consider(view)

    async def answer(self, view: View) -> Reply | None:
        tried = self._rehearsal.step(view.kind, view.obligation.rule, view.asked)
        if tried.times < TIMES and not view.attempt:
            reply, why = await self._understudy.attempt(view)
            fault = why if reply is None else self._judged(view, reply)
            if reply is None and self._understudy.is_deliberate(why):
                tried.silent += 1
            elif fault:
                tried.wrong[fault] += 1
            else:
                tried.right += 1
        return await self._leading.answer(view)

    def _judged(self, view: View, reply: Reply) -> str:
        """Say what the society would say of an answer, "" when nothing is wrong with it."""
        host = self.host
        assert host is not None
        draft = host.answer_draft(view, reply.body)
        if draft is None:
            return ""
        kind = reply.body.type
        if kind not in view.asked:
            return f"gave {an(kind)}, where {' or '.join(view.asked)} was asked for"
        try:
            admitted = host.gate.admit(draft)
            body = host.gate.mint(admitted, view.now)
            host.gate.unmint(admitted, body)
            head = host.bus.head
            envelope, _ = seal(
                admitted,
                seq=host.docket.seq + 1,
                envelope_id=draft.identity(),
                sent_at=host.clock.now(),
                previous=head.hash,
                body=body,
            )
            found = deepcopy(host.docket, {id(host.rules): host.rules}).fold(envelope).violation
        except Violation as violation:
            found = violation
        return "" if found is None else f"{kind}: {found.numbered}"
