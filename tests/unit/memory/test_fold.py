"""The fold: which message writes what (R-D20, R-B11)."""

import pytest

from moot.memory.fold import FOLDS, changes
from moot.memory.inmemory import InMemoryStore
from moot.memory.shelves import HYPOTHESES, PROPOSALS
from moot.memory.view import MemoryView
from moot.protocols.kernel.fields import FrozenJson
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import REFEREE, Seat
from moot.protocols.research.seats import EVOLVER
from moot.protocols.trading.seats import GUARDIAN, OPERATOR, TRADER
from tests.doubles.memory_log import MOMENTUM, REVERSION, START, Log, a_week, principle, record


def folded(log: Log, *, ignored: tuple[int, ...] = ()) -> InMemoryStore:
    store = InMemoryStore()
    for env in log.envelopes:
        store.apply(env, env.seq not in ignored)
    return store


# ----------------------------------------------------------------- records


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("author", [EVOLVER, REFEREE])
def test_a_record_goes_to_its_shelf_with_the_logs_time(causal: bool, author: Seat) -> None:
    log = Log()
    env = log.record("ref_001", causal=causal, author=author, summary="ä", lineage_id="lin_1")
    view = folded(log).read()
    shelves = [view.causal(), view.reflections()]
    (kept,) = shelves[0] if causal else shelves[1]
    assert shelves[1 if causal else 0] == ()
    assert (kept.record_id, kept.seq, kept.at, kept.happened_at) == ("ref_001", 1, env.sent_at, START)
    assert (kept.kind, kept.archetype, kept.failure_code, kept.regime) == (
        "failure",
        "momentum",
        "overfitting",
        "calm_up",
    )
    assert (kept.summary, kept.lineage_id, dict(kept.metrics)) == (
        "ä",
        "lin_1",
        {"sharpe": -0.25, "trades": 12},
    )


def test_a_second_record_under_an_id_does_not_rewrite_the_first() -> None:
    log = Log()
    log.record("ref_001", summary="first")
    log.record("ref_001", summary="second")
    log.record("ref_001", causal=True, summary="on the other shelf")
    view = folded(log).read()
    assert [r.summary for r in view.reflections()] == ["first"]
    assert [r.summary for r in view.causal()] == ["on the other shelf"]


def test_a_record_without_an_id_is_kept_under_its_messages() -> None:
    log = Log()
    env = log.record("")
    assert [r.record_id for r in folded(log).read().reflections()] == [env.id]


def test_a_message_that_is_not_in_effect_writes_nothing() -> None:
    log = a_week()
    assert folded(log, ignored=tuple(range(1, 100))).read().digest() == InMemoryStore().read().digest()
    without = folded(log, ignored=(6,)).read()
    assert without.causal() == ()
    assert len(without.reflections()) == 4


# -------------------------------------------------------------- principles


def test_an_updated_principle_is_a_new_version_of_the_old_one() -> None:
    log = Log()
    log.principles(principle("prin_001"), principle("prin_002", archetype="breakout"))
    log.principles(principle("prin_001", count=5, change="updated"))
    store = folded(log)
    assert [(p.principle_id, p.evidence_count, p.seq) for p in store.read().principles()] == [
        ("prin_001", 5, 2),
        ("prin_002", 3, 1),
    ]
    older = store.read(1).principle("prin_001")
    assert older is not None
    assert older.evidence_count == 3
    assert older.source_reflections == ("ref_001", "ref_002", "ref_003")


# ------------------------------------------------------------ architecture


def test_a_verdict_takes_descriptions_from_the_proposals() -> None:
    log = Log()
    log.proposals("2026-W09", arch_001="news", arch_002="sentiment", arch_003="seats")
    log.architecture(
        "2026-W09", approved=("arch_001",), deferred=("arch_002",), rejected=("arch_003: too dear",)
    )
    view = folded(log).read()
    assert [(c.change_id, c.status, c.description, c.period) for c in view.architecture()] == [
        ("arch_001", "approved", "arch_001 as approved", "2026-W09"),
        ("arch_002", "deferred", "sentiment", "2026-W09"),
        ("arch_003", "rejected", "seats", "2026-W09"),
    ]
    (approved,) = view.architecture(status="approved")
    assert (approved.priority, approved.assigned_to, approved.implementation_notes) == (
        "high",
        "evolver",
        "soon",
    )
    assert view.architecture(status="deferred")[0].priority is None


