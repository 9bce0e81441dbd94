"""`moot.scene`: a scripted stretch of a society's life, from a mapping or a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from moot.api.case import Case
from moot.api.log import log_of, open_log
from moot.api.options import minds_of, place_of, settings_of
from moot.api.result import Result
from moot.api.running import Prepared, twins
from moot.api.society_input import ProtocolSource, protocols_of
from moot.clock import VirtualClock
from moot.config.protocols import speaking
from moot.config.settings import Settings
from moot.minds.choosing import MindSources
from moot.protocols.kernel.protocol import Protocol
from moot.simulation.scene import Scene, load_scene, parse_scene, plan_of, run_scene


@dataclass(frozen=True, repr=False)
class SceneResult(Result):
    """What a scene left.

    Attributes:
        log: Every message.
        notes: Injections that met nothing or were refused, script entries that were never used; one line each.
        refused: Number of injections that were refused; the notes say which.
        findings: What is wrong with the log of a rehearsal, one line each.
    """

    notes: tuple[str, ...]
    refused: int
    findings: tuple[str, ...]

    @property
    def cases(self) -> Mapping[str, Case]:
        """The cases by id, in the order in which they were opened."""
        return self.log.cases

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes, and why minds of one's own gave no answer."""
        return self.notes

    def to_dict(self) -> dict[str, Any]:
        """Return cases and warnings as JSON has them; the messages are in `log.to_dict()`."""
        return {
            "cases": {name: one.to_dict() for name, one in self.cases.items()},
            "warnings": [*self.warnings],
            "refused": self.refused,
            "findings": [*self.findings],
        }

    def rows(self) -> list[tuple[str, object]]:
        cases = [f"{one.id}: {one.outcome or f'open, {one.phase}'}" for one in self.cases.values()]
        return [
            ("messages", len(self.log)),
            ("cases", "; ".join(cases) or "none"),
            ("refused", self.refused),
            *(("finding", line) for line in self.findings),
        ]


def _scene(
    scene: Mapping[str, Any] | Path | str,
    *,
    protocols: ProtocolSource | Iterable[ProtocolSource] = (),
    config: Path | str | Mapping[str, Any] | None = None,
    minds: MindSources | None = None,
    out: Path | str | None = None,
) -> Prepared[SceneResult]:
    """Run a scene in virtual time; the same scene gives the same log, byte for byte, where no model sits.

    Args:
        scene: What a scene file holds, as a mapping; or the path of a file.
        protocols: Protocols of your own, as objects, modules, or names of modules; they need not be installed.
        config: A TOML file, or its sections as a mapping; by default the shipped configuration.
        minds: What fills a seat, as of `moot.simulate`; who is not named is simulated.
        out: A directory that keeps the log; by default it is kept in memory.

    Raises:
        BadInput: An argument cannot be used; the line says which and why.
        SceneError: The scene is none; the line names the place in it.
        MootError: Configuration, protocols, prices, a mind or the directory cannot be used.
    """
    given = protocols_of(protocols)
    with speaking(given):
        settings = settings_of(config)
        read = parse_scene(dict(scene)) if isinstance(scene, Mapping) else load_scene(scene)
        place = place_of(out)
        plan = plan_of(read, place, settings, minds_of(minds))
        work = partial(_played, read, place, settings, plan.chosen, given)
    return Prepared(work, read.start)


scene, ascene = twins(_scene)


def _played(
    scene: Scene,
    out: Path | None,
    settings: Settings,
    minds: MindSources,
    protocols: tuple[Protocol, ...],
    clock: VirtualClock,
) -> SceneResult:
    with speaking(protocols):
        done = run_scene(scene, out, settings, minds, clock)
        log = open_log(out, protocols) if out is not None else log_of(tuple(done.envelopes), protocols)
        return SceneResult(log, tuple(done.warnings), done.refused, tuple(map(str, done.findings)))
