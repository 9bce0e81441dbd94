"""The SHOULDs (4.2, 7.1, 9.3) that a run left undone, with what the record says in their defence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moot.protocols.arena.conformance.refs import DIGEST
from moot.protocols.arena.conformance.report import Should, show
from moot.protocols.arena.conformance.texts import texts_in
from moot.protocols.arena.conformance.walk import Walk
from moot.protocols.arena.conformance.words import CAPPED, MULTIPLE

_COMMIT: Final = re.compile(r"(?<![0-9a-zA-Z])(?:[0-9a-f]{40}|[0-9a-f]{64})(?![0-9a-zA-Z])")
_BEST_EFFORT: Final = re.compile(r"finali[sz]er|final output|best[- ]effort", re.IGNORECASE)


def shoulds_of(walk: Walk) -> tuple[Should, ...]:
    """Return the SHOULDs that the run did not satisfy."""
    return (*_history(walk), *_verdict_last(walk), *_best_effort(walk))


def _history(walk: Walk) -> Iterator[Should]:
    """4.2.3: a reference to an earlier artifact names its content by a digest, so that it cannot change."""
    refs = walk.reading.field("task", "round_history_refs")
    for index, ref in enumerate(refs if isinstance(refs, list | tuple) else ()):
        if not isinstance(ref, str) or not (DIGEST.search(ref) or _COMMIT.search(ref)):
            yield Should(
                "4.2", f"task.round_history_refs[{index}]: {show(ref)} does not fix what it refers to", None
            )


def _verdict_last(walk: Walk) -> Iterator[Should]:
    """7.1: one verdict line, and nothing after it."""
    for index, row in enumerate(walk.reading.parser):
        said = walk.verdicts.get(row.output_ref)
        if said is None or said.verdict is None or said.is_last:
            continue
        justification = f"parser[{index}].code: {MULTIPLE}" if row.code == MULTIPLE else None
        for place in walk.in_review.get(row.round_index, ()):
            code = place.event.data.get("code")
            if (
                place.type == "REVIEW_WARNING"
                and isinstance(code, str)
                and code.startswith("VERDICT_NOT_LAST")
            ):
                justification = f"{place.path}: {code}"
        yield Should(
            "7.1",
            f"parser[{index}]: text follows the verdict in line {said.line} of {show(row.output_ref)}; 7.3 ignores it",
            justification,
        )


def _best_effort(walk: Walk) -> Iterator[Should]:
    """9.3.2: at the cap the Finalizer still gives its best effort, and says what is unresolved."""
    reading = walk.reading
    if reading.terminal_state != CAPPED:
        return
    output = reading.final_output or ""
    if not output.strip():
        reason = reading.terminal_reason
        is_told = _BEST_EFFORT.search(reason) is not None
        yield Should(
            "9.3",
            "final_output: no best effort at the cap",
            f"terminal_reason: {show(reason)}" if is_told else None,
        )
        return
    last = reading.rounds[-1].issues if reading.rounds else ()
    is_notice = "unresolved" in output.lower() or any(
        text in output for text in texts_in(last) if len(text) > 3
    )
    if not is_notice:
        yield Should("9.3", "final_output: the best effort does not say what is unresolved", None)
