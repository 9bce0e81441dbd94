"""Review panels: each that ended is judged again from its raw messages (sprint contracts 2 to 8)."""

from __future__ import annotations

from moot.protocols.kernel.envelope import Envelope
from moot.verify.ended import EndedCases, Said, unstruck
from moot.verify.second_panel import SecondPanel


class Panels(EndedCases):
    """Judges review panels."""

    opener = "PANEL_OPENED"
    ends = frozenset({"PANEL_DECIDED", "PANEL_ABORTED"})

    def _judge(self, last: Envelope, said: Said) -> None:
        try:
            for doubt in SecondPanel(unstruck(said)).judge():
                self._findings.add(last.seq, "panel", doubt.rule, doubt.why)
        except Exception as exc:
            # A tampered panel may hold anything; it must not end the verification.
            self._findings.add(last.seq, "panel", "8", f"the panel cannot be judged again: {exc}")
