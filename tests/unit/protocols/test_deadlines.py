"""The queue of deadlines against a plain search."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from moot.protocols.kernel.deadlines import SLACK, Deadlines
from moot.protocols.kernel.obligation import NO_GRACE, Obligation
from moot.protocols.kernel.seats import ADMIN, OFFICERS, PEOPLE, REFEREE
from moot.protocols.research.seats import CRITIC, EXPLORER

START = datetime(2026, 2, 23, 10, tzinfo=UTC)


def obligation(n, due=20, grace=10, seat=CRITIC):
    return Obligation(
        f"case/{n}/{seat}",
        "case",
        seat,
        ("X",),
        "#a-arena",
        START,
        START + timedelta(minutes=due),
        timedelta(minutes=grace),
    )


def void_at(o, pinged):
    return max(o.due_at, pinged[o.id]) + o.grace


def plainly(open_, pinged, now=None):
    found = []
    for o in open_.values():
        if o.seat in PEOPLE:
            continue
        is_void = o.id in pinged and o.seat not in OFFICERS
        at = void_at(o, pinged) if is_void else o.due_at
        if now is None or at <= now:
            found.append((at, o.id, is_void))
    return sorted(found)


ACT = st.tuples(
    st.sampled_from(["add", "add", "close", "ping", "move", "shift", "ask"]),
    st.integers(0, 30),
    st.integers(0, 90),
    st.sampled_from([CRITIC, EXPLORER, REFEREE, ADMIN]),
)


@settings(max_examples=300)
@given(st.lists(ACT, max_size=60))
def test_no_deadline_is_lost_doubled_or_out_of_order(acts):
    open_ = {}
    deadlines = Deadlines(open_)
    pinged = {}
    for n, (act, pick, minutes, seat) in enumerate(acts):
        chosen = list(open_.values())[pick % len(open_)] if open_ else None
        if act == "add":
            new = obligation(n, minutes, minutes % 11, seat)
            open_[new.id] = new
            deadlines.add(new)
        elif chosen is None:
            continue
        elif act == "close":
            del open_[chosen.id]
            deadlines.pinged.pop(chosen.id, None)
            pinged.pop(chosen.id, None)
        elif act == "ping" and chosen.seat not in OFFICERS | PEOPLE:
            pinged[chosen.id] = START + timedelta(minutes=minutes)
            deadlines.ping(chosen, pinged[chosen.id])
        elif act == "move":
            moved = Obligation(
                chosen.id,
                "case",
                chosen.seat,
                ("X",),
                "#a-arena",
                START,
                START + timedelta(minutes=minutes),
                chosen.grace,
            )
            open_[chosen.id] = moved
            deadlines.add(moved)
        elif act == "shift":
            gap = timedelta(minutes=minutes)
            for o in list(open_.values()):
                open_[o.id] = obligation_like(o, gap)
            pinged = {key: at + gap for key, at in pinged.items()}
            deadlines.shift(gap)
        now = START + timedelta(minutes=minutes)
        assert deadlines.pinged == pinged
        expected = plainly(open_, pinged)
        assert deadlines.next_instant() == (expected[0][0] if expected else None)
        ripe = [(o.id, is_void) for o, is_void in deadlines.ripe(now)]
        assert ripe == [(i, v) for _, i, v in plainly(open_, pinged, now)]


def obligation_like(o, gap):
    return Obligation(o.id, o.case_id, o.seat, o.expects, o.channel, o.opened_at, o.due_at + gap, o.grace)


def test_closed_obligations_do_not_pile_up():
    open_ = {}
    deadlines = Deadlines(open_)
    for n in range(20 * SLACK):
        new = obligation(n, due=n % 100)
        open_[new.id] = new
        deadlines.add(new)
        if n % 10:
            del open_[new.id]
        elif n > 200:
            del open_[obligation(n - 200).id]
        if n % 7 == 0:
            deadlines.next_instant()
    assert len(deadlines._heap) + len(deadlines._fresh) < 10 * SLACK
    assert deadlines.next_instant() == min(o.due_at for o in open_.values())


def test_an_obligation_made_quickly_is_a_plain_one():
    made = obligation(1)
    plain = Obligation(
        made.id, made.case_id, made.seat, made.expects, made.channel, made.opened_at, made.due_at, made.grace
    )
    assert made == plain
    assert hash(made) == hash(plain)
    assert type(made) is Obligation
    assert (made.step, made.void_at, made.within) == (
        "1",
        START + timedelta(minutes=30),
        timedelta(minutes=20),
    )
    assert made.outage == NO_GRACE
