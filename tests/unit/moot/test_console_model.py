"""The read model over logs made by chance, beside what one finds by going through them."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.channels.log.reader import Row
from moot.config.settings import load_settings
from moot.console.acts import owed_to
from moot.console.errors import NotReady, NotThere, Unreadable
from moot.console.hub import Hub
from moot.console.model.interface import Batch, Person, ReadModel, Window
from moot.console.pace import SocietyClock
from moot.console.reading.folding import STATE_DIR
from moot.console.reading.index import NAME, Index, Reach
from moot.console.reading.windows import LOOK, Wanted, decoded, query_of, stretch
from moot.protocols.escalation.messages import EscalationAck, EscalationAnswer
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Actor, Draft, Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.people import SeatTaken
from moot.protocols.kernel.seats import ADMIN as ADMIN_SEAT
from moot.protocols.kernel.seats import VIEWER as VIEWER_SEAT
from moot.protocols.research.seats import CRITIC, EXPLORER
from moot.protocols.rulebook import rules
from tests.doubles import bodies
from tests.doubles.console import by_chance, is_read, watched, written
from tests.doubles.data_dir import write_log
from tests.doubles.table import START, Table
from tests.doubles.waiting import until

pytestmark = pytest.mark.anyio

VIEWER = Person("viewer", VIEWER_SEAT)
ADMIN = Person("owner", ADMIN_SEAT)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def past() -> list[Envelope]:
    return by_chance(900)


@pytest.fixture
def directory(tmp_path: Path, past: list[Envelope]) -> Path:
    return write_log(tmp_path, past)


def folded(log: list[Envelope]) -> Iterator[tuple[Envelope, Effects, Docket]]:
    docket = Docket(rules())
    for env in log:
        yield env, docket.fold(env), docket


# ---------------------------------------------------------------- windows


@pytest.mark.parametrize("reach", [Reach(), Reach(300, 700), Reach(1, 900), Reach(1, 899)])
def test_windows_hold_what_going_through_the_log_finds_however_far_the_index_reaches(
    directory: Path, past: list[Envelope], reach: Reach
) -> None:
    index = Index(directory)
    index.open("log", len(past))
    if reach.size:
        index.add_rows(reach.low, reach.high)
    chance = random.Random(1)
    cases = [env.case_id for env in past if env.case_id]
    for _ in range(60):
        wanted = Wanted(
            channel=chance.choice([None, "#a-arena", "#admin", "#lab"]),
            case_id=chance.choice([None, None, chance.choice(cases)]),
            type=chance.choice([None, None, "VERDICT", "VIOLATION"]),
            author=chance.choice([None, None, "critic", "referee"]),
            channels=chance.choice([None, frozenset({"#a-arena", "#a-verdict"})]),
            but=chance.choice([None, None, "#a-arena", "#admin"]),
        )
        low, high = sorted((chance.randint(1, len(past)), chance.randint(1, len(past))))
        is_down, limit = chance.random() < 0.5, chance.randint(1, 40)
        found = stretch(index.db, index.rows, wanted, low=low, high=high, is_down=is_down, limit=limit)
        fitting = [env.seq for env in past[low - 1 : high] if _fits(env, wanted)]
        expected = fitting[-limit:] if is_down else fitting[:limit]
        assert [row[0] for row in found.rows] == expected
        assert (found.edge is not None) == (len(fitting) > limit)
    index.close()


def _fits(env: Envelope, wanted: Wanted) -> bool:
    return (
        wanted.channel in (None, env.channel)
        and wanted.case_id in (None, env.case_id)
        and wanted.type in (None, env.body.type)
        and wanted.author in (None, env.author)
        and (wanted.channels is None or env.channel in wanted.channels)
        and env.channel != wanted.but
    )


def test_a_window_looks_through_a_bounded_number_of_lines_and_says_where_to_go_on(
    directory: Path, past: list[Envelope], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.console.reading.windows.LOOK", 100)
    monkeypatch.setattr("moot.console.reading.windows.MOST_LOOKED", 200)
    index = Index(directory)
    index.open("log", len(past))
    wanted, high = Wanted(channel="#admin"), len(past)
    seen: list[int] = []
    turns = 0
    while True:
        found = stretch(index.db, Reach(), wanted, low=1, high=high, is_down=True, limit=50)
        seen = [row[0] for row in found.rows] + seen
        turns += 1
        if found.edge is None:
            break
        assert found.edge <= high
        high = found.edge - 1
    index.close()
    assert turns >= len(past) // 200
    assert seen == [env.seq for env in past if env.channel == "#admin"]
    assert LOOK > 200


async def test_a_window_is_there_before_the_index_is(directory: Path, past: list[Envelope]) -> None:
    async with watched(directory, is_whole=False) as model:
        window = await model.window(limit=50)
        assert [env.seq for env in window.envelopes] == list(range(len(past) - 49, len(past) + 1))


async def test_scrolling_back_and_forth_meets_every_message_once(
    directory: Path, past: list[Envelope]
) -> None:
    async with watched(directory) as model:
        for channel in ("#a-arena", None):
            expected = [env.seq for env in past if channel in (None, env.channel)]
            assert await _walk(model, channel, is_down=True) == expected
            assert await _walk(model, channel, is_down=False) == expected


async def _walk(model: ReadModel, channel: str | None, *, is_down: bool) -> list[int]:
    seen: list[int] = []
    at: int | None = None if is_down else 0
    while True:
        if is_down:
            window = await model.window(channel=channel, before=at, limit=37)
            seen = [env.seq for env in window.envelopes] + seen
            at = window.before
        else:
            window = await model.window(channel=channel, after=at, limit=37)
            seen += [env.seq for env in window.envelopes]
            at = window.after
        if at is None:
            return seen


async def test_bodies_are_typed_and_flaws_are_named(directory: Path, past: list[Envelope]) -> None:
    async with watched(directory) as model:
        window: Window | None = await model.window(limit=500)
        assert window is not None and window.before is not None
        assert all(type(a.body) is type(b.body) for a, b in zip(window.envelopes, past[-500:], strict=True))
        shown = {env.seq for env in window.envelopes}
        wrong = {e.body.of_seq: e.body.why for e in past if e.body.type == "VIOLATION"}  # type: ignore[attr-defined]
        assert window.flaws == {seq: why for seq, why in wrong.items() if seq in shown}
        assert window.flaws


async def test_in_the_past_a_message_has_the_faults_that_were_found_by_then(
    directory: Path, past: list[Envelope]
) -> None:
    ruling = next(env for env in past if env.body.type == "VIOLATION" and env.seq > 200)
    wrong = ruling.body.of_seq  # type: ignore[attr-defined]
    assert wrong < ruling.seq
    async with watched(directory) as model:
        back = await model.at(ruling.seq)
        assert wrong in (await back.window(limit=500)).flaws
        await back.step_to(ruling.seq - 1)
        assert wrong not in (await back.window(limit=500)).flaws
        await back.close()


# ---------------------------------------------------------------- search


async def test_search_finds_sentences_and_narrows(directory: Path, past: list[Envelope]) -> None:
    from moot.channels.showing.rendering import sentence

    async with watched(directory) as model:
        found = await model.search("critic rates", limit=500)
        expected = [e.seq for e in past if "critic rates" in sentence(e).lower()]
        assert [env.seq for env in found.envelopes] == expected[-500:]
        narrowed = await model.search("critic rates", type="RISK_ASSESSMENT", channel="#a-arena", limit=5)
        assert [env.seq for env in narrowed.envelopes] == expected[-5:]
        assert narrowed.before == expected[-5]
        case_id = past[expected[-1] - 1].case_id
        of_case = await model.search("rates", case_id=case_id)
        assert {env.case_id for env in of_case.envelopes} == {case_id}
        by_seat = await model.search(seat="critic", limit=3)
        assert [env.seq for env in by_seat.envelopes] == [e.seq for e in past if e.author == "critic"][-3:]
        assert (await model.search("crit")).envelopes, "the beginning of a word"


@given(st.text(max_size=60))
def test_no_text_has_a_meaning_in_a_query(text: str) -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE said USING fts5(text)")
        db.execute("INSERT INTO said VALUES ('anything at all')")
        query = query_of(text)
        if query:
            db.execute("SELECT * FROM said WHERE said MATCH ?", (query,)).fetchall()


@pytest.mark.parametrize(
    "text",
    [
        '"',
        "(",
        "*",
        "xyzzy OR critic",
        "critic NOT xyzzy",
        "NEAR(xyzzy critic)",
        "text:xyzzy",
        '"xyzzy" critic',
    ],
)
async def test_what_looks_like_an_operator_is_a_word(directory: Path, text: str) -> None:
    async with watched(directory) as model:
        assert (await model.search(text)).envelopes == ()


# ---------------------------------------------------------------- damage and novelties


async def test_a_damaged_line_is_named_and_the_rest_is_shown(directory: Path, past: list[Envelope]) -> None:
    with closing(sqlite3.connect(directory / "log.sqlite")) as db, db:
        db.execute("UPDATE log SET json = '{\"actor\":' WHERE seq = 450")
        db.execute("UPDATE log SET json = x'00ff' WHERE seq = 451")
    async with watched(directory, is_whole=False) as model:
        await until(lambda: model.progress().problem and model.index_progress().is_complete)
        window = await model.window(before=460, limit=20)
        assert [one.seq for one in window.damaged] == [450, 451]
        assert [e.seq for e in window.envelopes] == [n for n in range(440, 460) if n not in (450, 451)]
        assert "message 450 is damaged" in model.progress().problem
        with pytest.raises(NotThere, match="450 is damaged"):
            await model.message(450)
        with pytest.raises(NotReady, match="450"):
            model.docket()
        assert (await model.search("critic rates")).envelopes
        assert (await model.case(past[0].case_id or past[1].case_id or "")).transcript


async def test_a_message_of_a_newer_version_is_shown_as_it_stands(tmp_path: Path) -> None:
    log = written(tmp_path, 60)
    last = json.loads(log[-1].json)
    last |= {
        "seq": len(log) + 1,
        "id": "new",
        "v": 2,
        "obligation_id": None,
        "case_id": None,
        "author": "oracle",
    }
    last["body"] = {"type": "PROPHECY", "text": "<b>soon</b>", "n": [1, {"deep": True}]}
    with closing(sqlite3.connect(tmp_path / "log.sqlite")) as db, db:
        text = json.dumps(last, sort_keys=True, separators=(",", ":"))
        db.execute("INSERT INTO log VALUES (?, 'new', 'x', ?, ?)", (len(log) + 1, text, bytes(32)))
    async with watched(tmp_path) as model:
        found = await model.message(len(log) + 1)
        assert found.body.type == "PROPHECY"
        assert found.body.model_dump()["n"] == [1, {"deep": True}]
        assert [e.seq for e in (await model.search("prophecy")).envelopes] == [len(log) + 1]


# ---------------------------------------------------------------- cases and duties


async def test_obligations_are_those_of_the_docket(directory: Path, past: list[Envelope]) -> None:
    *_, (_, _, docket) = folded(past)
    async with watched(directory) as model:
        found = await model.obligations()
        assert {view.id: (view.seat, view.due_at) for view in found} == {
            o.id: (o.seat, o.due_at) for o in docket.open.values()
        }
        now = model.now().at
        assert [view.is_late(now) for view in found] == [view.due_at < (now or view.due_at) for view in found]


async def test_cases_are_told_as_folding_the_whole_log_tells_them(
    directory: Path, past: list[Envelope]
) -> None:
    from moot.cli.look.case import CaseStory

    steps = list(folded(past))
    ended = [s.case_id for _, fx, _ in steps for s in fx.ended if s.kind in ("debate", "cycle")]
    stories = {case_id: CaseStory(case_id) for case_id in ended}
    for env, fx, docket in folded(past):
        for story in stories.values():
            story.take(env, fx, docket)
    async with watched(directory) as model:
        late = 0
        for case_id, story in stories.items():
            view = await model.case(case_id)
            assert [(p.phase, p.seq) for p in view.path] == [(p.name, p.seq) for p in story.path], case_id
            assert sorted((x.seat, x.step, x.how, x.seq) for x in view.late) == sorted(
                (x.seat, x.step, x.how, x.seq) for x in story.late
            )
            assert [e.seq for e in view.transcript] == [e.seq for e in story.transcript]
            assert story.state is not None
            assert (view.kind, view.outcome) == (story.state.kind, story.state.outcome)
            late += len(view.late)
        assert late > 3
        assert [one.case_id for one in await model.ended("debate", limit=3)] == [
            s.case_id for _, fx, _ in steps for s in fx.ended if s.kind == "debate"
        ][:-4:-1]


async def test_an_open_case_shows_what_is_owed_and_what_was(directory: Path, past: list[Envelope]) -> None:
    *_, (_, _, docket) = folded(past)
    state = next(s for s in docket.cases.values() if s.owed)
    closed = {o.id for _, fx, _ in folded(past) for o in fx.closed if o.case_id == state.case_id}
    async with watched(directory) as model:
        view = await model.case(state.case_id)
        assert view.outcome is None and view.state is not None
        assert {o.id for o in view.obligations if o.closed_seq is None} == {o.id for o in state.owed}
        assert {o.id for o in view.obligations if o.closed_seq is not None} == closed - {
            o.id for o in state.owed
        }


@pytest.mark.rule("K14")
@pytest.mark.parametrize("platform", ["console", "discord"])
async def test_k14_who_sits_in_a_seat_is_a_person_on_a_platform(tmp_path: Path, platform: str) -> None:
    table, who = Table(), Actor("human", platform, "owner")
    body = SeatTaken(seat="critic", user_id="owner", reason="x")
    table.publish(Draft(channel="#admin", author=ADMIN_SEAT, body=body, actor=who, key="mine"))
    table.wait(minutes=3)
    cycle = table.last("CYCLE_TRIGGER").body.cycle_id  # type: ignore[attr-defined]
    table.say(EXPLORER, bodies.hypothesis(cycle))
    write_log(tmp_path, table.log)
    async with watched(tmp_path) as model:
        owed = next(view for view in await model.obligations() if view.seat == CRITIC)
        assert (owed.held_by, owed.held_on) == ("owner", platform)
        is_me = platform == "console"
        assert owed.is_held_by(ADMIN) is is_me
        refusal = "owner on discord sits in the seat of the critic, not owner on console"
        assert owed_to(model.docket(), ADMIN, owed.id) == (model.docket().open[owed.id] if is_me else refusal)


async def test_escalations_tell_how_they_ended(tmp_path: Path) -> None:
    log = written(tmp_path, 3_000, silence=0.2)
    ends = {s.case_id: s.outcome for _, fx, _ in folded(log) for s in fx.ended if s.kind == "escalation"}
    *_, (_, _, docket) = folded(log)
    still = {s.case_id for s in docket.cases.values() if s.kind == "escalation"}
    async with watched(tmp_path) as model:
        found = {view.escalation_id: view for view in await model.escalations(limit=500)}
        assert {name for name, view in found.items() if view.is_open} == still
        assert {name: view.state for name, view in found.items() if not view.is_open} == ends
        assert len(ends) > 3
        for view in found.values():
            assert (view.answered_by is not None) == (view.state == "answered"), view


async def test_an_unknown_case_is_not_there(directory: Path) -> None:
    async with watched(directory) as model:
        with pytest.raises(NotThere, match="no case hyp_nowhere"):
            await model.case("hyp_nowhere")
        with pytest.raises(NotThere, match="the log ends at"):
            await model.message(10**9)
        with pytest.raises(NotThere, match="no shelf"):
            await model.memory("attic")
        with pytest.raises(NotThere, match="evidence"):
            await model.evidence("../../etc/passwd")


# ---------------------------------------------------------------- who reads


@pytest.mark.rule("R-B11")
async def test_r_b11_a_viewer_gets_nothing_of_channels_that_viewers_do_not_read(
    directory: Path, past: list[Envelope]
) -> None:
    settings = load_settings(viewers={"reads": ["#a-arena", "#a-verdict"]})
    hidden = [e for e in past if e.channel not in ("#a-arena", "#a-verdict")]
    async with watched(directory, settings) as everything:
        model = everything.seen_by(VIEWER)
        assert (await model.window(channel="#admin")).envelopes == ()
        assert await _walk(model, None, is_down=True) == [e.seq for e in past if e not in hidden]
        assert {c.name for c in await model.channels()} == {"#a-arena", "#a-verdict"}
        assert {c.channel for c in await model.counts()} <= {"#a-arena", "#a-verdict"}
        assert {e.channel for e in (await model.search("the", limit=500)).envelopes} <= {
            "#a-arena",
            "#a-verdict",
        }
        with pytest.raises(NotThere, match="not for viewers"):
            await model.message(hidden[0].seq)
        assert await model.escalations() == ()
        assert (await model.standing()).desk == {}
        assert all(view.channel in ("#a-arena", "#a-verdict") for view in await model.obligations())
        assert (await everything.seen_by(ADMIN).window(channel="#admin")).envelopes
        opened = {env.seq: env.channel for env in past}
        ended = await model.ended(limit=500)
        assert ended and {opened[one.opened_seq] for one in ended} <= {"#a-arena", "#a-verdict"}
        back = await model.at(len(past) // 2)
        assert (await back.window(channel="#admin")).envelopes == ()
        await back.close()


# ---------------------------------------------------------------- the past


async def test_a_past_moment_is_as_it_was_and_moves_both_ways(directory: Path, past: list[Envelope]) -> None:
    dockets = {}
    for env, _, docket in folded(past):
        dockets[env.seq] = (set(docket.open), env.sent_at)
    early = next(seq for seq in range(150, 400) if len(dockets[seq][0] - dockets[500][0]) > 1)
    async with watched(directory) as model:
        back = await model.at(400)
        for seq in (400, 500, early):
            await back.step_to(seq)
            await until(lambda b=back: b.progress().is_complete)
            owed, at = dockets[seq]
            assert {view.id for view in await back.obligations()} == owed
            assert back.now().at == at and back.now().pace == 0 and back.head == seq
            assert (await back.window(limit=5)).last == seq
            assert (await back.search("the", limit=1)).last <= seq
            assert all(c.last_seq <= seq for c in await back.channels())
        assert not (await back.act(ADMIN, "note", {"text": "x"}, key="1")).ok
        assert not (await back.control(ADMIN, "pause")).ok
        assert "past" in back.why_not(ADMIN, "note")
        await back.close()


async def test_a_past_moment_that_cannot_be_folded_says_why(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no thread can be started")

    async with watched(directory) as model:
        monkeypatch.setattr("moot.console.model.past.fold_file", broken)
        stirred = model.watching.hub.stirred = []  # type: ignore[attr-defined]
        stir = model.watching.hub.stir
        monkeypatch.setattr(model.watching.hub, "stir", lambda: (stirred.append(1), stir()))
        back = await model.at(400)
        await back.ready()
        assert back.progress().problem == "it cannot be folded: RuntimeError: no thread can be started"
        assert stirred
        with pytest.raises(NotReady, match="no thread can be started"):
            back.docket()
        await back.close()


async def test_a_case_in_the_past_has_not_ended_yet(directory: Path, past: list[Envelope]) -> None:
    state = next(s for _, fx, _ in folded(past[300:] and past) for s in fx.ended if s.kind == "debate")
    async with watched(directory) as model:
        whole = await model.case(state.case_id)
        assert whole.ended_seq is not None
        back = await model.at(whole.ended_seq - 1)
        await until(lambda: back.progress().is_complete)
        before = await back.case(state.case_id)
        assert before.outcome is None and before.ended_seq is None and before.state is not None
        assert before.transcript[-1].seq < whole.ended_seq
        assert [p for p in whole.path if p.seq < whole.ended_seq] == list(before.path)
        await back.close()


async def test_only_so_many_past_moments_are_open_at_once(directory: Path) -> None:
    async with watched(directory) as model:
        backs = [await model.at(n + 1) for n in range(8)]
        with pytest.raises(NotReady, match="close one first"):
            await model.at(9)
        await backs[0].close()
        await backs[0].close()
        backs[0] = await model.at(9)
        with pytest.raises(NotReady):
            await model.at(10)
        for back in backs:
            await back.close()


@pytest.mark.rule("R-B11")
async def test_r_b11_an_explanation_tells_a_viewer_nothing_of_channels_that_viewers_do_not_read(
    directory: Path, past: list[Envelope]
) -> None:
    settings = load_settings(viewers={"reads": ["#a-arena"]})
    read = {env.seq for env in past if env.channel == "#a-arena"}
    closed = next(env for env in past if env.channel != "#a-arena")
    flawed = {env.body.of_seq for env in past if env.body.type == "VIOLATION"}
    verdict = next(env for env in past if env.body.type == "VERDICT" and env.seq not in flawed)

    async with watched(directory, settings) as everything:
        whole = await everything.explain(str(verdict.case_id))
        found = await everything.seen_by(VIEWER).explain(str(verdict.case_id))
        with pytest.raises(NotThere):
            await everything.seen_by(VIEWER).explain(str(closed.seq))

    told = [
        *(one.said for one in found.decisions),
        *found.people,
        *found.followed,
        *found.about,
        found.opened,
    ]
    assert verdict.seq in {one.said.seq for one in whole.decisions}
    assert {one.seq for one in told} <= read


async def test_viewers_who_look_back_leave_room_for_the_owner(directory: Path) -> None:
    async with watched(directory) as model:
        viewers, owners = (model.seen_by(Person(str(seat), seat)) for seat in (VIEWER_SEAT, ADMIN_SEAT))
        backs = [await viewers.at(n + 1) for n in range(5)]
        with pytest.raises(NotReady, match="close one first"):
            await viewers.at(6)
        backs += [await owners.at(n + 1) for n in range(3)]
        for back in backs:
            await back.close()
        await (await viewers.at(1)).close()


# ---------------------------------------------------------------- the side file


def _break(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 100)


def _other_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 999")


def _other_log(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE meta SET value = 'another' WHERE name = 'log'")


@pytest.mark.parametrize("spoil", [_break, _other_version, _other_log])
async def test_a_side_file_that_does_not_fit_is_made_anew(
    directory: Path, past: list[Envelope], spoil: Callable[[Path], None]
) -> None:
    async with watched(directory):
        pass
    spoil(directory / NAME)
    async with watched(directory) as model:
        assert await _walk(model, "#a-arena", is_down=True) == [
            e.seq for e in past if e.channel == "#a-arena"
        ]


async def test_a_side_file_goes_on_where_it_was(tmp_path: Path, past: list[Envelope]) -> None:
    write_log(tmp_path, past[:500])
    async with watched(tmp_path):
        pass
    with closing(sqlite3.connect(tmp_path / "log.sqlite")) as db, db:
        rows = [(e.seq, e.id, f"{e.seq:016x}", e.json, bytes.fromhex(e.hash)) for e in past[500:]]
        db.executemany("INSERT INTO log VALUES (?, ?, ?, ?, ?)", rows)
    async with watched(tmp_path) as model:
        counts = {c.name: c.messages for c in await model.channels()}
        assert sum(counts.values()) == len(past)
        assert counts["#a-arena"] == sum(e.channel == "#a-arena" for e in past)
        assert [e.seq for e in (await model.search("critic rates", limit=500)).envelopes]
        ended = {s.case_id for _, fx, _ in folded(past) for s in fx.ended}
        assert {one.case_id for one in await model.ended(limit=500)} == ended


async def test_a_second_console_reads_the_same_through_a_side_file_of_its_own(directory: Path) -> None:
    async with watched(directory) as first, watched(directory) as second:
        assert is_read(first) and is_read(second)
        assert await first.channels() == await second.channels()


async def test_a_directory_that_takes_nothing_is_read_all_the_same(
    directory: Path, past: list[Envelope]
) -> None:
    (directory / NAME).mkdir()
    async with watched(directory) as model:
        assert await _walk(model, "#admin", is_down=True) == [e.seq for e in past if e.channel == "#admin"]


def test_a_row_that_is_no_text_is_damage() -> None:
    envelopes, damaged = decoded(
        [Row(1, "a", None, b""), Row(2, "b", "{}", b"x" * 32), Row(3, "c", "\ud800", b"x" * 32)]
    )
    assert envelopes == () and [one.seq for one in damaged] == [1, 2, 3]


# ---------------------------------------------------------------- what people and late seats do


async def test_an_answer_that_breaks_a_rule_or_comes_second_does_not_count(tmp_path: Path) -> None:
    hours = {"micro": {"at": [(START + timedelta(hours=2 * n)).isoformat() for n in range(12)]}}
    table = Table(schedules=hours)
    table.wait(hours=5)
    name = table.last("ESCALATION").body.escalation_id  # type: ignore[attr-defined]

    def say(body: Message, user: str) -> None:
        table.say(ADMIN_SEAT, body, channel="#admin", case_id=name, user=user)

    say(EscalationAck(escalation_id=name), "ann")
    say(EscalationAnswer(escalation_id=name, option=99), "bob")
    say(EscalationAnswer(escalation_id=name, option=3), "cid")
    say(EscalationAnswer(escalation_id=name, option=1), "dan")
    write_log(tmp_path, table.log)
    async with watched(tmp_path) as model:
        view = next(v for v in await model.escalations() if v.escalation_id == name)
        assert (view.acknowledged_by, view.answered_by, view.answer) == ("ann", "cid", 3)
        assert (view.state, view.effect, view.is_open) == ("answered", "none", False)
        back = await model.at(view.seq)
        await until(lambda: back.progress().is_complete)
        (before,) = await back.escalations()
        assert (before.state, before.answered_by, before.answer_by) == ("open", None, view.answer_by)
        # Until the referee says so, nobody knows that the first answer chose no option.
        first = next(env.seq for env in table.log if env.actor.user_id == "bob")
        ruled = next(env.seq for env in table.log if getattr(env.body, "of_seq", None) == first)
        await back.step_to(ruled - 1)
        (meanwhile,) = await back.escalations()
        assert (meanwhile.answered_by, meanwhile.answer) == ("bob", 99)
        await back.close()


async def test_who_was_late_in_the_grace_and_after_the_ruling_is_told(tmp_path: Path) -> None:
    table = Table()
    cycle = table.last("CYCLE_TRIGGER").body.cycle_id  # type: ignore[attr-defined]
    table.wait(minutes=3)
    table.say(EXPLORER, bodies.hypothesis(cycle))
    table.wait(minutes=6)
    table.say(CRITIC, bodies.assessment(1))
    table.wait(minutes=24)
    table.say(EXPLORER, bodies.rebuttal(2))
    owed = table.owed(CRITIC, "RISK_ASSESSMENT")
    table.wait(minutes=31)
    late = table.say(CRITIC, bodies.assessment(2), owed=owed)
    write_log(tmp_path, table.log)
    async with watched(tmp_path) as model:
        view = await model.case(owed.case_id)
        hows = {(one.seat, one.how) for one in view.late}
        assert ("explorer", "within the grace") in hows
        assert any(seat == "critic" and how.startswith("silent, ruled") for seat, how in hows)
        assert (late.seq, "after the ruling, it changed nothing") in {(one.seq, one.how) for one in view.late}
        closed = {(o.seat, o.step): o.how for o in view.obligations if o.closed_seq is not None}
        assert "answered late" in closed.values() and "answered" in closed.values()
        assert closed[owed.seat, owed.step].startswith("ruled")


# ---------------------------------------------------------------- news


async def test_a_page_that_falls_behind_is_told_to_reload_and_nothing_is_kept_for_it(
    past: list[Envelope],
) -> None:
    hub = Hub(ring=300)
    hub.start_at(0)
    changes = hub.changes(0)
    waiting = asyncio.ensure_future(anext(changes))
    await asyncio.sleep(0)
    hub.put(past[:3], 3)
    first = await waiting
    assert [e.seq for e in first.envelopes] == [1, 2, 3] and not first.must_reload
    for n in range(3, 600, 30):
        hub.put(past[n : n + 30], n + 30)
    behind = await anext(changes)
    assert behind.must_reload and behind.envelopes == () and behind.head == hub.head
    hub.put(past[hub.head : hub.head + 1], hub.head + 1)
    assert [e.seq for e in (await anext(changes)).envelopes] == [hub.head]
    hub.put(past[hub.head : hub.head + 250], hub.head + 250)
    assert (await anext(changes)).must_reload, "a batch has its limit, also where more is kept"
    hub.stir()
    assert await anext(changes) == Batch((), hub.head)
    hub.start_at(5)
    assert (await anext(changes)).must_reload
    hub.close()
    with pytest.raises(StopAsyncIteration):
        await anext(changes)
    assert hub.readers == 0


@pytest.mark.rule("K7")
def test_k7_society_time_goes_on_at_its_speed_and_stops_where_something_falls_due(
    past: list[Envelope],
) -> None:
    wall = 100.0
    clock = SocietyClock(lambda: wall, lambda: 0)
    started = next(e for e in past if e.body.type == "SOCIETY_STARTED")
    clock.take(started)
    clock.clock, clock.speed = "accelerated", 120.0
    at = started.sent_at
    wall = 101.0
    assert clock.now(is_running=True, limit=None).at == at + timedelta(seconds=120)
    assert clock.now(is_running=True, limit=at + timedelta(seconds=60)).at == at + timedelta(seconds=120)
    wall = 102.0
    limited = clock.now(is_running=True, limit=at + timedelta(seconds=200))
    assert limited.at == at + timedelta(seconds=200)
    assert limited.after(60) == limited.at
    clock.is_paused = True
    wall = 200.0
    assert clock.now(is_running=True, limit=None).at == limited.at
    assert clock.now(is_running=True, limit=None).pace == 0
    assert clock.now(is_running=False, limit=None).at == at
    clock.is_paused = False
    free = clock.now(is_running=True, limit=None)
    assert free.after(1.0) == free.at + timedelta(seconds=120)  # type: ignore[operator]


# ---------------------------------------------------------------- disks


async def test_a_full_disk_leaves_windows_as_they_are_and_is_told(
    directory: Path, past: list[Envelope], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Index.write

    def full(self: Index, statements: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Index, "write", full)
    async with watched(directory, is_whole=False) as model:
        await until(lambda: "disk is full" in model.index_progress().problem)
        assert await _walk(model, "#a-arena", is_down=True) == [
            e.seq for e in past if e.channel == "#a-arena"
        ]
        await until(lambda: model.progress().is_complete)
        assert await model.obligations()
        ended = next(s for _, fx, _ in folded(past) for s in fx.ended if s.kind == "debate")
        view = await model.case(ended.case_id)
        assert view.path[-1].phase == "ended" and view.obligations, "what is told and not written is shown"
        monkeypatch.setattr(Index, "write", real)
        await until(lambda: not model.index_progress().problem and is_read(model), within_s=60)
        assert (await model.search("critic rates")).envelopes


async def test_a_locked_side_file_is_waited_for(
    tmp_path: Path, past: list[Envelope], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.console.reading.index.BUSY_S", 0.05)
    write_log(tmp_path, past[:500])
    async with watched(tmp_path):
        pass
    with closing(sqlite3.connect(tmp_path / "log.sqlite")) as db, db:
        rows = [(e.seq, e.id, f"{e.seq:016x}", e.json, bytes.fromhex(e.hash)) for e in past[500:]]
        db.executemany("INSERT INTO log VALUES (?, ?, ?, ?, ?)", rows)
    with closing(sqlite3.connect(tmp_path / NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with watched(tmp_path, is_whole=False) as model:
            await until(lambda: "locked" in model.index_progress().problem)
            assert (await model.window(channel="#a-arena")).last == max(
                e.seq for e in past if e.channel == "#a-arena"
            )
            other.execute("ROLLBACK")
            await until(lambda: not model.index_progress().problem and is_read(model), within_s=60)


async def test_a_log_that_cannot_be_read_now_is_said_in_one_line(directory: Path) -> None:
    async with watched(directory) as model:
        with closing(sqlite3.connect(directory / "log.sqlite")) as db, db:
            db.execute("ALTER TABLE log RENAME TO elsewhere")
        with pytest.raises(Unreadable) as caught:
            await model.window()
        assert "no such table" in str(caught.value) and "\n" not in str(caught.value)
        with closing(sqlite3.connect(directory / "log.sqlite")) as db, db:
            db.execute("ALTER TABLE elsewhere RENAME TO log")
        assert (await model.window()).envelopes


async def test_a_snapshot_is_begun_from_and_the_history_is_told_behind_it(tmp_path: Path) -> None:
    log = written(tmp_path, 2_600)
    async with watched(tmp_path):
        pass
    assert (tmp_path / STATE_DIR / "snapshot").exists()
    (tmp_path / STATE_DIR / "snapshot").replace(tmp_path / "snapshot")
    Index(tmp_path).path.unlink()
    ended = [s.case_id for _, fx, _ in folded(log) for s in fx.ended]
    for _ in range(2):
        async with watched(tmp_path) as model:
            assert model.docket().seq == len(log)
            first = await model.case(ended[0])
            assert first.path and first.obligations and first.progress.is_complete
            assert {one.case_id for one in await model.ended(limit=500)} == set(ended[-500:])
