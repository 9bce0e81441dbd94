"""The prices that a log names, loaded again: what evidence is recomputed from (R-M1, R-M2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from moot.verify.report import Findings
from protocols.kernel.envelope import Envelope
from protocols.kernel.officers import SocietyStarted
from protocols.kernel.times import parse_instant

if TYPE_CHECKING:
    from bots.desk.market import Market
    from bots.tools.universe import Universe

SHIPPED: Final = ("sample", "synthetic")
"""Prices that any Moot can make again from the seed."""


class Prices:
    """The prices by the last SOCIETY_STARTED.

    Attributes:
        universe: The whole universe, None when the log names none or they are not to be had.
        scripted: Seats that the log says were scripted.
        minds: What fills each seat, by its name.
        intraday: The user's own prices within a day, "" for none.
    """

    def __init__(self, findings: Findings) -> None:
        """Start without prices."""
        self._findings = findings
        self._loaded: Mapping[str, Any] | None = None
        self.universe: Universe | None = None
        self._started_seq = 0
        self.scripted: frozenset[str] = frozenset()
        self.minds: Mapping[str, Any] = {}
        self.intraday = ""
        self._market: Market | None = None

    @property
    def market(self) -> Market | None:
        """Return the market within a day; None without prices, and where those within a day are the user's own."""
        if self.universe is None:
            return None
        if self.intraday:
            why = "no fill was recomputed: prices within a day are the user's own"
            self._findings.warn("intraday", self._started_seq, why)
            return None
        if self._market is None or self._market.universe is not self.universe:
            from bots.desk.market import Market

            # A society that goes on under another seed keeps its prices, those within a day and its fills too (K11).
            self._market = Market(self.universe, self.universe.seed)
        return self._market

    def load(self, env: Envelope, body: SocietyStarted) -> None:
        """Load the prices that the log names; say so when they are not to be had."""
        self._started_seq = env.seq
        self.scripted = frozenset(_mapping(body.config.get("scripts")))
        self.minds = _mapping(body.config.get("minds"))
        self.intraday = str(_mapping(body.config.get("desk")).get("intraday", ""))
        given = body.data.get("prices")
        if given == self._loaded and self._loaded is not None:
            return
        self.universe = None
        if not isinstance(given, Mapping):
            self._findings.warn("prices", env.seq, "the log names no prices, so no backtest was recomputed")
            return
        from bots.tools.errors import ToolError
        from bots.tools.prices import load_universe

        try:
            spec = str(given["spec"])
            universe = load_universe(spec, start=parse_instant(str(given["start"])), seed=int(given["seed"]))
        except (KeyError, TypeError, ValueError, ToolError) as exc:
            self._findings.warn("prices", env.seq, f"no backtest was recomputed: prices: {exc}")
            return
        if universe.sha256 != given.get("sha256"):
            whose = "this machine makes others" if spec in SHIPPED else "the file has changed"
            self._findings.warn("prices", env.seq, f"no backtest was recomputed: prices {spec}: {whose}")
            return
        if universe.shift_weeks != given.get("shift_weeks"):
            why = f"data.prices.shift_weeks: the start asks for {universe.shift_weeks}"
            self._findings.add(env.seq, "evidence", "R-M2", why)
        if given.get("description", universe.description) != universe.description:
            self._findings.add(
                env.seq, "evidence", "R-M1", f"data.prices.description: {universe.description}"
            )
        self.universe = universe
        self._loaded = given


def _mapping(given: object) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}