def test_what_was_never_proposed_is_kept_in_its_own_words() -> None:
    log = Log()
    log.architecture("2026-W09", rejected=("be bolder: now", "be bolder: now"))
    kept = folded(log).read().architecture()
    assert [(c.change_id, c.description) for c in kept] == [
        ("2026-W09/rejected/0", "be bolder: now"),
        ("2026-W09/rejected/1", "be bolder: now"),
    ]


def notes_of(view: MemoryView, change_id: str = "arch_001") -> tuple[str, str]:
    change = next(c for c in view.architecture() if c.change_id == change_id)
    return (change.implementation_notes, change.run_id)


def test_an_approved_run_refines_the_notes_of_its_change() -> None:
    log = Log()
    log.architecture("2026-W09", approved=("arch_001", "arch_002"))
    before = log.envelopes[-1].seq
    end = log.run("arch_002", output="First measure, then change.")
    store = folded(log)
    assert notes_of(store.read(), "arch_002") == ("First measure, then change.", "arena_20260228_1700")
    assert notes_of(store.read(), "arch_001") == ("soon", "")
    assert notes_of(store.read(before), "arch_002") == ("soon", ""), "as it was"
    assert notes_of(store.read(end.seq - 1), "arch_002") == ("soon", ""), "the output alone decides nothing"


@pytest.mark.parametrize("state", ["TERMINATED_MAX_ROUNDS", "TERMINATED_ERROR"])
def test_a_run_that_was_not_approved_refines_nothing(state: str) -> None:
    log = Log()
    log.architecture("2026-W09", approved=("arch_001",))
    log.run("arch_001", state=state)
    assert notes_of(folded(log).read()) == ("soon", "")


def test_a_run_outside_the_week_refines_nothing() -> None:
    log = Log()
    log.proposals("2026-W09", arch_001="news", arch_002="seats")
    log.architecture("2026-W09", approved=("arch_001",), deferred=("arch_002",))
    log.run("arch_001", parent_id="")
    log.run("arch_002", "arena_2")
    log.run("arch_099", "arena_3")
    view = folded(log).read()
    assert [notes_of(view), notes_of(view, "arch_002")] == [("soon", ""), ("", "")]


@pytest.mark.rule("R-A9")
def test_r_a9_the_refined_notes_hold_no_excluded_content() -> None:
    log = Log()
    log.architecture("2026-W09", approved=("arch_001",))
    secret = "AKIA" + "Q3ZJ5T2XW7LMNB4K"
    log.run("arch_001", output=f"Use the key {secret}.\nMeasure first.\n" + "x" * 30_000)
    notes, _ = notes_of(folded(log).read())
    assert secret not in notes and "redacted" in notes
    assert "Measure first." in notes
    assert len(notes) == 20_000


def test_a_deferred_change_may_be_approved_later() -> None:
    log = Log()
    log.proposals("2026-W09", arch_001="news")
    log.architecture("2026-W09", deferred=("arch_001",))
    log.architecture("2026-W10", approved=("arch_001",))
    store = folded(log)
    assert [c.status for c in store.read(2).architecture()] == ["deferred"]
    assert [c.status for c in store.read().architecture()] == ["approved"]


def test_an_id_named_twice_in_one_verdict_counts_as_first_named() -> None:
    log = Log()
    log.proposals("2026-W09", arch_001="news")
    log.architecture("2026-W09", approved=("arch_001",), rejected=("arch_001",))
    assert [c.status for c in folded(log).read().architecture()] == ["approved"]


# -------------------------------------------------------------- strategies


