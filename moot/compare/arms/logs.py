"""The log of one answer, kept as JSON Lines, as `moot log`, `moot verify` and `moot why` read it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from moot.protocols.kernel.envelope import Envelope


def kept(log: Sequence[Envelope], path: Path | None) -> str:
    """Keep a log where one is wanted.

    Returns:
        The hash of its last message, which stands for all of it; "" for an empty log.

    Raises:
        OSError: It cannot be written.
    """
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{env.line}\n" for env in log), encoding="utf-8")
    return log[-1].hash if log else ""
