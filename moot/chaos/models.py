"""Models that a script answers for, at the port where calls leave the society: as asked, or as its spells say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any, Final

from moot.bots.models.answer import Answer
from moot.bots.models.in_use import ModelInUse, endpoint_of
from moot.bots.models.record import record_of
from moot.bots.models.retrying import CAP_S, wait_s
from moot.bots.models.transport import Errand, Sent, Transport
from moot.chaos.plan import Spell
from moot.chaos.striking import Striking
from moot.memory.bodies import Bodies
from moot.model_start import ModelSeats

RUNG: Final = "json_schema"
REPLIES: Final[Mapping[str, Callable[[str], tuple[int, bytes]]]] = {
    "invalid_json": lambda text: (200, reply(text[: len(text) // 2] + "]")),
    "truncated": lambda text: (200, reply(text[: len(text) // 2], finish="length")),
    "misfit": lambda _text: (200, reply('{"nothing":"of it"}')),
    "refused": lambda _text: (200, reply(None, refusal="I cannot help with that.")),
    "empty": lambda _text: (200, reply("")),
    "no_reply": lambda _text: (200, b""),
    "server": lambda _text: (500, refused("it broke")),
    "other_model": lambda text: (200, reply(text, model="other-9")),
    "no_usage": lambda text: (200, reply(text, usage=None)),
    "wrong_usage": lambda text: (200, reply(text, usage={"prompt_tokens": -5, "completion_tokens": 20})),
    "tool_loop": lambda _text: (200, reply(None, finish="tool_calls", tools=[("look_up", '{"word":"x"}')])),
}
"""What comes back in a spell, by its name: status and body, given what the model would have said."""

HEADERS: Final[Mapping[str, Callable[[Spell], Mapping[str, str]]]] = {
    "rate": lambda _spell: {},
    "rate_told": lambda spell: {"retry-after": f"{spell.size:.0f}"},
}
"""Headers of a 429 in a spell, by its name."""


class ScriptedModels(Transport):
    """Answers each call at once, with the simplest text that fits what is asked for."""

    def __init__(self, models: Mapping[str, ModelInUse], bodies: Bodies, striking: Striking) -> None:
        """Take the models, where bodies are kept, and the spells."""
        self._models = models
        self._bodies = bodies
        self._striking = striking

    def keep(self, body: bytes) -> Future[str]:
        return self._bodies.put(body)

    def send(self, errand: Errand) -> Future[Sent]:
        answer = self._answer(errand)
        sha256 = self._bodies.put(record_of(errand.call_id, answer), call_id=errand.call_id)
        done: Future[Sent] = Future()

        def kept(sha256: Future[str]) -> None:
            # Who waited may have gone meanwhile, in a crash.
            if not done.set_running_or_notify_cancel():
                return
            if (why := sha256.exception()) is not None:
                done.set_exception(why)
            else:
                done.set_result(Sent(answer, sha256.result()))

        sha256.add_done_callback(kept)
        return done

    def _answer(self, errand: Errand) -> Answer:
        if self._struck("hangs", errand):
            return Answer(outcome="timed_out", why="no answer within 120 s", tries=1, latency_ms=120_000)
        form = errand.request.form
        text = json.dumps(fitting(form.schema)) if form is not None else "because"
        tries, waited_s, is_refused = self._refusals(errand)
        status, body = (429, refused("slow down")) if is_refused else (200, reply(text))
        for name, broken in REPLIES.items():
            if not is_refused and self._struck(name, errand):
                status, body = broken(text)
                break
        read = self._models[errand.model].reader(errand.request)
        took_ms = 60_000 if self._struck("drip", errand) else 800
        return replace(read(status, body), tries=tries, latency_ms=round(1_000 * waited_s) + took_ms)

    def _refusals(self, errand: Errand) -> tuple[int, float, bool]:
        """Let a call be answered with 429 as its spells say, and sent again as the product does.

        Returns:
            How often it was sent, the seconds waited in between, and whether it was given up.
        """
        rng, waited_s = Random(errand.call_id), 0.0
        most_s = CAP_S if errand.left_s is None else min(CAP_S, errand.left_s)
        for tries in count(1):
            spells = ((name, self._struck(name, errand, tries)) for name in HEADERS)
            headers = next((HEADERS[name](spell) for name, spell in spells if spell is not None), None)
            if headers is None:
                return tries, waited_s, False
            wait = wait_s(tries, headers, rng)
            if waited_s + wait > most_s:
                return tries, waited_s, True
            waited_s += wait
        raise AssertionError("a call ends")

    def _struck(self, name: str, errand: Errand, *attempt: int) -> Spell | None:
        return self._striking.strikes(f"models.{name}", "", name, errand.call_id, *attempt)


class StruckModels(ScriptedModels):
    """Has calls carried out, but for those that a spell strikes: nobody is asked about them."""

    def __init__(
        self, within: Transport, models: Mapping[str, ModelInUse], bodies: Bodies, striking: Striking
    ) -> None:
        """Stand before what carries calls out; take the models, where bodies are kept, and the spells."""
        super().__init__(models, bodies, striking)
        self._within = within

    def keep(self, body: bytes) -> Future[str]:
        return self._within.keep(body)

    def send(self, errand: Errand) -> Future[Sent]:
        is_struck = any(self._struck(name, errand) for name in ("hangs", *REPLIES))
        return super().send(errand) if is_struck else self._within.send(errand)


def in_use(seats: ModelSeats) -> dict[str, ModelInUse]:
    """Return models as if they had been found out, at no cost."""
    return {
        name: ModelInUse(
            name=name,
            settings=settings,
            rung=RUNG,
            endpoint=endpoint_of(settings, False, True),
            price=settings.price,
            probe={"calls": 0, "tokens": 0, "cost": 0},
        )
        for name, settings in seats.models.items()
    }


def reply(
    content: object,
    *,
    finish: str | None = "stop",
    tools: list[tuple[str, str]] | None = None,
    usage: object = "counted",
    model: str = "tiny-1",
    **message: Any,
) -> bytes:
    """Write a reply of a model as OpenAI's API does: its text, or calls of tools as (name, arguments)."""
    said: dict[str, Any] = {"role": "assistant", "content": content, **message}
    if tools is not None:
        said["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(tools, 1)
        ]
    choice = {"index": 0, "message": said, "finish_reason": finish}
    told: dict[str, Any] = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": model}
    told["choices"] = [choice]
    if usage == "counted":
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    if usage is not None:
        told["usage"] = usage
    return json.dumps(told).encode()


