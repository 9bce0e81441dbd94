"""`moot.society` and `moot.scene`: a protocol of one's own, handed over as an object, lived and acted in."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

import moot
from moot.protocols.rulebook import rulebook
from tests.doubles.weather import weather

WEATHER = weather()
SILENT = {"forecaster": "silent", "sceptic": "silent"}


@pytest.fixture(autouse=True)
def nothing_is_left():
    before = rulebook()
    yield
    assert rulebook() is before, "what a society spoke is forgotten when it is closed"


def lived(coroutine):
    """Run a test's coroutine as `asyncio.run` does."""
    return asyncio.run(coroutine)


def test_a_whole_case_with_simulated_minds_is_the_same_bytes_again():
    async def once():
        async with moot.society(WEATHER.PROTOCOL, people=["ann"], seed=7) as s:
            asked = await s.post("ann", {"type": "QUESTION", "text": "Rain?"})
            said = await s.expect("FORECAST", within="40m")
            assert (await s.expect(WEATHER.Doubt, within=timedelta(minutes=40))).case_id == asked.case_id
            assert said.author == "forecaster" and asked.actor.user_id == "ann"
            assert s.case(asked.case_id).outcome in ("agreed", "doubted")
            assert s.verify().ok
        return [env.line for env in s.log]

    assert lived(once()) == lived(once())


def test_answers_fill_in_what_the_rules_fix_and_the_case_ends():
    async def main():
        async with moot.society(WEATHER, minds=SILENT) as s:
            await s.post("admin", WEATHER.Question(text="Rain?"))
            await s.answer("forecaster", probability=0.3)
            doubt = await s.answer("sceptic", {"type": "DOUBT", "agrees": False})
            assert doubt.body.probability == 0.3
            assert s.case().outcome == "doubted" and s.owed == ()
        assert s.case().outcome == "doubted" and s.verify().ok, "a closed society can still be read"
        assert "doubts 30 %" in repr(s.case().transcript)

    lived(main())


def test_time_passes_in_expect_and_advance_only():
    async def main():
        async with moot.society(WEATHER, start="2026-03-01T10:00:00") as s:
            await s.post("admin", {"type": "QUESTION", "text": "Rain?"})
            await asyncio.sleep(0.05)
            assert s.now == datetime(2026, 3, 1, 10, tzinfo=UTC) and len(s.log) == 2
            assert await s.advance(hours=1, minutes=30) == datetime(2026, 3, 1, 11, 30, tzinfo=UTC)
            assert await s.advance("30m") == await s.advance(until=datetime(2026, 3, 1, 12)) == s.now
            assert (await s.expect("FORECAST", within=0)).seq < (await s.expect("DOUBT", within=0)).seq

    lived(main())


def test_silence_has_its_ruling_and_each_message_is_returned_once():
    async def main():
        async with moot.society(WEATHER, minds=SILENT) as s:
            for n in range(2):
                asked = await s.post("admin", {"type": "QUESTION", "text": f"Rain on day {n}?"})
                ruling = await s.expect("RULING", case=asked.case_id)
                assert ruling.body.outcome == "void" and s.case(asked.case_id).outcome == "unanswered"
            with pytest.raises(moot.ExpectTimeout):
                await s.expect("RULING", within="1h")

    lived(main())


def test_a_message_that_does_not_come_tells_what_is_owed_by_whom():
    async def main():
        async with moot.society(WEATHER, minds=SILENT) as s:
            await s.post("admin", {"type": "QUESTION", "text": "Rain?"})
            with pytest.raises(moot.ExpectTimeout) as late:
                await s.expect("FORECAST", within="10m")
            assert "Expected FORECAST within 0:10:00" in str(late.value)
            assert "FORECAST by forecaster in question_20260223_0000 until 2026-02-23 00:30" in str(
                late.value
            )
            assert [owed.seat for owed in late.value.owed] == ["forecaster"]
            assert isinstance(late.value, TimeoutError) and "\n" not in str(late.value)

    lived(main())


def test_a_refusal_has_rule_and_reason_whether_it_is_logged_or_not():
    async def main():
        async with moot.society(WEATHER, minds=SILENT, people={"vera": "viewer"}) as s:
            for who in ("viewer", "vera"):
                with pytest.raises(moot.Refused) as refused:
                    await s.post(who, {"type": "QUESTION", "text": "Rain?"})
                assert refused.value.reason == "viewer may not post QUESTION: only admin may"
            await s.post("admin", {"type": "QUESTION", "text": "Rain?"})
            await s.answer("forecaster", probability=0.5)
            with pytest.raises(moot.Refused) as refused:
                await s.post("sceptic", {"type": "DOUBT", "probability": 0.9, "agrees": True})
            assert refused.value.rule and "0.5" in refused.value.reason
            assert (await s.expect("VIOLATION", within=0)).body.rule == refused.value.rule
            with pytest.raises(moot.Refused, match="probability"):
                await s.post("forecaster", {"type": "FORECAST", "probability": 7})

    lived(main())


