"""Review panels: each that ended is judged again from its raw messages (sprint contracts 2 to 8)."""

from __future__ import annotations

from moot.verify.report import Findings
from moot.verify.runs import unstruck
from moot.verify.second_panel import SecondPanel
from protocols.kernel.effects import Effects
from protocols.kernel.envelope import Envelope
from protocols.panel.messages import PanelAborted, PanelDecided, PanelOpened


class Panels:
    """Keeps the messages of panels that are open, and judges a panel when it ends.

    A log without panels costs one look-up a message.
    """

    def __init__(self, findings: Findings) -> None:
        """Start with no panel."""
        self._findings = findings
        self._open: dict[str, list[tuple[Envelope, bool]]] = {}

    def __len__(self) -> int:
        """Return how many panels are open."""
        return len(self._open)

    def take(self, env: Envelope, fx: Effects | None) -> None:
        """Take in a message.

        Args:
            env: The message.
            fx: What it changed; None when it could not be folded.
        """
        if env.case_id not in self._open and not isinstance(env.body, PanelOpened):
            return
        is_idle = fx is not None and (fx.violation is not None or fx.superseded)
        if isinstance(env.body, PanelOpened):
            if not is_idle:
                self._open[env.body.panel_id] = [(env, False)]
            return
        panel_id = env.case_id or ""
        self._open[panel_id].append((env, is_idle))
        if isinstance(env.body, PanelDecided | PanelAborted) and not is_idle:
            self._judge(env, self._open.pop(panel_id))

    def _judge(self, last: Envelope, said: list[tuple[Envelope, bool]]) -> None:
        try:
            for doubt in SecondPanel(unstruck(said)).judge():
                self._findings.add(last.seq, "panel", doubt.rule, doubt.why)
        except Exception as exc:
            # A tampered panel may hold anything; it must not end the verification.
            self._findings.add(last.seq, "panel", "8", f"the panel cannot be judged again: {exc}")
