"""Tokens that a call of a model used."""

from __future__ import annotations

from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from moot.protocols.kernel.message import Part

MOST_TOKENS: Final = 10**9
"""No call uses more of any kind, so that money stays within what every JSON reader reads alike."""

Tokens = Annotated[int, Field(ge=0, le=MOST_TOKENS)]


class Usage(Part):
    """Tokens that a call used.

    Attributes:
        input: All of the prompt, `cached_input` and `cache_write` among them.
        cached_input: Read from the provider's cache.
        cache_write: Written to it.
        output: All that was generated, `reasoning` among it.
        reasoning: Thought and not shown.
    """

    input: Tokens
    cached_input: Tokens = 0
    cache_write: Tokens = 0
    output: Tokens
    reasoning: Tokens = 0

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if self.cached_input + self.cache_write > self.input or self.reasoning > self.output:
            raise ValueError("a part of the tokens is more than all of them")
        return self
