"""Cases and strategies of a log, folded from its messages by the rules that the society ran on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import to_jsonable_python

from moot.api.transcript import Transcript
from moot.call_history.listing import Call, Calls
from moot.memory.inmemory import InMemoryStore
from moot.memory.shelves import STRATEGIES
from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import LocalProtocolError, MootError
from moot.protocols.rulebook import rules

if TYPE_CHECKING:
    from moot.api.log import Log

_COMMON: Final = frozenset(CaseState.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class Case:
    """One run of a protocol: a debate, a run of the Arena, a panel, a deployment.

    Attributes:
        id: Its id, `hyp_…` for a debate.
        kind: Which kind of case it is.
        phase: The phase it is in, or ended in.
        outcome: How it ended; None while it is open.
        parent: The case that it was opened in; None for none.
        opened_seq: The message that opened it.
        figures: What else the rules noted of it, by name: verdict, confidence, rounds and so on.
    """

    id: str
    kind: str
    phase: str
    outcome: str | None
    parent: str | None
    opened_seq: int
    figures: Mapping[str, Any]
    _log: Log = field(repr=False, compare=False)

    @property
    def is_open(self) -> bool:
        """Whether it goes on."""
        return self.outcome is None

    def messages(self) -> Iterator[Envelope]:
        """Yield what was said in it, in order."""
        return self._log.messages(case=self.id)

    @property
    def transcript(self) -> Transcript:
        """What was said in it, as people read it."""
        return Transcript(tuple(self.messages()), self._log.who, self._log.protocols)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it, without its messages."""
        names = ("id", "kind", "phase", "outcome", "parent", "opened_seq")
        return {**{name: getattr(self, name) for name in names}, "figures": dict(self.figures)}

    def _repr_html_(self) -> str:
        """Show it in a notebook with what was said."""
        how = self.outcome or f"open, {self.phase}"
        title = f"<p><strong>{escape(f'{self.kind.capitalize()} {self.id}: {how}')}</strong></p>"
        return title + self.transcript._repr_html_()


@dataclass(frozen=True, slots=True)
class Strategy:
    """A strategy and where it stands.

    Attributes:
        id: Its id, `strat_…`.
        stage: candidates, staging, production or withdrawn.
        hypothesis_id: The debate that it came from, "" when unknown.
        sharpe: Of its last backtest on data that no seat had seen; None without one.
        passed: Whether that backtest passed; None without one.
        record: All that memory has of it, as JSON.
    """

    id: str
    stage: str
    hypothesis_id: str
    sharpe: float | None
    passed: bool | None
    record: Mapping[str, Any] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return all that memory has of it, as JSON has it."""
        return dict(self.record)


@dataclass(frozen=True, slots=True)
class Folded:
    """What a log comes to: cases and strategies by id, and the calls of models."""

    cases: Mapping[str, Case]
    strategies: Mapping[str, Strategy]
    calls: tuple[Call, ...]


Taking = Callable[[Envelope, Effects, Docket], None]
"""Called with each message, what it changed, and the docket after it."""


def followed(messages: Iterable[Envelope], name: str, take: Taking) -> Docket:
    """Fold a log from its first message on.

    Raises:
        MootError: It breaks the rules, so that it cannot be folded further.
    """
    docket = Docket(rules())
    for env in messages:
        try:
            fx = docket.fold(env)
        except LocalProtocolError as error:
            raise MootError(f"{name} cannot be folded: {error}; moot verify says more") from error
        take(env, fx, docket)
    return docket


def folded(messages: Iterable[Envelope], log: Log) -> Folded:
    """Fold a log into what it comes to; raises as `followed` does."""
    memory, calls = InMemoryStore(), Calls()
    states: dict[str, CaseState] = {}

    def take(env: Envelope, fx: Effects, _docket: Docket) -> None:
        memory.apply(env, fx.is_in_effect)
        calls.take(env, fx)
        for state in (*fx.started, *fx.ended):
            states[state.case_id] = state

    states |= followed(messages, log.name, take).cases
    return Folded(
        MappingProxyType({case_id: _case(state, log) for case_id, state in states.items()}),
        MappingProxyType({one.strategy_id: _strategy(one) for one in memory.read().strategies()}),
        (*calls.by_id.values(),),
    )


def _case(state: CaseState, log: Log) -> Case:
    rest = {name: value for name, value in vars(state).items() if name not in _COMMON}
    return Case(
        state.case_id,
        state.kind,
        str(state.phase),
        state.outcome,
        state.parent,
        state.opened_seq,
        MappingProxyType({name: _plain(value) for name, value in rest.items()}),
        log,
    )


def _strategy(record: Any) -> Strategy:
    backtest = record.backtest
    return Strategy(
        record.strategy_id,
        str(record.stage),
        record.hypothesis_id,
        None if backtest is None else backtest.metrics.sharpe,
        None if backtest is None else backtest.passed,
        MappingProxyType(json.loads(STRATEGIES.encode(record))),
    )


def _plain(value: Any) -> Any:
    """Return a value of a case's state as JSON has it."""
    if isinstance(value, frozenset):
        return sorted(map(_plain, value))
    return to_jsonable_python(value, fallback=str)
