"""`moot.simulate` and the log that it leaves: the same as the command line's, in memory or in a directory."""

import asyncio
import json
import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest

import moot
from moot.simulation.simulate import SimulateOptions, simulate
from tests.doubles.command_line import complaint

DAYS = 0.4


@pytest.fixture(scope="module")
def week():
    return moot.simulate(days=DAYS, seed=3)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    place = tmp_path_factory.mktemp("kept") / "run"

    async def main():
        return await moot.asimulate(days=DAYS, seed=3, out=place)

    return asyncio.run(main())


def test_the_command_line_awaited_or_not_in_memory_or_on_disk_the_log_is_the_same(week, kept):
    lines = []
    simulate(SimulateOptions(days=DAYS, seed=3), listener=lambda env, _fx: lines.append(env.line))
    assert lines == [env.line for env in week.log] == [env.line for env in kept.log]


def test_it_works_beside_a_running_loop(week):
    async def main():
        return moot.simulate(days=DAYS, seed=3)

    assert [env.hash for env in asyncio.run(main()).log] == [env.hash for env in week.log]


def test_cases_and_strategies_are_what_the_rules_fold(week, kept):
    debates = [one for one in week.cases.values() if one.kind == "debate" and not one.is_open]
    assert debates
    for one in debates:
        (last,) = [env.body.verdict for env in one.messages() if env.body.type.endswith("VERDICT")][-1:]
        if one.figures["reason"] == "":
            assert one.figures["verdict"] == last
        assert one.outcome and one.id.startswith("hyp_")
    assert kept.cases == week.cases
    assert kept.strategies == week.strategies
    assert len(week.strategies) >= sum(one.outcome == "approved" for one in debates)


def test_a_result_is_frozen_readable_and_json(week):
    with pytest.raises(FrozenInstanceError):
        week.days = 1
    with pytest.raises(TypeError):
        week.cases["hyp_1"] = None
    plain = json.loads(json.dumps(week.to_dict()))
    assert (
        plain["summary"]["messages"]
        == len(week.log)
        == len(json.loads(json.dumps(week.log.to_dict()))["messages"])
    )
    assert f"debates     {plain['summary']['debates']}:" in repr(week)
    assert "<td" in week._repr_html_() and "<td" in week.log._repr_html_()
    assert repr(week.log) == f"<moot.Log memory: {len(week.log):,} messages>"


def test_it_is_verified_in_memory_as_on_disk(week, kept):
    for one in (week, kept):
        report = one.verify()
        assert report.ok and report.messages == len(week.log)


def test_a_log_that_was_changed_is_found_out(week, tmp_path):
    file = week.log.write(tmp_path / "log.jsonl")
    text = file.read_text()
    assert moot.open_log(file).verify().ok
    file.write_text(text.replace('"confidence":0.', '"confidence":0.1', 1))
    assert not moot.open_log(file).verify().ok


def test_messages_are_asked_for_by_type_channel_seat_and_case(week, kept):
    for log in (week.log, kept.log):
        every = [*log]
        assert (
            [*log.messages(type="risk_assessment")]
            == [e for e in every if e.body.type == "RISK_ASSESSMENT"]
            != []
        )
        assert [*log.messages(channel="a-verdict", seat="evolver")] == [
            e for e in every if e.channel == "#a-verdict" and e.author == "evolver"
        ]
        assert {e.body.type for e in log.messages(type=("VERDICT", "HYPOTHESIS"))} == {
            "VERDICT",
            "HYPOTHESIS",
        }
    first = next(iter(week.cases.values()))
    assert [*first.messages()] == [e for e in week.log if e.case_id == first.id]


def test_what_nobody_can_have_meant_is_refused_with_what_there_is(week):
    for wrong, line in (
        ({"type": "VERDCT"}, "there is no message type VERDCT: did you mean VERDICT?"),
        ({"channel": "verdicts"}, "there is no channel #verdicts: choose one of #a-arena"),
        ({"seat": "crític"}, "there is no seat 'crític': choose one of admin"),
    ):
        with pytest.raises(moot.BadInput, match=line.replace("?", r"\?")):
            next(week.log.messages(**wrong))


def test_pandas_has_a_row_for_every_message(week):
    frame = week.log.to_pandas()
    assert [*frame.index] == [env.seq for env in week.log]
    assert frame.loc[1, "type"] == "SOCIETY_STARTED" and frame.loc[1, "body"]["seed"] == 3
    assert str(frame["sent_at"].dtype).startswith("datetime64[") and frame["text"].str.len().min() > 0


def test_without_pandas_one_line_says_so(week, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(moot.MootError, match="needs pandas, which is not installed here"):
        week.log.to_pandas()


def test_html_shows_what_was_said_as_text(week):
    from moot.api.showing import html_table

    shown = html_table("<b>", ("a",), [("<script>alert(1)</script>",)])
    assert "<script>" not in shown and "&lt;script&gt;" in shown and "<b>" not in shown


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"days": 0}, ["--days", "0"]),
        ({"days": -1}, ["--days=-1"]),
        ({"days": 1, "start": "yesterday"}, ["--days", "1", "--start", "yesterday"]),
        ({"start": "1800-01-01"}, ["--start", "1800-01-01"]),
        ({"prices": "nope.csv"}, ["--prices", "nope.csv"]),
        ({"config": "nope.toml"}, ["--config", "nope.toml"]),
    ],
)
def test_bad_input_is_the_same_line_as_the_command_lines(given, words, tmp_path):
    with pytest.raises(moot.MootError) as caught:
        moot.simulate(**given)
    told = complaint(2, "simulate", *words, "--out", tmp_path / "x")
    assert told == f"moot simulate: {caught.value}"
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "given", [{"days": "seven"}, {"days": True}, {"days": float("nan")}, {"seed": 1.5}, {"seed": 2**60}]
)
def test_a_number_that_is_none_is_one_line(given):
    with pytest.raises(moot.BadInput) as caught:
        moot.simulate(**given)
    assert "\n" not in str(caught.value) and str(caught.value).startswith(next(iter(given)))


def test_a_directory_that_holds_a_log_is_never_written_again(kept):
    before = [env.hash for env in kept.log]
    with pytest.raises(moot.BadInput, match="holds a log already: name another directory"):
        moot.simulate(days=DAYS, out=kept.log.name)
    assert [env.hash for env in moot.open_log(kept.log.name)] == before


def test_a_directory_without_a_log_is_refused_as_the_command_line_does(tmp_path):
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(moot.BadInput) as caught:
            moot.open_log(place)
        assert complaint(2, "log", place) == f"moot log: {caught.value}"


def test_what_is_no_log_is_a_log_error(tmp_path):
    (tmp_path / "notes.txt").write_text("no log")
    with pytest.raises(moot.LogError, match="is no Moot log"):
        moot.open_log(tmp_path / "notes.txt")


def test_a_program_that_uses_moot_keeps_its_own_logging():
    look = """
import logging, moot
from moot.minds import Mind

class Hasty(Mind):
    def answer(self, view):
        return view.reply(outcome="UPHELD", option="yes", confidence=0.1, for_score=1, against_score=0, standing=[],
                          reasoning="So be it.")

result = moot.debate("Is a broken rule printed?", minds={"judge": Hasty})
assert any(env.body.type == "VIOLATION" for env in result.log)
root = logging.getLogger()
print(root.level == logging.WARNING, root.handlers, logging.raiseExceptions)
"""
    done = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, check=True, timeout=100
    )
    assert (done.stdout, done.stderr) == ("True [] True\n", "")
