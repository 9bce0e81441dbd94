"""The simulated minds of motions: sound by the rules whatever the seed, and plain about what they repeat."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from moot.bots.minds.mind import View
from moot.bots.minds.simulated.motion.critic import PHRASES
from moot.bots.minds.simulated.motion.debater import SimulatedDebater
from moot.bots.minds.simulated.temper import RELIABLE
from moot.clock import VirtualClock
from moot.memory.inmemory import InMemoryStore
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Actor, Draft, Envelope
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.motion import messages as m
from moot.protocols.motion.machine import MOTION
from moot.protocols.motion.seats import ADVOCATE, JUDGE
from moot.protocols.research.seats import CRITIC
from moot.workshop import START, workshop
from tests.doubles.checking import findings
from tests.doubles.motion_table import MotionTable
from tests.doubles.views import run

QUESTION = "Should we adopt a four-day week {or} not?"
WORK = "# Notes\n\nThe plant runs day and night. Nobody was asked."
REF = "work/0123456789abcdef"
MANY = 150


@cache
def debated(
    seed: int = 1, n: int = MANY, options: tuple[str, ...] = (), ref: str = "", without: Seat | None = None
) -> tuple[tuple[Envelope, ...], tuple[str, ...]]:
    """Hold motions at once, each with chances of its own; return the log and how each ended."""
    seats = [seat for seat in (ADVOCATE, CRITIC, JUDGE) if seat != without]
    minds = {seat: SimulatedDebater(seed, RELIABLE) for seat in seats}
    actor = Actor("human", "scene", "admin")
    body = m.Motion(question=QUESTION, options=options, context_ref=ref)
    openers = [Draft(channel="#motions", author=ADMIN, body=body, actor=actor, key=f"m{k}") for k in range(n)]
    log: list[Envelope] = []
    outcomes: dict[str, str] = {}

    def listen(_env: Envelope, fx: Effects) -> None:
        outcomes.update({state.case_id: str(state.outcome) for state in fx.ended})

    async def main(clock: VirtualClock) -> None:
        async with workshop(clock, minds, seed=seed, contents={REF: WORK}.__getitem__) as shop:
            shop.host.listeners.append(listen)
            await shop.hold(openers)
            log.extend(shop.log)

    VirtualClock(START).run(main)
    return tuple(log), tuple(outcomes.values())


def said(log: tuple[Envelope, ...], kind: type) -> list:
    return [env.body for env in log if isinstance(env.body, kind)]


def test_no_seed_breaks_a_rule_and_the_log_verifies() -> None:
    log, outcomes = debated()
    assert len(outcomes) == MANY
    assert not {"VIOLATION", "RULING", "TIMEOUT_PING", "AUDIT"} & {env.body.type for env in log}
    assert findings(list(log)) == []


def test_every_outcome_and_the_third_round_come_about() -> None:
    log, outcomes = debated()
    told = Counter(outcomes)
    assert min(told[name] for name in ("upheld", "rejected", "undecided")) >= MANY / 15
    assert 1 <= len(said(log, m.ExtendMotion)) <= MANY / 3
    assert {body.round for body in said(log, m.Objections)} == {1, 2, 3}
    raised = [one for body in said(log, m.Objections) for one in body.objections]
    assert {one.severity for one in raised} == {"minor", "major", "fatal"}
    replies = [one for body in said(log, m.Replies) for one in body.replies]
    assert {one.concede for one in replies} == {True, False}
    assert len(replies) < len(raised), "some objections are left out"


def test_the_same_seed_says_the_same_and_another_something_else() -> None:
    log, _ = debated(n=4)
    debated.cache_clear()
    again, _ = debated(n=4)
    other, _ = debated(seed=2, n=4)
    assert [env.hash for env in again] == [env.hash for env in log]
    claims = [{env.case_id: env.body for env in one if isinstance(env.body, m.Claim)} for one in (log, other)]
    assert claims[0].keys() == claims[1].keys()
    assert all(claims[0][case_id] != claims[1][case_id] for case_id in claims[0])


@pytest.mark.parametrize("options", [(), ("Rome", "Oslo {city}", "Paris")])
def test_each_option_is_claimed_by_some_seed(options: tuple[str, ...]) -> None:
    log, _ = debated(n=40, options=options)
    assert {body.option for body in said(log, m.Claim)} == set(options or ("yes", "no"))


def test_what_is_rejected_leaves_the_other_of_two_options_and_none_of_three() -> None:
    for options in ((), ("Rome", "Oslo", "Paris")):
        log, _ = debated(options=options)
        rejected = [body.option for body in said(log, m.Judgment) if body.outcome == "REJECTED"]
        assert set(rejected) == ({""} if options else {"yes", "no"})
        claims = {env.case_id: env.body.option for env in log if isinstance(env.body, m.Claim)}
        judged = [env for env in log if isinstance(env.body, m.Judgment) and env.body.outcome == "REJECTED"]
        assert all(env.body.option != claims[env.case_id] for env in judged)


def test_a_claim_repeats_the_question_and_grounds_the_option() -> None:
    log, _ = debated(n=20)
    for body in said(log, m.Claim):
        (ground,) = body.grounds
        assert QUESTION in body.claim
        assert f"“{body.option}”" in ground.text


def test_no_objection_is_raised_twice_while_others_are_left() -> None:
    log, _ = debated()
    texts: dict[str, list[str]] = {}
    for env in log:
        if isinstance(env.body, m.Objections):
            texts.setdefault(env.case_id, []).extend(one.text for one in env.body.objections)
    fatal = len(PHRASES["objections.fatal"])
    assert all(len(found) == len(set(found)) for found in texts.values() if len(found) <= fatal)


def test_a_work_that_the_motion_names_is_quoted_and_named() -> None:
    log, _ = debated(n=20, ref=REF)
    quoted = set()
    for body in said(log, m.Claim):
        ground = body.grounds[-1]
        assert ground.evidence_ref == REF
        quoted.add(ground.text.split("“")[1].split("”")[0])
    assert quoted == {"# Notes", "The plant runs day and night.", "Nobody was asked."}


def test_without_a_critic_nothing_is_upheld() -> None:
    log, outcomes = debated(n=10, without=CRITIC)
    assert set(outcomes) == {"undecided"}
    assert "VIOLATION" not in {env.body.type for env in log}


def test_no_seed_upholds_what_a_fatal_objection_stands_against() -> None:
    table = MotionTable()
    table.claim()
    table.object("fatal")
    table.reply()
    table.object()
    due = table.owed(JUDGE, "JUDGMENT")
    brief = MOTION.brief(table.state, due, table.docket.context)
    view = View(due, JUDGE, table.now, 0, "", (), (), brief, InMemoryStore().read())
    replies = [run(SimulatedDebater(seed, RELIABLE).answer(view)) for seed in range(300)]
    judged = [reply.body for reply in replies if reply is not None and isinstance(reply.body, m.Judgment)]
    assert len(judged) == len(replies)
    assert "UPHELD" not in {body.outcome for body in judged}
    strong = [body for body in judged if body.for_score > body.against_score and body.confidence >= 0.6]
    assert strong, "some would be upheld but for that"
