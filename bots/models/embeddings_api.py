"""OpenAI's embeddings: how a text is sent to be embedded, and what a reply means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from moot.bots.models.answer import Answer
from moot.bots.models.openai_api import OpenAiEndpoint
from moot.bots.models.reading import begun, complaint, error_in, object_in
from moot.bots.models.request import Request, Rung, messages_of
from moot.bots.models.usage import embedding_usage_of

MOST: Final = 3.4028234e38
"""No number of 32 bits is larger."""


def embedding_of(text: str, kept: str | None = None) -> Request:
    """Return the request to embed a text; what it is answered with is the `value` of the answer, a list of numbers.

    Args:
        text: What is embedded.
        kept: What is kept of it, without secrets; None: the text itself.
    """
    if kept is None:
        return Request(messages=({"role": "user", "content": text},), max_tokens=0)
    return Request(messages=({"role": "user", "content": kept},), max_tokens=0, measured=text)


class EmbeddingsEndpoint(OpenAiEndpoint):
    """A model that embeds texts; it is asked for no answer, so it fills no seat."""

    path = "/embeddings"

    def write(self, request: Request, rung: Rung) -> dict[str, Any]:
        texts = [str(one["content"]) for one in messages_of(replace(request, form=None))]
        body = {"model": self.settings.model, "input": texts[-1], "encoding_format": "float"}
        return self.settings.merged(body)

    def as_sent(self, body: Mapping[str, Any], request: Request) -> Mapping[str, Any]:
        return body if request.measured is None else {**body, "input": request.measured}

    def read_reply(self, raw: bytes, request: Request, rung: Rung) -> Answer:
        reply = object_in(raw)
        if isinstance(reply, Answer):
            return reply
        if (error := error_in(reply)) is not None:
            return self.read_error(error, raw)
        told = begun(reply, embedding_usage_of(reply))
        if request.form is not None:
            return replace(told, outcome="unparsable", why="a model that embeds texts fills no seat")
        listed = reply.get("data")
        if not isinstance(listed, list):
            why = complaint(reply) or "the reply holds no embedding"
            return replace(told, outcome="provider_error", fault="garbage", why=why)
        if len(listed) != 1:
            return replace(told, why=f"the reply holds {len(listed)} embeddings for 1 text")
        found = listed[0].get("embedding") if isinstance(listed[0], Mapping) else None
        if not isinstance(found, list) or not found:
            return replace(told, why="the embedding in the reply is no list of numbers")
        if not all(type(one) in (int, float) and abs(one) <= MOST for one in found):
            return replace(told, why="the embedding in the reply holds what is no number of 32 bits")
        return replace(told, outcome="answered", value=[float(one) for one in found])
