"""Results as JSON Lines, one line a result, in the order of the study: cases, repetitions, arms."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from moot.protocols.kernel.canonical import canonical_json
from moot.protocols.kernel.errors import BadInput

FILE: Final = "results.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What an arm answered to a case, and how it was scored.

    Attributes:
        case: The case.
        case_sha256: Its hash, truth included.
        repetition: From 1.
        arm: The arm.
        seed: What it was seeded with.
        answer: As the kind of case has it; None for none.
        confidence: In [0, 1]; None where none was stated.
        calls: Minds' answers.
        usd: Paid.
        votes: The single answers that it was made of.
        votes_correct: Whether each of them is right, 0 or 1, where the scorer says so.
        scores: Part and of, by name.
        log: The file that keeps its log, in the study's directory; "" for none.
        head: The hash of that log's last message.
    """

    case: str
    case_sha256: str
    repetition: int
    arm: str
    seed: int
    answer: Any
    confidence: float | None
    calls: int
    usd: float
    votes: tuple[Any, ...]
    votes_correct: tuple[float, ...]
    scores: Mapping[str, tuple[float, float]]
    log: str
    head: str

    @property
    def key(self) -> tuple[str, int, str]:
        """Return which of the study's answers it is."""
        return self.case, self.repetition, self.arm

    def line(self) -> str:
        """Return it as a line, without its end."""
        return canonical_json({name: getattr(self, name) for name in Result.__slots__})


def read_results(path: Path, *, cut: bool = False) -> Iterator[Result]:
    """Read results, oldest first; memory holds one at a time.

    Args:
        path: The file; none is no results.
        cut: Whether a last line that a kill left half written is taken off the file; else it is a fault.

    Raises:
        BadInput: A line is no result.
    """
    if not path.exists():
        return
    at = 0
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            if not raw.endswith(b"\n"):
                if not cut:
                    raise BadInput(f"{path}: line {number} is cut off: moot compare goes on from there")
                break
            try:
                found = json.loads(raw)
                yield Result(
                    **{
                        **found,
                        "votes": tuple(found["votes"]),
                        "votes_correct": tuple(found["votes_correct"]),
                        "scores": {name: (part, of) for name, (part, of) in found["scores"].items()},
                    }
                )
            except (ValueError, TypeError, KeyError, AttributeError) as exc:
                why = " ".join(str(exc).split())[:120]
                raise BadInput(f"{path}: line {number} is no result: {why}") from None
            at += len(raw)
    if cut and at < path.stat().st_size:
        with path.open("r+b") as file:
            file.truncate(at)
