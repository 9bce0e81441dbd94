"""A whole System A in the test's hands: minds answer at their own delays, on the synchronous table."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from datetime import datetime, timedelta
from typing import Any, TypeVar

from moot.bots.minds.mind import Mind, Reply, View
from moot.memory.inmemory import InMemoryStore
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import ADMIN, REFEREE, Seat
from moot.protocols.research.seats import SYSTEM_A
from tests.doubles.schedules import SHIPPED
from tests.doubles.table import START, Table

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Drive a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits for something")


class Society(Table):
    """The table with a memory and a mind for each seat of System A."""

    def __init__(
        self,
        minds: dict[Seat, Mind] | Mind,
        start: datetime = START,
        schedules: dict[str, Any] | None = None,
        conservative: bool = False,
        config: dict[str, Any] | None = None,
    ) -> None:
        """Seat the minds; one mind fills all seats."""
        self.store = InMemoryStore()
        self.minds = minds if isinstance(minds, dict) else dict.fromkeys(SYSTEM_A, minds)
        self.answers_at: dict[str, datetime] = {}
        self.retries: list[str] = []
        self.asides: list[Envelope] = []
        self.by_case: dict[str, list[Envelope]] = {}
        self.notes: list[Envelope] = []
        self.applied = 0
        super().__init__(start, schedules, config)
        self.docket.context.conservative_a = conservative
        self.settle()

    @classmethod
    def of_weeks(cls, minds: dict[Seat, Mind] | Mind, start: datetime) -> Society:
        """Open a society that keeps the default schedules."""
        return cls(minds, start, {name: dict(spec) for name, spec in SHIPPED.items()})

    # ---------------------------------------------------------------- what a mind is shown

    def view(self, obligation: Obligation, **over: Any) -> View:
        """Show an obligation to a mind."""
        state = self.docket.cases[obligation.case_id]
        brief = self.rules.types[state.kind].brief
        linked = getattr(state, "linked", None)
        cases = [obligation.case_id, *(case for case in (state.parent, linked) if case)]
        shown = sorted((e for case in cases for e in self.by_case.get(case, ())), key=lambda e: e.seq)
        refused = [e.body.why for e in shown if e.body.type == "VIOLATION" and e.author == REFEREE]
        attempt = self.docket.attempts.get(obligation.id, 0)
        fields: dict[str, Any] = {
            "obligation": obligation,
            "seat": obligation.seat,
            "now": self.now,
            "attempt": attempt,
            "refused": refused[-1] if attempt and refused else "",
            "transcript": tuple(shown),
            "notes": tuple(self.notes),
            "brief": brief(state, obligation, self.docket.context),
            "memory": self.store.read(),
            "is_conservative": self.docket.context.conservative_a,
            "elapsed": self.now - state.anchor_at,
            "config": self.docket.context.config,
        }
        return View(**{**fields, **over})

    def settle(self) -> None:
        """Take the new part of the log into memory and wake the minds."""
        while self.applied < len(self.log):
            env, fx = self.log[self.applied], self.effects[self.applied]
            self.applied += 1
            self.store.apply(env, fx.violation is None and not fx.superseded)
            if env.case_id is not None:
                self.by_case.setdefault(env.case_id, []).append(env)
            if isinstance(env.body, Note):
                self.notes.append(env)
            for obligation in fx.closed:
                self.answers_at.pop(obligation.id, None)
            woken = list(fx.opened)
            if fx.retried is not None:
                self.retries.append(fx.retried.id)
                woken.append(fx.retried)
            for obligation in woken:
                self._wake(obligation)

    def _wake(self, obligation: Obligation) -> None:
        mind = self.minds.get(obligation.seat)
        if mind is None or obligation.id not in self.docket.open:
            return
        delay = mind.consider(self.view(obligation))
        if delay is not None:
            self.answers_at[obligation.id] = max(self.now, obligation.opened_at + delay)

    def officers(self) -> None:
        """Let the officers act, then wake the minds."""
        super().officers()
        self.settle()

    # ---------------------------------------------------------------- time

    def until(self, end: datetime) -> None:
        """Let time pass until an instant: officers and minds act as their time comes."""
        while True:
            duty = self.docket.next_instant()
            answer = min(((at, key) for key, at in self.answers_at.items()), default=None)
            instant = min(at for at in (duty, answer[0] if answer else None, end) if at is not None)
            if instant > end or (duty is None and answer is None):
                break
            if (duty is None or duty > end) and (answer is None or answer[0] > end):
                break
            self.now = max(self.now, instant)
            if answer is not None and answer[0] <= self.now and (duty is None or answer[0] < duty):
                self.let_answer(answer[1])
            else:
                self.officers()
        self.now = end

    def let_answer(self, obligation_id: str) -> Envelope | None:
        """Ask the mind that owes an obligation and post what it says."""
        self.answers_at.pop(obligation_id, None)
        obligation = self.docket.open[obligation_id]
        reply = self.ask(obligation)
        if reply is None:
            return None
        for n, aside in enumerate(reply.asides):
            key = f"{obligation_id}/aside-{n}"
            env = self.post(obligation.seat, aside.body, channel=aside.channel, key=key)
            self.asides.append(env)
        # R-D2: an extension is said in the arena although the verdict is owed elsewhere.
        channel = "#a-arena" if reply.body.type == "EXTEND_DEBATE" else obligation.channel
        env = self.post(obligation.seat, reply.body, owed=obligation, channel=channel)
        self.officers()
        return env

    def ask(self, obligation: Obligation, **over: Any) -> Reply | None:
        """Ask for an answer without posting it."""
        return run(self.minds[obligation.seat].answer(self.view(obligation, **over)))

    def note(self, text: str, about: str | None = None, user: str = "ann") -> Envelope:
        """Let a person say something."""
        env = self.post(
            ADMIN, Note(text=text, about_case_id=about), channel="#a-arena", user=user, case_id=about
        )
        self.settle()
        return env

    # ---------------------------------------------------------------- questions

    def bodies(self, kind: str) -> list[Any]:
        """Return the bodies of a type, oldest first."""
        return [env.body for env in self.log if env.body.type == kind]

    def owed_bots(self) -> list[Obligation]:
        """Return what the seats of System A owe."""
        return [o for o in self.docket.open.values() if o.seat in SYSTEM_A]


def one_debate(mind: Mind, start: datetime = START, **how: Any) -> Society:
    """Play one micro-cycle to its end."""
    society = Society(mind, start, **how)
    society.wait(hours=5)
    assert not society.docket.cases, list(society.docket.cases)
    return society


def without(society: Table, kinds: Iterable[str]) -> list[str]:
    """Return the log's lines without some types."""
    left = set(kinds)
    return [env.line for env in society.log if env.body.type not in left]


__all__ = ["START", "Society", "one_debate", "run", "timedelta", "without"]
