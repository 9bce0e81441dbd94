"""Independent passes, of which the most frequent answer counts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from moot.compare.arms.arm import Answer, Arm, Trial
from moot.protocols.kernel.canonical import canonical_json
from moot.protocols.kernel.frozen import Json


class Vote(Arm):
    """Asks another arm as often as the budget allows, each time with another seed.

    What is voted on is what the arm counts of an answer; among the answers that agree in it the most frequent one is
    given. Of equally frequent ones the first counts; silence is no answer. The confidence is the share of its votes.
    """

    most = None

    def __init__(self, voter: Arm) -> None:
        """Take who is asked."""
        self.voter = voter
        self.kinds = voter.kinds
        self.least = voter.least
        self.chooses = voter.chooses

    async def run(self, trial: Trial) -> Answer:
        """Ask, and count."""
        given = []
        for n in range(max(trial.budget // self.voter.least, 1)):
            digest = hashlib.sha256(f"{trial.seed}/{n}".encode()).digest()
            one = replace(
                trial,
                seed=int.from_bytes(digest[:6]),
                budget=self.voter.least,
                log=_of(trial.log, n),
                past=_of(trial.past, n),
            )
            given.append(await self.voter.run(one))
        said = [one.answer for one in given if one.answer is not None]
        won = _most_frequent(said, self.voter.counted)
        answer = _most_frequent(won, lambda whole: whole)
        return Answer(
            answer=answer[0] if answer else None,
            confidence=len(won) / len(given),
            calls=sum(one.calls for one in given),
            usd=sum(one.usd for one in given),
            votes=tuple(one.answer for one in given),
        )


def _most_frequent(said: Sequence[Json], counted: Callable[[Json], Json]) -> list[Json]:
    """Return the answers that agree in what is counted with as many others as any; the first of equals."""
    groups: dict[str, list[Json]] = {}
    for one in said:
        groups.setdefault(canonical_json(counted(one)), []).append(one)
    return max(groups.values(), key=len, default=[])


def _of(log: Path | None, n: int) -> Path | None:
    """Return where the log of one of the votes goes."""
    return None if log is None else log.with_name(f"{log.stem}-{n + 1}{log.suffix}")
