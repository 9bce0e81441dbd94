"""What the end of an experiment rests on."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.grounds import Decides, Grounds

GROUNDS: Final = Grounds(decides={"EXPERIMENT_ENDED": Decides("stop_reason", ("notes",))})
