"""The feed of `moot up`: chat lines as they are logged, and a status line under them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from rich.console import Console
from rich.live import Live
from rich.text import Text

from moot.channels.showing import duties
from moot.channels.showing.namebook import NameBook
from moot.channels.showing.rendering import Speakers, speakers_of
from moot.channels.terminal import TerminalSurface, line
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.minds import REHEARSAL
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import OFFICERS, PEOPLE
from moot.protocols.research.messages import CycleTrigger
from moot.protocols.rulebook import rulebook
from moot.society import Society

SHOWN: Final = 3
"""So many open obligations are named in the status line."""
RECAP: Final = 10
"""So many messages of the past are shown at most; `moot log` shows all."""
MOST_HELD: Final = 50
"""So many messages wait for the gateway's first word in a pipe, at most."""
MOST_WAIT_S: Final = 10
"""And so many wall seconds."""
ADDRESS: Final = "http"
"""How a line of the gateway begins that is an address."""


def is_quiet(envelope: Envelope) -> bool:
    """Say whether the feed leaves a message out, as its protocol says; `moot log` shows it, and `moot up --all`."""
    book, body = rulebook(), envelope.body
    says_nothing = book.quiet.get(body.type)
    if says_nothing is None or not isinstance(body, book.messages[body.type]):
        return False
    try:
        return bool(says_nothing(body))
    except Exception:
        # A function of a foreign protocol: its message is shown (R-G14).
        return False


class Feed:
    """Prints messages as they come; on a terminal it keeps a status line below them."""

    def __init__(self, console: Console | None = None, *, shows_all: bool = False) -> None:
        """Print to a console; standard output by default, colours as NO_COLOR says.

        Args:
            console: Where to print.
            shows_all: Print quiet messages too, see `is_quiet`.
        """
        self.console = console or Console(highlight=False, emoji=False)
        self._surface = TerminalSurface(console=self.console)
        self._shows_all = shows_all
        self._live: Live | None = None
        self._ticker: asyncio.Task[None] | None = None
        self._address = ""
        self._held: list[Envelope] | None = None
        self._book = NameBook()
        self._who: Speakers = self._book.who

    def open_at(self, told: str) -> None:
        """Say what the gateway says: where the web page is, or why there is none.

        On a terminal an address stays in sight, above the status line.
        """
        if told.startswith(ADDRESS):
            self._address = told
            told = f"open {told}"
        self.say(told, "bold")
        self._go_on()

    def hold(self) -> None:
        """Where nothing stays in sight, let the gateway speak first, so that its address stands above the messages."""
        if not self.console.is_terminal:
            self._held = []

    def _go_on(self) -> None:
        held, self._held = self._held or [], None
        for envelope in held:
            self._say(envelope)

    def recap(self, envelopes: Iterable[Envelope], title: str, who: Speakers | None = None) -> None:
        """Print what was said before, the last of it; on a terminal one line a message, cut where it is too long.

        Args:
            envelopes: What was said.
            title: What it is.
            who: What is known of who spoke; None: what these messages say.
        """
        self.console.rule(Text(title, style="dim"), style="dim")
        said = [*envelopes]
        for envelope in said:
            self._book.note(envelope)
        shown = [envelope for envelope in said if self._shows(envelope)]
        for envelope in shown[-RECAP:]:
            text = line(envelope, who or self._who)
            if self.console.is_terminal:
                text.truncate(max(20, self.console.width - 1), overflow="ellipsis")
            self.console.print(text, soft_wrap=True)
        self.console.rule(style="dim")

    def say(self, text: str, style: str = "dim") -> None:
        """Print a line of our own."""
        self.console.print(Text(text, style=style))

    def attach(self, society: Society) -> None:
        """Print everything that the society logs from now on, and its status."""
        if self.console.is_terminal:
            self._live = Live(console=self.console, auto_refresh=False, transient=True)
            self._live.start()
            self._start_ticking(society)

        if self._held is not None:
            asyncio.get_running_loop().call_later(MOST_WAIT_S * max(society.clock.speed, 0.001), self._go_on)
        self._who = speakers_of(society.host.docket.context)

        def show(env: Envelope, _fx: object) -> None:
            self._say(env)
            if env.body.type == "CLOCK_SET" and self._live is not None:
                # The tick under way was measured at the old speed.
                self._start_ticking(society)
            self._refresh(society)

        society.host.listeners.append(show)

    def _say(self, envelope: Envelope) -> None:
        if self._held is not None:
            self._held.append(envelope)
            if len(self._held) >= MOST_HELD:
                self._go_on()
        elif self._shows(envelope):
            self._surface.show(envelope, self._who)

    def _shows(self, envelope: Envelope) -> bool:
        return self._shows_all or not is_quiet(envelope)

    def _start_ticking(self, society: Society) -> None:
        if self._ticker is not None:
            self._ticker.cancel()
        self._ticker = asyncio.create_task(self._tick(society), name="status line")

    async def _tick(self, society: Society) -> None:
        while self._live is not None:
            self._refresh(society)
            # Twice a wall second, whatever the speed; a paused clock stops this loop, not the line.
            await asyncio.sleep(0.5 * max(society.clock.speed, 0.001))

    def _refresh(self, society: Society) -> None:
        if self._live is not None:
            shown = status(society, self.console.width)
            if self._address:
                shown = Text.assemble((f"{self._address}\n", "bold"), shown)
            self._live.update(shown, refresh=True)

    def close(self) -> None:
        """Take the status line away, and print what still waits for the gateway's word."""
        self._go_on()
        if self._ticker is not None:
            self._ticker.cancel()
        if self._live is not None:
            live, self._live = self._live, None
            live.stop()


