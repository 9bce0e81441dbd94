"""Many worlds, one a seed: what went wrong in them, what was found, and how to live one of them again."""

from __future__ import annotations

import json
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import structlog

from moot.chaos.coverage import all_rows
from moot.chaos.faults import CLASSES, FAULTS, RATE, check_rate, checked
from moot.chaos.judge import Finding
from moot.chaos.plan import WEEK, WorldPlan, draw
from moot.chaos.world import Outcome, live
from moot.clock.wall import monotonic_ns
from moot.protocols.kernel.errors import BadInput

SUMMARY: Final = "chaos.json"
"""In a run's folder: its figures."""
PLAN: Final = "plan.json"
LOG: Final = "log.jsonl"

MOST_SHOWN: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ChaosOptions:
    """Which worlds to live.

    Attributes:
        seed: Of the first; the others have those that follow.
        weeks: How many.
        days: About how long each is.
        classes: What may go wrong.
        rate: Share of occasions that a spell strikes, on average.
        jobs: Processes.
        on_files: Whether all live on files; else one in fifty.
        out: A folder for the figures, and for plan and log of each world with a finding; None: nothing is written.
    """

    seed: int
    weeks: int = 1
    days: float = WEEK
    classes: tuple[str, ...] = CLASSES
    rate: float = RATE
    jobs: int = 1
    on_files: bool = False
    out: Path | None = None

    def plan(self, seed: int) -> WorldPlan:
        """Draw one of the worlds."""
        return draw(seed, days=self.days, classes=self.classes, rate=self.rate, on_files=self.on_files)

    def command(self, seed: int) -> str:
        """Return the command that lives one of them again."""
        words = ["moot chaos", f"--seed {seed}"]
        if self.classes != CLASSES:
            words.append(f"--faults {','.join(self.classes)}")
        if self.rate != RATE:
            words.append(f"--rate {self.rate:g}")
        if self.days != WEEK:
            words.append(f"--days {self.days:g}")
        if self.on_files:
            words.append("--files")
        return " ".join(words)


@dataclass(slots=True)
class Week:
    """What came of one world, as plain data that a process hands to another.

    `kind` is the name of its first finding.
    """

    seed: int
    clock: str
    bus: str
    messages: int = 0
    lives: int = 0
    head: str = ""
    happened: dict[str, int] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    kind: str = ""
    findings: list[str] = field(default_factory=list)
    wall_s: float = 0.0


@dataclass(slots=True)
class ChaosResult:
    """What came of all worlds.

    Attributes:
        options: What was asked for.
        weeks: Each world, by seed.
        wall_s: How long it took.
    """

    options: ChaosOptions
    weeks: list[Week] = field(default_factory=list)
    wall_s: float = 0.0

    @property
    def found(self) -> list[Week]:
        """Return the worlds with findings."""
        return [week for week in self.weeks if week.findings]

    def faults(self) -> Counter[str]:
        """Return how many faults struck, by class."""
        counted: Counter[str] = Counter(dict.fromkeys(self.options.classes, 0))
        for name, n in self.happened().items():
            kind = name.partition(".")[0]
            if kind in counted:
                counted[kind] += n
        return counted

    def happened(self) -> Counter[str]:
        """Return how often everything happened, by name."""
        return sum((Counter(week.happened) for week in self.weeks), Counter())

    def never(self) -> list[str]:
        """Return the faults of the classes that never struck, by name."""
        struck = {name.split()[0] for name in self.happened()}
        return [
            f"{kind}.{name}"
            for kind in self.options.classes
            for name in FAULTS[kind]
            if f"{kind}.{name}" not in struck
        ]

    def rows(self) -> dict[str, int]:
        """Return how often each row of the machines' tables was taken, those at zero too."""
        taken: Counter[str] = sum((Counter(week.rows) for week in self.weeks), Counter())
        return {name: taken[name] for name in all_rows()}

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        options, per_hour = self.options, None
        if self.wall_s and options.days == WEEK:
            per_hour = round(len(self.weeks) / self.wall_s * 3600.0, 1)
        return {
            "seed": options.seed,
            "weeks": len(self.weeks),
            "days": options.days,
            "classes": list(options.classes),
            "rate": options.rate,
            "messages": sum(week.messages for week in self.weeks),
            "lives": sum(week.lives for week in self.weeks),
            "clocks": dict(sorted(Counter(week.clock for week in self.weeks).items())),
            "buses": dict(sorted(Counter(week.bus for week in self.weeks).items())),
            "faults": dict(self.faults()),
            "happened": dict(sorted(self.happened().items())),
            "never": self.never(),
            "findings": [
                {"seed": week.seed, "says": week.findings, "command": options.command(week.seed)}
                for week in self.found
            ],
            "rows": self.rows(),
            "heads": {str(week.seed): week.head for week in self.weeks},
            "wall_s": round(self.wall_s, 1),
            "weeks_per_hour": per_hour,
        }


