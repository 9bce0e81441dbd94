"""One model at one endpoint: sends requests over the OpenAI SDK, tries again, and says how each call ended.

The SDK's own retries are off. Nothing goes out but what is written here: no header or key from variables that the SDK
reads by itself.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from moot.bots.models.answer import Answer, Fault
from moot.bots.models.errors import one_line
from moot.bots.models.key import discreet_reply
from moot.bots.models.pace import Pace
from moot.bots.models.reading import read_refusal, read_reply
from moot.bots.models.request import LADDER, Dialect, Request, Rung, body_of
from moot.bots.models.retrying import AGAIN, CAP_S, wait_s
from moot.config.models import ModelSettings

if TYPE_CHECKING:
    import httpx2
    import openai

REPLY_BYTES: Final = 4 * 1024 * 1024
"""A longer reply is not read to its end."""

_SENT: Final = frozenset(
    {
        "accept",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "host",
        "x-stainless-raw-response",
    }
)
"""Headers that go out as the SDK made them; it looks for the last one when the reply is there."""

# They would write each request into the society's log, and its headers when they debug.
for _noisy in ("openai", "httpx2", "httpcore2"):
    logging.getLogger(_noisy).setLevel(logging.WARNING)


class TooLarge(Exception):
    """A reply is longer than `REPLY_BYTES`, or compressed although that was not asked for."""


class Reply(NamedTuple):
    """What came back for one request.

    Attributes:
        status: The HTTP status.
        headers: Names in lower case.
        body: The bytes, key and secrets taken out.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class _NoReply(Exception):
    """No whole reply came; `is_sent` says whether the request went out."""

    def __init__(self, answer: Answer, *, is_sent: bool) -> None:
        super().__init__(answer.why)
        self.answer = answer
        self.is_sent = is_sent


