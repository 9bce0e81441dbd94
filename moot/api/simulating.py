"""`moot.simulate`: days of a whole society, in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from moot.api.case import Case, Strategy
from moot.api.log import Log, log_of, open_log
from moot.api.options import a_listener, a_number, a_seed, minds_of, place_of, settings_of
from moot.api.result import Result
from moot.api.running import Prepared, twins
from moot.clock import VirtualClock
from moot.minds.choosing import MindSources
from moot.minds.model_choice import BudgetSource, ModelSource, Wanted
from moot.protocols.kernel.envelope import Envelope
from moot.seating import seats_of
from moot.simulation.durations import DEFAULT_START, first_instant
from moot.simulation.simulate import SimulateOptions, check
from moot.simulation.simulate import simulate as simulate_offline

Config = Path | str | Mapping[str, Any] | None


@dataclass(frozen=True, repr=False)
class SimulationResult(Result):
    """What some days of a society left.

    Attributes:
        log: Every message.
        days: How many society days.
        seed: What seeded minds and prices.
        summary: The figures that `moot simulate --json` prints.
    """

    days: float
    seed: int
    summary: Mapping[str, Any]

    @property
    def cases(self) -> Mapping[str, Case]:
        """The cases by id, in the order in which they were opened."""
        return self.log.cases

    @property
    def strategies(self) -> Mapping[str, Strategy]:
        """The strategies by id."""
        return self.log.strategies

    def to_dict(self) -> dict[str, Any]:
        """Return the summary, cases and strategies as JSON has them; the messages are in `log.to_dict()`."""
        return {
            "summary": dict(self.summary),
            "cases": {name: one.to_dict() for name, one in self.cases.items()},
            "strategies": {name: one.to_dict() for name, one in self.strategies.items()},
        }

    def rows(self) -> list[tuple[str, object]]:
        desk = self.summary["desk"]
        verdicts = ", ".join(f"{n} {verdict}" for verdict, n in self.summary["verdicts"].items())
        return [
            ("days", f"{self.days:g} from {self.summary['start'][:10]}, seed {self.seed}"),
            ("debates", f"{self.summary['debates']}: {verdicts or 'none ended'}"),
            ("strategies", len(self.strategies)),
            ("equity", f"{desk['equity']:,.2f} USD"),
            ("messages", self.summary["messages"]),
        ]


def _simulate(
    days: float = 7,
    *,
    seed: int = 1,
    start: str | date | None = None,
    prices: Path | str | None = None,
    config: Config = None,
    minds: MindSources | None = None,
    model: ModelSource | None = None,
    seats: Collection[str] | None = None,
    budget: BudgetSource | None = None,
    out: Path | str | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> Prepared[SimulationResult]:
    """Let a society live some days in virtual time; the same arguments give the same log, byte for byte.

    Args:
        days: Society days.
        seed: Seeds minds and prices.
        start: The first day or instant, UTC; by default 2026-02-23.
        prices: `"sample"`, `"synthetic"`, or a CSV or Parquet file; by default as configured.
        config: A TOML file, or its sections as a mapping; by default the shipped configuration.
        minds: What fills a seat: a mind, its class, `"package.module:Class"`, `"simulated"` or `"silent"`.
        model: A language model for seats: `"URL#NAME"`, NAME of a configured `[models.NAME]`, or a mapping with what
            such a section holds, and `temperature` and `max_tokens`. The key of `"URL#NAME"` stands in MOOT_MODEL_KEY.
        seats: Which seats it takes; by default all, but those that `minds` names.
        budget: What it may spend: US dollars, or a mapping with what `[budget]` holds; by default as configured.
        out: A directory that keeps the log; by default it is kept in memory.
        progress: Called with the share done, in [0, 1], and the society's instant.

    Raises:
        BadInput: An argument cannot be used; the line says which and why.
        ConfigError: The configuration or a mind cannot be used, or there is no such model.
        MootError: Prices, a model or the directory cannot be used.
    """
    settings = settings_of(config)
    seated = Wanted(model=model, seats=seats, budget=budget).over(
        settings, minds_of(minds), seats_of(settings)
    )
    options = SimulateOptions(
        days=a_number("days", days),
        start=DEFAULT_START if start is None else first_instant(start),
        seed=a_seed(seed),
        prices=None if prices is None else str(prices),
        out=place_of(out),
        settings=seated.settings,
        minds=seated.minds,
    )
    options = check(options)
    return Prepared(partial(_simulated, options, a_listener(progress)), options.start)


simulate, asimulate = twins(_simulate)


def _simulated(
    options: SimulateOptions, progress: Callable[[float, str], None] | None, clock: VirtualClock
) -> SimulationResult:
    messages: list[Envelope] = []

    def keep(env: Envelope, _fx: object) -> None:
        messages.append(env)

    listener = keep if options.out is None else None
    summary = simulate_offline(options, progress, listener=listener, clock=clock)
    log: Log = log_of(messages) if options.out is None else open_log(options.out)
    return SimulationResult(log, options.days, options.seed, summary.as_json())
