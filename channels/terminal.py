"""The terminal as a surface: chat lines coloured by seat, plain where the output is no terminal.

It only shows. Text is never markup, and control characters never reach the terminal. Nothing here can look up
what was printed, so after a crash the last line may come again.
"""

from __future__ import annotations

import io
from typing import Final, TextIO

from rich.console import Console
from rich.text import Text

from moot.channels.showing.rendering import UNKNOWN, Speakers, colour, predicate, sentence, speaker
from moot.channels.showing.wording import clean, seat_name
from moot.channels.surface import (
    Capabilities,
    Memory,
    PlatformMessageId,
    Posting,
    Surface,
    SurfaceDown,
    TakeAct,
)
from moot.protocols.kernel.envelope import Envelope

CHANNEL_WIDTH: Final = 11
"""Columns of the longest channel name."""

SEAT_WIDTH: Final = 12

NARROW: Final = 70
"""Below this many columns a line starts with the time only, and the sentence names the seat."""


class TerminalSurface(Surface):
    """Prints one line a message, longer ones wrapped under themselves."""

    capabilities = Capabilities()

    def __init__(
        self, *, name: str = "terminal", console: Console | None = None, file: TextIO | None = None
    ) -> None:
        """Print to a console; by default to standard output, with colours as the environment wants them.

        Args:
            name: Name of the surface.
            console: Where to print.
            file: Where to print, when no console is given.
        """
        self.name = name
        self.console = console or Console(file=file, highlight=False, emoji=False, markup=False)
        self._n = 0

    async def start(self, inbound: TakeAct, memory: Memory) -> None:
        """Nothing comes in from here."""

    async def post(self, item: Posting) -> PlatformMessageId:
        text = self._painted(item.envelope, item.who)
        try:
            self.console.file.write(text)
            self.console.file.flush()
        except (OSError, ValueError) as exc:
            raise SurfaceDown(f"the terminal is gone: {exc}", maybe_posted=False) from exc
        self._n += 1
        return PlatformMessageId(f"{item.nonce}/{self._n}")

    async def close(self) -> None:
        """Nothing is held."""

    def show(self, envelope: Envelope, who: Speakers = UNKNOWN) -> None:
        """Print one message, people by their names."""
        _print(self.console, envelope, who)

    def _painted(self, envelope: Envelope, who: Speakers) -> str:
        # On a console of its own: ours would keep what it could not write, and end the process at a broken pipe.
        paper = io.StringIO()
        ours = self.console
        painter = Console(
            file=paper, force_terminal=ours.is_terminal, width=ours.width, no_color=ours.no_color,
            color_system=ours.color_system,  # type: ignore[arg-type]
            highlight=False, emoji=False, markup=False, legacy_windows=False,
        )  # fmt: skip
        _print(painter, envelope, who)
        return paper.getvalue()


def _print(console: Console, envelope: Envelope, who: Speakers) -> None:
    if not console.is_terminal:
        # One line a message, however long, so that it can be searched.
        console.print(line(envelope, who), soft_wrap=True)
        return
    prefix, said = parts(envelope, is_narrow=console.width < NARROW, who=who)
    indent = Text(" " * prefix.cell_len)
    lines = said.wrap(console, max(10, console.width - prefix.cell_len - 1))
    for n, part in enumerate(lines):
        part.rstrip()
        console.print((indent if n else prefix) + part, soft_wrap=True)


def line(envelope: Envelope, who: Speakers = UNKNOWN) -> Text:
    """Return a message as one line of text: time, channel, seat, sentence."""
    prefix, said = parts(envelope, is_narrow=False, who=who)
    return prefix + said


def plain_line(envelope: Envelope, who: Speakers = UNKNOWN) -> str:
    """Return the same line without colours, for what is no terminal; whole logs are written so."""
    return "".join(_columns(envelope, who))


def parts(envelope: Envelope, *, is_narrow: bool, who: Speakers = UNKNOWN) -> tuple[Text, Text]:
    """Return what stands before a message, and its sentence, in the seat's colour."""
    style = f"bold {colour(envelope.author)}"
    if is_narrow:
        said = Text(sentence(envelope, who))
        said.stylize(style, 0, len(_seat(envelope)))
        return Text(f"{envelope.sent_at:%H:%M} ", style="dim"), said
    at, channel, seat, what = _columns(envelope, who)
    return Text.assemble((at, "dim"), (channel, "dim"), (seat, style)), Text(what)


def _columns(envelope: Envelope, who: Speakers) -> tuple[str, str, str, str]:
    """Return time, channel and seat, each as wide as its column, and the sentence."""
    seat = _seat(envelope)
    more, what = speaker(envelope, who)[len(seat) + 1 :], predicate(envelope, who)
    return (
        f"{envelope.sent_at:%H:%M}  ",
        f"{clean(envelope.channel, CHANNEL_WIDTH):<{CHANNEL_WIDTH}}  ",
        f"{seat:<{SEAT_WIDTH}}  ",
        f"{more} {what}" if more else what,
    )


def _seat(envelope: Envelope) -> str:
    return clean(seat_name(str(envelope.author)), SEAT_WIDTH)
