"""Scene files: a scripted stretch of a society's life in virtual time."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from moot import bounded_yaml
from moot.bots.minds.scripted import Entry, ScriptedMind
from moot.chaos.judge import Finding, own_faults
from moot.chaos.plan import WorldPlan
from moot.chaos.rehearsal import Done, Rehearsal, Wrong, world_of
from moot.chaos.run import rehearse
from moot.clock import VirtualClock
from moot.config.settings import Settings, load_settings
from moot.log_setup import set_up_logging
from moot.minds.choosing import MindSources
from moot.minds.silences import silences_of
from moot.plan import Plan
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import BadInput, MootError
from moot.protocols.kernel.faults import line, unknown
from moot.protocols.kernel.frozen import MAX_WHOLE
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.kernel.times import rfc3339
from moot.protocols.rulebook import rulebook
from moot.seating import Script
from moot.simulation.durations import LAST, duration
from moot.simulation.fields import Duration, Instant, KnownSeat, Strict
from moot.simulation.injection import AmbiguousCase, Injection, Injector
from moot.simulation.simulate import check_prices
from moot.society import Society


class SceneError(MootError):
    """Say what is wrong with a scene, where, and what to do; one line."""


class MindScene(Strict):
    """A seat's script; every entry is a mapping with optional `type`, `delay`, `silent` and body fields."""

    script: tuple[dict[str, Any], ...] = ()
    then: Literal["simulated", "silent"] = "simulated"


class Reply(Strict):
    """An admin's answer: to the `last` escalation or one by id, with an option's number or a text."""

    escalation: str = "last"
    option: int | None = None
    text: str | None = None


class Inject(Strict):
    """A post that nobody owes, or an admin's reply to an escalation."""

    after: Duration
    seat: KnownSeat
    channel: str | None = None
    body: dict[str, Any] | None = None
    reply: Reply | None = None


class Scene(Strict):
    """A scene file.

    Attributes:
        start: Society time of the first message; naive means UTC.
        until: How long the society lives.
        seed: Seeds everything that is not scripted.
        cycle: What fires at `start`: `micro` (and every slot after it), `once` (one micro-cycle and none
            after it), `architecture`, `daily`, or `none`. The daily and weekly cycles keep their schedule.
        prices: Price source.
        systems: Which systems live; by default both.
        minds: Scripts by seat. The admin is silent unless it is named here.
        inject: Posts that nobody owes.
        rehearse: What goes wrong; it is then lived and judged as `moot chaos` does it.
        rule: Numbers of the rules that the scene shows; it changes nothing.
    """

    start: Instant
    until: Duration
    seed: Annotated[int, Field(ge=-MAX_WHOLE, le=MAX_WHOLE)] = 1
    cycle: Literal["micro", "once", "architecture", "daily", "none"] = "micro"
    prices: str = "sample"
    systems: tuple[Literal["A", "B"], ...] = ("A", "B")
    minds: dict[KnownSeat, MindScene] = Field(default_factory=dict)
    inject: tuple[Inject, ...] = ()
    rehearse: Rehearsal | None = None
    rule: str | tuple[str, ...] = ()

    def world(self) -> WorldPlan | None:
        """Return the world that it rehearses, None for a scene in which nothing goes wrong on purpose.

        Raises:
            BadInput: Something in it cannot be together.
        """
        if self.rehearse is None:
            return None
        for key in ("cycle", "prices", "minds", "inject"):
            if key in self.model_fields_set:
                raise BadInput(f"{key}: leave it out beside `rehearse`, which says what happens")
        return world_of(
            self.rehearse, seed=self.seed, start=self.start, until=self.until, systems=self.systems
        )

    def schedules(self, base: Mapping[str, Any]) -> dict[str, Any]:
        """Return the schedules of the scene."""
        if "A" not in self.systems:
            return {}
        schedules = {name: spec for name, spec in base.items() if name != "micro"}
        once = {"at": [rfc3339(self.start)]}
        if self.cycle == "micro":
            schedules["micro"] = {**base.get("micro", {}), **once}
        elif self.cycle == "once":
            schedules["micro"] = once
        elif self.cycle != "none":
            schedules[self.cycle] = {**base.get(self.cycle, {}), **once}
        return schedules


