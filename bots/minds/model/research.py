"""What the models of System A may look up: candidates on the train split, the measures of a strategy, memory.

All of it reads only, and what nobody may know yet is not in it: the test split belongs to the backtest after an APPROVE
(R-D15).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from pydantic_core import to_jsonable_python

from moot.bots.minds.mind import View
from moot.bots.minds.model.asking import SeatTool
from moot.bots.minds.model.material import Quoted, as_json
from moot.bots.minds.model.toolkit import Toolkit
from moot.bots.minds.simulated.debate.casefile import CaseFile, neighbourhood
from moot.bots.minds.simulated.debate.specs import spec_of
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.minds.simulated.turn import Turn
from moot.bots.models.request import Tool
from moot.bots.tools.backtest import backtest
from moot.bots.tools.errors import ToolError
from moot.bots.tools.seeding import generator
from moot.bots.tools.splits import splits
from moot.bots.tools.strategies import ARCHETYPES, ORDERED, PARAM_SPACE, StrategySpec, draw, validate
from moot.protocols.kernel.message import Message
from moot.protocols.research.messages import Strategy
from moot.protocols.research.seats import CRITIC, EXPLORER

MOST_CANDIDATES: Final = 8
"""Candidates of one search."""

MOST_FOUND: Final = 20
"""Records of memory that one question gives."""

PROPOSES: Final = frozenset({"HYPOTHESIS", "REVISED_HYPOTHESIS", "REBUTTAL"})
"""Answers for which strategies are searched."""

_STRATEGY: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "archetype": {"type": "string", "enum": list(ARCHETYPES)},
        "params": {"type": "object", "additionalProperties": {"type": "number"}},
        "symbols": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["archetype", "params", "symbols"],
    "additionalProperties": False,
}

_SEARCH: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "archetype": {"type": "string", "enum": list(ARCHETYPES)},
        "count": {"type": "integer", "description": f"how many, at most {MOST_CANDIDATES}"},
    },
    "required": ["archetype", "count"],
    "additionalProperties": False,
}

_SHELVES: Final = ("principles", "causal", "reflections", "strategies")

_MEMORY: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "shelf": {"type": "string", "enum": list(_SHELVES)},
        "about": {"type": "string", "description": "words that a record must hold, or empty for all"},
    },
    "required": ["shelf", "about"],
    "additionalProperties": False,
}


class ResearchKit(Toolkit):
    """Searches and backtests for the Explorer, measures for the Critic, looks into memory for all."""

    def __init__(self, tools: SimulatedTools) -> None:
        """Take the tools that the minds of a society share."""
        self._tools = tools

    def offered(self, view: View) -> Sequence[SeatTool]:
        found = []
        if view.seat == EXPLORER and PROPOSES.intersection(view.asked):
            found += [
                _tool(
                    "search_strategies", "Draws strategies of an archetype; gives their figures on the train split, "
                    "the best Sharpe ratio first.", _SEARCH, partial(self._search, view),
                ),
                _tool(
                    "backtest_strategy", "Runs a strategy over the train split; gives its figures.", _STRATEGY,
                    partial(self._backtest, view),
                ),
            ]  # fmt: skip
        if view.seat == CRITIC and view.kind == "debate":
            found.append(
                _tool(
                    "measure_strategy", "Measures the strategy under debate on train and validation: scores, figures, "
                    "relatives.", {"type": "object", "properties": {}, "additionalProperties": False},
                    partial(self._measure, view),
                )
            )  # fmt: skip
        if view.memory.principles() or view.memory.experiences():
            about = "Reads records of memory, the newest last."
            found.append(_tool("look_into_memory", about, _MEMORY, partial(_remembered, view)))
        return found

    def shown(self, view: View) -> Sequence[Quoted]:
        if view.seat != EXPLORER or not PROPOSES.intersection(view.asked):
            return ()
        universe = self._tools.bars(view.now)
        lines = [f"regime: {self._tools.regime(universe)}", f"symbols: {as_json(universe.symbols)}"]
        for name, space in PARAM_SPACE.items():
            ranges = {
                param: [one.low, one.high, "whole" if one.is_whole else "number"]
                for param, one in space.items()
            }
            pair = f", {' below '.join(ORDERED[name])}" if name in ORDERED else ""
            lines.append(f"archetype {name}, parameters {as_json(ranges)}{pair}")
        return (Quoted("market", "\n".join(lines)),)

    def fixed(self, view: View) -> Mapping[str, Any]:
        if "HYPOTHESIS" not in view.asked:
            return {}
        return {"regime": self._tools.regime(self._tools.bars(view.now))}

    def fault_of(self, view: View, body: Message) -> str:
        strategy = getattr(body, "strategy", None)
        if view.seat != EXPLORER or not isinstance(strategy, Strategy):
            return ""
        try:
            validate(spec_of(strategy), self._tools.bars(view.now).bars)
        except ToolError as fault:
            return f"strategy: {fault}"
        return ""

    def _search(self, view: View, arguments: Mapping[str, Any]) -> str:
        archetype, count = _archetype(arguments), arguments.get("count")
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST_CANDIDATES:
            raise ValueError(f"count is a whole number from 1 to {MOST_CANDIDATES}")
        universe = self._tools.bars(view.now)
        rng = generator("model search", self._tools.seed, view.obligation.id, view.attempt, archetype)
        drawn = [draw(archetype, rng, universe.symbols) for _ in range(count)]
        found = [self._on_train(view, one) for one in dict.fromkeys(drawn)]
        return "\n".join(as_json(one) for one in sorted(found, key=lambda one: -float(one["sharpe"])))

    def _backtest(self, view: View, arguments: Mapping[str, Any]) -> str:
        archetype, params, symbols = _archetype(arguments), arguments.get("params"), arguments.get("symbols")
        if not isinstance(params, Mapping) or not all(_is_number(one) for one in params.values()):
            raise ValueError("params is an object of numbers by the parameter's name")
        if not isinstance(symbols, list) or not all(isinstance(one, str) for one in symbols):
            raise ValueError("symbols is a list of names")
        whole = {
            name: int(one) if isinstance(one, float) and one.is_integer() else one
            for name, one in params.items()
        }
        space = PARAM_SPACE[archetype]
        exact = {
            name: whole[name] if name not in space or space[name].is_whole else float(params[name])
            for name in params
        }
        return as_json(self._on_train(view, StrategySpec(archetype, exact, tuple(symbols))))

    def _on_train(self, view: View, spec: StrategySpec) -> dict[str, Any]:
        universe = self._tools.bars(view.now)
        try:
            figures = backtest(spec, universe, splits(universe).train).metrics
        except ToolError as fault:
            raise ValueError(str(fault)) from None
        shown = {"archetype": spec.archetype, "params": dict(spec.params), "symbols": list(spec.symbols)}
        return {**shown, **figures}

    def _measure(self, view: View, _arguments: Mapping[str, Any]) -> str:
        turn = Turn(view, self._tools)
        file = turn.file
        if file is None:
            raise ValueError(turn.fault)
        return as_json({**_figures(file), "relatives": asdict(neighbourhood(file.spec, turn.universe))})


def _tool(
    name: str, about: str, parameters: Mapping[str, Any], run: Callable[[Mapping[str, Any]], str]
) -> SeatTool:
    async def called(arguments: Mapping[str, Any]) -> str:
        return run(arguments)

    return SeatTool(Tool(name=name, about=about, parameters=parameters), called)


def _archetype(arguments: Mapping[str, Any]) -> str:
    found = arguments.get("archetype")
    if not isinstance(found, str) or found not in ARCHETYPES:
        raise ValueError(f"archetype is one of {', '.join(ARCHETYPES)}")
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _figures(file: CaseFile) -> dict[str, Any]:
    """Return what is measured of a strategy, by plain names."""
    return {
        "scores": dict(file.scores),
        "train": dict(file.train),
        "validation": dict(file.validation),
        "sharpe_of_the_validation_halves": file.halves,
        "sharpe_a_session_late": file.late,
        "sharpe_of_holding_its_symbols": file.market_sharpe,
        "mean_loss_of_the_worst_days": file.cvar,
        "turnover_a_year": file.turnover,
        "cost_a_year": file.cost,
        "earned_a_year": file.net,
        "holding_days": file.holding_days,
        "most_alike_among_the_approved": file.partner,
    }


def _remembered(view: View, arguments: Mapping[str, Any]) -> str:
    shelf, about = arguments.get("shelf"), arguments.get("about", "")
    if shelf not in _SHELVES or not isinstance(about, str):
        raise ValueError(f"shelf is one of {', '.join(_SHELVES)}, about is a text")
    memory = view.memory
    read: Mapping[str, Callable[[], Sequence[Any]]] = {
        "principles": memory.principles,
        "causal": memory.causal,
        "reflections": memory.reflections,
        "strategies": memory.strategies,
    }
    records = read[str(shelf)]()
    lines = [as_json(to_jsonable_python(one)) for one in records]
    words = about.casefold().split()
    found = [line for line in lines if all(word in line.casefold() for word in words)][-MOST_FOUND:]
    return "\n".join(found) or "nothing was found"
