"""How fast the docket folds a log of debates. Run as a script: a table of medians of five."""

from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import cache
from statistics import median
from time import perf_counter
from typing import Any

from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import BOT, GENESIS, OFFICER, Draft, Envelope, seal
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.officers import SocietyStarted
from moot.protocols.kernel.rules import Gate, Rules
from moot.protocols.kernel.seats import TIMEKEEPER
from moot.protocols.research.calendar import Calendar
from moot.protocols.research.messages import CycleContext, CycleTrigger
from moot.protocols.rulebook import VERSION, rulebook, rules
from tests.doubles import bodies
from tests.doubles.copying import replace
from tests.doubles.table import START

DEBATES = 2_000
AT_ONCE = 64


class Crowded(Calendar):
    """A calendar that keeps many cycles open at once, which the real one never does."""

    def __init__(self, cycles: int) -> None:
        super().__init__()
        self.left = cycles
        self.at_once = AT_ONCE
        context = CycleContext(last_verdict=None, priority_direction=None, available_parents=())
        self._body = CycleTrigger(trigger="EXPLORER_START", mode="micro", nominal_at=START, context=context)

    def apply(self, env: Envelope, fx: Any, docket: Docket) -> None:
        if isinstance(env.body, CycleTrigger):
            self.left -= 1

    def alarm(self, docket: Docket) -> datetime | None:
        return None

    def owed(self, env: Envelope, docket: Docket) -> Draft | None:
        is_next = self._free(docket) > 0 and env.id == f"crowd/{self.left}"
        return self._trigger(self.left) if is_next else None

    def ring(self, now: datetime, docket: Docket) -> Iterator[Draft]:
        for n in range(self.left, self.left - self._free(docket), -1):
            yield self._trigger(n)

    def _free(self, docket: Docket) -> int:
        return min(self.left, self.at_once - docket.context.running.get("cycle", 0))

    def _trigger(self, n: int) -> Draft:
        return Draft(channel="#a-arena", author=TIMEKEEPER, actor=OFFICER, body=self._body, key=f"crowd/{n}")


def crowded(cycles: int) -> Rules:
    """Return the rules of System A with so many cycles, `AT_ONCE` of them at a time."""
    plain = rules()
    return replace(
        plain, new_folds=lambda: (*[f for f in plain.new_folds() if f.name != "calendar"], Crowded(cycles))
    )


def _assessment(owed: Obligation, docket: Docket) -> Message:
    return bodies.assessment(1 if owed.step == "assessment-1" else 2)


def _report(owed: Obligation, docket: Docket) -> Message:
    state = docket.cases[owed.case_id]
    brief = docket.rules.types["cycle"].brief
    return bodies.report(brief(state, owed, docket.context), owed.case_id)


ANSWERS: dict[str, Callable[[Obligation, Docket], Message]] = {
    "HYPOTHESIS": lambda owed, docket: bodies.hypothesis(owed.case_id),
    "RISK_ASSESSMENT": _assessment,
    "REBUTTAL": lambda owed, docket: bodies.rebuttal(),
    "VERDICT": lambda owed, docket: bodies.verdict("REJECT"),
    "REFLECTION": lambda owed, docket: _reflection(owed),
    "MICRO_CYCLE_REPORT": _report,
}
"""What each obligation of a plain debate gets: eight messages from CYCLE_TRIGGER to MICRO_CYCLE_REPORT."""


def _reflection(owed: Obligation) -> Message:
    from moot.protocols.research.messages import Reflection

    return Reflection(record=bodies.entry(hypothesis_id=owed.case_id))


@cache
def debate_log(debates: int = DEBATES) -> tuple[Envelope, ...]:
    """Write a log in which so many debates take turns, `AT_ONCE` of them open."""
    book = crowded(debates)
    docket, gate = Docket(book), Gate(book)
    log: list[Envelope] = []
    owed: deque[Obligation] = deque()
    head = GENESIS

    def publish(draft: Draft) -> None:
        nonlocal head
        draft = gate.admit(draft)
        sent_at = START + timedelta(milliseconds=10 * len(log))
        env, head = seal(
            draft,
            seq=len(log) + 1,
            envelope_id=draft.identity(),
            sent_at=sent_at,
            previous=head,
            body=gate.mint(draft, sent_at),
        )
        log.append(env)
        fx = docket.fold(env)
        assert fx.violation is None, fx.violation
        owed.extend(o for o in fx.opened if o.seat in rulebook().bots)

    started = SocietyStarted(
        society_id="test",
        config={},
        rules_version=VERSION,
        seed=1,
        data={},
        speed=1.0,
        clock="virtual",
        durability="none",
        moot_version="test",
    )
    publish(Draft(channel="#admin", author=TIMEKEEPER, actor=OFFICER, body=started, key="started/1"))
    while True:
        trigger = next(iter(docket.due(START + timedelta(milliseconds=10 * len(log)))), None)
        if trigger is not None:
            publish(trigger)
            continue
        if not owed:
            return tuple(log)
        answered = owed.popleft()
        body = ANSWERS[answered.expects[0]](answered, docket)
        publish(
            Draft(
                channel=rulebook().channel_of[body.type],
                author=answered.seat,
                actor=BOT,
                body=body,
                case_id=None if body.type == "HYPOTHESIS" else answered.case_id,
                obligation_id=answered.id,
            )
        )


def _fold(log: tuple[Envelope, ...], debates: int) -> float:
    docket = Docket(crowded(debates))
    fold = docket.fold
    gc.collect()
    began = perf_counter()
    for env in log:
        fold(env)
    took = perf_counter() - began
    assert len(docket.ended) == 2 * debates
    return len(log) / took


def docket_messages_per_s(debates: int = DEBATES) -> float:
    """Fold parsed envelopes of debates of which 64 are open at once."""
    log = debate_log(debates)
    return median(_fold(log, debates) for _ in range(5))


def main() -> None:
    print(f"docket fold {docket_messages_per_s():>12,.0f} messages/s")


if __name__ == "__main__":
    sys.exit(main())