@pytest.mark.parametrize(
    ("does", "line"),
    [
        (
            lambda s: s.post("sceptik", {"type": "DOUBT"}),
            "Unknown seat or person 'sceptik': did you mean 'sceptic'?",
        ),
        (lambda s: s.post("referee", {"type": "DOUBT"}), "Cannot act as referee: officers are code"),
        (
            lambda s: s.post("admin", {"type": "QUESTON"}),
            "Unknown message type 'QUESTON': did you mean 'QUESTION'?",
        ),
        (lambda s: s.post("admin", {"text": "Rain?"}), "Missing `type` of the message"),
        (lambda s: s.post("admin", "Rain?"), "message 'Rain?': give a message, or a mapping"),
        (lambda s: s.post("admin", {"type": "QUESTION", "text": {1}}), "Cannot post QUESTION"),
        (
            lambda s: s.post("sceptic", {"type": "DOUBT"}),
            "Cannot post DOUBT: there is no question for it yet",
        ),
        (
            lambda s: s.post("admin", {"type": "QUESTION", "text": "?"}, channel="wether"),
            "Unknown channel 'wether'",
        ),
        (lambda s: s.expect("FORCAST"), "Unknown message type 'FORCAST': did you mean 'FORECAST'?"),
        (
            lambda s: s.expect("FORECAST", seat="forcaster"),
            "Unknown seat 'forcaster': did you mean 'forecaster'?",
        ),
        (lambda s: s.expect("FORECAST", within="soon"), "duration 'soon'"),
        (lambda s: s.expect(3), "expect 3: give a message type"),
        (lambda s: s.answer("sceptic", agrees=True), "sceptic owes nothing"),
        (lambda s: s.advance(), "advance: say how long"),
        (lambda s: s.advance(hours=-1), "Cannot go back"),
        (lambda s: s.case("question_9"), "Unknown case 'question_9'"),
        (lambda s: s.case(), "0 cases were opened"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(does, line):
    async def main():
        async with moot.society(WEATHER, minds=SILENT) as s:
            with pytest.raises(moot.BadInput) as wrong:
                done = does(s)
                if asyncio.iscoroutine(done):
                    await done
            assert str(wrong.value).startswith(line) and "\n" not in str(wrong.value)
            assert (await s.post("admin", {"type": "QUESTION", "text": "Rain?"})).seq == 2, "and it goes on"

    lived(main())


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"minds": {"sceptik": "silent"}}, "minds: Unknown seat 'sceptik': did you mean 'sceptic'?"),
        ({"minds": {"sceptic": {"script": [{"type": "DOUT"}]}}}, "minds.sceptic.script[0]"),
        ({"people": {"ann": "boss"}}, "people: ann is 'boss': choose admin or viewer"),
        ({"seed": "one"}, "seed 'one'"),
        ({"config": {"desk": {"enabled": "perhaps"}}}, "configuration: desk.enabled"),
        ({"config": "nowhere.toml"}, "nowhere.toml: cannot be read"),
    ],
)
def test_what_cannot_be_opened_is_said_in_one_line(given, line):
    async def main():
        async with moot.society(WEATHER, **given):
            raise AssertionError("it opened")

    with pytest.raises(moot.MootError) as wrong:
        lived(main())
    assert str(wrong.value).startswith(line) and "\n" not in str(wrong.value)


def test_what_is_no_protocol_and_one_that_contradicts_another_are_said():
    with pytest.raises(moot.MootError, match="the module wether cannot be imported: ModuleNotFoundError"):
        moot.society("wether")
    with pytest.raises(moot.MootError, match="is no Protocol"):
        moot.society(3)
    other = weather("weather_other")
    from dataclasses import replace

    twin = replace(other.PROTOCOL, name="climate")
    with pytest.raises(moot.MootError, match="which weather brings already"), moot.society([WEATHER, twin]):
        raise AssertionError("it opened")