@pytest.mark.parametrize("how", ["revised", "rebuttal"])
def test_a_candidate_carries_what_its_debate_said(how: str) -> None:
    log = Log()
    log.hypothesis("hyp_1", "lin_1", MOMENTUM)
    getattr(log, how)("hyp_1", REVERSION)
    log.backtest("hyp_1", sharpe=0.75)
    env = log.moved("strat_1", "candidates", hypothesis_id="hyp_1", reason="it passed")
    (strategy,) = folded(log).read().strategies(stage="candidates")
    assert (strategy.strategy_id, strategy.hypothesis_id, strategy.lineage_id) == (
        "strat_1",
        "hyp_1",
        "lin_1",
    )
    assert strategy.strategy == REVERSION
    assert strategy.backtest is not None
    assert strategy.backtest.passed
    assert strategy.backtest.metrics.sharpe == 0.75
    assert strategy.backtest.equity_ref == "equity/0123456789abcdef"
    (move,) = strategy.history
    assert (move.seq, move.at, move.from_, move.to, move.reason) == (
        4,
        env.sent_at,
        None,
        "candidates",
        "it passed",
    )


def test_a_hypothesis_without_a_lineage_begins_its_own() -> None:
    log = Log()
    log.hypothesis("hyp_1")
    log.moved("strat_1", "candidates", hypothesis_id="hyp_1")
    assert folded(log).read().strategies(lineage_id="hyp_1")


def test_moves_add_to_the_history_and_keep_the_rest() -> None:
    log = Log()
    log.moved("strat_1", "candidates", hypothesis_id="hyp_1", strategy=MOMENTUM)
    log.moved("strat_1", "staging", from_="candidates", reason="deployed")
    log.moved("strat_1", "production", from_="staging", reason="promoted")
    store = folded(log)
    strategy = store.read().strategy("strat_1")
    assert strategy is not None
    assert (strategy.stage, strategy.strategy, strategy.hypothesis_id) == ("production", MOMENTUM, "hyp_1")
    assert [move.reason for move in strategy.history] == ["because", "deployed", "promoted"]
    assert [s.strategy_id for s in store.read(2).strategies(stage="staging")] == ["strat_1"]
    assert store.read().strategies(stage="staging") == ()


def test_a_backtest_after_the_move_reaches_the_candidate() -> None:
    log = Log()
    log.hypothesis("hyp_1")
    log.moved("strat_1", "candidates", hypothesis_id="hyp_1")
    log.backtest("hyp_1", sharpe=0.9)
    strategy = folded(log).read().strategy("strat_1")
    assert strategy is not None
    assert strategy.backtest is not None
    assert strategy.backtest.metrics.sharpe == 0.9


def test_a_failed_backtest_alone_makes_no_strategy() -> None:
    log = Log()
    log.hypothesis("hyp_1")
    log.backtest("hyp_1", passed=False)
    assert folded(log).read().strategies() == ()


def test_an_override_of_an_ended_debate_hands_its_strategy_to_the_linked_case() -> None:
    log = Log()
    log.hypothesis("hyp_1", "lin_1", REVERSION)
    log.override("hyp_1", "ovr_1")
    log.backtest("ovr_1")
    log.moved("strat_2", "candidates", hypothesis_id="ovr_1")
    strategy = folded(log).read().strategy("strat_2")
    assert strategy is not None
    assert (strategy.lineage_id, strategy.strategy) == ("lin_1", REVERSION)
    assert strategy.backtest is not None


def test_history_keeps_the_last_hundred_moves() -> None:
    log = Log()
    log.moved("s", "candidates")
    for _ in range(60):
        log.moved("s", "staging")
        log.moved("s", "candidates", author=OPERATOR)
    strategy = folded(log).read().strategy("s")
    assert strategy is not None
    assert len(strategy.history) == 100
    assert strategy.history[-1].seq == 121


# ------------------------------------------------------------------ rights


