"""Independent passes, of which the most frequent answer counts."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from pathlib import Path

from moot.compare.arms.arm import Answer, Arm, Trial
from moot.protocols.kernel.canonical import canonical_json


class Vote(Arm):
    """Asks another arm as often as the budget allows, each time with another seed.

    Of answers that are equally frequent the one counts that came first; silence is no answer. The confidence is the
    share of its votes.
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
        counted = Counter(canonical_json(one.answer) for one in given if one.answer is not None)
        text, votes = counted.most_common(1)[0] if counted else ("null", 0)
        return Answer(
            answer=next(one.answer for one in given if canonical_json(one.answer) == text),
            confidence=votes / len(given),
            calls=sum(one.calls for one in given),
            usd=sum(one.usd for one in given),
            votes=tuple(one.answer for one in given),
        )


def _of(log: Path | None, n: int) -> Path | None:
    """Return where the log of one of the votes goes."""
    return None if log is None else log.with_name(f"{log.stem}-{n + 1}{log.suffix}")