Told = Callable[[Week], None]


def check(options: ChaosOptions) -> None:
    """Find out whether worlds can be lived as they are asked for.

    Raises:
        BadInput: A class is none, the rate is no share, there are no weeks or days, the folder holds another run.
    """
    checked(options.classes)
    check_rate(options.rate)
    if options.weeks < 1:
        raise BadInput(f"weeks {options.weeks}: live one or more")
    if not 0.0 < options.days <= 366.0:
        raise BadInput(f"days {options.days:g}: choose more than 0, at most 366")
    if options.jobs < 1:
        raise BadInput(f"jobs {options.jobs}: one process or more")
    out = options.out
    if out is not None:
        if out.exists() and not out.is_dir():
            raise BadInput(f"{out} is a file: name a folder")
        if out.is_dir() and any(out.iterdir()):
            what = "holds another run" if (out / SUMMARY).exists() else "is not empty"
            raise BadInput(f"{out} {what}: name a new folder")


def run(options: ChaosOptions, told: Told | None = None) -> ChaosResult:
    """Live all worlds.

    Args:
        options: Which.
        told: Called with each as it is over, in the order of the seeds.

    Raises:
        BadInput: As `check`.
    """
    check(options)
    began = monotonic_ns()
    result = ChaosResult(options)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / SUMMARY).write_text("{}\n")
    seeds = range(options.seed, options.seed + options.weeks)
    with _weeks(options, seeds) as weeks:
        for week in weeks:
            result.weeks.append(week)
            if told is not None:
                told(week)
    result.wall_s = (monotonic_ns() - began) / 1e9
    if options.out is not None:
        (options.out / SUMMARY).write_text(json.dumps(result.as_json(), indent=1) + "\n")
    return result


@contextmanager
def _weeks(options: ChaosOptions, seeds: range) -> Iterator[Iterator[Week]]:
    given = [(options, seed) for seed in seeds]
    if options.jobs == 1 or len(given) == 1:
        yield map(week_of, given)
        return
    with multiprocessing.get_context("spawn").Pool(min(options.jobs, len(given))) as pool:
        yield pool.imap(week_of, given)


def week_of(given: tuple[ChaosOptions, int]) -> Week:
    """Live one world, and keep it if something is found."""
    options, seed = given
    plan = options.plan(seed)
    began = monotonic_ns()
    outcome = lived(plan)
    found = [str(one) for one in outcome.findings]
    if found and options.out is not None:
        _keep(options.out / str(seed), plan, outcome)
    return Week(
        seed=seed,
        clock=plan.clock,
        bus=plan.bus,
        messages=outcome.messages,
        lives=outcome.lives,
        head=outcome.head,
        happened=dict(outcome.happened),
        rows=dict(outcome.rows),
        kind=outcome.findings[0].name if found else "",
        findings=found,
        wall_s=round((monotonic_ns() - began) / 1e9, 3),
    )


def lived(plan: WorldPlan, directory: Path | None = None) -> Outcome:
    """Live one world, on files in a directory of its own; what fails is a finding too."""
    # What a society complains of is expected here; what is wrong is found.
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    try:
        return live(plan, directory=directory)
    except Exception as fault:
        return Outcome(
            plan.seed, [Finding("failed", 0, f"{type(fault).__name__}: {' '.join(str(fault).split())}")]
        )
    finally:
        structlog.configure(**before)


def rehearse(plan: WorldPlan, out: Path | None) -> tuple[Outcome, list[str]]:
    """Live a world that a scene tells.

    Args:
        plan: The world.
        out: A directory for its log; None: nothing is written.

    Returns:
        What came of it, and, where nothing was found, faults that never struck, one line each.
    """
    outcome = lived(plan, out)
    if out is not None and plan.bus == "memory":
        out.mkdir(parents=True, exist_ok=True)
        _write_log(out, outcome)
    struck = {name.split()[0] for name in outcome.happened}
    return outcome, [
        f"rehearse.faults.{n}: {spell.fault} never struck"
        for n, spell in enumerate(plan.spells)
        if spell.fault not in struck and not outcome.findings
    ]


def _keep(folder: Path, plan: WorldPlan, outcome: Outcome) -> None:
    folder.mkdir()
    (folder / PLAN).write_text(plan.model_dump_json(indent=1) + "\n", encoding="utf-8")
    _write_log(folder, outcome)


def _write_log(folder: Path, outcome: Outcome) -> None:
    (folder / LOG).write_text("".join(env.line + "\n" for env in outcome.log), encoding="utf-8")
