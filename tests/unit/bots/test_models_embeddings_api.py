"""How a text is sent to be embedded, and what replies mean."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from moot.bots.models.embeddings_api import EmbeddingsEndpoint, embedding_of
from moot.bots.models.forms import form_of
from moot.bots.models.probing import Colour
from moot.config.models import ModelSettings
from tests.doubles.model_server import embedding, refusal

ENDPOINT = EmbeddingsEndpoint(
    ModelSettings.model_validate({"api": "embeddings", "url": "http://127.0.0.1:9/v1", "model": "embed-1"})
)
ASKED = embedding_of("Open on Sundays.")


def read(turn: Any) -> Any:
    return ENDPOINT.read(turn.status, turn.body, ASKED, "prompt")


def test_a_text_is_sent_alone_and_without_secrets() -> None:
    assert ENDPOINT.write(ASKED, "prompt") == {
        "model": "embed-1",
        "input": "Open on Sundays.",
        "encoding_format": "float",
    }
    secret = "sk-proj-" + "a1b2c3d4e5" * 4
    assert secret not in json.dumps(ENDPOINT.write(embedding_of(f"the key is {secret}"), "prompt"))


def test_a_vector_comes_with_its_model_its_id_and_the_tokens_of_the_text() -> None:
    answer = read(embedding([0.5, -1, 2.25]))
    assert (answer.outcome, answer.value) == ("answered", [0.5, -1.0, 2.25])
    assert (answer.model_reported, answer.provider_id) == ("embed-1", "embd-1")
    assert (answer.usage.input, answer.usage.output) == (8, 0)


@pytest.mark.parametrize(
    ("turn", "why"),
    [
        (embedding(), "the reply holds 0 embeddings for 1 text"),
        (embedding([1.0], [2.0]), "the reply holds 2 embeddings for 1 text"),
        (embedding([]), "the embedding in the reply is no list of numbers"),
        (embedding("AAAA"), "the embedding in the reply is no list of numbers"),
        (embedding([1.0, float("nan")]), "the embedding in the reply holds what is no number of 32 bits"),
        (embedding([1.0, float("inf")]), "the embedding in the reply holds what is no number of 32 bits"),
        (embedding([1.0, 10**400]), "the embedding in the reply holds what is no number of 32 bits"),
        (embedding([1.0, 1e39]), "the embedding in the reply holds what is no number of 32 bits"),
        (embedding([True, 1.0]), "the embedding in the reply holds what is no number of 32 bits"),
        (embedding([[1.0]]), "the embedding in the reply holds what is no number of 32 bits"),
    ],
)
def test_what_is_no_vector_is_told(turn: Any, why: str) -> None:
    answer = read(turn)
    assert (answer.outcome, answer.why, answer.value) == ("unparsable", why, None)


def test_a_reply_of_another_kind_is_told() -> None:
    chat = replace(embedding(), body=b'{"choices": []}')
    assert read(chat).why == "the reply holds no embedding"
    assert read(refusal(503, "busy")).why == "HTTP 503: busy"


def test_it_fills_no_seat() -> None:
    asked = replace(ASKED, form=form_of(Colour))
    answer = ENDPOINT.read(200, embedding([1.0]).body, asked, "json_schema")
    assert (answer.outcome, answer.why) == ("unparsable", "a model that embeds texts fills no seat")
