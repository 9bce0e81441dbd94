"""What the decision of a review panel rests on."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.grounds import Decides, Grounds

GROUNDS: Final = Grounds(
    decides={
        "PANEL_DECIDED": Decides("decision", ("arithmetic", "tags")),
        "PANEL_ABORTED": Decides("tag", ("why",)),
    },
    objects={"LINT": lambda body: () if body.is_passed else body.findings or ("",)},
)
