"""What minds of one's own left unanswered, for whoever ran them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.officers import MIND_FAILED, Audit


def count_silence(env: Envelope, silences: Counter[str]) -> None:
    """Count a message that says why a mind was silent, under that reason."""
    body = env.body
    if type(body) is Audit and body.event == MIND_FAILED:
        silences[body.reason] += body.count


def silence_lines(silences: Counter[str]) -> list[str]:
    """Say why minds were silent, each reason in one line, the most frequent first."""
    return [why if n == 1 else f"{why}, {n:,} times" for why, n in silences.most_common()]


def silences_of(envelopes: Iterable[Envelope]) -> list[str]:
    """Say why minds were silent in these messages."""
    found: Counter[str] = Counter()
    for env in envelopes:
        count_silence(env, found)
    return silence_lines(found)
