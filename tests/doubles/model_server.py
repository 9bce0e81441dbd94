"""An OpenAI-compatible server over real HTTP that answers as a script says, and as a model would where it says nothing.

It runs on a thread with a loop of its own, and keeps every request it was sent.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, Self

from aiohttp import web

from moot.chaos.models import fitting, reply
from tests.doubles.slack_life import Life

EMBEDDINGS = "/v1/embeddings"
"""Where texts are embedded."""

ALL_RUNGS = frozenset({"json_schema", "tool", "json_object"})


@dataclass(frozen=True)
class Sent:
    """A request that came: its path, its headers with names in lower case, its JSON body, its query as it was sent."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    query: str = ""


@dataclass(frozen=True)
class Turn:
    """What one request is answered with.

    `streamed_mb`: instead of the body so many megabytes of it, whose length is not told.
    `stall`: never answer (`before`), send headers and a piece and then nothing (`after`), or close there (`break`).
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    streamed_mb: int = 0
    stall: Literal["", "before", "after", "break"] = ""


def completion(
    content: object = "red",
    *,
    finish: str | None = "stop",
    tools: list[tuple[str, str]] | None = None,
    usage: object = "counted",
    model: str = "tiny-1",
    **message: Any,
) -> Turn:
    """Make a reply of a model: its text, or calls of tools as (name, arguments)."""
    body = reply(content, finish=finish, tools=tools, usage=usage, model=model, **message)
    return Turn(body=body)


def embedding(*vectors: object, model: str = "embed-1", usage: object = "counted") -> Turn:
    """Make a reply of a model that embeds texts."""
    data = [{"object": "embedding", "index": n, "embedding": one} for n, one in enumerate(vectors)]
    reply: dict[str, Any] = {"object": "list", "data": data, "model": model, "id": "embd-1"}
    reply["usage"] = {"prompt_tokens": 8, "total_tokens": 8} if usage == "counted" else usage
    return Turn(body=json.dumps(reply).encode())


def words_vector(text: str) -> list[float]:
    """Embed a text by its words: equal texts are equal, texts without a common word are far apart."""
    found = [0.0] * 16
    for word in text.lower().split():
        found[sum(word.encode()) % 16] += 1.0
    return found


def refusal(status: int, message: str, code: str | None = None, **headers: str) -> Turn:
    """Make a reply that refuses; headers are named with underscores."""
    error = {"message": message, "type": "error", "param": None, "code": code}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Turn(status, json.dumps({"error": error}).encode(), named)


def too_many(retry_after: str = "") -> Turn:
    return refusal(429, "slow down", **({"retry_after": retry_after} if retry_after else {}))


class ModelServer(Life):
    """The server and its handle; one of another API says what differs.

    Args:
        key: The key it wants; "" for none.
        model: The one model it has.
        rungs: What it enforces; what else it is asked for is refused.
        ignores: What it takes without enforcing it.
        reasons: Whether it wants `max_completion_tokens` and no temperature.
        context: Tokens of context that its list tells; 0: there is no such list.
        latency_s: How long each answer takes.
    """

    def __init__(
        self,
        *,
        key: str = "",
        model: str = "tiny-1",
        rungs: frozenset[str] = ALL_RUNGS,
        ignores: frozenset[str] = frozenset(),
        reasons: bool = False,
        context: int = 4_096,
        latency_s: float = 0.0,
    ) -> None:
        super().__init__()
        self.key = key
        self.model = model
        self.rungs = rungs
        self.ignores = ignores
        self.reasons = reasons
        self.context = context
        self.latency_s = latency_s
        self.prefers: Mapping[str, Any] = {}
        """What is filled in where it fits, by the name of a field or its path; a function is given what was shown."""
        self.jitter: Random | None = None
        """Draws how much of the latency each answer takes; None: all of it."""
        self.script: deque[Turn] = deque()
        self.embedding_script: deque[Turn] = deque()
        self.always: Turn | None = None
        self.key_header = ("authorization", "Bearer ")
        """Header in which the key is expected, and what stands before it there."""
        self.thinks = 0
        """Tokens that the model reasons for: an answer that may have fewer is cut off."""
        self.sent: list[Sent] = []
        self.most_at_once = 0
        self.embeds: Callable[[str], list[float]] = words_vector
        """Embeds a text; what is scripted or always answered goes before."""
        self.waits_for = 0
        """Answer only when so many requests are there; then all of them."""
        self._expected: list[tuple[int, threading.Event]] = []
        self._at_once = 0
        self._held: list[asyncio.Future[None]] = []

    def forget(self) -> Self:
        """Forget what was scripted and what was sent; a module's tests share a server."""
        self.script.clear()
        self.embedding_script.clear()
        self.sent.clear()
        self.always = None
        return self

    api = "openai"
    path = "/v1/chat/completions"

    def _routes(self, app: web.Application) -> None:
        app.router.add_get("/v1/models", self._list)
        app.router.add_post(self.path, self._complete)
        app.router.add_post(EMBEDDINGS, self._embed)
        # Below other addresses, such as Azure's deployments.
        app.router.add_get("/{under:.+}/models", self._list)
        app.router.add_post(f"/{{under:.+}}{self._action}", self._complete)

    def _listening(self) -> None:
        pass

    def _break(self) -> None:
        pass

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def calls(self) -> list[Sent]:
        """Return the requests for a completion."""
        return [one for one in self.sent if one.path.endswith(self._action)]

    @property
    def _action(self) -> str:
        return self.path.removeprefix("/v1")

    @property
    def embedded(self) -> list[Sent]:
        """Return the requests for an embedding."""
        return [one for one in self.sent if one.path == EMBEDDINGS]

    @property
    def faults(self) -> Mapping[str, Turn]:
        """Return the faults by name, in the words of the API."""
        return MISBEHAVING

    def says(self, text: str | None, **more: Any) -> Turn:
        """Make a reply of a model."""
        return completion(text, **more)

    def refuses(self, status: int, message: str, **headers: str) -> Turn:
        """Make a reply that refuses."""
        return refusal(status, message, **headers)

    def calls_tool(self, name: str, arguments: str) -> Turn:
        """Make a reply that calls a tool."""
        return completion(None, finish="tool_calls", tools=[(name, arguments)])

    def expects(self, completions: int) -> threading.Event:
        """Return what is set once so many completions were asked for in all."""
        self._expected.append((completions, found := threading.Event()))
        return found

    def plays(self, *turns: Turn) -> None:
        """Answer the next completions so, one each; after them as before."""
        self.script.extend(turns)

    async def _list(self, request: web.Request) -> web.StreamResponse:
        self.sent.append(Sent(request.path, _lower(request), {}, request.rel_url.raw_query_string))
        if wrong := self._wrong_key(request):
            return await self._send(request, wrong)
        if not self.context:
            return await self._send(request, self.refuses(404, "no such path"))
        return web.json_response(self._models())

    def _models(self) -> dict[str, Any]:
        listed = [{"id": self.model, "object": "model", "max_model_len": self.context}]
        return {"object": "list", "data": listed}

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.sent.append(Sent(request.path, _lower(request), body, request.rel_url.raw_query_string))
        for number, found in self._expected:
            if len(self.calls) >= number:
                found.set()
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            if self.latency_s:
                await asyncio.sleep(self.latency_s * (self.jitter.random() if self.jitter else 1))
            await self._gather()
            return await self._send(request, self._turn(request, body))
        finally:
            self._at_once -= 1

    async def _embed(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.sent.append(Sent(request.path, _lower(request), body, request.rel_url.raw_query_string))
        if wrong := self._wrong_key(request):
            return await self._send(request, wrong)
        if self.embedding_script:
            return await self._send(request, self.embedding_script.popleft())
        return await self._send(request, embedding(self.embeds(body["input"])))

    async def _gather(self) -> None:
        if len(self._held) + 1 < self.waits_for:
            self._held.append(asyncio.get_running_loop().create_future())
            await self._held[-1]
            return
        held, self._held = self._held, []
        for one in held:
            one.set_result(None)

    def _turn(self, request: web.Request, body: Mapping[str, Any]) -> Turn:
        if wrong := self._wrong_key(request):
            return wrong
        if self.script:
            return self.script.popleft()
        if self.always is not None:
            return self.always
        if body.get("max_completion_tokens", body.get("max_tokens", 0)) < self.thinks:
            return self._cut_off()
        return self._complaint(request, body) or self._answer(body)

    def _cut_off(self) -> Turn:
        """Answer as a model that was still reasoning."""
        return completion("", finish="length")

    def _complaint(self, request: web.Request, body: Mapping[str, Any]) -> Turn | None:
        """Say what the API refuses in a request."""
        if body["model"] != self.model:
            return refusal(404, f"the model {body['model']} does not exist", "model_not_found")
        if self.reasons and "max_tokens" in body:
            return refusal(
                400, "Unsupported parameter: use 'max_completion_tokens' instead", "unsupported_parameter"
            )
        if self.reasons and "temperature" in body:
            return refusal(400, "'temperature' is not supported with this model", "unsupported_value")
        return None

    def _answer(self, body: Mapping[str, Any]) -> Turn:
        """Answer as a model would that is held to what the endpoint enforces, and else does as it is told."""
        form = body.get("response_format", {}).get("type") or ("tool" if "tool_choice" in body else "")
        if form and form not in self.rungs and form not in self.ignores:
            return refusal(400, f"{form} is not supported here")
        prompt = "\n".join(str(one["content"]) for one in body["messages"])
        shown = schema_shown(prompt)
        if form == "json_schema" and form in self.rungs:
            return completion(
                json.dumps(self._fitting(body["response_format"]["json_schema"]["schema"], prompt)),
                model=self.model,
            )
        if form == "tool" and form in self.rungs:
            function = body["tools"][-1]["function"]
            arguments = json.dumps(self._fitting(function["parameters"], prompt))
            return completion(
                None, finish="tool_calls", tools=[(function["name"], arguments)], model=self.model
            )
        if shown is None:
            return completion("red", model=self.model)
        text = json.dumps(self._fitting(shown, prompt))
        if form == "json_object" and form in self.rungs:
            return completion(text, model=self.model)
        return completion(text if form else f"```json\n{text}\n```", model=self.model)

    def _fitting(self, schema: Mapping[str, Any], prompt: str) -> Any:
        chosen = {name: one(prompt) if callable(one) else one for name, one in self.prefers.items()}
        return fitting(schema, chosen)

    def _wrong_key(self, request: web.Request) -> Turn | None:
        header, prefix = self.key_header
        given = request.headers.get(header, "")
        if self.key and given != f"{prefix}{self.key}":
            return refusal(
                401, f"Incorrect API key provided: {given.removeprefix('Bearer ')}", "invalid_api_key"
            )
        return None

    async def _send(self, request: web.Request, turn: Turn) -> web.StreamResponse:
        if turn.stall == "before":
            await asyncio.sleep(3_600)
        headers = {"content-type": "application/json", **turn.headers}
        if turn.streamed_mb:
            stream = web.StreamResponse(status=turn.status, headers=headers)
            await stream.prepare(request)
            for _ in range(turn.streamed_mb):
                await stream.write(b"x" * 1_000_000)
            return stream
        if not turn.stall:
            return web.Response(status=turn.status, body=turn.body, headers=headers)
        begun = web.StreamResponse(status=turn.status, headers=headers)
        begun.content_length = 10_000
        await begun.prepare(request)
        await begun.write(b'{"id":')
        if turn.stall == "after":
            await asyncio.sleep(3_600)
        assert request.transport is not None
        request.transport.abort()
        return begun


def schema_shown(prompt: str) -> Any:
    """Return the schema that a prompt asks for; None if there is none."""
    _, told, schema = prompt.partition("JSON Schema, with nothing before or after it:\n")
    return json.JSONDecoder().raw_decode(schema)[0] if told else None


def _lower(request: web.Request) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers.items()}


