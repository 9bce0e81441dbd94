"""Binds every socket of the page to who opened it: what it says counts for that person's own pages only.

NiceGUI finds the page that an event is for by an id in the event, and asks nobody whose page that is. Here it is asked:
a socket speaks for a page only when the same person opened both and it introduced itself as that page's. Everything
else that a browser sends, lines for the server's log among it, is left unread.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import parse_qs
from weakref import WeakKeyDictionary

import structlog
from nicegui import core
from nicegui.client import Client
from socketio.exceptions import ConnectionRefusedError  # type: ignore[import-untyped]

from moot.console.model.interface import Person

NAMESPACE: Final = "/"
HEARD: Final = ("event", "javascript_response", "ack")
"""What a socket may say of a page that it has introduced itself as."""

UNHEARD: Final = ("log",)
"""What nobody wants to know: a browser does not write our log."""

LIBRARIES: Final = ("nicegui", "engineio", "engineio.server", "socketio", "socketio.server")
MOST_TOLD: Final = 200

Handler = Callable[..., Any]

_owners: WeakKeyDictionary[Client, Person] = WeakKeyDictionary()


def belongs(client: Client, person: Person) -> None:
    """Note who opened a page."""
    _owners[client] = person


def bind() -> None:
    """Put the question whose page it is before everything that a socket says; call once NiceGUI has its handlers."""
    handlers: dict[str, Handler] = core.sio.handlers[NAMESPACE]
    if handlers.get(UNHEARD[0]) is _unheard:
        return
    for name in UNHEARD:
        handlers[name] = _unheard
    for name in HEARD:
        handlers[name] = _bound(handlers[name])
    handlers["handshake"] = _introduced(handlers["handshake"])
    handlers["connect"] = _connected(handlers["connect"])
    # A socket that was opened by one person could be spoken through by another who knows its id; a web socket cannot.
    core.sio.eio.transports = ["websocket"]
    for library in LIBRARIES:
        # What a browser sends must not fill our log; what fails in the page itself is told by the page.
        logging.getLogger(library).setLevel(logging.CRITICAL)


def _person(sid: str) -> Person | None:
    """Return who opened a socket, as the guard found out."""
    environ = core.sio.get_environ(sid) or {}
    person = environ.get("asgi.scope", {}).get("state", {}).get("person")
    return person if isinstance(person, Person) else None


def _is_owners(sid: str, client_id: object) -> bool:
    client = Client.instances.get(client_id) if isinstance(client_id, str) else None
    person = _person(sid)
    return client is not None and person is not None and _owners.get(client) == person


def _bound(handler: Handler) -> Handler:
    async def heard(sid: str, said: object = None, *_more: object) -> None:
        client_id = said.get("client_id") if isinstance(said, dict) else None
        if _is_owners(sid, client_id) and client_id in core.sio.rooms(sid):
            await _try(handler, sid, said)

    return heard


def _introduced(handler: Handler) -> Handler:
    async def introduced(sid: str, said: object = None, *_more: object) -> bool:
        if not isinstance(said, dict) or not _is_owners(sid, said.get("client_id")):
            return False
        return bool(await _try(handler, sid, said))

    return introduced


def _connected(handler: Handler) -> Handler:
    async def connected(sid: str, environ: dict[str, Any], *_more: object) -> object:
        query = parse_qs(str(environ.get("QUERY_STRING", "")))
        if "implicit_handshake" in query and not _is_owners(sid, query.get("client_id", [""])[0]):
            # In NiceGUI's words: a page that the console no longer knows, after a restart, loads itself anew at them.
            raise ConnectionRefusedError("Implicit handshake failed")
        return await handler(sid, environ)

    return connected


async def _unheard(_sid: str, *_said: object) -> None:
    return None


async def _try(handler: Handler, sid: str, said: object) -> object:
    """Hand on what was said; what cannot be made sense of is one line."""
    try:
        found = handler(sid, said)
        return await found if inspect.isawaitable(found) else found
    except Exception as exc:
        person = _person(sid)
        structlog.get_logger("moot.console.page").warning(
            "socket not understood",
            who=None if person is None else person.user_id,
            why=f"{type(exc).__name__}: {exc}"[:MOST_TOLD],
        )
        return None