def refused(message: str) -> bytes:
    """Write a reply that refuses."""
    return json.dumps({"error": {"message": message, "type": "error", "param": None, "code": None}}).encode()


def fitting(schema: Mapping[str, Any], prefers: Mapping[str, Any] | None = None, path: str = "") -> Any:
    """Return the simplest value that fits a schema, and what its descriptions ask for.

    Args:
        schema: A schema as `forms` makes it.
        prefers: Values by the name of a field or by its path.
        path: Where the value stands.
    """
    chosen = prefers or {}
    name = path.rpartition(".")[2]
    for key in (path, name):
        if key in chosen and ("enum" not in schema or chosen[key] in schema["enum"]):
            return chosen[key]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return fitting(schema["anyOf"][0], prefers, path)
    kind, about = schema["type"], str(schema.get("description", ""))
    if kind == "object":
        inner = schema["properties"].items()
        return {name: fitting(one, prefers, f"{path}.{name}" if path else name) for name, one in inner}
    if kind == "array":
        told = re.search(r"at least (\d+) items", about)
        return [fitting(schema["items"], prefers, path)] * (int(told[1]) if told else 1)
    if kind == "string":
        return next((text for word, text in _WRITTEN.items() if word in about), "because")
    return {"number": 0.5, "integer": 1, "boolean": True, "null": None}[kind]


_WRITTEN: Final[Mapping[str, str]] = {
    "written as date-time": "2026-02-23T12:00:00Z",
    "matches ^[0-9]{4}-[0-9]{2}-[0-9]{2}$": "2026-02-23",
    "matches ^[0-9]{4}-W[0-9]{2}$": "2026-W09",
}
