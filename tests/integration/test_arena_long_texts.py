"""A review of ten megabytes in a society on disk: stored, streamed, shown, verified, and found again at a restart."""

import asyncio
import json
from contextlib import aclosing

import pytest

from moot.channels.gateway.bridge import BusBridge
from moot.channels.gateway.client import LogStream
from moot.channels.gateway.guest import GuestHost
from moot.channels.gateway.protocol import MOST_BYTES, envelope_frame, envelope_line
from moot.channels.log.lines import open_line
from moot.channels.log.sqlite import SqliteBus
from moot.channels.showing.rendering import MOST_FIELD, MOST_SENTENCE, card, sentence
from moot.logs import open_log
from moot.protocols.arena.messages import MAX_OUTPUT, Review
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.rules import Gate
from moot.protocols.rulebook import rules
from moot.verify import verify
from tests.doubles.arena_table import ArenaTable
from tests.doubles.command_line import done
from tests.doubles.data_dir import write_log
from tests.doubles.hosting import serving
from tests.doubles.small_log import SmallLog

LONG = "1. say how wide – “wide” ☃\n" + "x" * 79 + "\n"
TEXT = LONG * (10_000_000 // len(LONG)) + "VERDICT: REVISE"


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Write down a run whose first review is long."""
    table = ArenaTable()
    table.run()
    table.draft()
    table.review(TEXT)
    table.draft("Better.")
    table.review("VERDICT: APPROVED")
    table.final()
    table.wait(hours=1)
    table.stop()
    return write_log(tmp_path_factory.mktemp("long") / "data", table.log)


async def test_it_is_published_to_disk_and_streamed_whole_to_a_guest(tmp_path):
    table = ArenaTable()
    table.run()
    table.draft()
    state = table.state
    (owed,) = state.owed
    past = write_log(tmp_path, table.log)
    gate = Gate(rules())
    for envelope in table.log:
        gate.apply(envelope)
    review = Review(
        round_index=1, attempt=1, text=TEXT, session_id=state.session_id, resume_ref=state.resume_ref
    )
    path = past / "log.sqlite"
    bus = await SqliteBus.open(
        path, admission=gate, now=lambda: table.now, decode=decode_stored, durability="process"
    )
    async with bus:
        bridge = BusBridge(bus, asyncio.get_running_loop())
        running = asyncio.create_task(bridge.run())
        async with serving(GuestHost(log_id="log", source=bridge, publish=bus.publish), tmp_path):
            receipt = await bus.publish(
                Draft(
                    channel="#r-arena",
                    author=owed.seat,
                    body=review,
                    case_id=owed.case_id,
                    obligation_id=owed.id,
                )
            )
            lines = []
            async with aclosing(LogStream(lambda: tmp_path / "gateway.sock", "log")(0)) as news:
                async for batch in news:
                    lines += batch
                    if len(lines) == receipt.seq:
                        break
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    last = open_line(lines[-1])
    assert last.body.data["text"] == TEXT
    assert sentence(last).endswith(f"round 1 of {table.run_id}: 100 items or more")


@pytest.mark.rule("K22")
def test_k22_the_longest_review_fits_into_a_frame_whatever_it_holds():
    for character in ("\x01", "☃", "\U0001f600", "\n", '"'):
        body = Review(
            round_index=1,
            attempt=1,
            text=character * MAX_OUTPUT,
            session_id="s",
            resume_ref="r",
            run_id="arena_1",
        )
        frame = envelope_frame(SmallLog().append(body, channel="#r-arena").line)
        assert len(frame) < MOST_BYTES
        assert len(json.loads(envelope_line(frame[:-1]))["body"]["text"]) == MAX_OUTPUT


def test_commands_show_a_sentence_of_it(directory):
    shown = done("log", directory, "--type", "REVIEW").splitlines()
    assert shown[0].endswith("asks for a revision of round 1 of arena_20260223_1000: 100 items or more")
    assert all(len(line) < MOST_SENTENCE for line in shown)
    story = done("case", directory, "arena_20260223_1000")
    assert "drafting → reviewing → drafting" in story
    assert len(story) < 10_000
    assert len(done("status", directory)) < 5_000


def test_a_card_of_it_is_short(directory):
    with open_log(directory / "log.sqlite") as source:
        lines = [line.text for line in source.lines()]
    (long,) = (line for line in lines if len(line) > 1_000_000)
    shown = card(open_line(long))
    assert max(len(field.value) for field in shown.fields) <= MOST_FIELD
    assert len(shown.sentence) <= MOST_SENTENCE


def test_it_verifies(directory):
    with open_log(directory / "log.sqlite") as source:
        report = verify(source, evidence=False)
    assert report.ok, report.findings