def status(society: Society, width: int = 80) -> Text:
    """Return the status line, at most so wide: time, cycle, who owes what, escalations, a halt."""
    docket, clock = society.host.docket, society.clock
    now = clock.now()
    pace = "paused" if clock.paused else f"{clock.speed:g}x"
    parts: list[tuple[str, str] | str] = [(f" {now:%a %d %b %H:%M} UTC ", "reverse"), f" {pace} "]
    cycles = [kind for kind, machine in rulebook().types.items() if CycleTrigger in machine.start]
    cycle = next((s for s in docket.cases.values() if s.kind in cycles), None)
    parts.append(f"| {cycle.kind} {cycle.phase} " if cycle is not None else "| between cycles ")
    # The desk's tracks are owed ahead of time; what opens later is nobody's debt yet.
    owed = sorted(
        (o for o in docket.open.values() if o.opened_at <= now and o.seat not in OFFICERS | PEOPLE),
        key=lambda o: (o.due_at, o.id),
    )
    if docket.context.fold_named("minds").is_rehearsal:
        parts.append((f"| {REHEARSAL} ", "bold magenta"))
    # What asks for a person comes first: a narrow terminal cuts the end.
    waiting = docket.context.running.get("escalation", 0)
    if waiting:
        noun = "escalation" if waiting == 1 else "escalations"
        parts.append((f"| {waiting} {noun} open ", "bold yellow"))
    if docket.context.fold_named("book").halted:
        parts.append(("| desk halted ", "bold red"))
    if docket.context.conservative_a:
        parts.append(("| conservative ", "yellow"))
    for obligation in owed[:SHOWN]:
        left = obligation.due_at - now
        style = "red" if left < timedelta(0) else ""
        parts.append((f"| {_owes(obligation, now)} ", style))
    if len(owed) > SHOWN:
        parts.append(f"| +{len(owed) - SHOWN} ")
    text = Text.assemble(*parts)
    text.truncate(max(20, width - 1), overflow="ellipsis")
    return text


def _owes(obligation: Obligation, now: datetime) -> str:
    left = obligation.due_at - now
    sign = "-" if left < timedelta(0) else ""
    minutes, seconds = divmod(int(abs(left).total_seconds()), 60)
    what = duties.owed(obligation.id, duties.position(obligation.subject))
    return f"{obligation.seat} owes the {what} {sign}{minutes}:{seconds:02d}"
