"""Laws of System A's debates."""

from __future__ import annotations

from moot.chaos.laws.law import Findings, Memory, Message, hears
from moot.chaos.laws.recent import Recent


class OneRevision(Memory, source="1.2, R-D9"):
    """A debate is revised once at most."""

    def __init__(self) -> None:
        self.revised: Recent[tuple[str, str], int] = Recent()

    @hears("VERDICT", "FINAL_VERDICT", "REVISE_REQUEST", "REVISED_HYPOTHESIS")
    def revising(self, message: Message) -> Findings:
        body, case = message["body"], message["case_id"]
        kind = body["type"]
        if body.get("verdict", "REVISE") != "REVISE":
            return ()
        if kind == "FINAL_VERDICT":
            return ("a final verdict asks for a revision",)
        before = self.revised.get((case, kind))
        self.revised[case, kind] = message["seq"]
        return () if before is None else (f"the second one, after seq {before}",)


class ThreeRounds(Memory, source="1.3, R-D5"):
    """A debate has two rounds, and a third one where the Evolver extended it, once, in honest doubt."""

    def __init__(self) -> None:
        self.extended: Recent[str, int] = Recent()

    @hears("EXTEND_DEBATE")
    def extending(self, message: Message) -> Findings:
        body, case = message["body"], message["case_id"]
        before = self.extended.get(case)
        self.extended[case] = message["seq"]
        if before is not None:
            yield f"the second one, after seq {before}"
        if body["extra_rounds"] != 1:
            yield f"adds {body['extra_rounds']} rounds"
        for side in ("alpha_argument_score", "risk_argument_score"):
            if not 0.55 <= body[side] <= 0.75:
                yield f"{side} is {body[side]}, outside 0.55 to 0.75"

    @hears("REBUTTAL", "CONCEDE", "RISK_ASSESSMENT")
    def speaking(self, message: Message) -> Findings:
        number = message["body"]["round"]
        most = 3 if message["case_id"] in self.extended else 2
        return (f"round {number} of {most}",) if number != "revision" and number > most else ()
