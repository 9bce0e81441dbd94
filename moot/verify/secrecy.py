"""No message holds a secret: the sequencer redacts it before it is logged (R-A9)."""

from __future__ import annotations

from moot.protocols.kernel.discretion import RULE, indiscretions
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.redact import may_hold_secret
from moot.verify.reading import Read
from moot.verify.report import Findings


class Secrecy:
    """Looks through every message; a finding says where the secret stands, and never what it is."""

    def __init__(self, findings: Findings) -> None:
        """Start with nothing seen."""
        self._findings = findings

    def take(self, read: Read, env: Envelope, seq: int) -> None:
        """Check a message.

        Args:
            read: The line.
            env: What it says.
            seq: The place it has in the log.
        """
        if read.is_clean or is_beyond_doubt(read.text):
            return
        for path in indiscretions(env):
            self._findings.add(seq, "secret", RULE, f"{path}: holds what looks like a secret")


def is_beyond_doubt(text: str) -> bool:
    """Say at a glance whether a line holds no secret; when not, it may."""
    # A line that spells letters by their number hides them from the quick look; the sequencer writes none.
    return not may_hold_secret(text) and "\\u" not in text
