"""Laws of the Arena's runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from moot.laws.law import Findings, Memory, Message, hears
from moot.laws.recent import Recent

VERDICT: Final = re.compile(r"^\s*VERDICT:\s*(APPROVED|REVISE)\s*$", re.IGNORECASE | re.ASCII)
"""The grammar of a verdict, for a line (7.3)."""
LINES: Final = re.compile(r"\r\n|\n|\r")


@dataclass
class Run:
    """What is known of a run."""

    most: int
    rounds: int = 0
    reviews: int = 0
    verdict: str = ""


class RunsKeepTheirRounds(Memory, source="Arena 5.1, 6, 7.3, 9.1, 9.3"):
    """A run drafts anew only after a REVISE, within its rounds; a verdict is a line of the grammar, asked for twice."""

    def __init__(self) -> None:
        self.runs: Recent[str, Run] = Recent(512)

    @hears("ARENA_TASK")
    def opened(self, message: Message) -> Findings:
        """Begin a run."""
        most = message["body"]["config"].get("max_rounds", 5)
        self.runs[message["case_id"]] = Run(most if isinstance(most, int) else 5)
        return ()

    @hears("DRAFT")
    def drafted(self, message: Message) -> Findings:
        """Begin a round."""
        run = self.runs.get(message["case_id"])
        if run is None:
            return ("is of no run",)
        before, run.verdict, run.reviews = run.verdict, "", 0
        run.rounds += 1
        if run.rounds > 1 and before != "REVISE":
            return (f"is of round {run.rounds}, and the last verdict was {before or 'none'}",)
        return (f"is of round {run.rounds} of {run.most}",) if run.rounds > run.most else ()

    @hears("REVIEW")
    def reviewed(self, message: Message) -> Findings:
        """Read the verdict."""
        run = self.runs.get(message["case_id"])
        if run is None or not run.rounds:
            return ("reviews what nobody drafted",)
        found = [
            one[1].upper() for line in LINES.split(message["body"]["text"]) if (one := VERDICT.match(line))
        ]
        before, run.verdict = run.verdict, found[-1] if found else ""
        run.reviews += 1
        if before:
            return (f"reviews again what was judged {before}",)
        return ("is the third review of this round",) if run.reviews > 2 else ()

    @hears("FINAL_OUTPUT")
    def finished(self, message: Message) -> Findings:
        """Hold the output against the verdict."""
        run = self.runs.get(message["case_id"])
        if run is None:
            return ("is of no run",)
        if run.verdict == "APPROVED" or (run.verdict == "REVISE" and run.rounds == run.most):
            return ()
        return (f"comes in round {run.rounds} of {run.most}, on a verdict of {run.verdict or 'nothing'}",)

    @hears("RUN_TERMINATED")
    def ended(self, message: Message) -> Findings:
        """Hold the end against the verdict."""
        run, state = self.runs.pop(message["case_id"], None), message["body"]["state"]
        if run is None:
            return ("ends no run",)
        if message["body"]["rounds"] > run.most:
            return (f"counts {message['body']['rounds']} rounds of {run.most}",)
        if state == "TERMINATED_APPROVED" and run.verdict != "APPROVED":
            return (f"is called approved, the last verdict was {run.verdict or 'none'}",)
        return ()
