"""One model at one endpoint: sends requests, tries again, and says how each call ended."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from random import Random
from types import TracebackType
from typing import Any, Final, Self

from moot.bots.models.answer import Answer
from moot.bots.models.anthropic_api import AnthropicEndpoint
from moot.bots.models.embeddings_api import EmbeddingsEndpoint
from moot.bots.models.endpoint import Dialect, Endpoint
from moot.bots.models.errors import one_line
from moot.bots.models.exchange import Exchange, NoReply, Reply, late
from moot.bots.models.openai_api import OpenAiEndpoint
from moot.bots.models.pace import Pace
from moot.bots.models.request import LADDER, Request, Rung
from moot.bots.models.retrying import AGAIN, CAP_S, wait_s
from moot.config.models import Api, ModelSettings

ENDPOINTS: Final[Mapping[Api, type[Endpoint]]] = {
    "openai": OpenAiEndpoint,
    "anthropic": AnthropicEndpoint,
    "embeddings": EmbeddingsEndpoint,
}


class ModelClient:
    """Calls one model; may be used by many tasks of one loop at once. Close it, or use it as a context manager.

    Attributes:
        settings: Where the model is.
        endpoint: How its API is spoken.
        pace: Its slots; clients of one endpoint may share them.
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
        tries_again: bool = True,
    ) -> None:
        """Keep what calls need; nothing is sent yet.

        Args:
            settings: Where the model is.
            key: Its key; "" sends none.
            rng: Draws the waits.
            now_s: Wall seconds that never run backwards.
            sleep: Waits wall seconds.
            pace: Slots that are shared; None: its own.
            tries_again: Whether a request that may still be answered is sent again; else each call sends one, and
                whoever calls decides.

        Raises:
            NoPackage: The SDK of the model's API is not installed.
        """
        self.settings = settings
        self.pace = pace or Pace(settings.at_once)
        self.endpoint = ENDPOINTS[settings.api](settings)
        self._exchange = Exchange(self.endpoint, key, self.pace.most)
        self._rng = rng
        self._is_gone = False
        self._tries_again = tries_again
        self.now_s = now_s
        self._sleep = sleep

    async def __aenter__(self) -> Self:
        """Open it."""
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.close()

    async def open(self) -> None:
        """Get ready to send, off the loop: to import an SDK takes a second. The first call does so else."""
        await self._exchange.open()

    async def close(self) -> None:
        """Close all connections."""
        await self._exchange.close()

    @property
    def secrets(self) -> tuple[str, ...]:
        """Key and secret headers of its requests."""
        return self._exchange.secrets

    @property
    def dialect(self) -> Dialect:
        """Return what the endpoint takes, as far as is known."""
        return self.endpoint.dialect

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
        after the call began; not where the call before it ended without a connection. One whose connection broke later
        may have been charged: it ends as `unknown`.

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
        return self.endpoint.write(request, rung)

    async def models(self) -> Reply | Answer:
        """Ask the endpoint which models it has; an `Answer` that says why when no reply came."""
        try:
            async with asyncio.timeout(self.settings.timeout_s):
                return await self._exchange.models()
        except NoReply as failure:
            return failure.answer
        except TimeoutError:
            return late(self.settings.timeout_s)

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
        if self._is_gone:
            # Whoever waited for it once has waited for all.
            last_s = began_s
        await self.open()
        for attempt in itertools.count(1):
            answer, again_s = await self._once(request, rung, body, attempt, sent)
            if again_s is None or not self._tries_again:
                return answer
            if self.now_s() + again_s > last_s:
                if answer.fault == "no_server":
                    self._is_gone = True
                    return answer
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
                    reply = await self._exchange.ask(self.endpoint.as_sent(body, request))
            except NoReply as failure:
                if failure.is_sent:
                    return failure.answer, None
                sent[0] -= 1
                is_lasting = failure.answer.fault == "tls"
                return failure.answer, None if is_lasting else wait_s(attempt, {}, self._rng)
            except TimeoutError:
                return late(self.settings.timeout_s), None
            self._is_gone = False
            answer = self._read(reply, request, rung)
            # An error in the body of a success is one of its own kind.
            status = answer.retry_status or reply.status
            if status == 429:
                self.pace.slower(began)
            if status < 300:
                self.pace.faster()
                return answer, None
        if self._tries_again and answer.fault == "request" and self.dialect.learns(answer.why, body):
            return answer, 0.0
        if status in AGAIN and answer.fault in ("rate", "server", "request"):
            return answer, wait_s(attempt, reply.headers, self._rng)
        return answer, None

    def _read(self, reply: Reply, request: Request, rung: Rung) -> Answer:
        """Return the answer in a reply: measured as it came, shown without key and secrets (R-G7)."""
        clean = self.endpoint.read(reply.status, reply.body, request, rung)
        if reply.raw == reply.body:
            return clean
        answer = self.endpoint.read(reply.status, reply.raw, request, rung)
        measured = answer.text if answer.text != clean.text else None
        is_alike = clean.outcome == answer.outcome and bool(clean.tool_calls) == bool(answer.tool_calls)
        if is_alike or self._exchange.holds_key((answer.value, *answer.tool_calls)):
            return replace(
                clean,
                usage=answer.usage,
                fault=answer.fault,
                retry_status=answer.retry_status,
                measured=measured,
            )
        # Only what is taken out keeps it from being read so, and no text of it holds the key.
        why = clean.why if answer.why and not answer.is_flagged else answer.why
        return replace(answer, why=why, text=clean.text, reply=reply.body, measured=measured)
