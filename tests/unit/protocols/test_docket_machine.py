"""A society at a table in which everybody does anything at any time: what must hold all the same."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from moot.protocols.escalation.messages import EscalationAck, EscalationAnswer
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.people import Note, Override, SeatReleased, SeatTaken, Stop
from moot.protocols.kernel.seats import OFFICERS, PEOPLE, Seat
from moot.protocols.research import messages as m
from moot.protocols.research.debate import DebateState
from moot.protocols.rulebook import rulebook, rules
from tests.doubles import bodies
from tests.doubles.answers import Answers
from tests.doubles.debating import ADMIN, CRITIC, EVOLVER, EXPLORER
from tests.doubles.schedules import SHIPPED
from tests.doubles.table import Table

SATURDAY = datetime(2026, 2, 28, 11, 50, tzinfo=UTC)
SEATS = [EXPLORER, CRITIC, EVOLVER]
SHARE = st.sampled_from([0.0, 0.3, 0.55, 0.59, 0.6, 0.64, 0.65, 0.7, 0.749999, 0.75, 0.85, 0.86, 1.0])
VERDICTS = st.sampled_from(["APPROVE", "REJECT", "REVISE"])
SAID = (
    st.sampled_from([1, 2, 3, "revision"]).flatmap(
        lambda r: SHARE.map(lambda c: (CRITIC, bodies.assessment(r, c)))
    )
    | st.sampled_from([2, 3]).map(lambda r: (EXPLORER, bodies.rebuttal(r)))
    | st.sampled_from([2, 3]).map(lambda r: (EXPLORER, m.Concede(round=r, reason="x")))
    | st.tuples(VERDICTS, SHARE, SHARE, SHARE, st.booleans()).map(
        lambda v: (
            EVOLVER,
            bodies.verdict(v[0], v[1], final=v[4], alpha_argument_score=v[2], risk_argument_score=v[3]),
        )
    )
    | st.tuples(SHARE, SHARE).map(lambda s: (EVOLVER, bodies.extend(*s)))
    | st.sampled_from([1, 2]).map(lambda n: (EVOLVER, bodies.revise_request(max_revision_rounds=n)))
    | st.just((EXPLORER, bodies.revised()))
    | st.booleans().map(lambda p: (EVOLVER, bodies.backtest(p)))
    | st.just((EVOLVER, bodies.moved()))
    | st.sampled_from(["success", "failure"]).map(lambda k: (EVOLVER, m.CausalRecord(record=bodies.entry(k))))
    | st.just((EVOLVER, m.Reflection(record=bodies.entry())))
)
"""What seats may blurt out in a debate, legal or not, whoever is asked."""


class Society(RuleBasedStateMachine):
    """Bots that answer, slip and blurt, an admin, outages, and officers that do what is due."""

    def __init__(self) -> None:
        super().__init__()
        self.table = Table(SATURDAY, schedules=dict(SHIPPED))
        self.answers = Answers(1, faults=0.15)
        self.ended: dict[str, Any] = {}
        self.steps = 0

    @property
    def docket(self) -> Docket:
        return self.table.docket

    def owed(self, *seats: Seat) -> list[Any]:
        return [o for o in self.docket.open.values() if o.seat in seats]

    def any_case(self, data: Any) -> str:
        known = [*self.docket.cases, *list(self.docket.ended)[-5:], "hyp_20200101_0000"]
        return str(data.draw(st.sampled_from(known)))

    # ------------------------------------------------------------ what may happen

    @precondition(lambda self: self.owed(*SEATS, ADMIN))
    @rule(data=st.data(), times=st.integers(1, 12))
    def answer(self, data: Any, times: int) -> None:
        """Let whoever owes something answer, by the rules or nearly so."""
        for _ in range(times):
            owed = self.owed(*SEATS, ADMIN)
            if not owed:
                return
            self._answer(owed[data.draw(st.integers(0, len(owed) - 1))])

    @precondition(lambda self: self.owed(*SEATS))
    @rule(times=st.integers(1, 6), minutes=st.sampled_from([0, 0, 3, 9, 14, 19]))
    def argue(self, times: int, minutes: float) -> None:
        """Let the seats answer one after the other, each after a while."""
        for _ in range(times):
            self.table.wait(minutes=minutes)
            if owed := self.owed(*SEATS):
                self._answer(owed[-1])

    @precondition(lambda self: not self.owed(*SEATS))
    @rule()
    def wait_for_the_next_cycle(self) -> None:
        if (instant := self.docket.next_instant()) is not None:
            self.table.until(instant)

    def _answer(self, obligation: Any, say: Any = None) -> None:
        body = self.answers.to(obligation, self.docket)
        channel = rulebook().channel_of.get(body.type, obligation.channel)
        (say or self.table.say)(obligation.seat, body, owed=obligation, channel=channel)

    @rule(data=st.data(), said=SAID, falls_silent=st.booleans())
    def blurt(self, data: Any, said: Any, falls_silent: bool) -> None:
        seat, body = said
        debates = [c for c, s in self.docket.cases.items() if isinstance(s, DebateState)]
        case_id = data.draw(st.sampled_from(debates)) if debates and not falls_silent else self.any_case(data)
        if not case_id.startswith(("hyp_", "k")) and body.case_field == "hypothesis_id":
            case_id = "hyp_20200101_0000"
        self.table.say(seat, body, channel=rulebook().channel_of[body.type], case_id=case_id)

    @rule(data=st.data(), lineage=st.sampled_from(["", "lin_1"]))
    def propose(self, data: Any, lineage: str) -> None:
        body = bodies.hypothesis(self.any_case(data), lineage_id=lineage)
        self.table.say(EXPLORER, body, channel="#a-arena")

    @rule(minutes=st.sampled_from([0.5, 5, 11, 31, 90]))
    def wait(self, minutes: float) -> None:
        self.table.wait(minutes=minutes)

    @rule(minutes=st.sampled_from([1, 29, 45, 200]))
    def officers_sleep_in(self, minutes: float) -> None:
        self.table.now += timedelta(minutes=minutes)
        for draft in list(self.docket.due(self.table.now)):  # all that was due, computed at once
            self.table.publish(draft)
        self.table.officers()

    @rule(data=st.data(), minutes=st.sampled_from([0, 5, 20, 30, 45, 240]), times=st.integers(1, 3))
    def officers_are_overtaken(self, data: Any, minutes: float, times: int) -> None:
        """Let seats answer, and a person act, between the officers' making up their minds and posting."""
        self.table.now += timedelta(minutes=minutes)
        under_way = list(self.docket.due(self.table.now))
        for _ in range(times):
            owed = self.owed(*SEATS, ADMIN)
            if owed and data.draw(st.integers(0, 5)):
                self._answer(owed[data.draw(st.integers(0, len(owed) - 1))], say=self.table.post)
            else:
                scope = data.draw(st.sampled_from([self.any_case(data), "system A"]))
                self.table.post(ADMIN, Stop(scope=scope, why="now"), channel="#admin")
        for draft in under_way:
            self.table.publish(draft)
        self.table.officers()

    @rule(minutes=st.sampled_from([0, 0, 10, 150, 1500]), crash=st.booleans())
    def outage(self, minutes: float, crash: bool) -> None:
        self.table.down(minutes=minutes, crash=crash)

    @rule(data=st.data(), act=st.sampled_from(["note", "override", "override", "stop", "take", "release"]))
    def admin(self, data: Any, act: str) -> None:
        case_id, channel = self.any_case(data), "#admin"
        body: Any = Note(text="hm")
        if act == "override":
            verdict = data.draw(st.sampled_from(["APPROVE", "REJECT"]))
            body, channel = Override(case_id=case_id, verdict=verdict, why="I say so"), "#a-verdict"
        elif act == "stop":
            scope = data.draw(st.sampled_from([case_id, case_id, case_id, "system A", "society"]))
            body = Stop(scope=scope, why="enough")
        elif act in ("take", "release"):
            seat = data.draw(st.sampled_from(SEATS))
            body = (SeatTaken if act == "take" else SeatReleased)(seat=seat, user_id="ann", reason="mine")
        self.table.say(ADMIN, body, channel=channel, case_id=case_id if channel != "#admin" else None)

    @rule(data=st.data(), option=st.sampled_from([None, 0, 1, 2, 3, 9]))
    def reply(self, data: Any, option: int | None) -> None:
        known = [c for c in [*self.docket.cases, *self.docket.ended] if c.startswith("esc_")]
        if known:
            case_id = data.draw(st.sampled_from(known))
            body: Any = EscalationAck(escalation_id=case_id)
            if option is not None:
                body = EscalationAnswer(escalation_id=case_id, option=option)
            self.table.say(ADMIN, body, channel="#admin", case_id=case_id)

    # ------------------------------------------------------------ what must hold

    @invariant()
    def nothing_is_left_to_do(self) -> None:
        assert not self.docket.pending
        assert not self.docket.arose
        assert not self.docket.waiting
        assert list(self.docket.due(self.table.now)) == []

    @invariant()
    def what_is_open_is_what_the_cases_owe(self) -> None:
        owed = {o.id: o for state in self.docket.cases.values() for o in state.owed}
        assert self.docket.open == owed
        assert len(owed) == sum(len(s.owed) for s in self.docket.cases.values())
        assert all(self.docket.open[i] is o for i, o in owed.items())
        assert all(o.case_id in self.docket.cases for o in owed.values())
        assert self.docket.attempts.keys() <= owed.keys()
        assert self.docket.deadlines.pinged.keys() <= owed.keys()

    @invariant()
    def every_open_case_has_an_exit(self) -> None:
        parents = {s.parent for s in self.docket.cases.values()}
        for case_id, state in self.docket.cases.items():
            assert state.outcome is None
            assert state.owed or case_id in parents, f"{case_id} waits for nobody"
            assert state.parent is None or state.parent in self.docket.cases

    @invariant()
    def no_deadline_is_lost(self) -> None:
        docket = self.docket
        pinged = docket.deadlines.pinged
        instants = [
            max(o.due_at, pinged[o.id]) + o.grace if o.id in pinged and o.seat not in OFFICERS else o.due_at
            for o in docket.open.values()
            if o.seat not in PEOPLE
        ]
        instants += [at for fold in docket.context.folds if (at := fold.alarm(docket)) is not None]
        assert docket.next_instant() == min(instants, default=None)
        assert docket.next_instant() is None or docket.next_instant() > self.table.now

    @invariant()
    def the_context_counts_right(self) -> None:
        running = Counter(s.kind for s in self.docket.cases.values())
        assert {k: n for k, n in self.docket.context.running.items() if n} == dict(running)
        assert self.docket.context.cases is self.docket.cases
        assert running["cycle"] + running["architecture"] <= 1

    @invariant()
    def ended_cases_never_change(self) -> None:
        for case_id, ended in self.ended.items():
            assert self.docket.ended[case_id] is ended
            assert case_id not in self.docket.cases
        self.ended = dict(self.docket.ended)

    @invariant()
    def debates_keep_their_caps(self) -> None:
        for state in self.docket.cases.values():
            if isinstance(state, DebateState):
                assert state.rounds <= 3
                assert state.rounds <= 2 or state.extended
                budgets = [o for o in state.owed if o.seat in OFFICERS]
                assert len(budgets) <= 1
                assert len(state.owed) - len(budgets) == 1
                assert state.owed[0].seat in rulebook().bots

    def teardown(self) -> None:
        if len(self.table.effects) < len(self.table.log):
            return  # a fault stopped it, which says more than what follows
        self.every_violation_has_one_beside_it()
        self.verdicts_in_effect_are_allowed()
        self.ids_are_unique()
        self.folded_anew_it_is_the_same()

    def every_violation_has_one_beside_it(self) -> None:
        broken = [
            e.seq
            for e, fx in zip(self.table.log, self.table.effects, strict=True)
            if fx.violation is not None
        ]
        assert [e.body.of_seq for e in self.table.log if e.body.type == "VIOLATION"] == broken

    def verdicts_in_effect_are_allowed(self) -> None:
        assessed: Counter[Any] = Counter()
        revised: Counter[Any] = Counter()
        for env, fx in zip(self.table.log, self.table.effects, strict=True):
            if fx.violation is not None or fx.superseded:
                continue
            body: Any = env.body
            if body.type == "RISK_ASSESSMENT":
                assessed[env.case_id] += 1
            elif body.type == "REVISED_HYPOTHESIS":
                assessed[env.case_id] = 0
            elif body.type in ("VERDICT", "FINAL_VERDICT"):
                if body.verdict == "APPROVE":
                    assert body.confidence >= 0.6
                    assert round(abs(body.alpha_argument_score - body.risk_argument_score), 6) >= 0.05
                    assert assessed[env.case_id]
                revised[env.case_id] += body.verdict == "REVISE"
                assert revised[env.case_id] <= 1
                assert (body.type, body.verdict) != ("FINAL_VERDICT", "REVISE")

    def ids_are_unique(self) -> None:
        ids = [e.id for e in self.table.log]
        assert len(ids) == len(set(ids))

    def folded_anew_it_is_the_same(self) -> None:
        docket = Docket(rules())
        for env in self.table.log:
            docket.fold(env)
        for name in ("cases", "ended", "open", "attempts", "waiting", "pending", "seq", "at"):
            assert getattr(docket, name) == getattr(self.docket, name), name
        ledgers = [d.context.fold_named("research") for d in (docket, self.docket)]
        for name in (
            "thresholds",
            "principles",
            "strategies",
            "retired",
            "parents",
            "last_verdict",
            "direction",
        ):
            assert getattr(ledgers[0], name) == getattr(ledgers[1], name), name
        for name in ("running", "tenures", "holders", "conservative_a", "stopped", "outage"):
            assert getattr(docket.context, name) == getattr(self.docket.context, name), name
        assert docket.next_instant() == self.docket.next_instant()


TestSociety = Society.TestCase
TestSociety.settings = settings(
    max_examples=40,
    stateful_step_count=30,
)
