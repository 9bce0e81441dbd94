"""The view: typed queries, as of a seq (K13), in windows (K16)."""

from datetime import timedelta
from itertools import islice

import pytest

from moot.memory.errors import StoreGap, StorePruned
from moot.memory.inmemory import InMemoryStore
from moot.memory.records import StrategyRecord
from moot.memory.tables import natural
from tests.doubles.calls import calls
from tests.doubles.memory_log import START, Log, a_week, principle


def folded(log: Log) -> InMemoryStore:
    store = InMemoryStore()
    for env in log.envelopes:
        store.apply(env, True)
    return store


def test_a_later_version_never_shows_in_an_older_view() -> None:
    log = a_week()
    store = InMemoryStore()
    views = [store.read()]
    digests = [views[0].digest()]
    for env in log.envelopes:
        store.apply(env, True)
        views.append(store.read())
        digests.append(views[-1].digest())
    assert [view.digest() for view in views] == digests
    assert [store.read(seq).digest() for seq in range(len(digests))] == digests
    assert len(set(digests)) > 10


def test_windows_exclude_their_start_and_include_their_end() -> None:
    log = Log()
    for n, hours in enumerate((0, 1, 2, 3)):
        log.record(f"ref_{n}", sent_at=START + timedelta(hours=hours))
        log.record(f"cau_{n}", causal=True, sent_at=START + timedelta(hours=hours))
    view = folded(log).read()
    since, until = START + timedelta(hours=1), START + timedelta(hours=3)
    assert [r.record_id for r in view.reflections(since=since, until=until)] == ["ref_2", "ref_3"]
    assert [r.record_id for r in view.causal(since=since)] == ["cau_2", "cau_3"]
    assert [r.record_id for r in view.causal(until=since)] == ["cau_0", "cau_1"]
    assert [r.record_id for r in view.experiences(since=since, until=until)] == [
        "ref_2",
        "cau_2",
        "ref_3",
        "cau_3",
    ], "in the order of the log"


def test_a_window_of_an_older_view_ends_where_the_view_does() -> None:
    log = Log()
    for n in range(4):
        log.record(f"ref_{n}", sent_at=START + timedelta(hours=n))
    view = folded(log).read(log.envelopes[2].seq)
    assert [r.record_id for r in view.reflections(since=START)] == ["ref_1", "ref_2"]
    assert [r.record_id for r in view.reflections(until=START + timedelta(hours=9))] == [
        "ref_0",
        "ref_1",
        "ref_2",
    ]


def test_a_record_counts_when_it_was_logged_whatever_date_it_claims() -> None:
    log = Log()
    log.record("ref_1", at=START - timedelta(days=30), sent_at=START + timedelta(hours=1))
    view = folded(log).read()
    assert view.reflections(until=START) == ()
    assert len(view.reflections(since=START)) == 1


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, ["r1", "r2", "r3"]),
        ({"archetype": "breakout"}, ["r2"]),
        ({"kind": "success"}, ["r3"]),
        ({"failure_code": "overfitting", "regime": "calm_up"}, ["r1"]),
        ({"hypothesis_id": "h2"}, ["r2"]),
        ({"lineage_id": "l3", "kind": "success"}, ["r3"]),
        ({"lineage_id": "l3", "kind": "failure"}, []),
    ],
)
def test_records_are_found_by_what_they_are_about(asked: dict[str, str], found: list[str]) -> None:
    log = Log()
    for causal in (False, True):
        log.record("r1", causal=causal)
        log.record("r2", causal=causal, archetype="breakout", regime="calm_down", hypothesis_id="h2")
        log.record("r3", causal=causal, kind="success", failure_code=None, lineage_id="l3")
    view = folded(log).read()
    assert [r.record_id for r in view.reflections(**asked)] == found  # type: ignore[arg-type]
    assert [r.record_id for r in view.causal(**asked)] == found  # type: ignore[arg-type]


def test_principles_are_found_by_what_they_are_about_and_sorted_by_number() -> None:
    log = Log()
    log.principles(*(principle(f"prin_{n}", archetype=f"a{n}") for n in (10, 9, 100)))
    view = folded(log).read()
    assert [p.principle_id for p in view.principles()] == ["prin_9", "prin_10", "prin_100"]
    assert [p.principle_id for p in view.principles(archetype="a9", regime="calm_up")] == ["prin_9"]
    assert view.principles(archetype="a9", regime="volatile_up") == ()
    assert view.principle("prin_11") is None


def test_metrics_by_days_include_both_ends() -> None:
    assert folded(Log()).read().metrics(since="2026-01-01", until="2026-12-31") == ()


