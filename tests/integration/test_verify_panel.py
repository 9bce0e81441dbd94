"""Review panels in `moot verify`: what ended otherwise than its outputs say is found at the panel's end."""

import copy

import pytest

from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.panel import audit
from moot.protocols.panel.contract import as_json
from moot.protocols.panel.seats import METHODOLOGY
from moot.verify.audit.panels import Panels
from moot.verify.report import Findings
from tests.doubles.panel_samples import FOCUS, FULL, report
from tests.doubles.panel_table import PanelTable
from tests.doubles.tampering import judged, read, rehashed, stripped

TWO = "D1: no longer apt\nD2: neither"
"""A dissent about two dimensions."""
BAD = "## Scoring Plan\n"


def opened(board=FOCUS, **over):
    table = PanelTable(board)
    table.panel(**over)
    return table


def decided(contract=FOCUS, **scores):
    table = opened(contract)
    table.all_review(**scores)
    table.conclude()
    return table


def retried():
    table = opened()
    table.commit("eic", BAD)
    table.commit("eic")
    table.review("eic")
    table.commit("methodology")
    table.review("methodology", D1="warn")
    table.conclude()
    return table


def restarted():
    table = opened()
    for _ in range(2):
        table.commit("eic")
        table.review("eic", report("eic", contract=FOCUS, dissent=TWO if _ == 0 else None))
    table.commit("methodology")
    table.review("methodology")
    table.conclude()
    return table


def shrunk(*texts):
    table = opened()
    table.commit("methodology")
    table.review("methodology")
    for text in texts:
        table.commit("eic")
        table.review("eic", text)
    return table


def uncommitted():
    table = shrunk()
    table.commit("eic", BAD)
    table.commit("eic", BAD)
    return table


def silent(phase):
    table = opened()
    table.commit("methodology")
    table.review("methodology")
    if phase == 2:
        table.commit("eic")
    table.wait(hours=3)
    return table


def mismatched(*texts):
    table = opened()
    table.all_review()
    for text in texts:
        table.conclude(text)
    return table


def corrected():
    table = mismatched("editorial_decision=reject\nfired_conditions: []\n")
    table.conclude()
    return table


def unsynthesized():
    table = mismatched()
    table.wait(hours=3)
    return table


def none_fired(on_none_fired):
    table = opened(FULL, on_none_fired=on_none_fired)
    for role in table.roles:
        table.commit(role)
        table.review(role, **({"D1": "warn"} if role == "eic" else {}))
    if on_none_fired == "accept":
        table.conclude()
    return table


def stopped(is_synthesizing):
    table = opened()
    table.commit("eic")
    if is_synthesizing:
        table = mismatched()
    table.say(ADMIN, Stop(scope=table.panel_id, why="enough"), channel="#admin")
    return table


def stopped_when_none_fired():
    table = opened(FULL)
    for role in table.roles:
        table.commit(role)
        table.review(role, **({"D1": "warn"} if role == "eic" else {}))
    table.say(ADMIN, Stop(scope=table.panel_id, why="enough"), channel="#admin")
    return table


def with_expression(text):
    contract = as_json(FOCUS)
    contract["failure_conditions"][0]["expression"] = text
    return contract


def unreadable():
    table = opened(contract=with_expression("D9 scores 'block'"))
    table.contract = FOCUS
    for role in table.roles:
        table.commit(role)
        table.review(role)
    return table


def with_a_violation():
    table = opened()
    table.commit("eic")
    table.post(METHODOLOGY, copy_of_phase2(), channel="#r-panel", case_id=table.panel_id)
    table.officers()
    table.review("eic")
    table.commit("methodology")
    table.review("methodology")
    table.conclude()
    return table


def copy_of_phase2():
    from moot.protocols.panel.messages import Phase2

    return Phase2(text=report("methodology", contract=FOCUS))


PANELS = {
    "decided": decided,
    "full": lambda: decided(FULL, D1="block"),
    "retried": retried,
    "restarted": restarted,
    "shrunk by a malformed report": lambda: shrunk("nothing"),
    "shrunk by another's role": lambda: shrunk(report("methodology", contract=FOCUS)),
    "shrunk by another's role and more": lambda: shrunk(
        report("methodology", contract=FOCUS).replace("## Review Body", "## Body")
    ),
    "shrunk by two dissents and more": lambda: shrunk(
        report("methodology", contract=FOCUS, dissent=TWO),
        report("eic", contract=FOCUS, dissent=TWO).replace("## Review Body", "## Body"),
    ),
    "shrunk by a flag": lambda: shrunk(
        report("eic", contract=FOCUS, fired=["F1"], decision="editorial_decision=reject_or_major_revision")
    ),
    "shrunk by two dissents": lambda: shrunk(
        report("eic", contract=FOCUS, dissent=TWO), report("eic", contract=FOCUS, dissent=TWO)
    ),
    "uncommitted": uncommitted,
    "silent in phase 1": lambda: silent(1),
    "silent in phase 2": lambda: silent(2),
    "corrected": corrected,
    "mismatched": lambda: mismatched("hm", "hm again"),
    "unsynthesized": unsynthesized,
    "none fired": lambda: none_fired("accept"),
    "none fired, aborted": lambda: none_fired("abort"),
    "stopped": lambda: stopped(False),
    "stopped at the synthesis": lambda: stopped(True),
    "stopped when none fired": stopped_when_none_fired,
    "unreadable": unreadable,
    "invalid": lambda: opened(contract={"mode": "x"}),
    "ineligible": lambda: opened(contract={**as_json(FOCUS), "panel_size": 3}),
    "with a violation": with_a_violation,
}