@pytest.mark.parametrize(
    ("stands", "to", "author", "allowed"),
    [
        (None, "candidates", EVOLVER, True),
        (None, "candidates", OPERATOR, False),
        (None, "staging", EVOLVER, False),
        ("candidates", "staging", OPERATOR, True),
        ("candidates", "staging", EVOLVER, False),
        ("candidates", "withdrawn", OPERATOR, True),
        ("staging", "production", OPERATOR, True),
        ("staging", "candidates", OPERATOR, True),  # R-B3: either rejects, back to candidates
        ("staging", "candidates", EVOLVER, False),
        ("production", "withdrawn", OPERATOR, True),
        ("production", "withdrawn", EVOLVER, False),
        ("production", "candidates", EVOLVER, False),
        ("withdrawn", "candidates", EVOLVER, True),  # R-B10: marked for re-evaluation
        ("withdrawn", "candidates", OPERATOR, False),
    ],
)
def test_each_system_moves_strategies_only_where_it_may_write(
    stands: str | None, to: str, author: Seat, allowed: bool
) -> None:
    log = Log()
    way = {
        "candidates": (),
        "staging": ("staging",),
        "production": ("production",),
        "withdrawn": ("withdrawn",),
    }
    if stands is not None:
        log.moved("s", "candidates")
        for stage in way[stands]:
            log.moved("s", stage)
    before = folded(log).read().strategy("s")
    log.moved("s", to, author=author, from_="candidates")
    after = folded(log).read().strategy("s")
    if allowed:
        assert after is not None
        assert after.stage == to
    else:
        assert after == before, "the claim in `from` does not count, what memory holds does"


def test_a_seat_without_the_right_writes_nothing() -> None:
    log = Log()
    log.record("ref_001", author=OPERATOR)
    log.post(OPERATOR, record("ref_002", causal=True))
    log.adjusted("2026-W09", {"tail_risk": 0.3}, author=GUARDIAN)
    log.metrics("2026-02-23", "s", author=TRADER)
    log.metrics("2026-02-24", "s", author=EVOLVER)
    view = folded(log).read()
    assert view.causal() == view.reflections() == ()
    assert view.thresholds()["tail_risk"] == 0.6
    assert [m.date for m in view.metrics()] == ["2026-02-23"], "metrics are System B's (R-B11)"


def test_a_backtest_does_not_reach_a_strategy_that_system_b_holds() -> None:
    log = Log()
    log.hypothesis("hyp_1")
    log.backtest("hyp_1", sharpe=0.5)
    log.moved("s", "candidates", hypothesis_id="hyp_1")
    log.moved("s", "staging")
    log.backtest("hyp_1", sharpe=5.0)
    strategy = folded(log).read().strategy("s")
    assert strategy is not None
    assert strategy.backtest is not None
    assert strategy.backtest.metrics.sharpe == 0.5


# ----------------------------------------------------------------- metrics


class Opaque(Message):
    """Stands in for a body that this version does not know (K4)."""

    type: str = "METRICS_RECORDED"
    data: FrozenJson


def test_metrics_are_kept_by_day_and_strategy_and_may_be_corrected() -> None:
    log = Log()
    log.metrics("2026-02-23", "s", pnl=1.0)
    log.metrics("2026-02-24", "s", pnl=2.0, sharpe=0.4)
    log.metrics("2026-02-23", "s", pnl=-1.5)
    log.metrics("2026-02-23", "r", pnl=-1.5)
    store = folded(log)
    rest = {"n": 20, "max_drawdown": -0.01, "trades": 2}
    assert [(m.date, m.strategy_id, dict(m.realised)) for m in store.read().metrics()] == [
        ("2026-02-23", "r", {"pnl": -1.5, "sharpe_30d": None, **rest}),
        ("2026-02-23", "s", {"pnl": -1.5, "sharpe_30d": None, **rest}),
        ("2026-02-24", "s", {"pnl": 2.0, "sharpe_30d": 0.4, **rest}),
    ]
    assert [m.realised["pnl"] for m in store.read(2).metrics(strategy_id="s", until="2026-02-23")] == [1.0]


