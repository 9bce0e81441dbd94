"""Faults in rules of Moot's own protocols: the case ends, tests and scenes report it, and nothing is forged with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.protocols.kernel.envelope import OFFICER, Draft
from moot.protocols.kernel.errors import OfficerFault
from moot.protocols.kernel.officers import Violation
from moot.protocols.research import judging
from moot.simulation.scene import load_scene, run_scene
from tests.doubles.checking import findings
from tests.doubles.debating import REFEREE, assess, hypothesise
from tests.doubles.table import Table

SCENES = Path(__file__).parents[2] / "acceptance" / "scenes"


def fails(*_args: object) -> None:
    raise ZeroDivisionError("in a rule")


@pytest.mark.rule("R-G14")
def test_a_built_in_rule_that_raises_ends_its_case_and_fails_the_scene(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judging, "forbids_approval", fails)
    result = run_scene(load_scene(SCENES / "1.1-approve-leads-to-a-backtest.yaml"))
    (finding,) = result.findings
    assert finding.name == "rule fault"
    assert finding.says.startswith("ZeroDivisionError in rule judged, step verdict, ")
    assert any(e.body.type == "RULING" and e.body.outcome == "faulted" for e in result.envelopes)
    assert result.envelopes[-1].body.type == "SOCIETY_STOPPED"
    assert findings(result.envelopes) == []


@pytest.mark.rule("R-G14")
def test_a_violation_that_nothing_derives_is_refused_in_a_case_without_a_fault() -> None:
    table = Table()
    hypothesise(table)
    message = assess(table)
    body = Violation(
        of_seq=message.seq, seat=message.author, rule="K10", field=None, why="it waits for a ruling"
    )
    forged = Draft(
        channel=message.channel,
        author=REFEREE,
        actor=OFFICER,
        body=body,
        case_id=message.case_id,
        in_reply_to=message.id,
        key=f"violation/{message.seq}",
    )
    with pytest.raises(OfficerFault, match="no table asks for"):
        table.publish(forged)
