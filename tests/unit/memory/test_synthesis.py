"""Synthesis: a view's failures become the principles of a message (spec 2.1, R-D13)."""

from datetime import timedelta

from moot.memory.inmemory import InMemoryStore
from moot.memory.synthesis import adjusted, patterns, synthesise
from tests.doubles.memory_log import START, Log

DAY = timedelta(days=1)


def folded(log: Log) -> InMemoryStore:
    store = InMemoryStore()
    for env in log.envelopes:
        store.apply(env, True)
    return store


def test_three_failures_on_either_shelf_make_a_principle() -> None:
    log = Log()
    log.record("ref_001")
    log.record("cau_001", causal=True)
    assert patterns(folded(log).read(), START, START + DAY) == ()
    log.record("ref_002")
    log.record("ref_003", kind="success", failure_code=None)
    (made,) = synthesise(folded(log).read(), since=START, until=START + DAY)
    assert (made.principle_id, made.change) == ("", "created"), "the sequencer counts the id (K20)"
    assert (made.evidence_count, made.source_reflections) == (3, ("ref_001", "cau_001", "ref_002"))
    assert made.confidence == 0.300642, "three of four attempts"
    assert (made.archetype, made.failure_code, made.regime) == ("momentum", "overfitting", "calm_up")
    assert made.created == made.last_validated == START + DAY


def test_the_next_day_updates_the_principle_of_the_day_before() -> None:
    log = Log()
    for n in range(3):
        log.record(f"ref_00{n}")
    (first,) = synthesise(folded(log).read(), since=START - DAY, until=START + DAY)
    log.principles(first.model_copy(update={"principle_id": "prin_001"}))
    log.at = START + DAY
    for n in range(3, 7):
        log.record(f"ref_00{n}")
    (made,) = synthesise(folded(log).read(), since=START + DAY, until=START + 2 * DAY)
    assert (made.principle_id, made.change, made.statement) == ("prin_001", "updated", first.statement)
    assert made.evidence_count == 4
    assert (made.created, made.last_validated) == (START + DAY, START + 2 * DAY)


def test_minds_synthesise_what_they_saw_when_they_were_woken() -> None:
    log = Log()
    for n in range(3):
        log.record(f"ref_00{n}")
    store = folded(log)
    assert synthesise(store.read(2), since=START, until=START + DAY) == ()
    assert (
        synthesise(store.read(3), since=START, until=START + DAY, at=START + DAY * 2)[0].created
        == START + 2 * DAY
    )


def test_the_critic_answers_a_review_with_old_and_new_strictness() -> None:
    log = Log()
    log.adjusted("2026-W09", {"tail_risk": 0.21})
    before, after = adjusted(folded(log).read(), 0.9)
    assert (before["tail_risk"], after["tail_risk"]) == (0.21, 0.2)
    assert (before["crowding_risk"], after["crowding_risk"]) == (0.6, 0.54)
