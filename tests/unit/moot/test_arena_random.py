"""Random scripts and random shells: whatever they say, nothing is raised, and every record is conformant (12)."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from moot.cases.arena.offline import RunOptions, run_offline
from moot.cases.arena.script import ArenaScript, NotebookScript
from moot.protocols.arena import messages as m
from moot.protocols.arena.conformance.checker import check
from moot.protocols.arena.relevance import excess
from moot.protocols.arena.seats import ARENA, PLANNER, REVIEWER
from moot.protocols.arena.states import TERMINAL
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.redact import redact
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.rulebook import rules
from tests.doubles.arena_table import ArenaTable

LINES = st.sampled_from(
    [
        "VERDICT: APPROVED", "VERDICT: REVISE", "  verdict:\tapproveD ", "VERDICT: REVI\u017fE",
        "VERDICT:\u00a0APPROVED",
        "VERD\u0131CT: APPROVED", "> VERDICT: REVISE", '"VERDICT: APPROVED"', "VERDICT:", "```",
        "VERDICT: REVISE\rVERDICT: APPROVED",
        "- no goal", "1. no owner", "* CPU usage: 93 %", "RATIONALE: fine", "",
        "The cache lowers the latency of every request.", "The plan does not name an owner of it.",
        "CPU usage: 93 %", "Invoice #4412 is overdue", "INC-2231 is open", "Draft three Instagram captions",
        "roll out v2.3.1 to staging", "password = hunter2secret", "Authorization: Bearer abcdefghijklmnopqrstuv",
        "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "the password is hunter22x", "nb#ok-1",
        "\u2028 odd \x00",
    ]
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(LINES, max_size=6).flatmap(
        lambda lines: st.sampled_from(["\n", "\r\n", "\r"]).map(lambda end: end.join(lines))
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=80),
)
BEHAVIOURS = st.sampled_from(["ok", "ok", "timeout", "fail", "contradict"])
SCRIPTS = st.builds(
    ArenaScript,
    planner=st.lists(TEXTS, max_size=4).map(tuple),
    reviewer=st.lists(TEXTS, max_size=6).map(tuple),
    finalizer=st.lists(TEXTS, max_size=2).map(tuple),
    notebook=st.none() | st.builds(NotebookScript, before=BEHAVIOURS, during=BEHAVIOURS, after=BEHAVIOURS),
    reviewer_writes=st.sampled_from([False, False, False, True]),
    resume_token=st.sampled_from(["valid", "valid", "valid", "missing"]),
)
CONFIGS = st.fixed_dictionaries(
    {"notebook_enabled": st.sampled_from([True, False])},
    optional={
        "max_rounds": st.sampled_from([1, 2, 3, 5, 5, 5, 0, 6, True, "5", 2.0, None]),
        "session_resume_required": st.sampled_from([True, True, False, 1]),
        "reviewer_mode": st.sampled_from(["read-only", "read-only", "read-write"]),
        "extra": st.sampled_from([1]),
    },
)
TASKS = st.fixed_dictionaries(
    {
        "task_id": st.just("t1") | TEXTS,
        "initial_prompt": st.just("Plan the widget.") | TEXTS,
        "session_id": st.sampled_from(["s1", "s1", "s1", "", 5, "password = hunter2secret"]),
    },
    optional={
        "notebook_required": st.booleans(),
        "round_history_refs": st.lists(TEXTS, max_size=2),
    },
)
NOTEBOOKS = st.sampled_from(
    [
        {"notebook_id": "nb", "tools": ["notebook_query"]},
        {
            "notebook_id": "nb",
            "profile": "auto",
            "tools": ["notebook_describe", "notebook_query", "studio_create"],
        },
        {"notebook_id": "CPU usage: 93 %", "tools": ["notebook_query"]},
        {"notebook_id": "nb", "tools": ["notebook_describe"]},
        None,
    ]
)


def faults(record):
    """Return what the independent checker finds."""
    return [(one.number, one.evidence) for one in check(record).checks if not one.is_passed]


def strings(value):
    """Yield all texts of a record."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)
    elif isinstance(value, str):
        yield value


def judge(record):
    """Assert that a record is whole, conformant, and clean in every text of it."""
    assert record["terminal_state"] in TERMINAL
    assert record["events"][-1]["type"] == "RUN_TERMINATED"
    assert json.loads(json.dumps(record)) == record
    assert faults(record) == []
    assert [text for text in strings(record) if excess(text)] == []
    names = [*record["artifacts"], *strings(record["events"])]
    assert [text for text in names if redact(text) != text] == []


