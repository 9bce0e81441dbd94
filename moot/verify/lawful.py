"""The laws: what every log keeps, read from the rules a second time, so that a mistake in the docket's tables shows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from pydantic_core import from_json

from moot.laws import OF_CONDUCT, Broken, Watch
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.times import rfc3339
from moot.verify.report import Findings

AT_ONCE: Final = 1024
"""So many messages are held against the laws one after the other: a third of the time of one here, one there."""


class Lawful:
    """Watches for the laws of what is said; those of the log itself other checks hold to the letter."""

    def __init__(self, findings: Findings) -> None:
        """Start with nothing said."""
        self._findings = findings
        self._watch = Watch(OF_CONDUCT)
        self._waiting: list[Envelope] = []
        self._lines: dict[int, int] = {}
        self._before: dict[int, int] = {}

    def take(self, env: Envelope) -> None:
        """Take in a message."""
        self._waiting.append(env)
        self._lines[env.seq] = self._findings.line
        if len(self._waiting) == AT_ONCE:
            self._judge()

    def end(self, before: datetime | None) -> None:
        """Judge what was sent before an instant when the log ends."""
        self._judge()
        if before is not None:
            self._tell(self._watch.end(rfc3339(before)))

    def _judge(self) -> None:
        for env in self._waiting:
            try:
                found = self._watch.see(_message(env))
            except Exception as exc:
                # Whatever a log says, it must not end the verification.
                why = f"the laws cannot be held against it: {type(exc).__name__}: {exc}"
                self._findings.add(env.seq, "valid_body", "K4", why, line=self._lines[env.seq])
            else:
                if found:
                    self._tell(found)
        self._waiting.clear()
        # A law may be broken by one shortly before, whose VIOLATION could have come until now.
        self._before, self._lines = self._lines, {}

    def _tell(self, found: Iterable[Broken]) -> None:
        for one in found:
            why = f"{one.about}: {one.why}. {one.law.says}".removeprefix(": ").removesuffix(".")
            line = self._lines.get(one.seq) or self._before.get(one.seq, 0)
            self._findings.add_law(one.seq, one.law.name, one.law.source, why, line=line)


def _message(env: Envelope) -> dict[str, Any]:
    message: dict[str, Any] = from_json(env.json)
    if len(message["body"]) < len(type(env.body).model_fields):  # what may be left out, as it is read
        message["body"] = env.body.model_dump(mode="json", by_alias=True)
    message["hash"] = env.hash
    return message
