"""When the messages of a micro-cycle were hoped for, and when they came (R-D1); as plain JSON."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from moot.channels.showing.wording import words
from moot.console.errors import NotThere
from moot.console.model.interface import CaseView, ReadModel
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.research.targets import TARGETS, Target

MICRO: Final = "micro"
A_MINUTE: Final = timedelta(minutes=1)


async def targets_of(model: ReadModel, case: CaseView) -> dict[str, Any] | None:
    """Return the targets of a micro-cycle as a table, for the cycle and for its debate; None for other cases."""
    if case.kind == "debate" and case.parent is not None:
        related: tuple[str, ...] = (case.parent,)
    elif case.kind == "cycle":
        related = case.children
    else:
        return None
    said = list(case.transcript)
    for one in related:
        try:
            said += (await model.case(one)).transcript
        except NotThere:
            continue
    return target_table(sorted(said, key=lambda env: env.seq), is_over=case.outcome is not None)


def target_table(said: Sequence[Envelope], *, is_over: bool) -> dict[str, Any] | None:
    """Hold what was said in a micro-cycle and its debate against the targets.

    Args:
        said: The messages of both, oldest first.
        is_over: Whether what has not come will not come any more.

    Returns:
        Rows of message, target, instant and by how much it was missed; None without the trigger of a micro-cycle.
    """
    trigger = next((env for env in said if env.body.type == "CYCLE_TRIGGER"), None)
    if trigger is None or trigger.body.model_dump().get("mode") != MICRO:
        return None
    rows = [_row(target, trigger.sent_at, said, is_over=is_over) for target in TARGETS]
    note = "Targets bind nobody; what is owed until when stands above. They count from the CYCLE_TRIGGER."
    head = ["message", "target", "came", "so it is"]
    return {"title": "Targets", "note": note, "head": head, "rows": rows, "on": None}


def _row(target: Target, began: datetime, said: Sequence[Envelope], *, is_over: bool) -> list[Any]:
    name = " or ".join(words(kind) for kind in target.kinds) + (
        f", round {target.round}" if target.round else ""
    )
    hoped = began + target.after
    found = next((env for env in said if target.is_met_by(env.body)), None)
    if found is None:
        return [name, f"{hoped:%H:%M}", "", "did not come" if is_over else "not yet"]
    late = found.sent_at - hoped
    verdict = "in time" if late < A_MINUTE else f"{late // A_MINUTE} min after it"
    came = {"t": f"{found.sent_at:%H:%M}", "go": f"/m/{found.seq}"}
    return [name, f"{hoped:%H:%M}", came, verdict]
