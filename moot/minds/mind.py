"""The base class of a mind of one's own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from typing import ClassVar

from moot.bots.minds.mind import Reply, View
from moot.protocols.kernel.message import Message

Answer = Reply | Message | None
"""What a mind gives: a message, one with what is said beside it, or nothing."""


class Mind(ABC):
    """Fills a seat: asked for each obligation of the seat, it says what it answers.

    One instance serves all obligations of its seat. It is never called twice at a time: the calls come one after
    another, in the order in which the society asks, on a thread that belongs to the mind. So it may block, and it
    may keep what it learned. Virtual and accelerated time stand still meanwhile.

    Class attributes:
        pure: It neither blocks nor reads anything but its view, and is called in the society's own loop.
        timeout_s: Wall seconds that one answer may take; a configuration may say another number.
    """

    pure: ClassVar[bool] = False
    timeout_s: ClassVar[float] = 60.0

    @abstractmethod
    def answer(self, view: View) -> Answer | Awaitable[Answer]:
        """Answer what `view.obligation` asks for; `async def` will do as well.

        None stays silent, and so does whatever is raised: the log says so, and the rules of the seat apply.

        Args:
            view: All that the seat is shown; `view.reply(kind, ...)` makes the answer.
        """
