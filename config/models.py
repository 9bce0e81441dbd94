"""Language models that a deployment may call: where each is, how it is called, what it costs; never a key."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from moot.protocols.calls.price import ModelPrice

MODEL_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")

Api = Literal["openai", "anthropic", "embeddings"]

ANTHROPIC_URL: Final = "https://api.anthropic.com"

_VARIABLE: Final = re.compile(r"[A-Z_][A-Z0-9_]*")
"""Capitals alone: a key that somebody pasted there is none, and is not quoted."""


class ModelSettings(BaseModel):
    """A model that can be called.

    Attributes:
        api: The API that is spoken there: OpenAI's, which most servers speak, or Anthropic's own, at its address;
            `embeddings` for a model that embeds texts behind OpenAI's, and fills no seat.
        url: Where the API is, OpenAI's usually ending in `/v1`; Anthropic's own address where it is not said.
        model: The model's name there.
        key_env: The environment variable that holds the key; "" and no `key_file`: no key is sent.
        key_file: A file with the key that only its owner can read, where the variable is not set.
        price: What it costs; None: the published price, where the endpoint is a known one.
        reasoning: Whether it reasons: OpenAI's API then takes `max_completion_tokens` and no temperature, Anthropic's
            is else asked not to reason; None: this is learned when the endpoint refuses the usual.
        small: Whether it is a small model: the schema that its server enforces then holds it to short texts, short
            lists and numbers within their bounds, without which such models find no end.
        timeout_s: Wall seconds that one request may take.
        connect_s: Wall seconds in which a connection must stand.
        at_once: Requests under way at once, at most.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    api: Api = "openai"
    url: str
    model: Annotated[str, Field(min_length=1, max_length=200)]
    key_env: str = ""
    key_file: Annotated[str, Field(max_length=4_096)] = ""
    price: ModelPrice | None = None
    reasoning: bool | None = None
    small: bool = False
    timeout_s: Annotated[float, Field(gt=0, le=1_800)] = 120.0
    connect_s: Annotated[float, Field(gt=0, le=60)] = 10.0
    at_once: Annotated[int, Field(ge=1, le=1_024)] = 32

    @model_validator(mode="before")
    @classmethod
    def _where(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        if f"{value.get('url')}/".startswith(f"{ANTHROPIC_URL}/"):
            return {"api": "anthropic", **value}
        return {"url": ANTHROPIC_URL, **value} if value.get("api") == "anthropic" else value

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        try:
            parts = urlsplit(value)
            is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_whole = False
            parts = urlsplit("")
        if not is_whole or not value.isprintable() or " " in value:
            raise ValueError("is an address such as http://127.0.0.1:8080/v1")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("holds nothing but the address: a key belongs into key_env or key_file")
        return value.rstrip("/")

    @field_validator("key_env")
    @classmethod
    def _is_a_name(cls, value: str) -> str:
        if value and not _VARIABLE.fullmatch(value):
            raise ValueError(
                "is the name of an environment variable in capitals, such as MY_KEY; never the key"
            )
        return value

    def public(self) -> dict[str, Any]:
        """Return the settings as people may see them and logs may keep them: without where the key is."""
        return self.model_dump(mode="json", exclude={"key_env", "key_file"}, exclude_none=True)


def public(models: Mapping[str, ModelSettings]) -> dict[str, Any]:
    """Return models by name as logs may keep them."""
    return {name: model.public() for name, model in models.items()}


def no_model(name: str, known: Collection[str]) -> str:
    """Say that no model of a name is configured, and which are."""
    why = f"there is no [models.{name[:40]}]"
    if not known:
        return f"{why}, and no other model is configured: docs/how-to/use-a-model.md"
    close = get_close_matches(name, known, n=1)
    return f"{why}: did you mean {close[0]}?" if close else f"{why}: choose {', '.join(sorted(known))}"