@settings(max_examples=400)
@given(SCRIPTS, TASKS, CONFIGS, NOTEBOOKS, st.integers(0, 50))
def test_any_script_leads_to_a_conformant_record(script, task, config, notebook, seed):
    judge(run_offline(RunOptions(task=task, config=config, notebook=notebook, script=script, seed=seed)))


@settings(max_examples=60)
@given(TASKS, CONFIGS, NOTEBOOKS, st.integers(0, 1000))
def test_simulated_minds_lead_to_a_conformant_record_whatever_the_task(task, config, notebook, seed):
    judge(run_offline(RunOptions(task=task, config=config, notebook=notebook, seed=seed)))


CLAIMS = TEXTS.filter(str.strip)
REFS = st.sampled_from(["n#1", "n#2", "n#12", "CPU usage: 93 %", "password = hunter2secret", "x" * 1000])


@st.composite
def answers(draw, table):
    """Draw what a shell of any make may say: often what is right, in part."""
    state = table.state
    kind = draw(st.sampled_from([*state.owed[0].expects, *state.owed[0].expects[:1] * 9, "DRAFT", "REVIEW"]))
    n = draw(st.sampled_from([state.round_index] * 12 + [0, 9]))
    if kind == "HOOK_RESULT":
        phase = table.rules.types["run"].brief(state, state.owed[0], None)["hook"] or "before"
        refs = tuple(draw(st.lists(REFS, max_size=3)))
        return m.HookResult(
            phase=draw(st.sampled_from([phase] * 9 + ["after"])),
            query=draw(TEXTS),
            evidence_refs=refs,
            status=draw(
                st.sampled_from(["SUCCESS"] * 6 + ["FAILED", "SKIPPED_DEGRADED", "SKIPPED_DISABLED"])
            ),
            why=draw(TEXTS),
            findings=tuple(
                m.NotebookFinding(
                    claim=draw(CLAIMS),
                    evidence_ref=ref,
                    stance=draw(st.sampled_from(["supports", "contradicts"])),
                )
                for ref in refs
            ),
        )
    if kind == "DRAFT":
        return m.ArenaDraft(round_index=n, text=draw(TEXTS))
    if kind == "REVIEW":
        return m.Review(
            round_index=n,
            attempt=draw(st.sampled_from([state.attempt] * 9 + [1, 2, 3])),
            text=draw(TEXTS),
            session_id=draw(st.sampled_from([state.session_id] * 15 + ["", "CPU usage: 93 %"])),
            resume_ref=draw(st.sampled_from([state.resume_ref] * 15 + ["x"])),
            unresolved=draw(st.sampled_from([state.unresolved] * 15 + [(), ("r1-1",)])),
        )
    if kind == "FINAL_OUTPUT":
        return m.FinalOutput(text=draw(TEXTS))
    fault = draw(st.sampled_from(["SAFETY_VIOLATION", "SESSION_RESUME_MISSING"]))
    return m.RunFault(fault=fault, tool=draw(TEXTS), detail=draw(TEXTS))


@settings(max_examples=250)
@given(st.data(), CONFIGS, st.booleans())
def test_shells_of_any_make_lead_to_a_conformant_record(data, config, is_required):
    table = ArenaTable()
    table.run(
        config=config,
        notebook={"notebook_id": "nb", "tools": ["notebook_query"]},
        notebook_required=is_required,
    )
    steps = 0
    while table.run_id in table.docket.cases:
        steps += 1
        before, owed = table.state, table.state.owed[0]
        what = (
            data.draw(st.sampled_from(["answer"] * 30 + ["wait", "outage", "stop"])) if steps < 60 else "stop"
        )
        if what == "stop":
            table.say(ADMIN, Stop(scope=table.run_id, why="enough"), channel="#admin")
        elif what == "wait":
            table.wait(minutes=data.draw(st.integers(1, 40)))
        elif what == "outage":
            table.down(crash=data.draw(st.booleans()), hours=1)
        else:
            body = data.draw(answers(table))
            seat = owed.seat if body.type in owed.expects else {"DRAFT": PLANNER}.get(body.type, REVIEWER)
            how = (
                {"owed": owed}
                if body.type in owed.expects
                else {"channel": "#r-arena", "case_id": table.run_id}
            )
            env = table.say(seat, body, **how)
            if table.effects[env.seq - 1].violation is not None:
                assert table.state is before
    judge(table.record())
    other = Docket(rules())
    for env in table.log:
        other.fold(env)
    assert other.ended == table.docket.ended
    ids = [one.id for fx in table.effects for one in fx.opened if one.seat in ARENA]
    assert len(ids) == len(set(ids))
