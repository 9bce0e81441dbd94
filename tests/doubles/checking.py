"""Verify a log that a test holds in its hands, and hold it against the laws."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from moot.laws import LAWS, Watch
from moot.logs.source import Line, LogSource
from moot.protocols.kernel.envelope import Envelope
from moot.verify import verify


class InHand(LogSource):
    """Envelopes as a log."""

    def __init__(self, envelopes: Sequence[Envelope]) -> None:
        super().__init__("in hand", "file")
        self._envelopes = envelopes

    def lines(self) -> Iterator[Line]:
        for number, env in enumerate(self._envelopes, 1):
            yield Line(number, env.line, "")

    def close(self) -> None:
        return None


def findings(envelopes: Sequence[Envelope], *, evidence: bool = False) -> list[str]:
    """Return what `moot verify` finds, one line each."""
    return [str(finding) for finding in verify(InHand(envelopes), evidence=evidence).findings]


def unlawful(lines: Iterable[str]) -> list[str]:
    """Return what in a log's lines breaks a law."""
    watch = Watch(LAWS)
    found = [one for line in lines for one in watch.see(json.loads(line))]
    return [f"{one.law.name}: {one.says}" for one in (*found, *watch.end())]
