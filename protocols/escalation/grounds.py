"""What an escalation rests on: its row of the trigger table, and what the admin answered."""

from __future__ import annotations

from typing import Final

from moot.protocols.escalation.triggers import TRIGGERS
from moot.protocols.kernel.grounds import Decides, Grounds, Table

RAISING: Final = Table(
    "what escalates, and what silence leads to",
    ("trigger", "level", "what the admin reads", "silence leads to"),
    tuple(
        (
            code.replace("_", " "),
            one.level.replace("_", " ").lower(),
            one.text.format(subject="…"),
            one.options[0][0],
        )
        for code, one in TRIGGERS.items()
    ),
    lambda _said, body: [*TRIGGERS].index(body.trigger_code) if body.trigger_code in TRIGGERS else None,
)

GROUNDS: Final = Grounds(
    decides={
        "ESCALATION": Decides("level", ("trigger", "context")),
        "ESCALATION_RESOLVED": Decides("how"),
    },
    tables={"ESCALATION": RAISING},
)
