"""One request to an endpoint over its SDK, and what came back; nothing goes out but what is written here.

The SDK's own retries are off, and so are headers and keys from variables that it reads by itself.
"""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import sys
from collections.abc import AsyncIterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic_core import to_jsonable_python

from moot.bots.models.answer import Answer, Fault
from moot.bots.models.endpoint import Endpoint
from moot.bots.models.errors import NoNetwork, NoPackage, one_line
from moot.bots.models.key import discreet_reply, headers_of, holds_key, key_header
from moot.channels.network import UnusableNetwork, check_network, http_client, proxy_variable

if TYPE_CHECKING:
    import anthropic
    import httpx2
    import openai

REPLY_BYTES: Final = 4 * 1024 * 1024
"""A longer reply is not read to its end."""

_SENT: Final = frozenset({"accept", "connection", "content-length", "host"})
"""Headers that go out as the SDK made them."""


class TooLarge(Exception):
    """A reply is longer than `REPLY_BYTES`, or compressed although that was not asked for."""


class Reply(NamedTuple):
    """What came back for one request.

    Attributes:
        status: The HTTP status.
        headers: Names in lower case.
        body: The bytes, key and secrets taken out: what is kept and shown.
        raw: The bytes as they came: what is measured.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    raw: bytes


class NoReply(Exception):
    """No whole reply came; `is_sent` says whether the request went out."""

    def __init__(self, answer: Answer, *, is_sent: bool) -> None:
        super().__init__(answer.why)
        self.answer = answer
        self.is_sent = is_sent


class Exchange:
    """Connections to one endpoint; may be used by many tasks of one loop at once.

    Attributes:
        secrets: Key and secret headers of its requests.
    """

    def __init__(self, endpoint: Endpoint, key: str, most: int) -> None:
        """Keep what requests need; nothing is imported or sent yet.

        Args:
            endpoint: Where the model is.
            key: Its key; "" sends none.
            most: Connections at once, at most.

        Raises:
            NoPackage: The endpoint's SDK is not installed.
            NoKey: A variable that a header names is not set.
            NoNetwork: A proxy or a file of authorities that the environment names cannot be used.
        """
        if find_spec(endpoint.package) is None:
            raise NoPackage(
                f"the package {endpoint.package} is not installed: pip install 'moot[{endpoint.package}]'"
            )
        try:
            check_network(endpoint.settings.url)
        except UnusableNetwork as exc:
            raise NoNetwork(str(exc)) from None
        self._endpoint = endpoint
        self._settings = endpoint.settings
        self._key = key
        headers, secrets = headers_of(endpoint.settings)
        self._headers = {**endpoint.headers, **headers, **key_header(endpoint.settings, key)}
        self.secrets = tuple(one for one in (key, *secrets) if one)
        self._most = most
        self._opening = asyncio.Lock()
        self._sdk: openai.AsyncOpenAI | anthropic.AsyncAnthropic | None = None

    async def open(self) -> None:
        """Get ready to send, off the loop."""
        async with self._opening:
            if self._sdk is None:
                self._sdk = await asyncio.to_thread(self._opened)

    async def close(self) -> None:
        """Close all connections."""
        if self._sdk is not None:
            await self._sdk.close()

    def holds_key(self, value: object) -> bool:
        """Return whether a text within a value holds the key or a secret header; names of fields do not count."""
        return holds_key(to_jsonable_python(value, fallback=str), self.secrets)

    async def ask(self, body: Mapping[str, Any]) -> Reply:
        """Send a request as it stands and take whatever status comes.

        Raises:
            NoReply: No whole reply came.
        """
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        return await self._take(self._settings.at(self._endpoint.path), content)

    async def models(self) -> Reply:
        """Ask for the list of models.

        Raises:
            NoReply: No whole reply came.
        """
        return await self._take(self._settings.at(self._endpoint.models_path), None)

    async def _take(self, path: str, content: bytes | None) -> Reply:
        await self.open()
        import httpx2

        assert self._sdk is not None
        errors: Any = sys.modules[self._endpoint.package]
        try:
            if content is None:
                raw = await self._sdk.get(path, cast_to=httpx2.Response)
            else:
                raw = await self._sdk.post(path, cast_to=httpx2.Response, content=content)
        except errors.APIStatusError as exc:
            raw = exc.response
        except errors.APITimeoutError as exc:
            if isinstance(exc.__cause__, httpx2.ConnectTimeout | httpx2.PoolTimeout):
                said = f"no connection within {self._settings.connect_s:g} s"
                raise self._unreached("no_server", said) from None
            raise NoReply(late(self._settings.timeout_s), is_sent=True) from None
        except TooLarge as exc:
            raise _oversized(exc) from None
        except errors.APIConnectionError as exc:
            raise self._broken(exc.__cause__) from None
        return Reply(
            raw.status_code,
            {name.lower(): value for name, value in raw.headers.items()},
            discreet_reply(raw.content, *self.secrets),
            raw.content,
        )

    def _broken(self, cause: BaseException | None) -> NoReply:
        import httpx2

        if isinstance(cause, TooLarge):
            return _oversized(cause)
        said = one_line(str(cause) or type(cause).__name__)
        if isinstance(cause, httpx2.ConnectError | httpx2.UnsupportedProtocol | httpx2.ProxyError):
            return self._unreached("tls" if _is_tls(cause) else "no_server", said)
        why = f"the connection broke before the reply was whole: {said}"
        return NoReply(Answer(outcome="unknown", fault="server", why=why), is_sent=True)

    def _unreached(self, fault: Fault, said: str) -> NoReply:
        what = "no secure connection" if fault == "tls" else "no connection"
        through = proxy_variable(self._settings.url)
        through = f" through the proxy that {through} names" if through else ""
        why = f"{what} to {self._settings.url}{through}: {said}"
        return NoReply(Answer(outcome="provider_error", fault=fault, why=why), is_sent=False)

    def _opened(self) -> openai.AsyncOpenAI | anthropic.AsyncAnthropic:
        import httpx2

        given = self._settings
        http = http_client(
            given.url,
            timeout=httpx2.Timeout(given.timeout_s, connect=given.connect_s, pool=None),
            limits=httpx2.Limits(max_connections=self._most, max_keepalive_connections=self._most),
            follow_redirects=False,
            event_hooks={"request": [self._bare], "response": [_bounded]},
        )
        sdk = self._endpoint.sdk(self._key or "none", http)
        # They would write each request into the society's log, and its headers where a variable says so.
        for noisy in (self._endpoint.package, "httpx2", "httpcore2"):
            logging.getLogger(noisy).setLevel(logging.WARNING)
        return sdk

    async def _bare(self, request: httpx2.Request) -> None:
        """Take away every header that is not ours to send."""
        for name in list(request.headers):
            if name.lower() not in _SENT:
                del request.headers[name]
        request.headers |= {"accept-encoding": "identity", "user-agent": "moot", **self._headers}
        if request.method == "POST":
            request.headers["content-type"] = "application/json"


def late(limit_s: float) -> Answer:
    """Return the answer that no whole reply came in time."""
    return Answer(outcome="timed_out", why=f"no whole reply within {limit_s:g} s")


def _oversized(error: TooLarge) -> NoReply:
    return NoReply(Answer(outcome="provider_error", fault="too_large", why=str(error)), is_sent=True)


def _is_tls(cause: BaseException) -> bool:
    found: BaseException | None = cause
    while found is not None:
        if isinstance(found, ssl.SSLError):
            return True
        found = found.__cause__ or found.__context__
    return False


async def _bounded(response: httpx2.Response) -> None:
    """Hold a reply to its size while it is read."""
    import httpx2

    encoding = response.headers.get("content-encoding", "identity")
    if encoding not in ("", "identity"):
        raise TooLarge(f"the server compresses its reply ({encoding[:40]}) although that was not asked for")
    told = response.headers.get("content-length", "")
    if told.isdigit() and int(told) > REPLY_BYTES:
        raise TooLarge(f"the reply is longer than {REPLY_BYTES // 1024**2} MiB")
    inner = response.stream
    assert isinstance(inner, httpx2.AsyncByteStream)
    response.stream = _bounded_stream(inner)


def _bounded_stream(inner: httpx2.AsyncByteStream) -> httpx2.AsyncByteStream:
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            taken = 0
            async for part in inner:
                taken += len(part)
                if taken > REPLY_BYTES:
                    raise TooLarge(f"the reply is longer than {REPLY_BYTES // 1024**2} MiB")
                yield part

        async def aclose(self) -> None:
            await inner.aclose()

    return Bounded()
