"""Keeps the console served beside the surfaces of a gateway, whatever happens to it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import structlog

from moot.channels.backoff import PATIENT, Backoff
from moot.channels.gateway.client import Requests
from moot.channels.gateway.link import FindAddress
from moot.config.settings import Settings
from moot.console.errors import CannotServe
from moot.console.options import ConsoleOptions
from moot.console.serving.server import Tell, print_line, serve
from moot.console.watching import KNOCKING


def print_addresses(owner: str, viewer: str) -> None:
    """Print where people come in; the addresses hold their tokens."""
    sys.stdout.write(f"console: {owner or 'served, its tokens are yours'}\n")
    if viewer:
        sys.stdout.write(f"viewers: {viewer}\n")
    sys.stdout.flush()


def print_refusal(why: str) -> None:
    """Print why there is no page."""
    print_line(f"no page: {why}")


async def keep(
    console: ConsoleOptions,
    directory: Path,
    settings: Settings,
    find: FindAddress,
    *,
    tell: Tell = print_addresses,
    refuse: Callable[[str], None] = print_refusal,
    backoff: Backoff = PATIENT,
) -> None:
    """Serve until cancelled; after a crash again, with growing pauses.

    What cannot be served (port in use, no token where one is needed) is told in one line and not tried again:
    the society and its other surfaces go on without a page.

    Args:
        console: How it is served.
        directory: The society's data directory.
        settings: Who is an admin, what viewers read.
        find: Where the society's socket is.
        tell: Told the addresses at the first start.
        refuse: Told why nothing is served.
        backoff: The pauses after crashes.
    """
    log = structlog.get_logger("moot.console")
    requests = Requests(find, backoff=KNOCKING)
    asking = asyncio.create_task(requests.run(), name="console requests")
    failures = 0
    try:
        while True:
            try:
                await serve(console, directory, settings, requests, find, tell=tell if not failures else None)
            except CannotServe as exc:
                log.error("no console", why=str(exc))
                refuse(str(exc))
                return
            except Exception as exc:
                log.exception("console crashed", why=f"{type(exc).__name__}: {exc}")
            failures += 1
            await asyncio.sleep(backoff.delay_s(failures))
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
