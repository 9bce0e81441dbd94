"""Whether what a run certifies of its labels follows from its trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from moot.arbiter.run_files import CERTIFICATE, MANIFEST, PARSED, TRIALS
from moot.arbiter.verify.comparing import differences
from moot.arbiter.verify.reading import Files
from moot.arbiter.verify.report import Findings
from moot.protocols.arbiter.certificate import ASSUMPTIONS, closed_labels
from moot.protocols.arbiter.generated import ResolvedConfiguration
from moot.statistics.mode import certified_mode
from moot.statistics.shares import share_intervals

CUT_SHORT: Final = "shutdown_abort"
"""The error_code of a trial that an interrupt cancelled."""


def check_certificate(files: Files, config: ResolvedConfiguration, findings: Findings) -> None:
    """Count the labels again in the order of trial_id, and what is certain of them after each batch."""
    found = files.documents.get(CERTIFICATE)
    trials, parsed = files.lines.get(TRIALS), files.lines.get(PARSED)
    if found is None or trials is None or parsed is None:
        return
    findings.made(
        "certificate", f"shares and mode of {found['trials']:,} trials, counted anew, are those certified"
    )
    labels = closed_labels(config.protocol.decision_contract)
    if not labels:
        findings.fail("certificate", CERTIFICATE, "is there, though no contract lists labels")
        return
    told = {line.value["trial_id"]: line.value for line in parsed}
    cut = {line.value["trial_id"] for line in trials if line.value["error_code"] == CUT_SHORT}
    ran = sorted(line.value["trial_id"] for line in trials)
    places: list[int] = []
    for trial_id in ran:
        if trial_id in cut or trial_id != len(places):
            break
        places.append(_place(told.get(trial_id, {}), labels))
    alpha, width = found["alpha"], len(labels) + 1
    size = config.execution.batch_size
    mode = next(_certain(places, width, alpha, _ends(ran, size)), None)
    counts = [places.count(place) for place in range(width)]
    shares = [
        {
            "count": count,
            "share": count / len(places) if places else None,
            "low": bounds.low,
            "high": bounds.high,
        }
        for count, bounds in zip(counts, share_intervals(counts, alpha), strict=True)
    ]
    manifest = files.documents.get(MANIFEST)
    expected: dict[str, Any] = {
        "run_id": manifest["run_id"] if manifest else found["run_id"],
        "trials": len(places),
        "not_counted": len(ran) - len(places),
        "labels": [{"label": label, **share} for label, share in zip(labels, shares, strict=False)],
        "no_decision": shares[-1],
        "mode": mode and {"label": labels[mode[0]] if mode[0] < len(labels) else None, "at_trial": mode[1]},
        "assumptions": list(ASSUMPTIONS),
    }
    for one in differences(expected, {name: found.get(name) for name in expected}):
        findings.fail("certificate", CERTIFICATE, one.why, field=one.field)


def _place(parsed: Mapping[str, Any], labels: Sequence[str]) -> int:
    """Return which label a trial decided on; the last place is that of no decision."""
    outcome = parsed.get("outcome") if parsed.get("parse_status") == "success" else None
    return labels.index(outcome) if outcome in labels else len(labels)


def _ends(ran: Sequence[int], size: int) -> Iterator[int]:
    """Yield how many trials there are at the end of each batch."""
    count = 0
    for _, batch in groupby(ran, lambda trial_id: trial_id // size):
        count += len(list(batch))
        yield count


def _certain(
    places: Sequence[int], width: int, alpha: float, ends: Iterator[int]
) -> Iterator[tuple[int, int]]:
    """Yield the place of the mode and the number of trials, at each batch after which it is certain."""
    for end in ends:
        counted = places[:end]
        lead = certified_mode([counted.count(place) for place in range(width)], alpha)
        if lead is not None:
            yield lead, len(counted)
