"""Puts the page on a FastAPI application."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.requests import Request

from moot.console.model.interface import Person, ReadModel

PATHS: Final = (
    "/",
    "/all",
    "/c/{rest}",
    "/m/{rest}",
    "/case/{rest:path}",
    "/inbox",
    "/search",
    "/seat/{rest:path}",
    "/memory",
    "/memory/{rest}",
    "/figures/{rest}",
    "/calls",
    "/call/{rest:path}",
)
"""Addresses at which the page is served; it shows what the address names."""

ELSEWHERE: Final = "/{rest:path}"
"""All other addresses: the page says that nothing stands there. It comes last, after what NiceGUI serves itself."""

AWAY_S: Final = 20.0
"""So long a page that lost its connection is kept, in wall time; one that comes later is loaded anew."""

PAGE_S: Final = 60.0
"""So long a page may take to be made, in wall time: on a machine that is busy it is late, not wrong."""


def mount(app: FastAPI, model: ReadModel, person_of: Callable[[Request], Person]) -> None:
    """Serve the page on every address that it knows; call once per process, after all other routes.

    Args:
        app: The application; its middleware has let in only who may come in.
        model: The society.
        person_of: Who sent a request, as the middleware found out.
    """
    # NiceGUI makes its storage folder when it is imported, in the working directory unless told otherwise.
    os.environ.setdefault("NICEGUI_STORAGE_PATH", str(Path(tempfile.gettempdir(), "moot-console")))
    from nicegui import ui

    from moot.console.page.element import Page, dress
    from moot.console.page.pictures import add_pictures
    from moot.console.page.session import Visit
    from moot.console.page.sockets import belongs, bind

    add_pictures(app)

    async def page(request: Request) -> None:
        client = ui.context.client
        person = person_of(request)
        belongs(client, person)
        session = Visit(model.seen_by(person), person, page=client.id)
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        boot = await session.boot(path)
        if boot["view"]["kind"] == "nothing":
            client.status_code = HTTPStatus.NOT_FOUND
        dress()
        ui.page_title(f"{boot['view']['title']} · Moot")
        shown = Page(boot, session)
        following: list[asyncio.Task[None]] = []

        def follow() -> None:
            if not following:
                following.append(asyncio.create_task(session.run(shown.tell), name=f"page {client.id}"))

        async def leave() -> None:
            for task in following:
                task.cancel()
            await session.close()

        client.on_connect(follow)
        client.on_delete(leave)

    def serve(path: str) -> None:
        ui.page(path, title="Moot", dark=None, language="en-US", response_timeout=PAGE_S)(_named(page, path))

    for path in PATHS:
        serve(path)
    ui.run_with(
        app,
        title="Moot",
        dark=None,
        tailwind=False,
        show_welcome_message=False,
        reconnect_timeout=AWAY_S,
        message_history_length=200,
        binding_refresh_interval=None,
        # Packing a megabyte of scripts anew for every browser takes longer than loopback does.
        gzip_middleware_factory=None,
        favicon="⚖️",
    )
    bind()
    serve(ELSEWHERE)


def _named(page: Callable[[Request], object], path: str) -> Callable[[Request], object]:
    """Return the page as a function of its own: NiceGUI keeps pages by function."""

    async def shown(request: Request) -> None:
        await page(request)  # type: ignore[misc]

    shown.__name__ = "page_" + "".join(c if c.isalnum() else "_" for c in path)
    return shown
