"""Panels at random: the machine never fails, each ends, and what it decides follows from the scores (spec 2 to 8)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from hypothesis import event, given, settings
from hypothesis import strategies as st

from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN, OFFICERS
from moot.protocols.panel import messages as m
from moot.protocols.panel.contract import Contract, Score, as_json
from moot.protocols.panel.seats import PANEL, SYNTHESIZER
from moot.protocols.panel.state import PanelState
from moot.protocols.rulebook import rules
from tests.doubles.panel_samples import BODY, FOCUS, FULL, LOOKED_FOR, phase1, report
from tests.doubles.panel_table import PanelTable

GRADES: tuple[Score, ...] = ("pass", "pass", "pass", "warn", "block")
ALL_TRIGGERS = " ".join([BODY, *(trigger for _, *triggers in LOOKED_FOR.values() for trigger in triggers)])
"""A Review Body that is tied to every trigger of the samples (R-P4)."""
Majority = Literal["spec", "strict"]
RANDOM = settings(max_examples=120)


# ---------------------------------------------------------------- a naive recomputation


def scored(text: str) -> dict[str, str]:
    """Read the scores of a report that a lint has passed."""
    return dict(re.findall(r"^### (D\d+): .*\n+score: (\w+)$", text, re.MULTILINE))


def naive(
    contract: Contract, rows: list[dict[str, str]], majority: Majority
) -> tuple[tuple[str, ...], str | None]:
    """Say by hand what the two shipped contracts make of scores: the fired conditions and the decision."""
    ids = [one.id for one in contract.acceptance_dimensions]
    assert all(list(row) == ids for row in rows)
    if contract is FOCUS:
        block = any(row["D1"] == "block" for row in rows)
        warn = any(row["D1"] == "warn" for row in rows)
        fine = all(row["D1"] == "pass" for row in rows)
        fired = {"F1": block, "F2": warn, "F0": fine}
        order: tuple[str, ...] = ("reject_or_major_revision", "major_revision", "accept")
    else:
        musts = [[row["D1"], row["D2"], row["D3"]] for row in rows]
        worse = sum(len([one for one in must if one != "pass"]) >= 2 for must in musts)
        fired = {
            "F1": any("block" in must for must in musts),
            "F2": worse >= (4 if majority == "spec" else 3),
            "F3": any(row["D4"] == "block" for row in rows),
            "F0": all(must == ["pass"] * 3 for must in musts),
        }
        order = ("reject_or_major_revision", "major_revision", "major_revision", "accept")
    found = [f"editorial_decision={action}" for action, one in zip(order, fired, strict=True) if fired[one]]
    return tuple(one for one in fired if fired[one]), found[0] if found else None


def passed(table: PanelTable) -> dict[str, dict[str, str]]:
    """Return the scores of each reviewer whose Phase 2 a lint has passed, as the log has them."""
    last: dict[str, str] = {}
    rows: dict[str, dict[str, str]] = {}
    for env in table.log:
        body = env.body
        if isinstance(body, m.Phase2) and table.effects_of(env).violation is None:
            last[env.author] = body.text
        elif isinstance(body, m.Lint) and body.phase == 2 and body.is_passed:
            rows[body.role] = scored(last[body.role])
    return rows


def check(table: PanelTable, contract: Contract, majority: Majority, on_none_fired: str) -> str:
    """Hold the end of a panel against the log; return how it ended."""
    tags = [e.body.tag for e in table.log if isinstance(e.body, m.Lint) and e.body.tag]
    rows = passed(table)
    end = table.log[-1].body
    if isinstance(end, m.PanelDecided):
        assert sorted(rows) == sorted(table.roles)
        fired, decision = naive(contract, [rows[role] for role in table.roles], majority)
        assert end.fired_conditions == fired
        assert end.decision == (decision or "editorial_decision=accept")
        assert decision is not None or on_none_fired == "accept"
        assert (end.tags[-1] == "[NO-CONDITION-FIRED]") is (decision is None)
        assert end.matrix == {
            one.id: {role: rows[role][one.id] for role in table.roles}
            for one in contract.acceptance_dimensions
        }
    else:
        assert isinstance(end, m.PanelAborted)
        usable, size = len(rows), contract.panel_size
        if end.tag.startswith("[PANEL-SHRUNK"):
            assert end.tag == f"[PANEL-SHRUNK: usable={usable}, panel_size={size}]"
            assert usable < size
        elif end.tag == "[NO-CONDITION-FIRED]":
            assert on_none_fired == "abort"
            assert naive(contract, [rows[role] for role in table.roles], majority) == ((), None)
        else:
            assert end.tag in ("[SYNTHESIS-MISMATCH]", "[PANEL-STOPPED]")
        tags.append(end.tag)
    said = list(end.tags)
    assert [tag for tag in said if tag in tags] == tags
    return table.outcome


# ---------------------------------------------------------------- random outputs


def altered(draw: st.DrawFn, text: str) -> str:
    """Drop, repeat or move a line."""
    lines = text.split("\n")
    n = draw(st.integers(0, len(lines) - 1))
    how = draw(st.sampled_from(("drop", "repeat", "swap", "spoil")))
    if how == "drop":
        del lines[n]
    elif how == "repeat":
        lines.insert(n, lines[n])
    elif how == "swap":
        lines[0], lines[n] = lines[n], lines[0]
    else:
        lines[n] += draw(st.text(max_size=5))
    return "\n".join(lines)


@st.composite
def outputs(draw: st.DrawFn, kind: str, role: str, contract: Contract) -> str:
    """Write an output of a kind, mostly well."""
    how = draw(st.sampled_from(("good",) * 15 + ("altered", "garbage", "odd")))
    if how == "garbage":
        return draw(st.text(max_size=200))
    if kind == "PHASE1":
        text = phase1(contract)
    elif kind == "PHASE2":
        over: dict[str, Any] = {"body": ALL_TRIGGERS}
        if how == "odd":
            over |= draw(
                st.sampled_from(
                    (
                        {"dissent": "### D1: no\n### D2: no"},
                        {"dissent": "### D1: no"},
                        {"fired": ()},
                        {"decision": "editorial_decision=minor_revision"},
                        {"role": "methodology"},
                        {"body": "Nothing."},
                    )
                )
            )
        text = report(over.pop("role", role), draw(scores(contract)), contract=contract, **over)
    else:
        fired = draw(st.sampled_from(("F0", "F1", "F2", "F1, F2", "")))
        action = draw(st.sampled_from(("accept", "major_revision", "reject_or_major_revision")))
        text = f"fired_conditions: [{fired}]\neditorial_decision={action}\n"
    return altered(draw, text) if how == "altered" else text


def scores(contract: Contract) -> st.SearchStrategy[Mapping[str, Score]]:
    grade = st.sampled_from(GRADES)
    return st.fixed_dictionaries({one.id: grade for one in contract.acceptance_dimensions})


def draft_for(table: PanelTable, kind: str, text: str) -> Any:
    return {"PHASE1": m.Phase1, "PHASE2": m.Phase2, "SYNTHESIS": m.Synthesis}[kind](text=text)


def is_open(table: PanelTable) -> bool:
    return table.panel_id in table.docket.cases


def act(data: st.DataObject, table: PanelTable, contract: Contract) -> None:
    """Let somebody do something, owed or not; what is illegal changes nothing."""
    docket = table.docket
    before = docket.cases.get(table.panel_id)
    move = data.draw(st.sampled_from(("answer",) * 12 + ("intrude", "intrude", "down", "wait", "stop")))
    if move == "wait":
        table.wait(minutes=data.draw(st.integers(1, 70)))
        return
    if move == "down":
        table.down(hours=data.draw(st.integers(0, 5)), crash=data.draw(st.booleans()))
        return
    if move == "stop" and data.draw(st.integers(0, 3)) == 0:
        table.say(ADMIN, Stop(scope=table.panel_id, why="enough"), channel="#admin")
        return
    owed = [o for o in docket.open.values() if o.seat not in OFFICERS and o.case_id == table.panel_id]
    if move == "answer" and owed:
        one = data.draw(st.sampled_from(owed))
        seat, kind = one.seat, one.expects[0]
    else:
        seat = data.draw(st.sampled_from(sorted(PANEL)))
        kind = "SYNTHESIS" if seat == SYNTHESIZER else data.draw(st.sampled_from(("PHASE1", "PHASE2")))
    body = draft_for(table, kind, data.draw(outputs(kind, seat, contract)))
    env = table.post(seat, body, channel="#r-panel", case_id=table.panel_id)
    if table.effects_of(env).violation is not None:
        assert docket.cases.get(table.panel_id) is before
    table.officers()


def sound(table: PanelTable) -> None:
    """Hold a state to what is true of every panel."""
    if not is_open(table):
        return
    state = table.docket.cases[table.panel_id]
    assert isinstance(state, PanelState)
    seats = [o.seat for o in state.owed]
    assert len(seats) == len(set(seats)), "somebody owes twice"
    assert seats, "nobody owes anything, and the panel is open"
    for one in state.reviewers:
        owes = [o for o in state.owed if o.seat == one.role]
        assert bool(owes) is (one.stage in ("phase1", "phase2"))
        assert bool(one.scores) is (one.stage == "usable")
        assert (one.cycle, one.attempt) <= (2, 2)
        for o in owes:
            assert bool(o.may_see.content_ref) is (o.expects == ("PHASE2",))


@given(st.data())
@RANDOM
def test_a_panel_of_any_outputs_in_any_order_ends_and_decides_by_its_scores(data: st.DataObject) -> None:
    contract = data.draw(st.sampled_from((FOCUS, FULL)))
    majority: Majority = data.draw(st.sampled_from(("spec", "strict")))
    on_none_fired = data.draw(st.sampled_from(("accept", "abort")))
    table = PanelTable(contract)
    table.panel(majority=majority, on_none_fired=on_none_fired)
    for _ in range(data.draw(st.integers(0, 25))):
        if not is_open(table):
            break
        act(data, table, contract)
        sound(table)
    if data.draw(st.booleans()):
        finish(table)
    table.wait(hours=12)
    assert not is_open(table)
    assert not [o for o in table.docket.open.values() if o.case_id == table.panel_id]
    end = check_last(table)
    event(f"{check(end, contract, majority, on_none_fired)} {name_of(end.log[-1].body)}")
    ids = [o.id for fx in table.effects for o in fx.opened]
    assert len(ids) == len(set(ids))
    again = Docket(rules())
    for env in table.log:
        again.fold(env)
    assert again.ended[table.panel_id] == table.docket.ended[table.panel_id]


def finish(table: PanelTable) -> None:
    """Let all who owe anything do it well."""
    for role in table.roles:
        for kind, say in (("PHASE1", table.commit), ("PHASE2", table.review)):
            if is_open(table) and any(o.seat == role and kind in o.expects for o in table.state.owed):
                say(role)
    if is_open(table):
        table.conclude()


def name_of(body: Any) -> str:
    """Return the name of the tag that a panel ended with, or its decision."""
    return str(getattr(body, "tag", "") or body.decision).split(":")[0]


def check_last(table: PanelTable) -> PanelTable:
    """Cut the log after the end of the panel: what came later changed nothing."""
    last = next(e for e in reversed(table.log) if e.body.type in ("PANEL_DECIDED", "PANEL_ABORTED"))
    table.log = table.log[: last.seq]
    return table


@given(st.data())
@RANDOM
def test_a_panel_of_sound_reports_in_any_order_decides_by_its_scores(data: st.DataObject) -> None:
    contract = data.draw(st.sampled_from((FOCUS, FULL)))
    majority: Majority = data.draw(st.sampled_from(("spec", "strict")))
    table = PanelTable(contract)
    table.panel(majority=majority)
    rows = {role: dict(data.draw(scores(contract))) for role in table.roles}
    turns = data.draw(st.permutations([role for role in table.roles for _ in range(2)]))
    for role in turns:
        if role in {o.seat for o in table.state.owed if "PHASE1" in o.expects}:
            table.commit(role)
        else:
            table.review(role, report(role, rows[role], contract=contract, body=ALL_TRIGGERS))
    table.conclude()
    assert check(table, contract, majority, "accept") == "decided"
    assert passed(table) == rows


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 200) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
@RANDOM
def test_a_panel_under_any_contract_opens_or_is_refused(data: st.DataObject) -> None:
    contract: dict[str, Any] = as_json(FOCUS)
    for _ in range(data.draw(st.integers(1, 2))):
        place: Any = contract
        key = data.draw(st.sampled_from(sorted(contract)))
        while data.draw(st.booleans()) and isinstance(place[key], dict | list) and place[key]:
            place = place[key]
            keys = range(len(place)) if isinstance(place, list) else sorted(place)
            key = data.draw(st.sampled_from(keys))
        place[key] = data.draw(JSON)
    table = PanelTable(FOCUS)
    table.panel(contract)
    if not is_open(table):
        tag = table.last("PANEL_ABORTED").body.tag  # type: ignore[attr-defined]
        assert tag.startswith(("[CONTRACT-INVALID: ", "[CONTRACT-INELIGIBLE: "))
        return
    for role in table.roles:
        table.commit(role)
    table.wait(hours=12)
    assert table.last("PANEL_ABORTED").body.tag.startswith("[PANEL-SHRUNK: usable=0")  # type: ignore[attr-defined]
