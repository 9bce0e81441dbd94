"""What surfaces may ask and report."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import moot
from moot.protocols.kernel.seats import VIEWER
from moot.protocols.research.seats import EVOLVER
from moot.reception import Reception
from tests.doubles.canned import CannedMind
from tests.doubles.permits import permits
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

    play({EVOLVER: CannedMind()}, script)
    assert "explorer owes HYPOTHESIS" in told["status"]
    assert told["quiet"] == "nothing waits for an admin"
    assert "no_approve" in told["loud"]
    assert "1: Go on with conservative defaults" in told["loud"]
    assert "status, escalations, positions or strategies" in told["other"]


@pytest.mark.rule("R-B11")
def test_r_b11_a_viewer_is_told_what_stands_in_the_channels_that_viewers_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: dict[tuple[str, str], str] = {}

    async def script(stage: Stage) -> None:
        monkeypatch.setitem(stage.host.rules.matrix._reads, VIEWER, frozenset({"#a-report"}))
        reception = Reception(stage.host)
        await stage.wait(minutes=1)
        for seat in ("viewer", "admin"):
            for question in ("status", "escalations", "positions", "strategies"):
                told[question, seat] = await reception.ask(question, {"seat": seat})

    play({EVOLVER: CannedMind()}, script)
    assert told["escalations", "viewer"] == "only who reads #admin is told that"
    assert told["escalations", "admin"] == "nothing waits for an admin"
    for question in ("positions", "strategies"):
        assert told[question, "viewer"] == "only who reads #b-desk is told that"
    assert "owes" in told["status", "admin"]
    assert "open cases" in told["status", "viewer"] and "owes" not in told["status", "viewer"]


def test_a_report_stands_in_the_audit() -> None:
    async def script(stage: Stage) -> None:
        await Reception(stage.host).report({"event": "post_refused", "surface": "slack", "why": "too long"})
        await asyncio.sleep(0)

    log = play({}, script)
    audit = next(env.body for env in log if env.body.type == "AUDIT")
    assert (audit.event, audit.seat) == ("post_refused", "slack")
    assert "too long" in audit.reason


class Waits:
    """Stands for the society's patience: what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, bool]] = []

    def hold_open(self, escalation_id: str, is_open: bool) -> None:
        self.told.append((escalation_id, is_open))


@pytest.mark.rule("K8")
def test_k8_an_escalation_is_held_open_while_any_guest_shows_it() -> None:
    waits = Waits()

    async def script(stage: Stage) -> None:
        reception = Reception(stage.host, waits)  # type: ignore[arg-type]

        async def show(guest: str, *, is_open: bool) -> bool:
            args = {"escalation_id": "esc_1", "is_open": is_open, "guest": guest}
            assert await reception.ask("escalation_shown", args) == ""
            return waits.told[-1][1]

        assert await show("one", is_open=True)
        assert await show("two", is_open=True)
        assert await show("one", is_open=False), "the other one still shows it"
        await reception.left("one")
        assert waits.told[-1] == ("esc_1", True)
        await reception.left("two")
        assert waits.told[-1] == ("esc_1", False), "who has hung up shows nothing"
        await reception.left("nobody")

    play({}, script)


@pytest.mark.rule("R-G16")
def test_r_g16_escalations_names_what_a_person_owes_in_a_case_of_a_protocol() -> None:
    async def main(protocol: Any) -> str:
        async with moot.society(protocol, minds={"surveyor": "silent"}) as society:
            await society.post("admin", protocol.Request(text="a shed"))
            await society.answer("surveyor", safe=True)

            async def ask(host: Any) -> str:
                return await Reception(host.host).ask("escalations", {"seat": "admin"})

            return await society._awaited(ask)

    told = asyncio.run(main(permits("permits_reception")))
    case = "permit_20260223_0000"
    assert told == f"{case}: admin owes the permit in {case} until 23 Feb 02:00: /permit {case} …"