def test_a_whole_life_at_the_desk_leaves_its_stages_reasons_and_figures() -> None:
    log = Log()
    log.hypothesis("hyp_1", "lin_1")
    log.backtest("hyp_1", sharpe=0.9)
    log.moved("s", "candidates", hypothesis_id="hyp_1")
    log.moved("s", "staging", from_="candidates", reason="validated")
    log.moved("s", "production", from_="staging", reason="promoted after 5 days")
    log.metrics("2026-03-09", "s", pnl=-40.0, sharpe=-0.6)
    log.record("ref_001", hypothesis_id="hyp_1", lineage_id="lin_1", failure_code="recalled")
    log.moved("s", "withdrawn", from_="production", reason="recalled")
    view = folded(log).read()
    strategy = view.strategy("s")
    assert strategy is not None and strategy.backtest is not None
    assert (strategy.stage, strategy.hypothesis_id, strategy.lineage_id) == ("withdrawn", "hyp_1", "lin_1")
    assert strategy.strategy == MOMENTUM and strategy.backtest.metrics.sharpe == 0.9
    assert [(m.from_, m.to, m.reason) for m in strategy.history[1:]] == [
        ("candidates", "staging", "validated"),
        ("staging", "production", "promoted after 5 days"),
        ("production", "withdrawn", "recalled"),
    ]
    assert [r.failure_code for r in view.reflections(hypothesis_id="hyp_1")] == ["recalled"]
    assert [m.realised["sharpe_30d"] for m in view.metrics(strategy_id="s")] == [-0.6]


def test_a_strategy_that_memory_never_saw_stands_where_its_first_move_says() -> None:
    log = Log()
    log.moved("s", "candidates", from_="staging", author=OPERATOR, reason="three faults")
    log.moved("r", "candidates", from_="staging", author=EVOLVER)
    log.moved("t", "candidates", author=OPERATOR)
    stages = [(s.strategy_id, s.stage) for s in folded(log).read().strategies()]
    assert stages == [("s", "candidates")], "what B holds only B sends back, what is new is A's (R-B11)"


def test_a_body_of_an_unknown_shape_writes_nothing() -> None:
    log = Log()
    log.post(GUARDIAN, Opaque(data={"date": 1}))
    assert folded(log).read().metrics() == ()


# -------------------------------------------------------------- thresholds


def test_thresholds_start_at_their_data_and_stay_within_bounds() -> None:
    log = Log()
    log.adjusted("2026-W09", {"tail_risk": 0.01, "overfitting": 0.99, "taste": 0.5})
    store = folded(log)
    assert set(store.read(0).thresholds().values()) == {0.6}
    now = store.read().thresholds()
    assert (now["tail_risk"], now["overfitting"], now["crowding_risk"]) == (0.2, 0.95, 0.6)
    assert "taste" not in now


# ------------------------------------------------------------------- table


def test_every_row_of_the_table_writes_something_in_a_full_week() -> None:
    store = InMemoryStore()
    writing = set()
    log = a_week()
    log.override("hyp_1", "o")
    log.metrics("2026-02-23", "s")
    log.rebuttal("hyp_1", REVERSION)
    for env in log.envelopes:
        if store.apply(env, True):
            writing.add(env.body.type)
    assert writing == set(FOLDS)


def test_the_fold_is_pure() -> None:
    store = InMemoryStore()
    for env in a_week().envelopes:
        before = store.read().digest()
        first = changes(env, store.tables)
        assert changes(env, store.tables) == first
        assert store.read().digest() == before
        assert store.apply(env, True) == first


def test_working_notes_are_bounded_and_shown_to_nobody() -> None:
    store = InMemoryStore(working_kept=3)
    log = Log()
    for n in range(6):
        log.hypothesis(f"hyp_{n}")
        log.proposals("2026-W09", **{f"arch_{n}": "x"})
    log.revised("hyp_4", REVERSION)
    log.hypothesis("hyp_9")
    log.backtest("hyp_8")
    for env in log.envelopes:
        store.apply(env, True)
    kept = [note.key for note in store.tables[HYPOTHESES].versions()]
    assert kept == ["hyp_4", "hyp_9", "hyp_8"], "a note that is written again is the newest"
    assert [note.key for note in store.tables[PROPOSALS].versions()] == ["arch_3", "arch_4", "arch_5"]
    assert store.read().digest() == InMemoryStore().read().digest()
