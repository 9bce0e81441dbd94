"""Explanations held against the docket: what they say without folding must be what folding says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from moot.channels.showing.wording import words
from moot.explaining.explain import explain
from moot.logs.inmemory import Kept
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.seats import OFFICERS
from moot.protocols.rulebook import rules


def misplaced(log: Sequence[Envelope]) -> Iterator[str]:
    """Say where the explanation of a case differs from what the docket makes of the same log."""
    docket = Docket(rules())
    phases: dict[tuple[str, int], tuple[str, str]] = {}
    refused = set()
    last: dict[str, str] = {}
    for env in log:
        fx = docket.fold(env)
        if fx.violation is not None:
            refused.add(env.seq)
        for state in (*docket.cases.values(), *fx.ended):
            before, now = last.get(state.case_id, ""), str(state.phase)
            if env.case_id == state.case_id:
                phases[state.case_id, env.seq] = words(before), words(now)
            last[state.case_id] = now
    for case_id in last:
        for one in explain(lambda: Kept("memory", log), case_id).decisions:
            seq, row = one.said.seq, one.row
            if seq in refused:
                if not one.broke and log[seq - 1].author not in OFFICERS:
                    yield f"{case_id}, message {seq} was refused, and counts here"
            elif row is not None and (case_id, seq) in phases:
                before, now = phases[case_id, seq]
                if row.phase and before not in row.phase.split(" or "):
                    yield f"{case_id}, message {seq} came while {before}, not while {row.phase}"
                if now not in row.leads_to:
                    yield f"{case_id}, message {seq} led to {now}, not to {row.leads_to}"
