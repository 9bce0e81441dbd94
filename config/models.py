"""Language models that a deployment may call: where each is, how it is called, what it costs; never a key."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Final, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from moot.protocols.calls.price import ModelPrice
from moot.protocols.kernel.discretion import without_secrets
from moot.protocols.kernel.faults import line
from moot.protocols.kernel.redact import redact

MODEL_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")

Api = Literal["openai", "anthropic", "embeddings"]

ANTHROPIC_URL: Final = "https://api.anthropic.com"

_VARIABLE: Final = re.compile(r"[A-Z_][A-Z0-9_]*")
"""Capitals alone: a key that somebody pasted there is none, and is not quoted."""


MAX_TOKENS: Final = 1_000_000
"""Upper limit of `max_tokens`."""

MAX_HEADER_CHARS: Final = 4_000
"""Length limit of the value of a header."""

MAX_EXTRA_BODY_CHARS: Final = 20_000
"""Size limit of `extra_body`, as JSON."""

RESERVED_FIELDS: Final[Mapping[str, str]] = {
    "model": "write model",
    "messages": "the society writes the conversation",
    "stream": "replies are read whole",
    "stream_options": "replies are read whole",
    "max_tokens": "write max_tokens beside extra_body, so that budgets count it",
    "max_completion_tokens": "write max_tokens beside extra_body, so that budgets count it",
    "n": "a call has one answer, and its price is that of one",
    "best_of": "a call has one answer, and its price is that of one",
    "tools": "the society offers the tools",
    "tool_choice": "the society offers the tools",
    "functions": "the society offers the tools",
    "function_call": "the society offers the tools",
    "response_format": "the society asks for the form of an answer",
    "input": "the society writes the text",
    "encoding_format": "embeddings are read as numbers",
    "system": "the society writes the conversation",
}
"""Fields of a request that `extra_body` may not set, and why or what to write instead."""

_RESERVED_HEADERS: Final = frozenset(
    {
        "accept", "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "expect",
        "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
"""Headers of the transport, which no configuration sets."""

_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_CREDENTIAL: Final = re.compile(
    r"(^|[-_.])(authorization|auth|cookie|credentials?|password|secret|signature|token|key|apikey)([-_.]|$)",
    re.I,
)
"""Names of headers whose value is a credential."""

_SECRET_PARAMETER: Final = re.compile(
    r"(^|[-_.])(key|apikey|token|secret|password|passwd|pwd|auth|authorization|credentials?|sig|signature|code)([-_.]|$)",
    re.I,
)
"""Names of parameters of an address whose value is a credential."""

_PATHS: Final[Mapping[str, str]] = {
    "openai": "/chat/completions",
    "embeddings": "/embeddings",
    "anthropic": "/messages",
}
"""The path that each API adds to an address."""


class HeaderVariable(BaseModel):
    """The value of a header that is kept out of the configuration.

    Attributes:
        env: The environment variable that holds the value.
        prefix: Text before the value, such as "Bearer ".
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    env: str
    prefix: Annotated[str, Field(max_length=100)] = ""

    @field_validator("env")
    @classmethod
    def _is_a_name(cls, value: str) -> str:
        return _variable(value)