BROKEN: Mapping[str, Turn] = {
    "503 without a word": Turn(503),
    "no headers": Turn(stall="before"),
    "hangs after headers": Turn(stall="after"),
    "breaks after headers": Turn(stall="break"),
    "20 MB": Turn(streamed_mb=20),
    "5 MB, and says so": Turn(body=b"x" * 5_000_000),
    "compressed unasked": Turn(body=b"x" * 10, headers={"content-encoding": "gzip"}),
    "a redirect": Turn(307, headers={"location": "http://127.0.0.1:9/"}),
    "no JSON": Turn(body=b"<html>welcome</html>"),
    "nothing": Turn(),
}
"""Faults of any API, by name."""

MISBEHAVING: Mapping[str, Turn] = {
    **BROKEN,
    "429, wait 0 s": too_many("0"),
    "429, wait 3600 s": too_many("3600"),
    "429, wait nonsense": too_many("whenever"),
    "500": refusal(500, "it broke"),
    "no choices": Turn(body=b'{"id":"1","choices":[]}'),
    "error inside 200": Turn(body=b'{"error":{"message":"upstream is down"},"choices":[]}'),
    "empty": completion(""),
    "truncated": completion('{"colour":"red","nu', finish="length"),
    "cut without a word": completion('{"colour":"red","nu'),
    "double": completion('{"colour":"red","number":1}{"colour":"red","number":2}'),
    "a field twice": completion('{"colour":"red","colour":"blue","number":1}'),
    "prose around": completion('Sure! {"colour":"red","number":1} I hope this helps.'),
    "does not fit": completion('{"colour":"mauve","number":1}'),
    "refusal": completion(None, refusal="I cannot help with that."),
    "filter": completion(None, finish="content_filter"),
    "filtered prompt": refusal(400, "the prompt was filtered", "content_filter"),
    "tool loop": completion(None, finish="tool_calls", tools=[("look_up", '{"word":"red"}')]),
    "tool arguments are no JSON": completion(None, finish="tool_calls", tools=[("look_up", "word=red")]),
    "another model": completion('{"colour":"red","number":1}', model="other-9"),
    "usage missing": completion('{"colour":"red","number":1}', usage=None),
    "usage negative": completion(
        '{"colour":"red","number":1}', usage={"prompt_tokens": -5, "completion_tokens": 20}
    ),
}
"""Faults by name; a wrong key and an unknown model are the server's own answers to such requests."""
