"""`moot log`: what was said, by whom, in order."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from moot.cli.app import command
from moot.cli.errors import Unusable
from moot.cli.numbers import MOST_WHOLE
from moot.cli.output import console, print_hanging, say, write_lines
from moot.cli.place import DEFAULT, AsJson, Source, shown
from moot.cli.reading import Log, key

if TYPE_CHECKING:
    from rich.console import Console

    from moot.channels.showing.namebook import NameBook
    from moot.protocols.kernel.envelope import Envelope

LOOK_S: Final = 0.2
"""A follower looks for news this often."""

LATELY: Final = 200
"""A terminal shows so many of the last messages, unless told otherwise."""

WIDE: Final = 110
"""From so many columns on, what does not fit goes on under itself."""


@command(
    "moot log ./moot-data --follow",
    "moot log ./moot-data --channel a-verdict --type VERDICT",
    "moot log ./moot-data --case hyp_20260223_1030",
    "moot log ./moot-data --last 50",
    "moot log ./moot-data --from 400 --json | jq .body",
)
def log(
    named: Source = DEFAULT,
    channel: Annotated[
        str | None, typer.Option("--channel", metavar="C", help="Only this channel; # may be left out.")
    ] = None,
    case: Annotated[str | None, typer.Option("--case", metavar="ID", help="Only this case.")] = None,
    kind: Annotated[
        str | None, typer.Option("--type", metavar="T", help="Only messages of this type.")
    ] = None,
    first: Annotated[
        int | None, typer.Option("--from", metavar="SEQ", min=1, max=MOST_WHOLE, help="From this message on.")
    ] = None,
    last: Annotated[
        int | None,
        typer.Option(
            "--last",
            metavar="N",
            min=1,
            max=MOST_WHOLE,
            help=f"Only the last N; by default {LATELY} on a terminal.",
        ),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as messages come.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what was said, one message a line.

    Each line names the message's number, the society's time, the channel and who spoke. With --json each is
    the message itself, exactly as the log's hash chain holds it.
    """
    source = Log(named)
    is_all = channel is None and case is None and kind is None
    is_short = is_all and first is None and last is None and not as_json and sys.stdout.isatty()
    if follow and source.directory is None:
        raise Unusable(f"{source.path} is a finished file: nothing will follow")
    if follow and last is not None and not is_all:
        raise Unusable("--last does not go with --follow and a filter: leave one of them out")
    having = [*_having(channel, case, kind)]
    if kind is not None:
        _check_type(source, kind.upper())
    first = first or 1
    if is_short or (is_all and last is not None):
        earlier = source.head - (last or LATELY)
        if is_short and earlier > 0:
            say(f"{earlier:,} earlier messages: moot log {shown(named)} --from 1 shows them")
        first, last = max(first, earlier + 1), None
    count = 0
    reader = Reader(book=None if as_json else source.namebook())
    batches = (
        [line for line in lines if reader.wants(line, channel, case, kind)]
        for lines in _batches(source, first, having, follow)
    )
    for wanted in batches if last is None else [[*deque(chain.from_iterable(batches), maxlen=last)]]:
        count += len(wanted)
        if as_json:
            write_lines(wanted, flush=follow)
        else:
            reader.show(wanted)
    if not count and not follow:
        if case is not None and not source.newest(key("case_id", case)):
            where = shown(source.directory or Path("DIR"))
            raise Unusable(f"there is no case {case}: moot status {where} lists the open ones")
        if not as_json:
            say("no such message")


class Reader:
    """Shows lines of a log; knows the day that was last shown."""

    def __init__(self, target: Console | None = None, book: NameBook | None = None) -> None:
        """Show on a console, by default on standard output.

        Args:
            target: The console.
            book: Who speaks, as far as it is known before.
        """
        from moot.channels.showing.namebook import NameBook

        self.console = target or console()
        self._book = book or NameBook()
        self._day: date | None = None

    @staticmethod
    def wants(line: str, channel: str | None, case: str | None, kind: str | None) -> bool:
        """Say whether a line passes the filters; `having` let through some that do not."""
        if channel is None and case is None and kind is None:
            return True
        from moot.channels.log.lines import open_line

        envelope = open_line(line)
        return (
            (channel is None or envelope.channel.removeprefix("#") == channel.removeprefix("#"))
            and (case is None or envelope.case_id == case)
            and (kind is None or envelope.body.type == kind.upper())
        )

    def show(self, lines: Sequence[str]) -> None:
        """Print lines as people read them."""
        from moot.channels.log.lines import open_line

        for line in lines:
            self.show_envelope(open_line(line))

    def show_envelope(self, envelope: Envelope) -> None:
        """Print one message: its number, the time, the channel, who, and what, wrapped under itself."""
        from rich.text import Text

        from moot.channels.terminal import NARROW, SEAT_WIDTH, parts, plain_line

        target = self.console
        self._book.note(envelope)
        who = self._book.who
        number = f"{envelope.seq:>5}  "
        if not target.is_terminal:
            # What is read by programs has neither colour nor width, so nothing is laid out.
            target.file.write(f"{number}{envelope.sent_at:%Y-%m-%d} {plain_line(envelope, who)}\n")
            return
        if envelope.sent_at.date() != self._day:
            self._day = envelope.sent_at.date()
            target.print(Text(f"       {envelope.sent_at:%A, %d %B %Y}", style="bold dim"))
        is_narrow = target.width < NARROW
        prefix, said = parts(envelope, is_narrow=is_narrow, who=who)
        prefix = Text.assemble((number, "dim"), prefix)
        # On a terminal of medium width further lines begin under the seat, so that they are not mere slivers.
        hang = prefix.cell_len - (SEAT_WIDTH if not is_narrow and target.width < WIDE else 0)
        print_hanging(target, prefix, said, hang)


def _having(channel: str | None, case: str | None, kind: str | None) -> Iterator[str]:
    from moot.logs import asking

    if channel is not None:
        yield key("channel", asking.channel(channel))
    if case is not None:
        yield key("case_id", case)
    if kind is not None:
        yield key("type", kind.upper())


def _batches(source: Log, first: int, having: Sequence[str], follow: bool) -> Iterator[list[str]]:
    batch: list[str] = []
    while True:
        last = source.head if follow else None
        for line in source.lines(first, last, having=having):
            batch.append(line)
            if len(batch) >= 200:
                yield batch
                batch = []
        yield batch
        if last is None:
            return
        batch, first = [], max(first, last + 1)
        time.sleep(LOOK_S)


def _check_type(source: Log, kind: str) -> None:
    """Refuse a type that neither the rules nor the log know; a log may hold types of older rules.

    Raises:
        BadInput: There is none.
    """
    from moot.logs import asking
    from moot.protocols.kernel.errors import BadInput

    try:
        asking.message_type(kind)
    except BadInput:
        if not source.newest(key("type", kind)):
            raise
