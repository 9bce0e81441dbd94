"""What the end of a run of the Arena rests on, and what its Reviewer asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from moot.protocols.arena.reading import issues_of
from moot.protocols.arena.verdict import parse_verdict
from moot.protocols.kernel.grounds import Decides, Grounds


def _asked_for(body: Any) -> Sequence[str]:
    """Return what a review wants revised."""
    verdict = parse_verdict(body.text).verdict
    if verdict != "REVISE":
        return ()
    return [one.text for one in issues_of(body.text, verdict, max(body.round_index, 1), (), ())]


GROUNDS: Final = Grounds(
    decides={"RUN_TERMINATED": Decides("state", ("reason",))},
    objects={"REVIEW": _asked_for, "RUN_FAULT": lambda body: (body.detail,)},
)