def lines_of(table):
    """Stop the society an hour later: by then every VIOLATION that is owed must stand."""
    if table.kinds()[-1] != "SOCIETY_STOPPED":
        table.wait(hours=1)
        table.stop()
    return read("".join(env.line + "\n" for env in table.log))


@pytest.mark.parametrize("name", sorted(PANELS))
def test_every_way_a_panel_can_end_verifies(name):
    table = PANELS[name]()
    table.wait(minutes=1)
    assert table.panel_id in table.docket.ended, "the panel must have ended for this to show anything"
    report = judged(lines_of(table))
    assert report.ok, report.findings


def panel_findings(lines):
    found = judged(rehashed(lines), max_findings=60).findings
    return [(one.seq, one.rule, one.why) for one in found if one.invariant == "panel"]


def altered(table, kind, change, n=0):
    lines = lines_of(table)
    places = [i for i, line in enumerate(lines) if line["body"]["type"] == kind]
    lines[places[n]] = copy.deepcopy(lines[places[n]])
    change(lines[places[n]]["body"])
    return lines


def set_to(**fields):
    return lambda body: body.update(fields)


CASES = [
    ("decided", "PHASE1", 0, set_to(text="hm")),
]

HIDE = pytest.mark.parametrize("hide", [rehashed, stripped], ids=["rehashed", "stripped"])


@HIDE
@pytest.mark.parametrize(("name", "kind", "n", "change"), CASES)
def test_what_does_not_lead_to_the_panels_end_is_found(name, kind, n, change, hide):
    table = PANELS[name]()
    lines = altered(table, kind, change, n)
    at = next(one["seq"] for one, was in zip(lines, lines_of(table), strict=True) if one != was)
    found = {one.seq for one in judged(hide(lines), max_findings=60).findings}
    end = next(e.seq for e in reversed(table.log) if e.body.type in ("PANEL_DECIDED", "PANEL_ABORTED"))
    assert any(at <= seq <= end for seq in found), found


@HIDE
def test_2_a_review_before_the_lint_of_its_phase_1_is_found(hide):
    lines = lines_of(decided())
    lint = next(n for n, line in enumerate(lines) if line["body"]["type"] == "LINT")
    swapped = [*lines[:lint], lines[lint + 1], lines[lint], *lines[lint + 2 :]]
    found = judged(hide([{**line, "seq": n} for n, line in enumerate(swapped, 1)])).findings
    assert lint + 1 in {one.seq for one in found}, found


@HIDE
def test_6_a_decision_without_every_reviewer_is_found_though_its_lints_are_told_as_they_are(hide):
    table = decided()
    lines = altered(table, "PHASE2", set_to(text="hm"))
    tag = audit.phase2_failed("eic", FOCUS.contract_id, "role")
    lint = next(
        n for n, line in enumerate(lines) if line["body"]["type"] == "LINT" and line["body"]["phase"] == 2
    )
    lines[lint] = copy.deepcopy(lines[lint])
    lines[lint]["body"].update(is_passed=False, tag=tag, findings=["x"])
    assert table.last("PANEL_DECIDED").seq in {one.seq for one in judged(hide(lines)).findings}


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("decision", "editorial_decision=accept"),
        ("fired_conditions", []),
        ("matrix", {}),
        ("arithmetic", ["one of two"]),
    ],
)
def test_8_a_decision_is_reckoned_anew_from_the_outputs_alone(field, told):
    table = decided(D1="warn")
    assert panel_findings(lines_of(table)) == []
    lines = altered(table, "PANEL_DECIDED", set_to(**{field: told}))
    ((seq, rule, why),) = panel_findings(lines)
    assert (seq, rule) == (table.last("PANEL_DECIDED").seq, "8")
    assert why.startswith(f"{field}: {told} is told")


@pytest.mark.parametrize("kind", ["PHASE2", "SYNTHESIS"])
def test_8_outputs_that_lead_to_no_decision_are_found_beside_one(kind):
    lines = altered(
        decided(D1="warn"), kind, set_to(text="editorial_decision=reject\nfired_conditions: []\n")
    )
    ((_, rule, why),) = panel_findings(lines)
    assert rule == "8"
    assert why.startswith("its reports and its synthesis do not pass")


def test_two_panels_side_by_side_verify_and_an_open_one_is_left_alone():
    table = decided()
    table.wait(minutes=1)
    table.panel()
    table.commit("eic")
    report = judged(lines_of(table))
    assert report.ok, report.findings


def test_an_ended_panel_keeps_nothing_in_memory():
    table = decided()
    panels = Panels(Findings())
    for env, fx in zip(table.log, table.effects, strict=True):
        panels.take(env, fx)
        assert len(panels) == (2 <= env.seq < table.last("PANEL_DECIDED").seq)