@dataclass(slots=True)
class SceneResult:
    """What a scene left.

    Attributes:
        envelopes: The whole log.
        warnings: Injections that met nothing, script entries that were never used, minds of one's own that gave no
            answer, faults that never struck; one line each.
        findings: Findings of a rehearsal, and exceptions in rules of Moot's own protocols (R-G14).
        refused: How many injections were refused; the warnings say which.
    """

    envelopes: list[Envelope] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    refused: int = 0


def load_scene(path: Path | str) -> Scene:
    """Read a scene file.

    Raises:
        SceneError: It cannot be read or is no scene; file, place and reason are named.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as exc:
        raise SceneError(f"{path}: {_unread(exc)}") from None
    try:
        raw = bounded_yaml.read(text, path)
    except BadInput as exc:
        raise SceneError(str(exc)) from None
    scene = parse_scene(raw, str(path))
    if scene.prices not in ("sample", "synthetic") and not Path(scene.prices).is_file():
        raise SceneError(f"{path}: prices: there is no file {scene.prices}")
    return scene


def _unread(exc: OSError | UnicodeError) -> str:
    if isinstance(exc, UnicodeError):
        return "is not text in UTF-8: save it as such"
    return f"cannot be read: {(exc.strerror or 'no reason was given').lower()}"


def parse_scene(raw: object, name: str = "scene") -> Scene:
    """Check the content of a scene file.

    Raises:
        SceneError: It is no scene.
    """
    if not isinstance(raw, dict):
        raise SceneError(f"{name}: a scene is a mapping with start, until, seed, minds, inject")
    for key in raw:
        if key not in Scene.model_fields:
            raise SceneError(f"{name}: {key}: {unknown(str(key), Scene.model_fields)}")
    try:
        scene = Scene.model_validate(raw)
        for seat, mind in scene.minds.items():
            for n, entry in enumerate(mind.script):
                _entry(entry, f"minds.{seat}.script[{n}]")
        if scene.start + scene.until > LAST:
            raise SceneError(f"until: from {scene.start:%Y-%m-%d} on it leads beyond {LAST.year - 1}")
        for n, inject in enumerate(scene.inject):
            if (inject.body is None) == (inject.reply is None):
                raise SceneError(f"inject[{n}]: give it a body or a reply, one of them")
        scene.world()  # what cannot be together is said before anything is lived
    except (SceneError, BadInput) as exc:
        raise SceneError(f"{name}: {exc}") from None
    except ValidationError as exc:
        raise SceneError(f"{name}: {line(exc, 'scene', _KEYS)}") from None
    return scene


_KEYS: Final = sorted(
    {
        name
        for model in (Scene, Inject, MindScene, Reply, Rehearsal, Wrong, Done)
        for field, info in model.model_fields.items()
        for name in (info.alias or field,)
    }
)


def _did_you_mean(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f", did you mean {close[0]!r}?" if close else f": choose from {', '.join(known)}"


def _entry(line: dict[str, Any], where: str) -> Entry:
    fields = dict(line)
    kind = fields.pop("type", "")
    delay = fields.pop("delay", None)
    silent = fields.pop("silent", False)
    if kind and kind not in rulebook().messages:
        raise SceneError(
            f"{where}: there is no message type {kind!r}{_did_you_mean(str(kind), list(rulebook().messages))}"
        )
    if not isinstance(silent, bool):
        raise SceneError(f"{where}: silent is true or false")
    if fields and not kind:
        raise SceneError(f"{where}: fields need a type to belong to")
    if kind:
        for name in fields:
            known = [f.serialization_alias or n for n, f in rulebook().messages[kind].model_fields.items()]
            if name not in known:
                raise SceneError(f"{where}: {kind} has no field {name!r}{_did_you_mean(name, known)}")
    try:
        wait = duration(delay) if delay is not None else None
    except ValueError as exc:
        raise SceneError(f"{where}.delay: {exc}") from None
    return Entry(type=kind, delay=wait, silent=silent, fields=fields, where=where)


def script_of(mind: MindScene, where: str) -> Script:
    """Return a seat's script.

    Raises:
        SceneError: An entry is no message.
    """
    entries = tuple(_entry(entry, f"{where}.script[{n}]") for n, entry in enumerate(mind.script))
    return Script(entries=entries, then=mind.then)


def plan_of(
    scene: Scene,
    out: Path | None,
    settings: Settings | None = None,
    minds: MindSources = MappingProxyType({}),
) -> Plan:
    """Turn a scene into a society's plan; what fills a seat says what the seat's script leaves open.

    Raises:
        UnusableMind: A mind cannot be used.
    """
    settings = settings or load_settings()
    base = {name: schedule.spec() for name, schedule in settings.schedules.items()}
    schedules = scene.schedules(base)
    settings = settings.model_copy(
        update={
            "schedules": load_settings(schedules=schedules).schedules,
            "prices": settings.prices.model_copy(update={"source": scene.prices}),
            "desk": settings.desk.model_copy(update={"enabled": "B" in scene.systems}),
        }
    )
    scripts = {seat: script_of(mind, f"minds.{seat}") for seat, mind in scene.minds.items()}
    return Plan(
        settings=settings,
        seed=scene.seed,
        start=scene.start,
        society_id=f"scene/{scene.seed}",
        directory=out,
        scripts=scripts,
        is_admin_simulated=ADMIN in scene.minds,
        minds=minds,
    )


def run_scene(
    scene: Scene,
    out: Path | None = None,
    settings: Settings | None = None,
    minds: MindSources = MappingProxyType({}),
    clock: VirtualClock | None = None,
) -> SceneResult:
    """Run a scene in virtual time.

    Args:
        scene: The scene.
        out: A data directory for its log; None: nothing is written.
        settings: What the scene leaves open; None: the effective configuration.
        minds: What fills seats instead of what the configuration says.
        clock: The clock to run it on, which begins at its start; None: a new one. A rehearsal makes its own.

    Raises:
        SceneError: An injection cannot be placed, or what a script says is no message.
        UnusableMind: A mind cannot be used.
        PriceFileError: The prices cannot be used.
    """
    if (world := scene.world()) is not None:
        outcome, warnings = rehearse(world, out)
        return SceneResult(outcome.log, warnings, outcome.findings)
    result = SceneResult()
    plan = plan_of(scene, out, settings, minds)
    if out is not None:
        check_prices(plan)
    set_up_logging(out / "moot.log" if out is not None else None)

    async def main(clock: VirtualClock) -> None:
        faults: list[str] = []
        failed = asyncio.Event()

        def fail(why: str) -> None:
            faults.append(why)
            failed.set()

        async with await Society.open(plan, clock) as society:
            scripted = {seat: mind for seat, mind in society.minds.items() if isinstance(mind, ScriptedMind)}
            for mind in scripted.values():
                mind.on_fault = fail
            injections = [
                Injection(n, inject.after, inject.seat, inject.channel, inject.body, _reply(inject))
                for n, inject in enumerate(scene.inject)
            ]
            injector = Injector(society.host, clock, scene.start, result.warnings)
            await injector.run_beside(injections, society.run_until(scene.start + scene.until, failed))
            result.refused = injector.refused
            if faults:
                raise SceneError(faults[0])
            for seat, mind in scripted.items():
                for entry in mind.unused:
                    what = entry.type or "its next obligation"
                    result.warnings.append(f"{seat}: a script entry for {what} was never used")
            await society.close("the scene is over")
            result.envelopes.extend([e async for e in society.bus.read()])

    try:
        (clock or VirtualClock(scene.start)).run(main)
    except AmbiguousCase as exc:
        raise SceneError(str(exc)) from None
    result.warnings += silences_of(result.envelopes)
    result.findings = [*own_faults(result.envelopes)]
    return result


def _reply(inject: Inject) -> dict[str, Any] | None:
    return inject.reply.model_dump() if inject.reply is not None else None