class ModelSettings(BaseModel):
    """A model that can be called.

    Attributes:
        api: The API that is spoken there: OpenAI's, which most servers speak, or Anthropic's own, at its address;
            `embeddings` for a model that embeds texts behind OpenAI's, and fills no seat.
        url: Where the API is, OpenAI's usually ending in `/v1`; Anthropic's own address where it is not said.
            Parameters such as Azure's `?api-version=` stay behind the path of each request.
        model: The model's name there.
        key_env: The environment variable that holds the key; "" and no `key_file`: no key is sent.
        key_file: A file with the key that only its owner can read, where the variable is not set.
        key_header: Header that carries the key; None: `Authorization`.
        key_prefix: Text before the key in its header; None: "Bearer " in `Authorization`, else nothing.
        headers: Headers that each request carries besides. A value is a text, or names an environment variable.
        extra_body: Fields that are merged into the body of each request; objects are merged field by field.
        reasoning_effort: How much the model is asked to reason, in the provider's word: "low", "high"; None: not said.
        seed: Seed of the provider's sampling; None: not sent.
        max_tokens: Tokens that one answer may have, those of reasoning among them, where its seat does not say;
            None: as much as its form needs.
        max_tokens_field: Name under which that limit is sent; None: `max_completion_tokens` to a model that reasons,
            else `max_tokens`.
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
    key_header: str | None = None
    key_prefix: Annotated[str, Field(max_length=100)] | None = None
    headers: dict[str, str | HeaderVariable] | None = None
    extra_body: dict[str, Any] | None = None
    reasoning_effort: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,29}$")] | None = None
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=MAX_TOKENS)] | None = None
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] | None = None
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
        if re.match(rf"{re.escape(ANTHROPIC_URL)}(?![^/?])", str(value.get("url"))):
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
        if parts.username or parts.password or parts.fragment:
            raise ValueError("holds nothing but the address: a key belongs into key_env or key_file")
        for name, given in parse_qsl(parts.query, keep_blank_values=True):
            if _SECRET_PARAMETER.search(name) or redact(given) != given:
                raise ValueError(
                    f"holds a key in its parameter {name[:40]!r}: a key belongs into key_env or key_file"
                )
        path, _, query = value.partition("?")
        return f"{path.rstrip('/')}?{query}" if query else path.rstrip("/")

    @field_validator("key_env")
    @classmethod
    def _is_a_name(cls, value: str) -> str:
        return _variable(value) if value else value

    @field_validator("key_header")
    @classmethod
    def _is_a_header(cls, value: str | None) -> str | None:
        return value if value is None else _header_name(value)

    @field_validator("key_prefix")
    @classmethod
    def _is_sendable(cls, value: str | None) -> str | None:
        if value is not None and not (value.isascii() and value.isprintable()):
            raise ValueError("must be printable ASCII text, such as 'Bearer '")
        return value

    @field_validator("headers", mode="before")
    @classmethod
    def _are_headers(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        found: dict[str, Any] = {}
        for name, given in value.items():
            short = _header_name(str(name)).lower()
            if short in found:
                raise ValueError(f"{name}: the header is named twice")
            found[short] = _header_value(str(name), given)
        return found or None

    @field_validator("extra_body")
    @classmethod
    def _is_mergeable(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        for name in value or {}:
            if name in RESERVED_FIELDS:
                raise ValueError(f"may not set {name}: {RESERVED_FIELDS[name]}")
        try:
            written = json.dumps(value, allow_nan=False, sort_keys=True)
        except (TypeError, ValueError, RecursionError) as exc:
            raise ValueError(f"must hold JSON values alone: {' '.join(str(exc).split())[:100]}") from None
        if len(written) > MAX_EXTRA_BODY_CHARS:
            raise ValueError(
                f"has {len(written):,} characters as JSON, {MAX_EXTRA_BODY_CHARS:,} are the most"
            )
        if without_secrets(json.loads(written)) != json.loads(written):
            raise ValueError('holds what looks like a secret: send it in headers, as { env = "MY_SECRET" }')
        # In the order in which a log keeps it, so that a run that is repeated asks the same.
        return json.loads(written) if value else None

    @model_validator(mode="after")
    def _fits_the_api(self) -> ModelSettings:
        suffix = _PATHS[self.api]
        path, _, query = self.url.partition("?")
        if path.endswith(suffix):
            # The address of the requests themselves, as providers show it.
            whole = path.removesuffix(suffix).rstrip("/")
            object.__setattr__(self, "url", f"{whole}?{query}" if query else whole)
        unknown = {
            "anthropic": ("seed", "max_tokens_field"),
            "embeddings": ("seed", "max_tokens", "max_tokens_field", "reasoning_effort"),
        }.get(self.api, ())
        for name in unknown:
            if getattr(self, name) is not None:
                raise ValueError(f'{name} is unknown to api = "{self.api}": leave it out')
        carries_key = bool(self.key_env or self.key_file)
        header = (self.key_header or "Authorization").lower()
        if carries_key and header in {name.lower() for name in self.headers or {}}:
            raise ValueError(
                f"headers: the key is sent as {self.key_header or 'Authorization'}: leave one of the two out"
            )
        return self

    @property
    def host(self) -> str:
        """Return the host of the address, in lower case."""
        return (urlsplit(self.url).hostname or "").lower()

    @property
    def base_url(self) -> str:
        """Return the address without parameters."""
        return self.url.partition("?")[0]

    def at(self, path: str) -> str:
        """Return a path below the address, with the address's parameters behind it."""
        query = self.url.partition("?")[2]
        return f"{path}{'&' if '?' in path else '?'}{query}" if query else path

    def merged(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of a request with the configured fields in it."""
        return _merged(body, self.extra_body) if self.extra_body else dict(body)

    def public(self) -> dict[str, Any]:
        """Return the settings as people may see them and logs may keep them: without where the key is."""
        plain = self.model_dump(mode="json", exclude={"key_env", "key_file", "headers"}, exclude_none=True)
        told = {name: given for name, given in (self.headers or {}).items() if isinstance(given, str)}
        return {**plain, "headers": told} if told else plain


def _variable(value: str) -> str:
    if not _VARIABLE.fullmatch(value):
        raise ValueError("is the name of an environment variable in capitals, such as MY_KEY; never the key")
    return value


def _header_name(name: str) -> str:
    if not _HEADER_NAME.fullmatch(name):
        raise ValueError(f"{name[:60]!r} is no name of a header, such as api-key")
    if name.lower() in _RESERVED_HEADERS:
        raise ValueError(f"{name} belongs to the transport: leave it out")
    return name


def _header_value(name: str, given: Any) -> str | HeaderVariable:
    if isinstance(given, HeaderVariable):
        return given
    if isinstance(given, Mapping):
        try:
            return HeaderVariable.model_validate(dict(given))
        except ValidationError as exc:
            raise ValueError(f"{name}: {line(exc, 'header', HeaderVariable.model_fields)}") from None
    if not isinstance(given, str):
        raise ValueError(f'{name}: must be a text or {{ env = "MY_SECRET" }}, not {given!r:.40}')
    if not (given.isascii() and given.isprintable()) or len(given) > MAX_HEADER_CHARS:
        raise ValueError(
            f"{name}: the value must be printable ASCII text of at most {MAX_HEADER_CHARS:,} characters"
        )
    if _CREDENTIAL.search(name) or redact(given) != given:
        raise ValueError(
            f'{name}: a secret is never written here: name the variable that holds it, {{ env = "MY_SECRET" }}'
        )
    return given


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(under)
    for name, value in over.items():
        before = found.get(name)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            found[name] = _merged(before, value)
        else:
            found[name] = value
    return found


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