def test_thresholds_apply_from_the_week_after_the_review() -> None:
    log = Log()
    log.adjusted("2026-W09", {"tail_risk": 0.54})
    log.adjusted("2026-W10", {"tail_risk": 0.486})
    store = folded(log)
    sunday, monday = START + timedelta(days=6), START + timedelta(days=7)
    first = store.read(1)
    assert first.thresholds(sunday)["tail_risk"] == 0.6
    assert first.thresholds(monday)["tail_risk"] == 0.54
    assert first.thresholds()["tail_risk"] == 0.54
    second = store.read()
    assert second.thresholds(monday)["tail_risk"] == 0.54
    assert second.thresholds(monday + timedelta(days=7))["tail_risk"] == 0.486


def test_a_second_adjustment_in_a_week_does_not_make_the_first_one_apply_early() -> None:
    log = Log()
    log.adjusted("2026-W09", {"tail_risk": 0.54})
    log.adjusted("2026-W09", {"tail_risk": 0.5})
    view = folded(log).read()
    assert view.thresholds(START)["tail_risk"] == 0.6
    assert view.thresholds(START + timedelta(days=7))["tail_risk"] == 0.5


def test_a_view_of_the_future_is_refused() -> None:
    store = folded(a_week())
    with pytest.raises(StoreGap, match="only 21 is applied"):
        store.read(22)


def test_a_view_that_was_pruned_says_so_instead_of_showing_less() -> None:
    store = folded(a_week())
    old, kept = store.read(11), store.read(16)
    before = kept.digest()
    assert store.prune(16) > 0
    assert kept.digest() == before
    with pytest.raises(StorePruned, match="seq 11 was let go, it starts at 16"):
        old.principles()
    with pytest.raises(StorePruned):
        store.read(15)


def test_an_answer_cannot_be_changed_by_whoever_got_it() -> None:
    view = folded(a_week()).read()
    with pytest.raises(AttributeError):
        view.reflections()[0].summary = "else"  # type: ignore[misc]
    with pytest.raises(TypeError):
        view.thresholds()["tail_risk"] = 0.2  # type: ignore[index]
    with pytest.raises(TypeError):
        view.causal()[0].metrics["sharpe"] = 9.0  # type: ignore[index]


def test_natural_order_counts() -> None:
    keys = ["arch_10", "arch_9", "2026-W09/rejected/10", "2026-W09/rejected/2", "", "a", "7"]
    assert sorted(keys, key=natural) == [
        "",
        "7",
        "2026-W09/rejected/2",
        "2026-W09/rejected/10",
        "a",
        "arch_9",
        "arch_10",
    ]


def test_what_is_asked_of_the_last_days_costs_the_same_however_much_came_before() -> None:
    def aged(days: int) -> InMemoryStore:
        log = Log()
        for n in range(days):
            day = START + timedelta(days=n - days)
            log.record(f"ref_{n}", sent_at=day)
            log.record(f"cau_{n}", causal=True, sent_at=day)
            log.metrics(f"{day:%Y-%m-%d}", "s", sent_at=day)
        return folded(log)

    def recent(store: InMemoryStore) -> int:
        view, since = store.read(), START - timedelta(days=9, hours=1)
        asked = []
        cost = calls(lambda: asked.extend(view.experiences(since=since)))
        cost += calls(lambda: asked.extend(view.metrics(since=f"{since:%Y-%m-%d}")))
        assert len(asked) == 3 * 9
        return cost

    # What is left is looking up where the days begin.
    assert recent(aged(640)) < recent(aged(20)) + 80


def test_the_strategy_written_last_comes_first_in_every_view() -> None:
    log = Log()
    for name in ("a", "b", "c"):
        log.moved(name, "candidates")
    log.moved("a", "withdrawn", from_="candidates")
    store = folded(log)

    def newest(seq: int) -> list[tuple[str, str]]:
        return [(record.strategy_id, record.stage) for record in store.read(seq).newest_strategies()]

    b, c = ("b", "candidates"), ("c", "candidates")
    assert newest(3) == [c, b, ("a", "candidates")]
    assert newest(4) == [("a", "withdrawn"), c, b]
    store.prune(4)
    assert newest(4) == [("a", "withdrawn"), c, b]


def test_whoever_asks_for_the_newest_strategies_pays_for_those_alone() -> None:
    def cost(strategies: int) -> int:
        log = Log()
        for n in range(strategies):
            log.moved(f"strat_{n}", "candidates")
        view = folded(log).read()
        found: list[StrategyRecord] = []
        spent = calls(lambda: found.extend(islice(view.newest_strategies(), 24)))
        assert len(found) == 24
        return spent

    assert cost(400) < cost(30) + 10
