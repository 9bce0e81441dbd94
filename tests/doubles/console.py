"""The console for tests: logs written down by chance, a watched society, a served console, one per port."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moot.channels.gateway import address
from moot.channels.gateway.client import Requests
from moot.config.settings import Settings, load_settings
from moot.console.model.live import Live
from moot.console.options import ConsoleOptions
from moot.console.serving.access import NAME
from moot.console.serving.server import serve
from moot.console.watching import KNOCKING, Watching
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.rulebook import rules
from tests.doubles.biglog import Chance
from tests.doubles.data_dir import write_log
from tests.doubles.waiting import until


def by_chance(messages: int, **how: Any) -> list[Envelope]:
    """Make a valid log of about so many messages, with silence and faults in it, that ends inside a case."""
    log: list[Envelope] = []
    Chance(log.append, **{"silence": 0.05, "faults": 0.05, **how}).live(messages=messages)
    docket, end = Docket(rules()), 0
    for count, env in enumerate(log, 1):
        docket.fold(env)
        if any(state.owed for state in docket.cases.values()):
            end = count
    return log[:end]


def written(directory: Path, messages: int, **how: Any) -> list[Envelope]:
    """Write such a log down, and return it."""
    log = by_chance(messages, **how)
    write_log(directory, log)
    return log


@asynccontextmanager
async def watched(
    directory: Path,
    settings: Settings | None = None,
    *,
    is_whole: bool = True,
    requests: Requests | None = None,
) -> AsyncIterator[Live]:
    """Watch a directory; with `is_whole` begin when everything has been read; nobody can act without `requests`."""
    watching = Watching(
        directory, settings or load_settings(), requests=requests, find=lambda: address.find(directory)
    )
    running = asyncio.create_task(watching.run())
    model = Live(watching)
    try:
        await until(lambda: model.head or running.done())
        if is_whole:
            await until(lambda: is_read(model) or running.done(), within_s=60)
        if running.done():
            running.result()
        yield model
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def is_read(model: Live) -> bool:
    """Say whether docket, stories and index are complete, or as complete as they will get."""
    parts = (model.progress(), model.index_progress(), model.watching.story_progress())
    told = (model.watching._folding.stories, model.watching._folding.past)
    return all(part.is_complete or part.problem for part in parts) and all(
        stories is None or stories.is_written for stories in told
    )


@dataclass(slots=True)
class Served:
    """A console on a port.

    Attributes:
        base: `http://127.0.0.1:PORT`.
        owner: The owner's token.
        viewer: The viewer's token.
        task: Serves until it is cancelled.
    """

    base: str
    owner: str
    viewer: str
    task: asyncio.Task[None]

    @property
    def host(self) -> str:
        """Return `127.0.0.1:PORT`."""
        return self.base.removeprefix("http://")


@asynccontextmanager
async def served(directory: Path, settings: Settings | None = None, **options: Any) -> AsyncIterator[Served]:
    """Serve a directory on a free port, without the page unless `has_page` says otherwise."""
    requests = Requests(lambda: address.find(directory), backoff=KNOCKING)
    asking = asyncio.create_task(requests.run())
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        serve(
            ConsoleOptions(**{"port": 0, "has_page": False, **options}),
            directory,
            settings or load_settings(),
            requests,
            lambda: address.find(directory),
            tell=lambda owner, _viewer: told.set_result(owner),
        )
    )
    try:
        await asyncio.wait((serving, told), return_when=asyncio.FIRST_COMPLETED)
        if not told.done():
            serving.result()
        base = told.result().partition("/?token=")[0]
        lines = (options.get("token_file") or directory / NAME).read_text().splitlines()
        tokens = dict(line.split() for line in lines)
        yield Served(base, tokens.get("owner", ""), tokens.get("viewer", ""), serving)
    finally:
        serving.cancel()
        asking.cancel()
        await asyncio.gather(serving, asking, return_exceptions=True)
