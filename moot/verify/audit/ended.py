"""Cases whose raw messages are judged again when they end: runs of the Arena, review panels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from moot.protocols.kernel.effects import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.verify.report import Findings

Said = list[tuple[Envelope, bool]]
"""Messages of a case, and whether the docket says that each changed nothing."""


class EndedCases(ABC):
    """Keeps the messages of open cases of one kind, and judges a case when it ends.

    A log without such cases costs one look-up a message.

    Class attributes:
        opener: The message type that opens one.
        ends: The message types that end one.
    """

    opener: ClassVar[str]
    ends: ClassVar[frozenset[str]]

    def __init__(self, findings: Findings) -> None:
        """Start with no case."""
        self._findings = findings
        self._open: dict[str, Said] = {}

    def __len__(self) -> int:
        """Return how many cases are open."""
        return len(self._open)

    def take(self, env: Envelope, fx: Effects | None) -> None:
        """Take in a message.

        Args:
            env: The message.
            fx: What it changed; None when it could not be folded.
        """
        body = env.body
        is_opener = body.type == self.opener
        if env.case_id not in self._open and not is_opener:
            return
        is_idle = fx is not None and (fx.violation is not None or fx.superseded)
        if is_opener:
            if not is_idle:
                self._open[getattr(body, body.case_field)] = [(env, False)]
            return
        case_id = env.case_id or ""
        self._open[case_id].append((env, is_idle))
        if body.type in self.ends and not is_idle:
            self._judge(env, self._open.pop(case_id))

    @abstractmethod
    def _judge(self, last: Envelope, said: Said) -> None:
        """Judge a case by its messages; findings stand at the last."""
