"""What society to assemble, and the prices that it lives by."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from moot.bots.desk.intraday import read_intraday
from moot.bots.desk.market import Market
from moot.bots.minds.simulated.temper import DEFAULT, Temper
from moot.bots.tools.continuation import LABEL
from moot.bots.tools.prices import enough_to_backtest, load_universe
from moot.bots.tools.universe import Universe
from moot.channels.log.sequencer import Entry
from moot.config.settings import Settings
from moot.memory.evidence import Evidence, InMemoryEvidence
from moot.minds.choosing import Chosen, MindSources, chosen
from moot.model_start import ModelSeats
from moot.ports import Ports
from moot.protocols.kernel.officers import SocietyStarted
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.times import parse_instant, rfc3339
from moot.recording import Life
from moot.seating import Script
from moot.stored import first_envelope

if TYPE_CHECKING:
    from moot.hosts.leading import Leading


@dataclass(slots=True)
class Past:
    """What is left of a society in memory when a life of it ends, and what the next one begins with.

    Attributes:
        entries: Its log, so far; a crash at any message is a cut there.
        evidence: What its seats kept as evidence.
    """

    entries: list[Entry] = field(default_factory=list)
    evidence: Evidence = field(default_factory=InMemoryEvidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What society to assemble.

    Attributes:
        settings: The effective configuration.
        seed: Seeds minds, simulated prices and the simulated admin.
        start: Society time of its very first message.
        society_id: Tells it from every other society; None: one is drawn. A society that goes on keeps its own.
        directory: Its data directory; None: nothing is written.
        bus: `memory` streams its log out behind itself; `sqlite` is durable; `nats` is led by one of several hosts.
        led: What this host leads with, where the bus is `nats`.
        scripts: Scripts by seat.
        is_admin_simulated: Whether a simulated admin answers escalations (R-D19).
        is_warm_up: Whether what follows is marked as a warm-up.
        rehearsal: The share of occasions at which something is made to go wrong, 0 for none; None: it is no rehearsal.
        past: What an earlier life left; only for a bus in memory that goes on.
        recording: A life that is lived again, whose answers count instead of the models'; its log is cut where that
            of the recording is. None: none.
        minds: What fills seats instead of what the configuration says.
        temper: How the simulated minds behave.
        ports: What stands between it and its parts; by default nothing.

    Raises:
        UnusableMind: A mind that the configuration or the caller names cannot be used; nothing has started yet.
    """

    settings: Settings
    seed: int
    start: datetime
    society_id: str | None = None
    directory: Path | None = None
    bus: Literal["memory", "sqlite", "nats"] = "memory"
    led: Leading | None = None
    scripts: Mapping[Seat, Script] = field(default_factory=dict)
    is_admin_simulated: bool = False
    is_warm_up: bool = False
    rehearsal: float | None = None
    past: Past | None = None
    recording: Life | None = None
    minds: MindSources = field(default_factory=dict)
    temper: Temper = DEFAULT
    ports: Ports = field(default_factory=Ports)
    chosen: Mapping[str, Chosen] = field(init=False)

    def __post_init__(self) -> None:
        """Make the minds of one's own: what is wrong with them is said before anything starts."""
        found = chosen({**self.settings.minds, **self.minds})
        if self.is_warm_up:
            # Nobody waits for what is said there, and nobody pays for it (K27).
            found = {seat: one for seat, one in found.items() if one.model is None}
        object.__setattr__(self, "chosen", found)

    @property
    def model_seats(self) -> ModelSeats:
        """Return the models that fill seats.

        Raises:
            UnusableModel: The configuration has no model of a name.
        """
        return ModelSeats.of(self.chosen, self.settings.models, self.settings.budget)

    @property
    def goes_on(self) -> bool:
        """Say whether its directory holds what was said before, so that it goes on from there."""
        return self.directory is not None and self.bus != "memory"

    @property
    def last_seq(self) -> int | None:
        """Say behind which message its log is cut, as a kill cuts it; None: nowhere."""
        return None if self.recording is None else self.recording.cut

    @property
    def durability(self) -> Literal["power", "process"]:
        """Say what an acknowledged message survives on disk; what is paid for survives a power cut (K26)."""
        return "power" if self.model_seats.models else self.settings.log.durability


def prices(plan: Plan) -> tuple[Universe, dict[str, Any]]:
    """Load the society's prices; a society that goes on keeps those of its first start (R-M2)."""
    spec, start, seed = plan.settings.prices.source, plan.start, plan.seed
    first = first_envelope(plan.directory) if plan.directory is not None and plan.goes_on else None
    known = first.body if first is not None else None
    if isinstance(known, SocietyStarted) and isinstance(logged := known.data.get("prices"), Mapping):
        spec, start, seed = str(logged["spec"]), parse_instant(str(logged["start"])), int(logged["seed"])
    universe = load_universe(spec, start=start, seed=seed)
    if known is None:
        enough_to_backtest(universe, spec, start)
    data = {
        "prices": {
            "spec": spec,
            "description": universe.description,
            "sha256": universe.sha256,
            "shift_weeks": universe.shift_weeks,
            "start": rfc3339(start),
            "seed": seed,
            "continuation": LABEL,
        }
    }
    return universe, data


def market_of(plan: Plan, universe: Universe) -> tuple[Market, dict[str, Any]]:
    """Open the desk's market: the user's own 15-minute bars where the configuration names a file (R-M3).

    Raises:
        PriceFileError: The file cannot be used; one line names row and column.
    """
    named = plan.settings.desk.intraday
    if not named or not plan.settings.desk.enabled:
        return Market(universe, universe.seed), {}
    path = Path(named)
    bars = read_intraday(path, universe)
    data = {"intraday": {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}}
    return Market(universe, universe.seed, bars), data
