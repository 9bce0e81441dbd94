"""The second process of a verification: it makes it faster, and changes nothing that is found."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from moot.logs import Line
from moot.logs.jsonlines import JsonLines
from moot.verify import Report, ahead, prefetch
from moot.verify.prefetch import DOUBTFUL, Look, Looker, Prefetch
from moot.verify.verifier import Verifier
from tests.doubles.data_dir import a_debate
from tests.doubles.tampering import Lines, alterations, rehashed, stripped, write

LINES: Lines = [json.loads(env.line) for env in a_debate().log]
SECRET = "xox" + "b-123456789012-abcdefABCDEF"  # in pieces, so that no scanner takes this file for a leak
SOME = 4


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "AT_ONCE", SOME)


class Prompt(Prefetch):
    """Has looked at every batch at once, here and not in another process."""

    def __init__(self) -> None:
        super().__init__(after=0)
        self._looker = Looker()
        self._looks: dict[int, Look] = {}
        self.clean = 0

    def ask(self, lines: Sequence[Line]) -> int:
        self._asked += 1
        self._looks[self._asked] = look = self._looker.look(lines)
        self.clean += len(lines) if look.is_clean else 0
        return self._asked

    def told(self, number: int) -> Look:
        return self._looks.pop(number)


class Patient(Prefetch):
    """Waits for the other process."""

    def __init__(self) -> None:
        super().__init__(after=0)
        self.clean = 0

    def told(self, number: int) -> Look:
        end = time.monotonic() + 20
        while number not in self._answers and time.monotonic() < end:
            self._exchange()
            time.sleep(0.001)
        look = super().told(number)
        self.clean += look.is_clean
        return look


def judged(lines: Lines | str, helper: Prefetch | None) -> Report:
    text = lines if isinstance(lines, str) else write(lines)
    source = JsonLines("tampered", "file", io.BytesIO(text.encode()))  # type: ignore[arg-type]
    return Verifier(source, evidence=False, max_findings=20, prefetch=helper).run(None)


def assert_same(lines: Lines | str) -> Report:
    alone, helped = judged(lines, None), judged(lines, Prompt())
    assert helped == alone
    return helped


def the_lines(lines: Lines) -> list[Line]:
    return [Line(n, text, "") for n, text in enumerate(write(lines).splitlines(), 1)]


def look_at(lines: Lines) -> list[Look]:
    looker, found = Looker(), the_lines(lines)
    return [looker.look(found[n : n + SOME]) for n in range(0, len(found), SOME)]


def test_a_good_log_is_beyond_doubt_and_each_batch_follows_the_one_before() -> None:
    looks = look_at(LINES)
    assert all(look.is_clean for look in looks)
    ends = [bytes.fromhex(line["hash"]) for line in LINES[SOME - 1 :: SOME]]
    assert [look.follows for look in looks] == [b"", *ends[: len(looks) - 1]]
    helper = Prompt()
    assert judged(LINES, helper).ok
    assert helper.clean == len(LINES)


def test_a_log_without_hashes_is_beyond_doubt_too() -> None:
    assert look_at(stripped(LINES)) == [Look(is_clean=True, follows=b"")] * -(-len(LINES) // SOME)


def with_body(index: int, **fields: object) -> Lines:
    lines: Lines = json.loads(json.dumps(LINES))
    lines[index]["body"].update(fields)
    return lines


REASONED = next(n for n, line in enumerate(LINES) if "reasoning" in line["body"])


@pytest.mark.parametrize(
    "lines",
    [
        with_body(REASONED, reasoning="bribed"),
        rehashed(with_body(REASONED, reasoning=f"see {SECRET}")),
        rehashed(with_body(REASONED, reasoning=7)),
        [*LINES[:REASONED], stripped(LINES)[REASONED], *LINES[REASONED + 1 :]],
    ],
    ids=["altered", "secret", "no message", "no hash"],
)
def test_one_doubtful_line_makes_its_batch_doubtful(lines: Lines) -> None:
    looks = look_at(lines)
    assert [n for n, look in enumerate(looks) if look == DOUBTFUL] == [REASONED // SOME]
    assert not assert_same(lines).ok


def test_a_name_that_stands_twice_in_a_line_is_doubtful() -> None:
    texts = write(stripped(LINES)).splitlines()
    texts[REASONED] = texts[REASONED].replace('"reasoning":', '"reasoning":"one thing","reasoning":', 1)
    assert not assert_same("\n".join(texts) + "\n").ok


def test_the_first_hash_is_held_to_the_genesis() -> None:
    """The first batch follows nothing that the other process knows: that must not pass for the genesis."""
    later = rehashed([{**LINES[0], "channel": "#a-arena"}, *LINES[1:]])
    forged = [{**LINES[0], "hash": later[0]["hash"]}, *LINES[1:]]
    assert [(f.seq, f.invariant) for f in assert_same(forged).findings] == [(1, "hash")]


EVERYTHING = [one for n, line in enumerate(LINES) for one in alterations(line, n)]


def test_whatever_is_altered_the_findings_are_the_same() -> None:
    for one in EVERYTHING:
        altered = one.apply(LINES)
        assert judged(altered, Prompt()) == judged(altered, None), one


@pytest.mark.parametrize(
    "change",
    [
        lambda lines, n: [*lines[:n], *lines[n + 1 :]],
        lambda lines, n: [*lines[:n], lines[n], *lines[n:]],
        lambda lines, n: [*lines[:n], *reversed(lines[n : n + 2]), *lines[n + 2 :]],
        lambda lines, n: lines[:n],
        lambda lines, n: [*lines[:n], lines[0], *lines[n:]],
        lambda lines, n: [*lines[:n], {}, *lines[n:]],
    ],
    ids=["removed", "doubled", "swapped", "cut", "the first again", "no envelope"],
)
@pytest.mark.parametrize("keep", [list, stripped, rehashed], ids=["hashed", "bare", "hashed anew"])
def test_whatever_is_removed_doubled_or_swapped_the_findings_are_the_same(
    change: Callable[[Lines, int], Lines], keep: Callable[[Lines], Lines]
) -> None:
    for n in range(len(LINES)):
        assert_same(keep(change(LINES, n)))


@pytest.mark.parametrize("n", range(len(LINES)))
def test_a_damaged_file_is_judged_up_to_where_it_ends(n: int) -> None:
    texts = write(LINES).splitlines(keepends=True)
    report = assert_same("".join(texts[:n]) + texts[n][:20])
    assert report.findings[0].invariant == "readable" and report.messages == n


def is_gone(pid: int) -> bool:
    """Whether a process has ended; whoever should have heard of its end may not have yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_process_of_its_own_answers_and_is_gone_afterwards() -> None:
    with Patient() as helper:
        assert judged(LINES, helper).ok
        assert helper.clean == -(-len(LINES) // SOME)
        assert helper._child is not None
        pid = helper._child.pid
    assert is_gone(pid)


@pytest.mark.parametrize("what", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_nothing_waits_for_a_process_that_does_not_answer(what: signal.Signals) -> None:
    with Prefetch(after=0) as helper:
        helper.ask(the_lines(LINES[:SOME]))
        assert helper._child is not None
        helper._child.send_signal(what)
        for lines in (LINES, with_body(REASONED, reasoning="bribed")):
            assert judged(lines, helper) == judged(lines, None)


def test_a_machine_without_room_for_another_process_verifies_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> subprocess.Popen[bytes]:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(prefetch, "_start", full)
    with Prefetch(after=0) as helper:
        assert judged(LINES, helper).ok
        assert helper._child is None


def test_a_short_log_starts_no_process() -> None:
    with Prefetch() as helper:
        assert judged(LINES, helper).ok
        assert helper._child is None


def test_the_process_ends_with_its_parent_whatever_ends_that() -> None:
    code = (
        "import os, signal, sys; from moot.verify.prefetch import Prefetch; from moot.logs import Line;"
        "helper = Prefetch(after=0); helper.ask([Line(1, '{}', '')]); print(helper._child.pid, flush=True);"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=False)
    assert done.returncode == -signal.SIGKILL
    pid, end = int(done.stdout), time.monotonic() + 20
    while not is_gone(pid) and time.monotonic() < end:
        time.sleep(0.01)
    assert is_gone(pid)


def test_answers_that_come_too_late_are_forgotten_and_few_are_on_their_way() -> None:
    with Prefetch(after=0) as helper:
        asked = [helper.ask(the_lines(LINES[:SOME])) for _ in range(2 * prefetch.MOST_UNANSWERED)]
        assert asked[prefetch.MOST_UNANSWERED :] == [0] * prefetch.MOST_UNANSWERED
        assert [helper.told(number) for number in asked[: prefetch.MOST_UNANSWERED]] == [
            DOUBTFUL
        ] * prefetch.MOST_UNANSWERED
        end = time.monotonic() + 20
        while helper._answered < prefetch.MOST_UNANSWERED and time.monotonic() < end:
            assert helper.told(0) == DOUBTFUL
            time.sleep(0.001)
        assert helper._answered == prefetch.MOST_UNANSWERED and not helper._answers
        assert helper.ask(the_lines(LINES)) == prefetch.MOST_UNANSWERED + 1
