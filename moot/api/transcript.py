"""What was said in a case, as people read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

from moot.api.showing import html_table
from moot.channels.showing.rendering import Speakers, sentence
from moot.config.protocols import speaking
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.protocol import Protocol


@dataclass(frozen=True, slots=True, repr=False)
class Transcript(Sequence[Envelope]):
    """The messages of a case in their order; as text, a line each, with the label of who is no model.

    Attributes:
        messages: They.
    """

    messages: tuple[Envelope, ...]
    _who: Speakers = field(compare=False)
    _protocols: tuple[Protocol, ...] = field(default=(), compare=False)

    @overload
    def __getitem__(self, at: int) -> Envelope: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Envelope]: ...
    def __getitem__(self, at: int | slice) -> Envelope | Sequence[Envelope]:
        """Return a message, or some."""
        return self.messages[at]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.messages)

    def __iter__(self) -> Iterator[Envelope]:
        """Yield them."""
        return iter(self.messages)

    def __repr__(self) -> str:
        """Write a line for each: its number, its time, what was said by whom."""
        with speaking(self._protocols):
            return "\n".join(
                f"{env.seq:>5}  {env.sent_at:%H:%M}  {sentence(env, self._who)}" for env in self.messages
            )

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        with speaking(self._protocols):
            rows = [(env.seq, f"{env.sent_at:%H:%M}", sentence(env, self._who)) for env in self.messages]
        return html_table("", ("seq", "at", "message"), rows)
