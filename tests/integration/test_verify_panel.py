"""Review panels in `moot verify`: what ended otherwise than its outputs say is found at the panel's end."""

import copy

import pytest

from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.panel import audit
from moot.protocols.panel.contract import as_json
from moot.protocols.panel.seats import METHODOLOGY
from moot.verify.panels import Panels
from moot.verify.report import Findings
from moot.verify.second_panel import SecondPanel
from tests.doubles.panel_samples import FOCUS, FULL, report, synthesis
from tests.doubles.panel_table import PanelTable
from tests.doubles.tampering import alterations, judged, read, rehashed, stripped

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
    ("decided", "PHASE1", set_to(text="hm"), 0, "4",
     "Phase 1 of eic is told to have passed, and its text does not pass"),
    ("decided", "PHASE2", set_to(text=report("eic", {"D1": "block"}, contract=FOCUS)), 0, "8",
     "do not pass: [PANEL-SYNTH"),
    ("decided", "PHASE2", set_to(text="hm"), 1, "5", "Phase 2 of methodology is told to have passed"),
    ("shrunk by a malformed report", "PHASE2", set_to(text=report("eic", contract=FOCUS)), 1, "5",
     "Phase 2 of eic is told to have failed, and its text passes"),
    ("decided", "SYNTHESIS", set_to(text=synthesis({"eic": {"D1": "block"}}, FOCUS)), 0, "8",
     "its reports and its synthesis do not pass: [PANEL-SYNTHESIS-MISMATCH"),
    ("decided", "PANEL_DECIDED", set_to(decision="editorial_decision=reject"), 0, "8",
     "editorial_decision=reject is told"),
    ("decided", "PANEL_DECIDED", set_to(fired_conditions=["F1"]), 0, "8", "fired_conditions: ['F1'] is told"),
    ("decided", "PANEL_DECIDED", set_to(matrix={}), 0, "8", "matrix: {} is told"),
    ("decided", "PANEL_DECIDED", set_to(arithmetic=[]), 0, "8", "arithmetic: [] is told"),
    ("decided", "PANEL_DECIDED", set_to(baseline_sha256="0" * 64), 0, "3", "baseline_sha256 is not that"),
    ("decided", "PANEL_DECIDED", set_to(tags=[]), 0, "11", "its tags are not those of its outputs"),
    ("none fired", "PANEL_OPENED", set_to(on_none_fired="abort"), 0, "8", "it was decided after 0 syntheses"),
    ("none fired", "PANEL_DECIDED", lambda body: body["tags"].pop(), 0, "11", "[NO-CONDITION-FIRED]"),
    ("none fired, aborted", "PANEL_OPENED", set_to(on_none_fired="accept"), 0, "11", "it was to accept then"),
    ("full", "PANEL_OPENED", lambda body: body["contract"]["acceptance_dimensions"][0].update(description="x"), 0, "3",
     "baseline_sha256"),
    ("shrunk by a malformed report", "PANEL_ABORTED", set_to(tag="[PANEL-SHRUNK: usable=0, panel_size=2]"), 0, "6",
     "1 of 2 reviewers are usable"),
    ("uncommitted", "PANEL_ABORTED", set_to(tag="[SYNTHESIS-MISMATCH]"), 0, "11", "that is [PANEL-SHRUNK]"),
    ("mismatched", "PANEL_ABORTED", set_to(tag="[NO-CONDITION-FIRED]"), 0, "11", "it was to accept then"),
    ("unsynthesized", "PANEL_ABORTED", set_to(tag="[CONTRACT-INVALID: x]"), 0, "11", "nothing in it deserves that"),
    ("unreadable", "PANEL_ABORTED", set_to(tag="[SYNTHESIS-MISMATCH]"), 0, "11", "it could not synthesize"),
    ("unsynthesized", "PANEL_ABORTED", set_to(tag="[PANEL-STOPPED]"), 0, "11", "nobody stopped it"),
    ("invalid", "PANEL_ABORTED", set_to(tag="[PANEL-STOPPED]"), 0, "3", "its contract deserves [CONTRACT-INVALID]"),
    ("ineligible", "PANEL_ABORTED", set_to(tag="[PANEL-STOPPED]"), 0, "3",
     "its contract deserves [CONTRACT-INELIGIBLE]"),
    ("retried", "LINT", set_to(is_passed=True), 0, "4", "Phase 1 of eic is told to have passed"),
    ("uncommitted", "LINT", set_to(tag=""), -1, "11", "Phase 1 of eic is told with no tag, not [PROTOCOL-VIOLATION"),
    ("silent in phase 1", "PANEL_ABORTED", lambda body: body["tags"].pop(0), 0, "11", "its tags are not those"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kind", "change", "n", "rule", "says"), CASES)
def test_what_does_not_lead_to_the_panels_end_is_found_at_its_end(name, kind, change, n, rule, says):
    table = PANELS[name]()
    found = panel_findings(altered(table, kind, change, n))
    end = next(e.seq for e in reversed(table.log) if e.body.type in ("PANEL_DECIDED", "PANEL_ABORTED"))
    assert any(seq == end and got == rule and says in why for seq, got, why in found), found


def test_2_a_review_before_the_lint_of_its_phase_1_is_found():
    table = decided()
    lines = lines_of(table)
    lint = next(n for n, line in enumerate(lines) if line["body"]["type"] == "LINT")
    swapped = [*lines[:lint], lines[lint + 1], lines[lint], *lines[lint + 2 :]]
    for n, line in enumerate(swapped, 1):
        swapped[n - 1] = {**line, "seq": n}
    found = panel_findings(swapped)
    assert any(
        rule == "2" and why.startswith("eic reviews with message 4, and no LINT") for _, rule, why in found
    )


def doubts(table, *more, at=-1):
    """Judge a panel's messages again, with copies of some of them put in before a place."""
    said = [env for env in table.log if env.case_id == table.panel_id]
    said[at:at] = [said[n] for n in more]
    return [f"{one.rule}: {one.why}" for one in SecondPanel(said).judge()]


def test_2_who_is_usable_does_not_commit_itself_again():
    table = decided()
    assert doubts(table) == []
    assert "2: eic commits itself again, and nothing more is to come from it" in doubts(table, 1)


def test_4_and_5_the_outputs_of_a_reviewer_are_counted():
    table = restarted()
    first, review = (
        next(n for n, env in enumerate(table.log[1:]) if env.body.type == kind)
        for kind in ("PHASE1", "PHASE2")
    )
    assert doubts(table) == []
    assert any(
        one.startswith("4: eic has 5 outputs of Phase 1") for one in doubts(table, first, first, first)
    )
    assert any(one.startswith("5: eic has 3 outputs of Phase 2") for one in doubts(table, review))


def test_6_a_decision_without_every_reviewer_is_found_though_its_lints_are_told_as_they_are():
    table = decided()
    lines = altered(table, "PHASE2", set_to(text="hm"))
    tag = audit.phase2_failed("eic", FOCUS.contract_id, "role")
    lint = next(
        n for n, line in enumerate(lines) if line["body"]["type"] == "LINT" and line["body"]["phase"] == 2
    )
    lines[lint] = copy.deepcopy(lines[lint])
    lines[lint]["body"].update(is_passed=False, tag=tag, findings=["x"])
    found = panel_findings(lines)
    assert [(rule, why) for _, rule, why in found] == [
        ("6", "1 of 2 reviewers are usable, and yet it was decided")
    ]


def test_8_and_r_p2_what_only_a_broken_docket_would_let_pass_is_found_as_well():
    corrected_late = doubts(corrected_twice := corrected(), -2, at=-3)
    assert corrected_twice.outcome == "decided"
    assert any("was decided after 3 syntheses" in one for one in corrected_late), corrected_late
    assert any("and another was asked for" in one for one in doubts(decided(), -2))
    table = none_fired("accept")
    opening = next(n for n, env in enumerate(table.log) if env.body.type == "PANEL_OPENED")
    env = table.log[opening]
    table.log[opening] = env._replace(body=env.body.model_copy(update={"on_none_fired": "abort"}))
    assert doubts(table) == ["R-P2: no condition fired, and yet it was decided"]


def test_the_second_opinion_needs_no_docket_and_no_hashes():
    table = decided(D1="warn")
    assert judged(stripped(lines_of(table))).ok
    changed = altered(table, "PANEL_DECIDED", set_to(decision="editorial_decision=accept"))
    assert any(one.rule == "8" for one in judged(stripped(changed), max_findings=50).findings)


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


PROSE = "the words of a seat; another well-formed output of the same meaning"
SOON = "a second later is still in order and in time"
OWN = "chosen by who opens the panel or speaks, and nothing refers to it"

INVISIBLE = {
    "PANEL_OPENED": {
        "body.content_ref": OWN,
        "body.field": OWN,
        "body.majority": "no majority hangs on it here",
        "body.on_none_fired": "a condition fired here",
        "body.title": OWN,
        "body.word_count": OWN,
        "id": OWN,
    },
    "PHASE2": {"body.text": PROSE},
    "SYNTHESIS": {"body.text": PROSE},
    "PANEL_DECIDED": {"sent_at": SOON},
    "PANEL_ABORTED": {"sent_at": SOON},
}
"""Fields of which some other value is as consistent with the rest of the log; everything else is found.

The contract of a panel that shrank decided nothing, so that it is not asked for here.
"""


def test_without_hashes_every_field_of_every_message_of_a_panel_but_the_listed_is_held_to_the_rest():
    unseen = {}
    for name in ("retried", "shrunk by a malformed report"):
        lines = lines_of(PANELS[name]())
        for n, line in enumerate(lines):
            kind = line["body"]["type"]
            if line["channel"] != "#r-panel" or (kind == "PANEL_OPENED" and name != "retried"):
                continue
            for one in alterations(line, n):
                if judged(rehashed(one.apply(lines)), max_findings=1).ok:
                    unseen.setdefault(kind, set()).add(one.field)
    assert unseen == {kind: set(fields) for kind, fields in INVISIBLE.items()}
