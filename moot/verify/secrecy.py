"""No message holds a secret: the sequencer redacts it before it is logged (R-A9)."""

from __future__ import annotations

from moot.verify.report import Findings
from protocols.kernel.discretion import RULE, indiscretions
from protocols.kernel.envelope import Envelope
from protocols.kernel.redact import may_hold_secret


class Secrecy:
    """Looks through every message; a finding says where the secret stands, and never what it is."""

    def __init__(self, findings: Findings) -> None:
        """Start with nothing seen."""
        self._findings = findings

    def take(self, env: Envelope, text: str, seq: int) -> None:
        """Check a message.

        Args:
            env: What was read.
            text: Its line.
            seq: The place it has in the log.
        """
        # A line that spells letters by their number hides them from the quick look; the sequencer writes none.
        if not may_hold_secret(text) and "\\u" not in text:
            return
        for path in indiscretions(env):
            self._findings.add(seq, "secret", RULE, f"{path}: holds what looks like a secret")
