"""Why a connection failed, in a few words."""

from __future__ import annotations

import errno
import os
import ssl
from typing import Final

import aiohttp

_SAID: Final = {
    errno.ECONNREFUSED: "connection refused",
    errno.ECONNRESET: "it was reset",
    errno.EPIPE: "it was reset",
    errno.ETIMEDOUT: "timed out",
    errno.EHOSTUNREACH: "no route to it",
    errno.ENETUNREACH: "no network",
}


def reason(error: BaseException) -> str:
    """Say why a connection failed, from the error's type and number alone.

    Never its own text: that may hold an address, and some addresses are secrets.
    """
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "its name is not known"
    if isinstance(error, aiohttp.ClientSSLError | ssl.SSLError):
        return "its certificate or encryption is not accepted"
    if isinstance(error, TimeoutError) and not error.errno:
        return "timed out"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "it was closed from there"
    if isinstance(error, OSError) and error.errno:
        # A failed look-up of a name has numbers of its own, below nought or not the system's.
        return _SAID.get(error.errno) or os.strerror(error.errno)
    return type(error).__name__