class ModelClient:
    """Calls one model; may be used by many tasks of one loop at once. Close it, or use it as a context manager.

    Attributes:
        settings: Where the model is.
        pace: Its slots; clients of one endpoint may share them.
        dialect: What the endpoint takes, as far as is known.
        now_s: Wall seconds that never run backwards.
    """

    def __init__(
        self,
        settings: ModelSettings,
        key: str,
        *,
        rng: Random,
        now_s: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        pace: Pace | None = None,
    ) -> None:
        """Keep what calls need; nothing is sent yet.

        Args:
            settings: Where the model is.
            key: Its key; "" sends none.
            rng: Draws the waits.
            now_s: Wall seconds that never run backwards.
            sleep: Waits wall seconds.
            pace: Slots that are shared; None: its own.
        """
        self.settings = settings
        self.pace = pace or Pace(settings.at_once)
        self.dialect = Dialect(reasons=bool(settings.reasoning))
        self._key = key
        self._rng = rng
        self.now_s = now_s
        self._sleep = sleep
        self._sdk: openai.AsyncOpenAI | None = None

    async def __aenter__(self) -> Self:
        """Return the client."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        if self._sdk is not None:
            await self._sdk.close()

    async def call(
        self,
        request: Request,
        rung: Rung = LADDER[0],
        *,
        body: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
        given_up: asyncio.Event | None = None,
    ) -> Answer:
        """Make a call and say how it ended; it raises for nothing that a provider does.

        A request is sent again after a 429, a 5xx or a connection that never stood, no later than `CAP_S` seconds
        after the call began. One whose connection broke later may have been charged: it ends as `unknown`.

        Args:
            request: What is asked.
            rung: How the endpoint is held to the form.
            body: The request as `written` gave it once, to be sent as it stands; None: it is written now.
            deadline_s: When the answer is of no use any more, as `now_s` counts; None: never.
            given_up: Ends the call as `abandoned` when it is set.
        """
        began_s = self.now_s()
        sent = [0]
        body = self.written(request, rung) if body is None else body
        calling = asyncio.ensure_future(self._in_time(request, rung, body, began_s, deadline_s, sent))
        watching = asyncio.ensure_future(given_up.wait()) if given_up is not None else None
        try:
            if watching is not None:
                await asyncio.wait({calling, watching}, return_when=asyncio.FIRST_COMPLETED)
            if watching is None or calling.done():
                answer = await calling
            else:
                answer = Answer(outcome="abandoned", why="its answer was no longer wanted")
        finally:
            for task in (calling, watching):
                if task is not None and not task.done():
                    task.cancel()
                    await asyncio.wait({task})
        latency_ms = max(0, round((self.now_s() - began_s) * 1_000))
        return replace(answer, tries=sent[0], latency_ms=latency_ms)

    def written(self, request: Request, rung: Rung = LADDER[0]) -> dict[str, Any]:
        """Return the body of a request as it would go out now; no key is in it."""
        return body_of(
            request, model=self.settings.model, url=self.settings.url, rung=rung, dialect=self.dialect
        )

    async def models(self) -> Reply | Answer:
        """Ask the endpoint which models it has; an `Answer` that says why when no reply came."""
        try:
            async with asyncio.timeout(self.settings.timeout_s):
                return await self._exchange(lambda sdk: sdk.models.with_raw_response.list())
        except _NoReply as failure:
            return failure.answer
        except TimeoutError:
            return self._late(self.settings.timeout_s)

    async def _in_time(
        self,
        request: Request,
        rung: Rung,
        body: Mapping[str, Any],
        began_s: float,
        deadline_s: float | None,
        sent: list[int],
    ) -> Answer:
        left_s = None if deadline_s is None else deadline_s - began_s
        if left_s is not None and left_s <= 0:
            return Answer(outcome="timed_out", why="it was due before it began")
        try:
            async with asyncio.timeout(left_s):
                return await self._persistently(request, rung, body, began_s, deadline_s, sent)
        except TimeoutError:
            return Answer(outcome="timed_out", why="there was no answer when it was due")

    async def _persistently(
        self,
        request: Request,
        rung: Rung,
        body: Mapping[str, Any],
        began_s: float,
        deadline_s: float | None,
        sent: list[int],
    ) -> Answer:
        last_s = began_s + CAP_S if deadline_s is None else min(began_s + CAP_S, deadline_s)
        self._connected()
        for attempt in itertools.count(1):
            answer, again_s = await self._once(request, rung, body, attempt, sent)
            if again_s is None:
                return answer
            if self.now_s() + again_s > last_s:
                return replace(
                    answer, why=one_line(f"{answer.why}; to wait {again_s:.0f} s more takes too long")
                )
            if again_s:
                await self._sleep(again_s)
        raise AssertionError("attempts end with a return")

    async def _once(
        self, request: Request, rung: Rung, body: Mapping[str, Any], attempt: int, sent: list[int]
    ) -> tuple[Answer, float | None]:
        """Send a request once; return what came, and after how many seconds to send it again, if at all."""
        async with self.pace.slot() as began:
            body = self.dialect.fit(body)
            sent[0] += 1
            try:
                async with asyncio.timeout(self.settings.timeout_s):
                    reply = await self._exchange(
                        # The body is the request, as it stands: the SDK adds nothing to it.
                        lambda sdk: sdk.chat.completions.with_raw_response.create(**_typed(body))
                    )
            except _NoReply as failure:
                if failure.is_sent:
                    return failure.answer, None
                sent[0] -= 1
                is_lasting = failure.answer.fault == "tls"
                return failure.answer, None if is_lasting else wait_s(attempt, {}, self._rng)
            except TimeoutError:
                return self._late(self.settings.timeout_s), None
            if reply.status == 429:
                self.pace.slower(began)
            if reply.status < 300:
                self.pace.faster()
                return read_reply(reply.body, request, rung), None
        answer = read_refusal(reply.status, reply.body)
        if answer.fault == "request" and self.dialect.learns(answer.why, body):
            return answer, 0.0
        if reply.status in AGAIN and answer.fault in ("rate", "server", "request"):
            return answer, wait_s(attempt, reply.headers, self._rng)
        return answer, None

    async def _exchange(self, send: Callable[[openai.AsyncOpenAI], Awaitable[Any]]) -> Reply:
        """Send something over the SDK and take whatever status comes.

        Raises:
            _NoReply: No whole reply came.
        """
        import httpx2
        import openai

        try:
            raw = (await send(self._connected())).http_response
        except openai.APIStatusError as exc:
            raw = exc.response
        except openai.APITimeoutError as exc:
            is_connecting = isinstance(exc.__cause__, httpx2.ConnectTimeout | httpx2.PoolTimeout)
            if is_connecting:
                raise self._unreached(
                    "no_server", f"no connection within {self.settings.connect_s:g} s"
                ) from None
            raise _NoReply(self._late(self.settings.timeout_s), is_sent=True) from None
        except TooLarge as exc:
            raise _NoReply(
                Answer(outcome="provider_error", fault="too_large", why=str(exc)), is_sent=True
            ) from None
        except openai.APIConnectionError as exc:
            raise self._broken(exc.__cause__) from None
        return Reply(
            raw.status_code,
            {name.lower(): value for name, value in raw.headers.items()},
            discreet_reply(raw.content, self._key),
        )

    def _broken(self, cause: BaseException | None) -> _NoReply:
        import httpx2

        if isinstance(cause, TooLarge):
            return _NoReply(Answer(outcome="provider_error", fault="too_large", why=str(cause)), is_sent=True)
        said = one_line(str(cause) or type(cause).__name__)
        if isinstance(cause, httpx2.ConnectError | httpx2.UnsupportedProtocol | httpx2.ProxyError):
            fault: Fault = "tls" if _is_tls(cause) else "no_server"
            return self._unreached(fault, said)
        return _NoReply(
            Answer(
                outcome="unknown",
                fault="server",
                why=f"the connection broke before the reply was whole: {said}",
            ),
            is_sent=True,
        )

    def _unreached(self, fault: Fault, said: str) -> _NoReply:
        what = "no secure connection" if fault == "tls" else "no connection"
        why = f"{what} to {self.settings.url}: {said}"
        return _NoReply(Answer(outcome="provider_error", fault=fault, why=why), is_sent=False)

    def _late(self, limit_s: float) -> Answer:
        return Answer(outcome="timed_out", why=f"no whole reply within {limit_s:g} s")

    def _connected(self) -> openai.AsyncOpenAI:
        if self._sdk is None:
            # Importing it takes over half a second.
            import httpx2
            import openai

            given = self.settings
            http = httpx2.AsyncClient(
                timeout=httpx2.Timeout(given.timeout_s, connect=given.connect_s, pool=None),
                limits=httpx2.Limits(
                    max_connections=self.pace.most, max_keepalive_connections=self.pace.most
                ),
                follow_redirects=False,
                event_hooks={"request": [self._bare], "response": [_bounded]},
            )
            self._sdk = openai.AsyncOpenAI(
                base_url=given.url,
                api_key=self._key or "none",
                max_retries=0,
                timeout=http.timeout,
                http_client=http,
            )
        return self._sdk

    async def _bare(self, request: httpx2.Request) -> None:
        """Take away every header that is not ours to send."""
        for name in list(request.headers):
            if name.lower() not in _SENT:
                del request.headers[name]
        request.headers["accept-encoding"] = "identity"
        request.headers["user-agent"] = "moot"
        request.headers.pop("authorization", None)
        if self._key:
            request.headers["authorization"] = f"Bearer {self._key}"


def _typed(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body as the SDK's arguments: what the API has no name for goes beside them."""
    ours = {name: one for name, one in body.items() if name != "provider"}
    return {**ours, "extra_body": {"provider": body["provider"]}} if "provider" in body else ours


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

    if response.headers.get("content-encoding", "identity") not in ("", "identity"):
        raise TooLarge("the server compresses its reply although that was not asked for")
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
