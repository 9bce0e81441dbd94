"""The prices that a log names, loaded again: what evidence is recomputed from (R-M1, R-M2, R-M3)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.minds import PARTLY_SCRIPTED, SIMULATED, Minds
from moot.protocols.kernel.officers import SocietyStarted
from moot.protocols.kernel.times import parse_instant
from moot.verify.report import Findings

if TYPE_CHECKING:
    from moot.bots.desk.market import Market
    from moot.bots.tools.universe import Universe

SHIPPED: Final = ("sample", "synthetic")
"""Prices that any Moot can make again from the seed."""

KEPT: Final = ("spec", "start", "seed")
"""What a society that goes on keeps of its prices; a file may have changed in between."""


class Prices:
    """The prices by the last SOCIETY_STARTED.

    Attributes:
        universe: The whole universe, None when the log names none or they are not to be had.
        market: The market within a day, None without prices, and where those within a day are not to be had.
        why: Why there is no universe, "" when there is one.
        why_no_market: Why there is no market, "" when there is one.
    """

    def __init__(self, findings: Findings) -> None:
        """Start without prices."""
        self._findings = findings
        self._loaded: Mapping[str, Any] | None = None
        self._first: Mapping[str, Any] | None = None
        self._minds = Minds()
        self.universe: Universe | None = None
        self.market: Market | None = None
        self.why = self.why_no_market = "no SOCIETY_STARTED names prices"

    def is_simulated(self, env: Envelope) -> bool:
        """Say whether a message comes from the mind that is shipped, which scores with the tools alone.

        It scores behind a script too, unless that makes scores up.
        """
        return env.actor.kind == "bot" and self._minds.writer(env) in (SIMULATED, PARTLY_SCRIPTED)

    def load(self, env: Envelope, body: SocietyStarted) -> None:
        """Load the prices that the log names; where they are not to be had, whatever needs them says `why`."""
        self._minds.learn(env)
        given = body.data.get("prices")
        self._keep(env, body, given)
        if given != self._loaded or self._loaded is None:
            self.universe, self._loaded = None, None
            self.why = self._load(env, given)
        self.market, self.why_no_market = None, self.why
        if self.universe is not None:
            self.why_no_market = self._open(self.universe, body)
            if self.why_no_market:
                self._findings.skip("intraday", env.seq, f"no fill was recomputed: {self.why_no_market}")

    def _keep(self, env: Envelope, body: SocietyStarted, given: object) -> None:
        """Check that the first start names what its configuration asks for, and that later ones keep it (K11)."""
        if not isinstance(given, Mapping):
            return
        if self._first is None:
            asked = {"spec": _mapping(body.config.get("prices")).get("source"), "seed": body.seed}
            why = "the society was started with"
        else:
            asked, why = (
                {name: self._first.get(name) for name in KEPT},
                "a society keeps that of its first start:",
            )
        self._first = self._first or given
        for name, value in asked.items():
            if value is not None and name in given and given[name] != value:
                self._findings.add(
                    env.seq, "evidence", "R-M2", f"data.prices.{name}: {given.get(name)}, {why} {value}"
                )

    def _load(self, env: Envelope, given: object) -> str:
        """Load daily prices; return why they are not to be had, "" when they are."""
        if not isinstance(given, Mapping):
            return "the log names no prices"
        from moot.bots.tools.errors import ToolError
        from moot.bots.tools.prices import load_universe

        try:
            spec = str(given["spec"])
            universe = load_universe(spec, start=parse_instant(str(given["start"])), seed=int(given["seed"]))
        except (KeyError, TypeError, ValueError, ToolError) as exc:
            return f"prices: {exc}"
        if universe.sha256 != given.get("sha256"):
            whose = "this machine makes others" if spec in SHIPPED else "the file has changed"
            return f"prices {spec}: {whose}"
        if universe.shift_weeks != given.get("shift_weeks"):
            why = f"data.prices.shift_weeks: the start asks for {universe.shift_weeks}"
            self._findings.add(env.seq, "evidence", "R-M2", why)
        if given.get("description", universe.description) != universe.description:
            self._findings.add(
                env.seq, "evidence", "R-M1", f"data.prices.description: {universe.description}"
            )
        self.universe, self._loaded = universe, given
        return ""

    def _open(self, universe: Universe, body: SocietyStarted) -> str:
        """Open the market within a day; return why it is not to be had, "" when it is."""
        from moot.bots.desk.intraday import read_intraday
        from moot.bots.desk.market import Market
        from moot.bots.tools.errors import ToolError

        desk, bars = _mapping(body.config.get("desk")), None
        named = str(desk.get("intraday", "")) if desk.get("enabled", True) else ""
        told = body.data.get("intraday")
        if named or told is not None:
            why = f"prices within a day are the user's own, {named or 'of an unnamed file'}"
            digest = _mapping(told).get("sha256")
            try:
                if digest is None or hashlib.sha256(Path(named).read_bytes()).hexdigest() != digest:
                    return f"{why}: not those of the log"
                bars = read_intraday(Path(named), universe)
            except (OSError, ValueError, ToolError):
                return f"{why}: not to be had"
        # A society that goes on under another seed keeps its prices, those within a day and its fills too (K11).
        self.market = Market(universe, universe.seed, bars)
        return ""


def _mapping(given: object) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}
