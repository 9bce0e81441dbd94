"""`moot log` and how logs are read."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from moot.cli.look.log import Reader
from moot.cli.reading import Log, fold
from moot.protocols.kernel.officers import PersonNamed
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import ADMIN, REFEREE, VIEWER
from tests.doubles.command_line import complaint, done, moot, write
from tests.doubles.data_dir import a_debate, write_log
from tests.doubles.table import Table

ROOT = Path(__file__).resolve().parents[3]
HYP = "hyp_20260223_1003"


@pytest.fixture(scope="module")
def table() -> Table:
    return a_debate()


@pytest.fixture(scope="module")
def place(table: Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log(tmp_path_factory.mktemp("log") / "data", table.log)


def seqs(text: str) -> list[int]:
    return [json.loads(line)["seq"] for line in text.splitlines()]


def test_json_is_every_message_exactly_as_the_log_holds_it(table: Table, place: Path) -> None:
    assert done("log", place, "--json") == "".join(f"{envelope.line}\n" for envelope in table.log)


def test_a_message_is_one_line_with_number_date_channel_and_seat(place: Path) -> None:
    lines = done("log", place).splitlines()

    assert len(lines) == 11
    assert lines[3] == (
        f"    4  2026-02-23 10:09  #a-arena     Critic        rates {HYP} CONDITIONAL_PASS, confidence 0.60: "
        "overfitting 0.40, tail risk 0.30. some overfitting"
    )


def test_the_last_ones_of_all_or_of_those_that_pass_the_filters(table: Table, place: Path) -> None:
    assert seqs(done("log", place, "--json", "--last", 2)) == [10, 11]
    rated = [env.seq for env in table.log if env.body.type == "RISK_ASSESSMENT"]
    assert seqs(done("log", place, "--json", "--type", "risk_assessment", "--last", 1)) == rated[-1:]
    assert "--last does not go with --follow" in complaint(
        2, "log", place, "--follow", "--last", 2, "--case", HYP
    )


def test_people_are_named_as_the_log_calls_them(tmp_path: Path) -> None:
    table = Table()
    named = PersonNamed(platform="test", user_id="234567890123456789", display_name="Ann Lee")
    table.post(REFEREE, named, channel="#admin", key="named/test/234567890123456789/0")
    table.post(VIEWER, Note(text="hm"), channel="#a-arena", key="n", user=named.user_id)
    place = write_log(tmp_path / "data", table.log)
    for options in ([], ["--channel", "a-arena"], ["--from", "3"]):
        (last,) = [line for line in done("log", place, *options).splitlines() if "hm" in line]
        assert "(Ann Lee on test) notes: hm" in last


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--channel", "#a-verdict"], [11]),
        (["--channel", "a-verdict"], [11]),
        (["--type", "risk_assessment"], [4]),
        (["--type", "TIMEOUT_PING", "--from", "6"], [7]),
        (["--case", HYP, "--channel", "a-arena"], [3, 4, 5, 6, 7, 8]),
        (["--from", "10"], [10, 11]),
        (["--from", "99"], []),
    ],
)
def test_filters_combine(place: Path, options: list[str], wanted: list[int]) -> None:
    assert seqs(done("log", place, "--json", *options)) == wanted


def test_a_text_that_looks_like_a_filtered_field_is_not_taken_for_one(tmp_path: Path) -> None:
    table = a_debate()
    table.post(ADMIN, Note(text=f'"case_id":"{HYP}" "type":"HYPOTHESIS"'), channel="#bridge")
    place = write_log(tmp_path / "d", table.log)

    assert seqs(done("log", place, "--type", "HYPOTHESIS", "--json")) == [3]
    assert 12 not in seqs(done("log", place, "--case", HYP, "--json"))


def test_the_name_of_a_file_of_the_log_will_do(place: Path) -> None:
    assert done("log", place / "log.sqlite", "--json") == done("log", place, "--json")


def test_an_exported_file_reads_like_its_directory(place: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "x.jsonl", done("log", place, "--json"))

    assert done("log", file) == done("log", place)
    assert seqs(done("log", file, "--type", "VERDICT", "--json")) == [11]
    assert "finished file" in complaint(2, "log", file, "--follow")


def test_a_line_without_hash_is_shown_as_it_is(table: Table, tmp_path: Path) -> None:
    file = write(tmp_path / "x.jsonl", "".join(f"{envelope.json}\n" for envelope in table.log))

    assert done("log", file, "--json") == file.read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--channel", "arena"], "there is no channel #arena"),
        (["--from", "0"], "choose at least 1, not 0"),
        (["--from", "9" * 23], "choose at most 9,007,199,254,740,992"),
        (["--from", "9" * 23, "--follow"], "choose at most 9,007,199,254,740,992"),
        (["--case", "hyp_x"], "there is no case hyp_x"),
        (["--case", "hyp_2026"], "there is no case hyp_2026"),
        (["--type", "VERDIT"], "there is no message type VERDIT: did you mean VERDICT?"),
        (["--type", "nope", "--follow"], "there is no message type NOPE: "),
    ],
)
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_wrong_filter_is_usage(place: Path, options: list[str], said: str, more: list[str]) -> None:
    assert said in complaint(2, "log", place, *options, *more)


def test_a_number_beyond_all_messages_is_usage_in_a_file_too(place: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "x.jsonl", done("log", place, "--json"))

    assert "choose at most 9,007,199,254,740,992" in complaint(2, "log", file, "--from", "9" * 23)


def test_a_type_that_nobody_said_is_no_mistake(place: Path) -> None:
    result = moot("log", place, "--type", "CONCEDE")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "no such message\n"


def test_what_is_no_data_directory_is_told_with_what_to_do(tmp_path: Path, place: Path) -> None:
    assert f"there is no {tmp_path / 'x'}: moot up" in complaint(2, "log", tmp_path / "x")
    assert "holds no log.sqlite: moot up" in complaint(2, "log", tmp_path)
    assert f"holds a run: name it, {place}" in complaint(2, "log", place.parent)
    assert "DIR is empty: name a directory" in complaint(2, "log", "")
    assert "database of another application" in complaint(2, "log", strange_database(tmp_path / "s"))
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "log.sqlite").touch()
    assert "no society was ever started in it" in complaint(2, "log", tmp_path / "e")


def strange_database(directory: Path) -> Path:
    import sqlite3
    from contextlib import closing

    directory.mkdir()
    with closing(sqlite3.connect(directory / "log.sqlite")) as db:
        db.execute("CREATE TABLE cats(name)")
    return directory


def test_a_damaged_log_is_one_line_and_a_failed_check(place: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(place, tmp_path / "d")
    file = tmp_path / "d" / "log.sqlite"
    content = bytearray(file.read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    file.write_bytes(content)

    assert "is damaged" in complaint(1, "log", tmp_path / "d")


def test_a_log_damaged_in_its_middle_is_one_line_too(tmp_path: Path) -> None:
    table = a_debate()
    for n in range(200):
        table.post(ADMIN, Note(text=f"{n} " + "x" * 300), channel="#admin")
    place = write_log(tmp_path / "d", table.log)
    file = place / "log.sqlite"
    content = bytearray(file.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 8192] = b"x" * 8192
    file.write_bytes(content)

    for words in (["log"], ["status"], ["log", "--type", "VERDICT"]):
        assert "is damaged" in complaint(1, words[0], place, *words[1:])


def test_a_broken_line_of_a_file_is_named(tmp_path: Path, table: Table) -> None:
    file = write(tmp_path / "x.jsonl", f"{table.log[0].line}\n{{}}\n")

    assert "line 2 is no message" in complaint(2, "status", file)


def test_text_of_people_reaches_no_terminal_as_markup_or_control(tmp_path: Path) -> None:
    table = Table()
    table.post(ADMIN, Note(text="[bold red]hi[/] \x1b[2J"), channel="#bridge")
    place = write_log(tmp_path / "d", table.log)

    text = done("log", place, "--channel", "bridge", FORCE_COLOR="1", NO_COLOR="")

    assert "[bold red]hi[/]" in text
    assert "\x1b[2J" not in text


def test_a_log_is_read_while_it_is_written(tmp_path: Path) -> None:
    table = a_debate()
    place = write_log(tmp_path / "d", table.log[:4])
    with subprocess.Popen(
        [sys.executable, "-m", "moot", "log", place, "--follow", "--json"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        first = [process.stdout.readline() for _ in range(4)]
        append(place, table)
        rest = [process.stdout.readline() for _ in table.log[4:]]
        process.kill()

    assert seqs("".join(first + rest)) == [*range(1, 12)]


def append(place: Path, table: Table) -> None:
    import sqlite3
    from contextlib import closing

    time.sleep(0.3)
    with closing(sqlite3.connect(place / "log.sqlite")) as db:
        db.executemany(
            "INSERT INTO log VALUES (?, ?, '', ?, ?)",
            [(e.seq, e.id, e.json, bytes.fromhex(e.hash)) for e in table.log[4:]],
        )
        db.commit()


def test_a_directory_that_may_not_be_written_is_read(place: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(place, tmp_path / "d")
    for path in (tmp_path / "d").glob("log.sqlite-*"):
        path.unlink()
    (tmp_path / "d").chmod(0o500)
    try:
        assert len(done("log", tmp_path / "d").splitlines()) == 11
    finally:
        (tmp_path / "d").chmod(0o700)


def test_a_log_reads_in_pages(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    monkeypatch.setattr("moot.channels.log.reader.PAGE", 3)

    assert [json.loads(line)["seq"] for line in Log(place).lines(2, 10)] == [*range(2, 11)]


def test_folding_a_log_gives_the_docket_of_its_society(table: Table, place: Path) -> None:
    docket = fold(Log(place))

    assert docket.cases == table.docket.cases
    assert docket.open == table.docket.open


def test_a_log_that_breaks_the_rules_is_told_by_its_message(table: Table, tmp_path: Path) -> None:
    lines = [envelope.json for envelope in table.log]
    lines[7] = lines[7].replace('"outcome":"void"', '"outcome":"REJECT"')
    file = write(tmp_path / "x.jsonl", "\n".join(lines))

    assert "cannot be folded: seq 8: " in complaint(1, "status", file)


def test_days_are_announced_and_wrapped_lines_hang_below_the_text() -> None:
    from io import StringIO

    from rich.console import Console

    target = StringIO()
    reader = Reader(Console(file=target, width=80, force_terminal=True, color_system=None))
    for envelope in a_debate().log[2:4]:
        reader.show_envelope(envelope)

    assert target.getvalue().splitlines() == [
        "       Monday, 23 February 2026",
        "    3  10:03  #a-arena     Explorer      proposes hyp_20260223_1003: Momentum",
        "                             20/60 earns on sp500",
        "    4  10:09  #a-arena     Critic        rates hyp_20260223_1003",
        "                             CONDITIONAL_PASS, confidence 0.60: overfitting",
        "                             0.40, tail risk 0.30. some overfitting",
    ]
