"""Handlers of the fold for a strategy's life: hypothesis, backtest, moves, metrics (R-D20, R-B11)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from moot.memory.records import BacktestNote, HypothesisNote, MetricsRecord, StageMove, StrategyRecord
from moot.memory.shelves import HYPOTHESES, METRICS, STRATEGIES, Context, Put
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.frozen import freeze_object
from moot.protocols.kernel.people import Override
from moot.protocols.research.messages import (
    BacktestResult,
    Hypothesis,
    Rebuttal,
    RevisedHypothesis,
    StrategyMoved,
)
from moot.protocols.trading.messages import MetricsRecorded
from moot.protocols.trading.moves import may_move

HISTORY_KEPT: Final = 100
"""A strategy remembers so many of its moves, the last."""


def hypothesis(env: Envelope, context: Context) -> Iterator[Put]:
    """Note lineage and strategy under the case id; an override's linked case continues the old one (K23)."""
    body = env.body
    if isinstance(body, Hypothesis):
        key, lineage, strategy = body.hypothesis_id, body.lineage_id or body.hypothesis_id, body.strategy
        yield Put(
            HYPOTHESES,
            HypothesisNote(key=key, seq=env.seq, at=env.sent_at, lineage_id=lineage, strategy=strategy),
        )
        return
    if isinstance(body, Rebuttal | RevisedHypothesis):
        note = context.latest(HYPOTHESES, body.hypothesis_id)
        if note is not None and body.strategy is not None:
            yield Put(HYPOTHESES, replace(note, seq=env.seq, at=env.sent_at, strategy=body.strategy))
    elif isinstance(body, Override):
        note = context.latest(HYPOTHESES, body.case_id)
        if note is not None:
            yield Put(
                HYPOTHESES, replace(note, key=body.override_id, seq=env.seq, at=env.sent_at, strategy_id="")
            )


def backtest(env: Envelope, context: Context) -> Iterator[Put]:
    """Note the backtest for the move that follows it; a strategy that was moved already takes it at once."""
    body = env.body
    if not isinstance(body, BacktestResult):
        return
    backtest = BacktestNote(
        seq=env.seq,
        passed=body.passed,
        reason=body.reason,
        metrics=body.metrics,
        split=body.split,
        equity_ref=body.equity_ref,
    )
    note = context.latest(HYPOTHESES, body.hypothesis_id)
    if note is None:
        note = HypothesisNote(key=body.hypothesis_id, seq=0, at=env.sent_at, lineage_id="", strategy=None)
    yield Put(HYPOTHESES, replace(note, seq=env.seq, at=env.sent_at, backtest=backtest))
    known = context.latest(STRATEGIES, note.strategy_id) if note.strategy_id else None
    if known is not None and may_move(env.author, known.stage, "candidates"):
        yield Put(STRATEGIES, replace(known, seq=env.seq, at=env.sent_at, backtest=backtest))


def move(env: Envelope, context: Context) -> Iterator[Put]:
    """Put a strategy where its move says, with all that was said of it before.

    One that memory never saw stands where the move says that it comes from, as the desk takes it.
    """
    body = env.body
    if not isinstance(body, StrategyMoved):
        return
    known = context.latest(STRATEGIES, body.strategy_id)
    if not may_move(env.author, known.stage if known is not None else body.from_, body.to):
        return
    hypothesis_id = body.hypothesis_id or env.case_id or ""
    note = context.latest(HYPOTHESES, hypothesis_id) if hypothesis_id else None
    move = StageMove(seq=env.seq, at=env.sent_at, from_=body.from_, to=body.to, reason=body.reason)
    said = body.strategy or (note.strategy if note is not None else None)
    yield Put(
        STRATEGIES,
        StrategyRecord(
            key=body.strategy_id,
            seq=env.seq,
            at=env.sent_at,
            stage=body.to,
            strategy=said or (known.strategy if known is not None else None),
            hypothesis_id=(note.key if note else body.hypothesis_id)
            or (known.hypothesis_id if known else ""),
            lineage_id=(note.lineage_id if note else "") or (known.lineage_id if known is not None else ""),
            backtest=(note.backtest if note else None) or (known.backtest if known is not None else None),
            history=(*(known.history if known is not None else ()), move)[-HISTORY_KEPT:],
        ),
    )
    if note is not None:
        yield Put(HYPOTHESES, replace(note, seq=env.seq, at=env.sent_at, strategy_id=body.strategy_id))


def metrics(env: Envelope, context: Context) -> Iterator[Put]:
    """Keep a strategy's day; a second record of the same day corrects the first (R-D20)."""
    body = env.body
    if not isinstance(body, MetricsRecorded):
        return
    record = MetricsRecord(
        key=MetricsRecord.key_of(body.date, body.strategy_id),
        seq=env.seq,
        at=env.sent_at,
        date=body.date,
        strategy_id=body.strategy_id,
        realised=freeze_object(body.realised.model_dump(mode="json")),
    )
    yield Put(METRICS, record)
