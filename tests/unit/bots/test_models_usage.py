"""Booked usage of the payloads that gateways and providers report (R-G10); each figure computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

from moot.bots.models.anthropic_api import AnthropicEndpoint
from moot.bots.models.embeddings_api import EmbeddingsEndpoint
from moot.bots.models.openai_api import OpenAiEndpoint
from moot.bots.models.request import Request
from moot.config.models import ModelSettings
from moot.protocols.calls.usage import Usage
from tests.unit.bots.replies import chat, embedded, message, raw

pytestmark = pytest.mark.rule("R-G10")

CHAT: dict[str, tuple[dict[str, Any], Usage | None]] = {
    "OpenAI": (
        {
            "prompt_tokens": 1000,
            "completion_tokens": 200,
            "total_tokens": 1200,
            "prompt_tokens_details": {"cached_tokens": 400, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 150, "audio_tokens": 0},
        },
        Usage(input=1000, cached_input=400, output=200, reasoning=150),
    ),
    "OpenAI's Responses": (
        {
            "input_tokens": 1000,
            "input_tokens_details": {"cached_tokens": 300},
            "output_tokens": 200,
            "output_tokens_details": {"reasoning_tokens": 50},
            "total_tokens": 1200,
        },
        Usage(input=1000, cached_input=300, output=200, reasoning=50),
    ),
    "a gateway with zero aliases": (
        {
            "prompt_tokens": 1000,
            "completion_tokens": 200,
            "total_tokens": 1200,
            "input_tokens": 0,
            "output_tokens": 0,
            "input_tokens_details": None,
        },
        Usage(input=1000, output=200),
    ),
    "a gateway with one zero alias": (
        {"prompt_tokens": 1000, "completion_tokens": 200, "input_tokens": 1000, "output_tokens": 0},
        Usage(input=1000, output=200),
    ),
    "a gateway whose own figures are zero": (
        {"prompt_tokens": 0, "completion_tokens": 0, "input_tokens": 1000, "output_tokens": 200},
        Usage(input=1000, output=200),
    ),
    "aliases that disagree": (
        {"prompt_tokens": 900, "completion_tokens": 250, "input_tokens": 1000, "output_tokens": 200},
        Usage(input=1000, output=250),
    ),
    "Anthropic behind a gateway": (
        {
            "input_tokens": 100,
            "cache_read_input_tokens": 700,
            "cache_creation_input_tokens": 200,
            "output_tokens": 50,
        },
        Usage(input=1000, cached_input=700, cache_write=200, output=50),
    ),
    "Anthropic's names beside zeros": (
        {
            "prompt_tokens": 0,
            "input_tokens": 100,
            "cache_read_input_tokens": 900,
            "completion_tokens": 0,
            "output_tokens": 50,
        },
        Usage(input=1000, cached_input=900, output=50),
    ),
    "LiteLLM": (
        {
            "prompt_tokens": 1000,
            "completion_tokens": 200,
            "total_tokens": 1200,
            "prompt_tokens_details": {"cached_tokens": 600},
            "cache_read_input_tokens": 600,
            "cache_creation_input_tokens": 100,
        },
        Usage(input=1000, cached_input=600, cache_write=100, output=200),
    ),
    "OpenRouter": (
        {
            "prompt_tokens": 1000,
            "completion_tokens": 200,
            "total_tokens": 1200,
            "cost": 0.0042,
            "is_byok": False,
            "prompt_tokens_details": {"cached_tokens": 500, "cache_write_tokens": 250},
            "completion_tokens_details": {"reasoning_tokens": 120},
        },
        Usage(input=1000, cached_input=500, cache_write=250, output=200, reasoning=120),
    ),
    "DeepSeek": (
        {
            "prompt_tokens": 1000,
            "completion_tokens": 200,
            "total_tokens": 1200,
            "prompt_cache_hit_tokens": 640,
            "prompt_cache_miss_tokens": 360,
            "prompt_tokens_details": {"cached_tokens": 640},
            "completion_tokens_details": {"reasoning_tokens": 90},
        },
        Usage(input=1000, cached_input=640, output=200, reasoning=90),
    ),
    "cached figures that disagree": (
        {
            "prompt_tokens": 1000,
            "completion_tokens": 200,
            "prompt_cache_hit_tokens": 640,
            "prompt_tokens_details": {"cached_tokens": 100},
        },
        Usage(input=1000, cached_input=100, output=200),
    ),
    "xAI: reasoning beside the output": (
        {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 420,
            "completion_tokens_details": {"reasoning_tokens": 300},
        },
        Usage(input=100, output=320, reasoning=300),
    ),
    "Gemini's OpenAI endpoint: thoughts only in the total": (
        {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 520},
        Usage(input=100, output=420),
    ),
    "Gemini's own names": (
        {
            "promptTokenCount": 100,
            "candidatesTokenCount": 20,
            "thoughtsTokenCount": 400,
            "totalTokenCount": 520,
        },
        Usage(input=100, output=420, reasoning=400),
    ),
    "Ollama": (
        {"prompt_tokens": 26, "completion_tokens": 298, "total_tokens": 324},
        Usage(input=26, output=298),
    ),
    "vLLM without details": (
        {
            "prompt_tokens": 26,
            "completion_tokens": 298,
            "total_tokens": 324,
            "prompt_tokens_details": None,
            "completion_tokens_details": None,
        },
        Usage(input=26, output=298),
    ),
    "Mistral": (
        {"prompt_tokens": 26, "completion_tokens": 98, "total_tokens": 124, "prompt_audio_seconds": {}},
        Usage(input=26, output=98),
    ),
    "a total below its parts": (
        {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 20},
        Usage(input=100, output=20),
    ),
    "whole numbers as floats": (
        {"prompt_tokens": 100.0, "completion_tokens": 20.0},
        Usage(input=100, output=20),
    ),
    "zeros": ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, None),
    "no output for a text": ({"prompt_tokens": 100, "completion_tokens": 0, "total_tokens": 100}, None),
    "no input for a text": ({"prompt_tokens": 0, "completion_tokens": 20}, None),
    "a total alone": ({"total_tokens": 120}, None),
    "a negative alias": ({"prompt_tokens": 100, "completion_tokens": 20, "input_tokens": -5}, None),
    "text": ({"prompt_tokens": "100", "completion_tokens": 20}, None),
    "a fraction": ({"prompt_tokens": 100.5, "completion_tokens": 20}, None),
    "truth": ({"prompt_tokens": True, "completion_tokens": 20}, None),
    "more cached than asked": (
        {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 200}},
        None,
    ),
    "nothing": ({}, None),
}

SETTINGS = ModelSettings(url="http://127.0.0.1:1/v1", model="m")
ASKED = Request(messages=({"role": "user", "content": "?"},), max_tokens=100)


@pytest.mark.parametrize("who", CHAT)
def test_a_chat_completion_is_booked_at_what_it_used(who: str) -> None:
    usage, booked = CHAT[who]
    answer = OpenAiEndpoint(SETTINGS).read(200, raw(chat("A text.", usage=usage)), ASKED, "prompt")
    assert answer.outcome == "answered"
    assert answer.usage == booked


@pytest.mark.parametrize(
    ("usage", "booked"),
    [
        ({"input_tokens": 100, "output_tokens": 20}, Usage(input=100, output=20)),
        (
            {"input_tokens": 0, "cache_read_input_tokens": 900, "output_tokens": 20},
            Usage(input=900, cached_input=900, output=20),
        ),
        (
            {"input_tokens": 10, "prompt_tokens": 1000, "output_tokens": 20, "completion_tokens": 30},
            Usage(input=1000, output=30),
        ),
        ({"input_tokens": 0, "output_tokens": 0}, None),
        ({"input_tokens": 100, "output_tokens": 0}, None),
    ],
)
def test_a_message_of_anthropic_is_booked_at_what_it_used(
    usage: dict[str, Any], booked: Usage | None
) -> None:
    endpoint = AnthropicEndpoint(ModelSettings(url="http://127.0.0.1:1", model="m", api="anthropic"))
    answer = endpoint.read(200, raw(message("A text.", usage=usage)), ASKED, "prompt")
    assert (answer.outcome, answer.usage) == ("answered", booked)


@pytest.mark.parametrize(
    ("usage", "booked"),
    [
        ({"prompt_tokens": 8, "total_tokens": 8}, Usage(input=8, output=0)),
        ({"prompt_tokens": 0, "total_tokens": 8}, Usage(input=8, output=0)),
        ({"prompt_tokens": 8, "input_tokens": 0}, Usage(input=8, output=0)),
        ({"input_tokens": 8, "prompt_tokens": 0}, Usage(input=8, output=0)),
        ({"total_tokens": 8}, Usage(input=8, output=0)),
        ({"prompt_tokens": 0, "total_tokens": 0}, None),
        ({"prompt_tokens": -1, "total_tokens": 8}, None),
        ({}, None),
    ],
)
def test_an_embedding_is_booked_at_what_it_used(usage: dict[str, Any], booked: Usage | None) -> None:
    answer = EmbeddingsEndpoint(SETTINGS).read(200, raw(embedded(usage)), ASKED, "prompt")
    assert (answer.outcome, answer.usage) == ("answered", booked)


@pytest.mark.parametrize("place", ["usage", "choice", "x_groq", "usageMetadata"])
def test_usage_is_found_wherever_a_server_puts_it(place: str) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 20}
    reply = chat("A text.", usage=None)
    if place == "choice":
        reply["choices"][0]["usage"] = usage
    elif place == "x_groq":
        reply["x_groq"] = {"id": "req_1", "usage": usage}
    else:
        reply[place] = usage
    answer = OpenAiEndpoint(SETTINGS).read(200, raw(reply), ASKED, "prompt")
    assert answer.usage == Usage(input=100, output=20)
