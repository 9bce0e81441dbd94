"""`moot pause`, `step`, `speed`: the pace of an accelerated society (K7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from moot.cli.act.authority import As, require_admin, user_of
from moot.cli.app import command
from moot.cli.errors import Refused
from moot.cli.numbers import some_speed
from moot.cli.output import write_json
from moot.cli.place import DEFAULT, AsJson, Dir

MOST_STEPS: Final = 1000


@command("moot pause ./moot-data", "moot pause ./moot-data --as ann")
def pause(named: Dir = DEFAULT, as_user: As = None, as_json: AsJson = False) -> int:
    """Let an accelerated society's time stand still; moot speed lets it go on."""
    return _told(_ask(named, "pause", None, as_user), as_json)


@command("moot step ./moot-data", "moot step ./moot-data 10")
def step(
    named: Dir,
    steps: Annotated[
        int, typer.Argument(metavar="X", min=1, max=MOST_STEPS, help="By how many timers; by default 1.")
    ] = 1,
    as_user: As = None,
    as_json: AsJson = False,
) -> int:
    """Move a society on to the next instant at which something happens, or by X of them; it is paused after that.

    One that runs is paused too: moot speed lets it go on.
    """
    receipt: Mapping[str, Any] = {}
    for _ in range(steps):
        receipt = _ask(named, "step", 1.0, as_user)
        if not receipt.get("ok"):
            break
    return _told(receipt, as_json, "; moot speed lets it go on")


@command("moot speed ./moot-data 240", "moot speed ./moot-data")
def speed(
    named: Dir,
    factor: Annotated[
        float | None,
        typer.Argument(
            metavar="X", callback=some_speed, help="Society seconds a wall second; left out: as before."
        ),
    ] = None,
    as_user: As = None,
    as_json: AsJson = False,
) -> int:
    """Set how fast an accelerated society runs; a paused one goes on."""
    return _told(_ask(named, "resume" if factor is None else "speed", factor, as_user), as_json)


def _ask(named: Any, op: Any, value: float | None, as_user: str | None) -> Mapping[str, Any]:
    from moot.control import ask

    user = user_of(as_user)
    log = require_admin(user, named, "set the pace")
    return ask(log.path, op, value, user)


def _told(receipt: Mapping[str, Any], as_json: bool, more: str = "") -> int:
    if as_json:
        write_json(dict(receipt))
    if not receipt.get("ok"):
        raise Refused(str(receipt.get("why") or "the society did not say why"))
    if not as_json:
        pace = (
            "paused" if receipt.get("paused") else f"×{receipt['speed']:g}" if "speed" in receipt else "done"
        )
        at = str(receipt.get("society_at", ""))[:16].replace("T", " ")
        print((f"{pace}, society time {at} UTC" if at else str(receipt.get("why", pace))) + more)
    return 0
