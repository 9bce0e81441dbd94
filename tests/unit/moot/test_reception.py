"""What surfaces may ask and report."""

from __future__ import annotations

import asyncio
from typing import Any

from moot.reception import Reception
from protocols.kernel.seats import Seat
from tests.doubles.canned import CannedMind
from tests.doubles.stage import Stage, play


def test_status_and_escalations_are_told_in_words() -> None:
    told: dict[str, Any] = {}

    async def script(stage: Stage) -> None:
        reception = Reception(stage.host)
        await stage.wait(minutes=1)
        told["status"] = await reception.ask("status", {})
        told["quiet"] = await reception.ask("escalations", {})
        await stage.wait(hours=24, minutes=1)
        told["loud"] = await reception.ask("escalations", {})
        told["other"] = await reception.ask("weather", {})

    play({Seat.EVOLVER: CannedMind()}, script)
    assert "explorer owes HYPOTHESIS" in told["status"]
    assert told["quiet"] == "nothing waits for an admin"
    assert "no_approve" in told["loud"]
    assert "1: Go on with conservative defaults" in told["loud"]
    assert "status, escalations, positions or strategies" in told["other"]


def test_a_report_stands_in_the_audit() -> None:
    async def script(stage: Stage) -> None:
        await Reception(stage.host).report({"event": "post_refused", "surface": "slack", "why": "too long"})
        await asyncio.sleep(0)

    log = play({}, script)
    audit = next(env.body for env in log if env.body.type == "AUDIT")
    assert (audit.event, audit.seat) == ("post_refused", "slack")
    assert "too long" in audit.reason
