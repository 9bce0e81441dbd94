"""Handlers of the fold for lessons: records, principles, architecture, strictness (R-D13, R-D14)."""

from __future__ import annotations

from collections.abc import Iterator

from moot.memory.records import (
    ChangeRecord,
    ChangeStatus,
    Experience,
    PrincipleRecord,
    ProposalNote,
    ThresholdRecord,
)
from moot.memory.shelves import (
    ARCHITECTURE,
    CAUSAL,
    PRINCIPLES,
    PROPOSALS,
    REFLECTIONS,
    THRESHOLDS,
    Context,
    Put,
)
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.research.messages import (
    ArchitectureProposal,
    ArchitectureVerdict,
    CausalRecord,
    PrincipleSynthesis,
    Reflection,
    ThresholdsAdjusted,
)
from moot.protocols.research.strictness import START_THRESHOLDS, clip


def experience(env: Envelope, context: Context) -> Iterator[Put]:
    """Keep a record once: a second one under the same id would rewrite evidence, so the first stands."""
    body = env.body
    if not isinstance(body, CausalRecord | Reflection):
        return
    shelf = CAUSAL if isinstance(body, CausalRecord) else REFLECTIONS
    entry = body.record
    key = entry.record_id or env.id
    if context.latest(shelf, key) is not None:
        return
    record = Experience(
        key=key,
        seq=env.seq,
        at=env.sent_at,
        happened_at=entry.at,
        kind=entry.kind,
        hypothesis_id=entry.hypothesis_id,
        lineage_id=entry.lineage_id,
        seat=entry.seat,
        archetype=entry.archetype,
        failure_code=entry.failure_code,
        regime=entry.regime,
        summary=entry.summary,
        metrics=entry.metrics,
    )
    yield Put(shelf, record)


def principles(env: Envelope, context: Context) -> Iterator[Put]:
    """Keep each principle as it was last synthesised (spec 2.1)."""
    if not isinstance(env.body, PrincipleSynthesis):
        return
    for n, principle in enumerate(env.body.principles):
        record = PrincipleRecord(
            key=principle.principle_id or f"{env.id}/{n}",
            seq=env.seq,
            at=env.sent_at,
            statement=principle.statement,
            evidence_count=principle.evidence_count,
            confidence=principle.confidence,
            source_reflections=principle.source_reflections,
            created=principle.created,
            last_validated=principle.last_validated,
            archetype=principle.archetype,
            failure_code=principle.failure_code,
            regime=principle.regime,
        )
        yield Put(PRINCIPLES, record)


def proposals(env: Envelope, context: Context) -> Iterator[Put]:
    """Note what was proposed, for a verdict that names only its id."""
    if not isinstance(env.body, ArchitectureProposal):
        return
    # Sorted, so that a working shelf forgets in the same order after it was read back from a file.
    for change in sorted(env.body.proposals, key=lambda change: change.change_id):
        if change.change_id:
            note = ProposalNote(
                key=change.change_id,
                seq=env.seq,
                at=env.sent_at,
                period=env.body.period,
                description=change.description,
            )
            yield Put(PROPOSALS, note)


def verdict(env: Envelope, context: Context) -> Iterator[Put]:
    """Record what became of each proposal; an id that stands twice counts as first named."""
    body = env.body
    if not isinstance(body, ArchitectureVerdict):
        return
    seen = set()
    for approved in body.approved_changes:
        if approved.change_id not in seen:
            seen.add(approved.change_id)
            record = ChangeRecord(
                key=approved.change_id,
                seq=env.seq,
                at=env.sent_at,
                period=body.period,
                status="approved",
                description=approved.description,
                priority=approved.priority,
                assigned_to=approved.assigned_to,
                implementation_notes=approved.implementation_notes,
            )
            yield Put(ARCHITECTURE, record)
    left: tuple[tuple[ChangeStatus, tuple[str, ...]], ...] = (
        ("deferred", body.deferred),
        ("rejected", body.rejected),
    )
    for status, texts in left:
        for n, text in enumerate(texts):
            key, description = _named(text, f"{body.period}/{status}/{n}", context)
            if key not in seen:
                seen.add(key)
                record = ChangeRecord(
                    key=key,
                    seq=env.seq,
                    at=env.sent_at,
                    period=body.period,
                    status=status,
                    description=description,
                )
                yield Put(ARCHITECTURE, record)


def _named(text: str, otherwise: str, context: Context) -> tuple[str, str]:
    """Read `arch_003` or `arch_003: why` as that proposal, anything else as a change without an id."""
    change_id = text.split(":", 1)[0].strip()
    proposal = context.latest(PROPOSALS, change_id)
    return (otherwise, text) if proposal is None else (change_id, proposal.description)


def thresholds(env: Envelope, context: Context) -> Iterator[Put]:
    """Take the new strictness; the old one applies until the week is over (R-D14)."""
    if not isinstance(env.body, ThresholdsAdjusted):
        return
    for criterion, start in START_THRESHOLDS.items():
        if criterion in env.body.after:
            known = context.latest(THRESHOLDS, criterion)
            previous = start if known is None else known.strictness
            if known is not None and known.period == env.body.period:
                previous = known.previous
            record = ThresholdRecord(
                key=criterion,
                seq=env.seq,
                at=env.sent_at,
                strictness=clip(env.body.after[criterion]),
                previous=previous,
                period=env.body.period,
            )
            yield Put(THRESHOLDS, record)
