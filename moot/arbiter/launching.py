"""Carry out a run: its folder is kept, signals stop it, and whoever else wants to is told."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple

from moot.arbiter.artifacts import ArtifactWriter
from moot.arbiter.engine import GRACE, Engine
from moot.arbiter.events import RunEnded, Subscriber
from moot.arbiter.interrupt import Interrupt, Level
from moot.arbiter.ports import Embedder, Runner
from moot.arbiter.resolving import Prepared
from moot.clock import Clock
from moot.protocols.arbiter.generated import Policy

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class CannotBegin(Exception):
    """Say why a run cannot begin, and what to do; nothing was asked."""


class StartRefused(CannotBegin):
    """Say that the society that is to hear of a run does not live, or does not take it."""


class Ports(NamedTuple):
    """Whom a run asks, and who else is told of it.

    Attributes:
        subscribers: Are told after the folder was written.
        enough: Says after each batch why the run may end there; None lets it go on.
    """

    runner: Runner
    embedder: Embedder
    subscribers: Sequence[Subscriber] = ()


OpenPorts = Callable[[Clock, Interrupt], AbstractAsyncContextManager[Ports]]
"""Opens what a run asks, on its loop, and closes it after the run."""


def launch(
    prepared: Prepared,
    policy: Policy,
    writer: ArtifactWriter,
    clock: Clock,
    open_ports: OpenPorts,
    say: Callable[[str], None],
    subscribers: Sequence[Subscriber] = (),
    enough: Callable[[], str | None] = lambda: None,
) -> RunEnded:
    """Carry out a run on a loop of its own.

    The first SIGINT or SIGTERM lets what is in flight end, the second cancels it; either way the folder is whole.

    Args:
        prepared: What is to be asked.
        policy: What it allows.
        writer: Keeps it.
        clock: Has not run yet.
        open_ports: Whom it asks.
        say: Is told a line for each signal.
        subscribers: Are told after the folder was written.
        enough: Says after each batch why the run may end there; None lets it go on.

    Raises:
        CannotBegin: Its ports cannot be opened.
        moot.arbiter.engine.RunFailed: It ended as an error; the folder says so as far as it could be written.
    """

    async def main(clock: Clock) -> RunEnded:
        interrupt = Interrupt()
        loop = asyncio.get_running_loop()

        def stop() -> None:
            interrupt.ask()
            if interrupt.level is Level.NOW:
                say("what is in flight is cancelled")
            else:
                seconds = round(GRACE.total_seconds())
                say(
                    f"interrupted: no further trial begins, those in flight have {seconds} s; again ends them at once"
                )

        for number in SIGNALS:
            loop.add_signal_handler(number, stop)
        try:
            async with open_ports(clock, interrupt) as ports:
                engine = Engine(
                    prepared,
                    policy,
                    ports.runner,
                    ports.embedder,
                    clock,
                    interrupt,
                    [writer, *ports.subscribers, *subscribers],
                    enough,
                )
                return await engine.run()
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)

    return clock.run(main)
