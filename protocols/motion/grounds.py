"""What the judgment of a motion rests on; its guards in `judging` apply the same limits."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.grounds import Decides, Grounds
from moot.protocols.research import grounds as debate

UPHOLDING: Final = "to uphold it"

SURE: Final = debate.SURE._replace(purpose=UPHOLDING)
LEAD: Final = debate.LEAD._replace(purpose=UPHOLDING, rule="R-D8")
_SCORES: Final = {"alpha_argument_score": "for_score", "risk_argument_score": "against_score"}
STRONG: Final = tuple(bar._replace(path=_SCORES[bar.path]) for bar in debate.STRONG)

GROUNDS: Final = Grounds(
    decides={"JUDGMENT": Decides("outcome", ("reasoning",))},
    bars={"JUDGMENT": (SURE, LEAD), "EXTEND_MOTION": STRONG},
    objects={
        "OBJECTIONS": lambda body: [f"{one.number} {one.severity}: {one.text}" for one in body.objections]
    },
)