def test_without_coroutines_and_inside_a_running_loop():
    def blocking():
        with moot.society([WEATHER], minds={"sceptic": {"script": [{"type": "DOUBT", "agrees": True}]}}) as s:
            s.post("admin", {"type": "QUESTION", "text": "Rain?"})
            assert s.expect("DOUBT").body.agrees
            with pytest.raises(moot.BadInput, match="time does not run backwards"):
                s.expect("DOUBT", within=-1)
        return s.case().outcome

    async def within_a_loop():
        return blocking()

    assert blocking() == lived(within_a_loop()) == "agreed"
    with pytest.raises(moot.BadInput, match="closed"):
        society = moot.society(WEATHER)
        with society as s:
            pass
        s.advance("1h")
    with pytest.raises(moot.BadInput, match="opened before"), society:
        pass


def test_societies_of_other_protocols_follow_each_other_and_equal_ones_overlap():
    async def main():
        for module in (WEATHER, weather("weather_again")):
            async with moot.society(module) as s, moot.society(module, seed=2) as t:
                await s.post("admin", module.Question(text="Rain?"))
                await t.post("admin", module.Question(text="Snow?"))
                assert (await s.expect("FORECAST")).body != (await t.expect("FORECAST")).body
                with pytest.raises(
                    moot.MootError, match="cannot be added while a society of other protocols is open"
                ):
                    async with moot.society(weather("weather_third")):
                        pass

    lived(main())
    with moot.society() as plain:
        plain.post("admin", {"type": "NOTE", "text": "Hello."}, channel="admin")
        assert plain.verify().ok


def test_a_wait_that_is_cancelled_leaves_the_society_open():
    async def main():
        async with moot.society(WEATHER, minds=SILENT) as s:
            asked = await s.post("admin", {"type": "QUESTION", "text": "Rain?"})
            waits = asyncio.create_task(s.expect(lambda env: False, within="3650d"))
            await asyncio.sleep(0.05)
            waits.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waits
            assert s.case(asked.case_id).id == asked.case_id
            await s.advance("1m")

    lived(main())


def test_an_error_in_the_test_closes_the_society_and_comes_out():
    async def main():
        async with moot.society(WEATHER) as s:
            await s.post("admin", {"type": "QUESTION", "text": "Rain?"})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        lived(main())


def test_a_predicate_that_raises_is_told_and_the_society_goes_on():
    async def main():
        async with moot.society(WEATHER) as s:
            with pytest.raises(AttributeError):
                await s.expect(lambda env: env.nothing)
            await s.post("admin", {"type": "QUESTION", "text": "Rain?"})

            def later(env):
                return (
                    env.body.probability > 2 if env.body.type == "FORECAST" else env.body.type == "QUESTION"
                )

            await s.expect(later)
            with pytest.raises(TypeError):
                await s.expect(
                    lambda env: env.body.type == "FORECAST" and env.body.text + 1 if env.seq < 0 else 1 + ""
                )
            assert (await s.expect("FORECAST")).author == "forecaster"

    lived(main())


SCENE = {
    "start": "2026-02-23T10:00:00Z",
    "until": "2h",
    "cycle": "none",
    "systems": [],
    "inject": [{"after": "5m", "seat": "admin", "body": {"type": "QUESTION", "text": "Will it rain?"}}],
}


def test_a_scene_as_a_dictionary_gives_a_result():
    played = moot.scene(SCENE, protocols=WEATHER)
    (case,) = played.cases.values()
    assert case.outcome in ("agreed", "doubted") and played.refused == 0 and played.verify().ok
    assert "messages  5" in repr(played) and played.to_dict()["cases"][case.id]["kind"] == "question"
    again = asyncio.run(
        moot.ascene({**SCENE, "start": datetime(2026, 2, 23, 10)}, protocols=[WEATHER.PROTOCOL])
    )
    assert [env.line for env in again.log] == [env.line for env in played.log]


def test_a_scene_keeps_its_log_and_counts_what_is_refused(tmp_path):
    wrong = {**SCENE, "inject": [{**SCENE["inject"][0], "seat": "viewer"}]}
    played = moot.scene(wrong, protocols=WEATHER, out=tmp_path / "run")
    assert played.refused == 1 and "only admin may" in played.warnings[0]
    assert (tmp_path / "run").is_dir() and played.verify().ok


def test_a_scene_that_is_none_is_said_in_one_line():
    for scene, line in (
        ({**SCENE, "unitl": "2h"}, "scene: unitl: there is no such field: did you mean until?"),
        ({**SCENE, "minds": {"forcaster": {}}}, "scene: minds"),
        ({}, "scene: "),
    ):
        with pytest.raises(moot.MootError) as wrong:
            moot.scene(scene, protocols=WEATHER)
        assert str(wrong.value).startswith(line) and "\n" not in str(wrong.value)
    with pytest.raises(moot.MootError, match="QUESTION"):
        moot.scene({**SCENE, "minds": {"explorer": {"script": [{"type": "QUESTION"}]}}})
