"""What comes out of a verification: findings with the cause first, warnings counted, plain data."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from rich.console import Console

from moot.cli.keep.verify import print_report
from moot.verify.report import Finding, Findings, Report
from tests.doubles.full_life import full_life
from tests.doubles.tampering import judged


def printed(report: Report) -> str:
    """Return what `moot verify` prints of a report."""
    out = StringIO()
    print_report(Console(file=out, width=200), "log", report)
    return out.getvalue()


def test_breaks_of_the_log_come_first_then_the_rest_by_seq() -> None:
    findings = Findings()
    findings.add(9, "settled", "K5", "late")
    findings.add(3, "violation", "1.4", "round")
    findings.add(7, "hash", "K15", "broken")
    findings.add(3, "debate", "1.4", "round too")
    assert [(f.seq, f.invariant) for f in findings.sorted()] == [
        (7, "hash"),
        (3, "violation"),
        (3, "debate"),
        (9, "settled"),
    ]


def test_the_same_finding_counts_once_and_the_limit_is_told() -> None:
    findings = Findings(limit=2)
    for _ in range(5):
        findings.add(1, "hash", "K15", "broken")
    assert (len(findings), findings.is_full) == (1, False)
    findings.add(2, "hash", "K15", "broken")
    assert findings.is_full


def test_a_finding_keeps_the_line_in_hand_unless_told_otherwise() -> None:
    findings = Findings()
    findings.line = 12
    findings.add(3, "head", "K15", "cut", line=0)
    findings.add(3, "hash", "K15", "broken")
    assert [f.line for f in findings.sorted()] == [0, 12]
    assert str(findings.sorted()[1]) == "seq 3: broken [hash, K15]"


def test_warnings_of_one_kind_are_counted_together() -> None:
    findings = Findings()
    for seq in (5, 6, 7):
        findings.warn("scores", seq, f"differs at {seq}")
    findings.warn("prices", 1, "none")
    assert [tuple(warning) for warning in findings.warnings()] == [(5, 3, "differs at 5"), (1, 1, "none")]
    assert str(findings.warnings()[0]) == "seq 5: differs at 5, and 2 more like it"
    assert str(findings.warnings()[1]) == "seq 1: none"


def test_the_note_says_how_far_findings_stand_for_themselves() -> None:
    one = Finding(1, 1, "hash", "K15", "broken")
    assert Report(ok=True, messages=1).note == ""
    assert Report(ok=False, messages=1, findings=(one,)).note == ""
    assert "may follow from the first" in Report(ok=False, messages=1, findings=(one, one)).note
    assert "there may be more" in Report(ok=False, messages=1, findings=(one,), is_complete=False).note


def test_a_report_is_plain_data() -> None:
    log = full_life()
    report = judged("".join(env.line + "\n" for env in log))
    plain = json.loads(json.dumps(report.as_json()))

    assert plain["ok"] is True
    assert plain["complete"] is True
    assert plain["messages"] == len(log)
    assert (plain["findings"], plain["note"]) == ([], "")
    figures = plain["figures"]
    kinds = [env.body.type for env in log]
    assert figures["types"] == {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    assert figures["violations"] == kinds.count("VIOLATION")
    assert figures["rulings"] == kinds.count("RULING")
    assert figures["cycles"] == kinds.count("CYCLE_TRIGGER")
    assert sum(figures["escalations"].values()) == kinds.count("ESCALATION_RESOLVED")
    assert figures["hashes"] == len(log)
    assert figures["first_at"] == "2026-02-28T09:00:00.000000Z"


def test_what_has_not_ended_is_counted_as_open() -> None:
    kinds = [env.body.type for env in full_life()]
    for opener, name in (("ESCALATION", "escalations"), ("HYPOTHESIS", "debates")):
        begun = full_life()[: kinds.index(opener) + 1]
        report = judged("".join(env.line + "\n" for env in begun))
        assert report.ok
        assert report.figures[name]["open"] == 1
        assert "1 open" in printed(report)


def test_progress_is_told_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.verify.verifier.PROGRESS_EVERY", 10)
    log = full_life()
    seen: list[int] = []
    judged("".join(env.json + "\n" for env in log), on_progress=seen.append)
    assert seen == list(range(10, len(log) + 1, 10))
