"""One obligation in front of a simulated mind: what it is shown, its chance and its voice."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from moot.bots.minds.mind import Reply, View
from moot.bots.minds.simulated.wording import Voice
from moot.bots.tools.seeding import generator
from moot.protocols.kernel.message import Message


class Answering:
    """A view, with all that an answer of any room needs.

    Attributes:
        view: What the mind is shown.
    """

    def __init__(self, view: View, seed: int) -> None:
        """Look at an obligation.

        Args:
            view: What the mind is shown.
            seed: The society's seed.
        """
        self.view = view
        self._seed = seed

    def rng(self, purpose: str) -> np.random.Generator:
        """Make the generator for one purpose of this answer."""
        return generator("mind", self._seed, self.view.obligation.id, self.view.attempt, purpose)

    @cached_property
    def voice(self) -> Voice:
        """Return the voice of this answer."""
        return Voice(self.rng("wording"), self.view.rules_version)

    def filled(self, kind: type[Message], **own: Any) -> Reply:
        """Answer with what the log fixes, the fields that the brief names, and with what is the seat's own to say."""
        brief = self.view.brief
        fixed = {name: brief[name] for name in kind.model_fields if name in brief}
        return Reply(kind(**{**fixed, **own}))
