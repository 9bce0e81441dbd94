"""Whole cases in which every seat is a model's: a real client against a scripted server, in virtual time, no bursar."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from moot.bots.minds.mind import Mind
from moot.bots.minds.model.asking import ModelOptions
from moot.bots.minds.model.mind import ModelMind, drawn
from moot.bots.minds.model.research import ResearchKit
from moot.bots.minds.model.writing import ModelPanelWriter, ModelWriter
from moot.bots.minds.simulated.mind import SimulatedMind
from moot.bots.models.answer import Answer
from moot.bots.notebook.client import Notebook
from moot.bots.seats.arena import ArenaMind
from moot.bots.seats.panel import PanelMind
from moot.bots.seats.sessions import SessionStore
from moot.clock import Clock, IoThread, VirtualClock
from moot.config.prompts import load_prompts
from moot.config.settings import load_settings
from moot.memory.evidence import InMemoryEvidence, text_of
from moot.minds.foreseeing import fault_of
from moot.minds.silences import silences_of
from moot.plan import Plan
from moot.protocols.arena.seats import ARENA
from moot.protocols.kernel.envelope import Actor, Draft, Envelope
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.panel.seats import PANEL
from moot.protocols.research.seats import SYSTEM_A
from moot.simulation.durations import DEFAULT_START
from moot.society import Society
from moot.workshop import START, workshop
from tests.doubles.model_calls import PlainCaller, client_of
from tests.doubles.model_server import ModelServer

SEED = 1
LIMIT_S = 60.0


class Held:
    """What came of cases: the log, and what was asked."""

    def __init__(self, log: Sequence[Envelope], caller: PlainCaller) -> None:
        self.log = tuple(log)
        self.caller = caller

    @property
    def types(self) -> list[str]:
        return [env.body.type for env in self.log]

    def bodies(self, kind: str) -> list[Any]:
        return [env.body for env in self.log if env.body.type == kind]

    @property
    def silences(self) -> list[str]:
        return silences_of(self.log)

    @property
    def prompts(self) -> list[str]:
        """Return what was shown with each call, instructions left out."""
        return [str(request.messages[1]["content"]) for _, _, request in self.caller.asked]


def on_thread(clock: Clock, io: IoThread) -> Callable[[Callable[[], Awaitable[Answer]]], Awaitable[Answer]]:
    """Run calls on a thread with an ordinary loop, virtual time standing still."""

    def run(call: Callable[[], Any]) -> Awaitable[Answer]:
        return io.call(call, wall_timeout_s=LIMIT_S)

    return run


def hold(
    server: ModelServer,
    seats: Sequence[Seat],
    openers: Sequence[Draft],
    *,
    evidence: InMemoryEvidence | None = None,
    notebook: Notebook | None = None,
    over: Mapping[Seat, Mind] | None = None,
) -> Held:
    """Hold cases with a model in every seat."""

    async def main(clock: VirtualClock) -> Held:
        with IoThread(clock) as io:
            client = client_of(server)
            caller = PlainCaller(client, run=on_thread(clock, io))
            found: list[Envelope] = []

            async def tell(view: Any, why: str) -> None:
                await shop.host.audit_silence(view, why)

            sessions = SessionStore()
            options, prompts = ModelOptions(name="the model local (tiny-1)"), load_prompts()

            def mind(seat: Seat) -> Mind:
                if seat in ARENA:
                    writer = ModelWriter(caller, options, prompts, delay=drawn(SEED), tell=tell)
                    return ArenaMind(writer, lambda _view: notebook, sessions)
                if seat in PANEL:
                    judge = ModelPanelWriter(caller, options, prompts, delay=drawn(SEED), tell=tell)
                    return PanelMind(judge)
                return ModelMind(
                    caller,
                    options,
                    prompts,
                    delay=drawn(SEED),
                    fault_of=lambda view, body: fault_of(shop.host, view, body),
                    tell=tell,
                )

            minds = {seat: mind(seat) for seat in seats} | dict(over or {})
            contents = partial(text_of, evidence or InMemoryEvidence())
            async with workshop(clock, minds, seed=SEED, contents=contents) as shop:
                await shop.hold(openers)
                found = list(shop.log)
            await io.call(client.close, wall_timeout_s=LIMIT_S)
            return Held(found, caller)

    return VirtualClock(START).run(main)


def live(server: ModelServer, hours: float, *, note: str = "", start: datetime = DEFAULT_START) -> Held:
    """Let System A live with a model in every seat; an admin may say something first."""
    settings = load_settings(
        minds={}, panel={"enabled": False}, desk={"enabled": False}, arena={"enabled": False}
    )
    plan = Plan(settings=settings, seed=SEED, start=start, society_id="models", is_admin_simulated=True)
    found: list[Envelope] = []

    async def main(clock: VirtualClock) -> Held:
        with IoThread(clock) as io:
            client = client_of(server)
            caller = PlainCaller(client, run=on_thread(clock, io))
            society = await Society.open(plan, clock)
            async with society:
                host = society.host
                for seat in SYSTEM_A:
                    simulated = host.bot(seat).mind
                    assert isinstance(simulated, SimulatedMind)
                    host.bot(seat).mind = ModelMind(
                        caller,
                        ModelOptions(name="the model local (tiny-1)"),
                        load_prompts(),
                        delay=drawn(SEED),
                        kit=ResearchKit(simulated.tools),
                        measured=simulated,
                        fault_of=lambda view, body: fault_of(host, view, body),
                        tell=host.audit_silence,
                    )
                host.listeners.append(lambda env, _fx: found.append(env))
                if note:
                    said = Draft("#a-arena", ADMIN, Note(text=note), Actor("human", "cli", "ann"), key="note")
                    await host.publish(said)
                await society.run_until(start + timedelta(hours=hours))
            await io.call(client.close, wall_timeout_s=LIMIT_S)
            return Held(found, caller)

    return VirtualClock(start).run(main)
