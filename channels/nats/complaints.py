"""What servers of NATS and the client library say when something goes wrong, in plain words."""

from __future__ import annotations

import asyncio
import re
import ssl
from typing import Final

from moot.channels.errors import BusClosed, NatsUnavailable, StorageError
from moot.channels.nats.address import CREDENTIALS, NatsAddress
from moot.protocols.kernel.errors import MootError

_REFUSED: Final = re.compile(r'permissions violation for \w+ to "([^"]+)"', re.IGNORECASE)
FULL: Final = (10023, 10047, 10077, 10122)
"""What the server says when memory, disk or the account's share of it is used up."""
_NO_JETSTREAM: Final = (10039, 10076)
_NO_MAJORITY: Final = 10008
_AWAY: Final = (10118, 10119)
"""What the server says of a stream or consumer whose servers are not there."""
_TOO_FEW: Final = (10005, 10074)
"""What it says when there are not as many servers as replicas are wanted."""


def renamed(exc: Exception, address: NatsAddress, most: int, *, refused: str = "") -> MootError:
    """Return the error of this package for one of the library.

    Args:
        exc: What the library raised.
        address: Where the connection leads.
        most: The bytes of the longest message that the server takes.
        refused: What the server did not let us use meanwhile, as `not_permitted` says it.
    """
    import nats.errors
    import nats.js.errors

    where = address.where
    code = getattr(exc, "err_code", None)
    if isinstance(exc, nats.errors.ConnectionClosedError | nats.errors.ConnectionDrainingError):
        return BusClosed(f"the connection to {where} is closed")
    if isinstance(exc, nats.errors.MaxPayloadError):
        return StorageError(f"{where} takes messages of {most} bytes at most: raise its max_payload")
    if code in FULL:
        return StorageError(f"{where} has no room left for {address.stream}: {_said(exc)}")
    if code in _NO_JETSTREAM:
        return without_jetstream(address)
    if code in _TOO_FEW:
        return StorageError(f"{where} has fewer servers than replicas are asked for: {_said(exc)}")
    if code == _NO_MAJORITY:
        return NatsUnavailable(
            f"{where} takes no orders: start more of its servers, for more than half of them must be there"
        )
    if code in _AWAY or (isinstance(exc, nats.js.errors.ServiceUnavailableError) and code):
        return NatsUnavailable(f"{where} cannot answer now: {_said(exc)}")
    if refused:
        return StorageError(f"{where} does not let {_shown(address)} {refused}")
    is_unknown = isinstance(exc, nats.js.errors.ServiceUnavailableError) and not code
    if is_unknown or isinstance(exc, nats.js.errors.NoStreamResponseError | nats.errors.NoRespondersError):
        return NatsUnavailable(
            f"{where} has nobody who answers {_shown(address)} for {address.stream}: "
            "its servers start, or the permissions of that user lack it"
        )
    if isinstance(exc, TimeoutError | nats.errors.OutboundBufferLimitError):
        return NatsUnavailable(f"{where} does not answer")
    return StorageError(f"{where}: {_said(exc)}")


def without_jetstream(address: NatsAddress) -> NatsUnavailable:
    """Return what is said of a server that keeps nothing."""
    return NatsUnavailable(f"{address.where} has no JetStream for us: start nats-server with -js")


def not_permitted(exc: Exception) -> str:
    """Return what the server does not let us use, "" where it said something else."""
    found = _REFUSED.search(str(exc))
    return "" if found is None else f"use {found[1]}: look at the permissions of that user"


def unreached(address: NatsAddress, exc: Exception) -> NatsUnavailable:
    """Return what is said of servers that cannot be reached, or let us not in."""
    said = _said(exc)
    lower = said.lower()
    if "authorization" in lower or "authentication" in lower or "user authentication" in lower:
        hint = "check the address" if address.credentials is None else f"check {CREDENTIALS}"
        return NatsUnavailable(
            f"{address.where} does not let {_shown(address)} in: {hint}, and the server's users"
        )
    if isinstance(exc, ssl.SSLError):
        return NatsUnavailable(
            f"{address.where} is not trusted: {getattr(exc, 'verify_message', '') or said}"
        )
    if isinstance(exc, TimeoutError | asyncio.TimeoutError):
        return NatsUnavailable(f"no server of NATS answers at {address.where}")
    if isinstance(exc, OSError):
        return NatsUnavailable(f"no server of NATS answers at {address.where}: {exc.strerror or said}")
    return NatsUnavailable(f"no server of NATS lets us in at {address.where}: {said}")


def _shown(address: NatsAddress) -> str:
    return f"the user {address.user}" if address.user else "us"


def _said(exc: Exception) -> str:
    """Return what the server said, without the library's decoration."""
    said = getattr(exc, "description", None) or str(exc) or type(exc).__name__
    return str(said).removeprefix("nats: ").strip("'\n ")
