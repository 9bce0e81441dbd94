"""The fold: which messages write what into memory. Pure; the table is `FOLDS`.

A message that broke a rule, or came late, writes nothing: the caller, who folds the docket, says which are in
effect (K5, K10). A message without the right to write a shelf writes nothing there either (R-B11).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from moot.memory import fold_lessons, fold_runs, fold_strategies
from moot.memory.rights import may_write
from moot.memory.shelves import STRATEGIES, Context, Put
from moot.protocols.kernel.envelope import Envelope

Handler = Callable[[Envelope, Context], Iterator[Put]]
"""Reads one type of message; a strategy's handler asks for the right itself, it depends on the stage."""

FOLD_VERSION: Final = 3
"""Raised whenever the same log would give other records, so that older files are rebuilt (K4)."""

FOLDS: Final[Mapping[str, Handler]] = {
    "CAUSAL_RECORD": fold_lessons.experience,
    "REFLECTION": fold_lessons.experience,
    "PRINCIPLE_SYNTHESIS": fold_lessons.principles,
    "ARCHITECTURE_PROPOSAL": fold_lessons.proposals,
    "ARCHITECTURE_VERDICT": fold_lessons.verdict,
    "ARENA_TASK": fold_runs.opened,
    "FINAL_OUTPUT": fold_runs.final,
    "RUN_TERMINATED": fold_runs.ended,
    "THRESHOLDS_ADJUSTED": fold_lessons.thresholds,
    "HYPOTHESIS": fold_strategies.hypothesis,
    "REBUTTAL": fold_strategies.hypothesis,
    "REVISED_HYPOTHESIS": fold_strategies.hypothesis,
    "OVERRIDE": fold_strategies.hypothesis,
    "BACKTEST_RESULT": fold_strategies.backtest,
    "STRATEGY_MOVED": fold_strategies.move,
    "METRICS_RECORDED": fold_strategies.metrics,
}
"""Which handler reads which type. A new type is a new row and a new `FOLD_VERSION`."""


def changes(env: Envelope, context: Context, *, in_effect: bool = True) -> tuple[Put, ...]:
    """Say what a message writes.

    Args:
        env: The next message of the log.
        context: The records as the messages before it left them.
        in_effect: Whether it broke no rule and came in time, as the docket decided.
    """
    handler = FOLDS.get(env.body.type) if in_effect else None
    if handler is None:
        return ()
    author = env.author
    return tuple(
        put for put in handler(env, context) if put.shelf is STRATEGIES or may_write(put.shelf, author)
    )
