import json
from datetime import UTC, datetime
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from moot.channels.log.lines import open_line, seq_of
from moot.channels.showing import panels, reviews, wording
from moot.channels.showing.looks import HEX
from moot.channels.showing.rendering import (
    MOST_FIELDS,
    MOST_SENTENCE,
    Button,
    Card,
    card,
    colour,
    predicate,
    sentence,
)
from moot.channels.showing.templates import compile_template
from moot.channels.showing.wording import beside, clean, derived, ended, spoken, words
from moot.protocols.arena import messages as arena
from moot.protocols.arena.reading import MOST_ITEMS
from moot.protocols.arena.seats import FINALIZER, PLANNER, REVIEWER
from moot.protocols.arena.verdict import parse_verdict
from moot.protocols.calls import messages as calls
from moot.protocols.codec import decode_body
from moot.protocols.escalation import messages as escalation
from moot.protocols.kernel import officers, people
from moot.protocols.kernel.envelope import BOT, OFFICER, Actor, Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import ADMIN, ORCHESTRATOR, REFEREE, TIMEKEEPER
from moot.protocols.kernel.upcast import Opaque
from moot.protocols.lab import messages as lab
from moot.protocols.motion import messages as motion
from moot.protocols.motion.seats import ADVOCATE, JUDGE
from moot.protocols.panel import messages as panel
from moot.protocols.panel.contract import as_json
from moot.protocols.panel.seats import DA, DOMAIN, EIC, SYNTHESIZER
from moot.protocols.research import messages as research
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER
from moot.protocols.rulebook import rulebook
from moot.protocols.trading import messages as trading
from moot.protocols.trading.seats import OPERATOR
from tests.doubles import bodies
from tests.doubles.desk_samples import DESK_BODIES
from tests.doubles.panel_samples import FULL, phase1, report, synthesis
from tests.doubles.small_log import SmallLog

AT = datetime(2026, 2, 23, 10, 30, tzinfo=UTC)


def _type_of(model):
    return model.model_fields["type"].default if "type" in model.model_fields else None


MODELS = {
    model.model_fields["type"].default: model
    for module in (research, trading, officers, people, escalation, arena, panel, motion, calls, lab)
    for model in vars(module).values()
    if isinstance(model, type) and issubclass(model, Message) and isinstance(_type_of(model), str)
}


def said(body, author=CRITIC, actor=BOT, case_id=None):
    return SmallLog().append(body, author=author, actor=actor, case_id=case_id)


def loose(data, author=CRITIC):
    body = Opaque.model_construct(type=str(data.get("type", "")), data=data)
    return Envelope(
        v=9, seq=1, id="x", channel="#lab", author=author, actor=BOT, case_id=None, obligation_id=None,
        attempt=0, tenure=0, in_reply_to=None, hops=0, sent_at=AT, body=body,
    )  # fmt: skip


def test_an_assessment_reads_as_a_person_would_say_it():
    scores = bodies.SCORES.model_copy(update={"overfitting": 0.71, "tail_risk": 0.33, "execution_risk": 0.05})
    body = bodies.assessment(hypothesis_id="hyp_20260223_1030", confidence=0.62, scores=scores)
    assert sentence(said(body)) == (
        "Critic rates hyp_20260223_1030 CONDITIONAL_PASS, confidence 0.62: overfitting 0.71, tail risk 0.33. "
        "some overfitting"
    )


@pytest.mark.parametrize(
    ("body", "author", "reads"),
    [
        (
            bodies.hypothesis("cycle_1", hypothesis_id="hyp_1"),
            EXPLORER,
            "Explorer proposes hyp_1: Momentum 20/60 earns on sp500",
        ),
        (
            bodies.hypothesis("cycle_1", hypothesis_id="hyp_1", statement="Trends persist"),
            EXPLORER,
            "Explorer proposes hyp_1 (momentum on sp500): Trends persist",
        ),
        (
            officers.TimeoutPing(obligation_id="hyp_1/rebuttal-2/explorer", seat="explorer", waited_min=20.0),
            REFEREE,
            "Referee reminds the Explorer of the rebuttal of round 2 in hyp_1, due for 20 min",
        ),
        (
            officers.Audit(
                event="mind_failed",
                seat="critic",
                channel="a-arena",
                reason="no answer",
                bytes=None,
                truncated=False,
            ),
            REFEREE,
            "Referee records a failed answer by the Critic in a-arena: no answer",
        ),
        (
            officers.Audit(
                event="refused", seat="", channel="", reason="too long", bytes=None, truncated=False, count=3
            ),
            REFEREE,
            "Referee records a refused post: too long, 3 times",
        ),
        (
            officers.Ruling(
                obligation_id=None, case_id="hyp_1", outcome="REJECT", reason="revise_cap", rule="R-D9"
            ),
            REFEREE,
            "Referee rules reject in hyp_1: revise cap",
        ),
        (
            officers.ClockSet(society_at=AT, speed=120.0, paused=False, reason="start"),
            TIMEKEEPER,
            "Timekeeper sets the clock to 2026-02-23 10:30, speed 120, running: start",
        ),
        (people.Note(text="hold\non  now"), ADMIN, "Admin notes: hold on now"),
        (
            escalation.EscalationAnswer(escalation_id="esc_1", option=2),
            ADMIN,
            "Admin answers esc_1 with option 2",
        ),
        (
            escalation.EscalationAnswer(escalation_id="esc_1", text="later"),
            ADMIN,
            "Admin answers esc_1: later",
        ),
        (
            escalation.EscalationResolved(escalation_id="esc_1", how="expired", by="referee", effect="go_on"),
            REFEREE,
            "Referee resolves esc_1: nobody answered, closed by referee; go on",
        ),
        (
            escalation.EscalationResolved(
                escalation_id="esc_1", how="answered", by="ann", effect="conservative_b"
            ),
            REFEREE,
            "Referee resolves esc_1: answered by ann; every position is halved",
        ),
        (
            research.PrincipleSynthesis(cycle_id="c", window=research.Window(from_=AT, to=AT), principles=()),
            EVOLVER,
            "Evolver draws no principles from the day until 2026-02-23 10:30",
        ),
    ],
)
def test_messages_read_as_sentences(body, author, reads):
    assert sentence(said(body, author)) == reads


def desk_body(kind, **over):
    return decode_body(json.dumps({"type": kind, **DESK_BODIES[kind], **over}))


DESK_SENTENCES = {
    "DEPLOY_REVIEW": "reviews dep_20260223_1500: risk elevated, at most 3 % a position; concerns: drawdown",
    "DEPLOY_NOTICE": "gives notice (stage): strat_1 is in staging from now on, for 5 days at least. all clear",
    "RISK_CHECK": "measures the risk: day 0.01 %, exposure 5 %, largest SPX 5 %, VaR 0.10 %",
    "RISK_ALERT": "raises WARNING alert_20260223_1535: the day is down 3.1 % (daily pnl -0.031, limit -0.03); "
    "about strat_1",
    "DESK_CHECK": "ends a round of the desk: 3 strategies, 1 signal; faults: strat_2",
    "NO_ORDER": "gives no order for sig_20260223_1445: below confidence",
    "EXECUTION": "reports sig_20260223_1445-1 filled: BUY 10 SPX at 5000.30, slippage 0.40 bp, fee $5.00",
    "MARKET_CLOSE": "closes the books of 2026-02-23: equity $1,000,200.00, day $200.00 (0.02 %), 3 trades",
    "FEEDBACK_RESPONSE": "answers fb_20260309_2130: disagrees, action none; eight sessions are few",
    "HEALTH_CHECK": "finds System B healthy: all seats ok",
    "METRICS_RECORDED": "records 2026-02-23 of strat_1: $200.00, Sharpe: too few sessions (7 of 20), drawdown 0 %, "
    "3 trades",
    "DAILY_TRADING_REPORT": "reports 2026-02-23: $200.00 (0.02 %), since the start 0.02 %, 3 trades, 50 % won, "
    "Sharpe: too few sessions (7 of 20); on paper: strat_2; flagged for recall: strat_3",
    "RECALL_FLAG": "flags strat_1 for recall: Sharpe -0.40 over 30 sessions (recall_20260302_2120)",
}


@pytest.mark.parametrize("kind", sorted(DESK_SENTENCES))
def test_the_desk_reads_as_sentences(kind):
    assert predicate(said(desk_body(kind), OPERATOR)) == DESK_SENTENCES[kind]


@pytest.mark.parametrize("kind", sorted(DESK_BODIES))
def test_no_sentence_of_the_desk_has_a_gap(kind):
    text = predicate(said(desk_body(kind), OPERATOR))
    assert "?" not in text and "  " not in text and not text.endswith((":", ",", ";"))


@pytest.mark.parametrize("kind", ["RISK_CHECK", "DESK_CHECK", "CHECK_NEW_STRATEGIES", "HEALTH_CHECK"])
def test_what_comes_every_few_minutes_reads_in_one_short_line(kind):
    quiet = {"found": []} if kind == "CHECK_NEW_STRATEGIES" else {}
    assert len(predicate(said(desk_body(kind, **quiet), OPERATOR))) <= 80


@pytest.mark.rule("R-F6")
def test_r_f6_a_ratio_reads_with_its_sessions_and_one_that_cannot_be_says_nothing():
    def text(n, sharpe):
        body = {**DESK_BODIES["DAILY_TRADING_REPORT"], "n": n, "sharpe_30d": sharpe}
        return predicate(loose({"type": "DAILY_TRADING_REPORT", **body}))

    assert ", Sharpe: too few sessions (0 of 20)" in text(0, None)
    assert ", Sharpe: too few sessions (19 of 20)" in text(19, None)
    assert ", Sharpe 1.25 over 20 sessions;" in text(20, 1.25)
    assert "Sharpe" not in text(20, None)


def test_money_and_ailing_seats_are_worded():
    fallen = {"status": "ok", "last_active": None}
    agents = {"trader": {**fallen, "status": "timeout"}, "guardian": {**fallen, "status": "error"}}
    body = {"type": "HEALTH_CHECK", **DESK_BODIES["HEALTH_CHECK"], "status": "CRITICAL", "agents": agents}
    assert predicate(loose(body)) == "finds System B critical: guardian error, trader timeout"
    lost = loose({"type": "MARKET_CLOSE", **DESK_BODIES["MARKET_CLOSE"], "pnl_usd": -1234.5, "trades": 1})
    assert predicate(lost).endswith("day -$1,234.50 (0.02 %), 1 trade")


def test_a_start_says_which_seats_models_fill():
    models = {"local": {"model": "qwen3:8b"}}
    told = []
    for minds in ({"critic": {"model": "local"}, "evolver": {"model": "local"}, "judge": "silent"}, {}):
        body = officers.SocietyStarted(
            society_id="s",
            config={"minds": minds, "models": models},
            rules_version="2",
            seed=1,
            data={},
            speed=1.0,
            clock="real",
            durability="none",
            moot_version="0",
        )
        told.append(predicate(SmallLog().append(body, channel="#admin", author=TIMEKEEPER)))
    assert told[0].endswith("seed 1, rules 2; critic, evolver: the model local (qwen3:8b)")
    assert told[1].endswith("seed 1, rules 2")


def test_a_person_in_a_seat_is_named():
    actor = Actor("human", "discord", "4711")
    assert sentence(said(people.Note(text="hm"), CRITIC, actor)) == "Critic (4711 on discord) notes: hm"


def labelled(reads, body):
    seat, _, rest = reads.partition(" ")
    return f"{seat} (simulated, no model) {rest}" if body.is_free_text else reads


RUN = "arena_20260223_1000"


def review(text, round_index=2):
    return arena.Review(
        run_id=RUN, round_index=round_index, attempt=1, text=text, session_id="s1", resume_ref="ab"
    )


@pytest.mark.parametrize(
    ("body", "author", "reads"),
    [
        (
            arena.ArenaTask(run_id=RUN, config={}, task={"task_id": "t1", "initial_prompt": "Plan\nit."}),
            ADMIN,
            f"Admin opens {RUN} on t1: Plan it.",
        ),
        (
            arena.ArenaTask(run_id=RUN, parent_id="cycle_1", config={}, task={"task_id": 7}),
            EVOLVER,
            f"Evolver opens {RUN} on 7 for cycle_1",
        ),
        (
            arena.HookResult(run_id=RUN, phase="before", query="q", evidence_refs=("n#1",), status="SUCCESS"),
            PLANNER,
            f"Planner asks the notebook before the loop of {RUN}: success, 1 passage",
        ),
        (
            arena.HookResult(
                run_id=RUN, phase="after", query="q", evidence_refs=(), status="SKIPPED_DEGRADED", why="gone"
            ),
            FINALIZER,
            f"Finalizer asks the notebook after the loop of {RUN}: skipped degraded, gone",
        ),
        (
            arena.ArenaDraft(run_id=RUN, round_index=1, text="First,\nmeasure."),
            PLANNER,
            f"Planner drafts round 1 of {RUN}: First, measure.",
        ),
        (
            review("Well.\n1. one\n2. two\n- three\nVERDICT: REVISE"),
            REVIEWER,
            f"Reviewer asks for a revision of round 2 of {RUN}: 3 items",
        ),
        (
            review("verdict: revise\n"),
            REVIEWER,
            f"Reviewer asks for a revision of round 2 of {RUN}: no item named",
        ),
        (
            review("- it is good\nVERDICT: APPROVED"),
            REVIEWER,
            f"Reviewer approves round 2 of {RUN}: nothing left open",
        ),
        (review("- fine"), REVIEWER, f"Reviewer reviews round 2 of {RUN}: no verdict line"),
        (
            arena.RunFault(run_id=RUN, fault="SAFETY_VIOLATION", tool="write_file", detail="path ./x"),
            REVIEWER,
            f"Reviewer stops work on {RUN}: safety violation with write_file, path ./x",
        ),
        (
            arena.FinalOutput(run_id=RUN, text="Done."),
            FINALIZER,
            f"Finalizer gives the final output of {RUN}: Done.",
        ),
        (
            arena.RunTerminated(
                run_id=RUN, state="TERMINATED_APPROVED", reason="APPROVED: approved in round 1", rounds=1
            ),
            ORCHESTRATOR,
            f"Orchestrator ends {RUN} after 1 round: APPROVED: approved in round 1",
        ),
    ],
)
def test_the_arena_reads_as_sentences(body, author, reads):
    assert sentence(said(body, author)) == labelled(reads, body)
    raw = json.loads(body.model_dump_json(by_alias=True))
    assert predicate(loose(raw)) == reads.partition(" ")[2], "as a guest reads it"


SITS = "panel_20260223_1000"


ASKED = "motion_20260223_1000"
OBJECTED = (
    motion.Objection(number=2, text="Shops must stay open.", severity="fatal"),
    motion.Objection(number=3, text="Nobody tried it.", severity="minor"),
)


@pytest.mark.parametrize(
    ("body", "author", "reads"),
    [
        (
            motion.Motion(motion_id=ASKED, question="Where do we meet?", options=("Rome", "Oslo")),
            ADMIN,
            f"Admin asks {ASKED}: Where do we meet? (Rome; Oslo)",
        ),
        (motion.Motion(motion_id=ASKED, question="Shall we?"), ADMIN, f"Admin asks {ASKED}: Shall we?"),
        (
            motion.Claim(
                motion_id=ASKED, option="Rome", claim="It is warm.", grounds=(motion.Ground(text="The sun."),)
            ),
            ADVOCATE,
            f"Advocate claims on {ASKED}: Rome. It is warm. Grounds: The sun.",
        ),
        (
            motion.Objections(motion_id=ASKED, round=2, objections=OBJECTED, confidence=0.7),
            CRITIC,
            f"Critic raises 2 objections in round 2 of {ASKED}, confidence 0.70: 2 fatal Shops must stay open. "
            "3 minor Nobody tried it.",
        ),
        (
            motion.Objections(motion_id=ASKED, round=1, objections=(), confidence=0.7),
            CRITIC,
            f"Critic raises no objections in round 1 of {ASKED}, confidence 0.70",
        ),
        (
            motion.Replies(
                motion_id=ASKED, round=2,
                replies=(motion.Reply(number=2, answer="They take turns."), motion.Reply(number=3, concede=True)),
            ),
            ADVOCATE,
            f"Advocate replies to 2 objections in round 2 of {ASKED}: 2 They take turns. 3 conceded",
        ),
        (
            motion.Judgment(
                motion_id=ASKED, outcome="UNDECIDED", confidence=0.5, for_score=0.6, against_score=0.55,
                standing=(3,), reasoning="It cannot be told.",
            ),
            JUDGE,
            f"Judge judges {ASKED} undecided, confidence 0.50, for 0.60, against 0.55, standing 3: "
            "It cannot be told.",
        ),
    ],
)  # fmt: skip
def test_motions_read_as_sentences(body, author, reads):
    assert sentence(said(body, author)) == labelled(reads, body)


def linted(**over):
    fields = {"role": "eic", "phase": 1, "attempt": 1, "is_passed": True, "findings": (), "tag": "", **over}
    return panel.Lint(panel_id=SITS, **fields)


def decided(**over):
    fields = {
        "decision": "editorial_decision=major_revision", "fired_conditions": ("F2",), "matrix": {}, "arithmetic": (),
        "tags": ("[CONTRACT-ACKNOWLEDGED]",), "baseline_sha256": "0" * 64, **over,
    }  # fmt: skip
    return panel.PanelDecided(panel_id=SITS, **fields)


@pytest.mark.parametrize(
    ("body", "author", "reads"),
    [
        (
            panel.PanelOpened(
                panel_id=SITS, contract=as_json(FULL), title="On widgets", field="widgetry", word_count=1234,
                content_ref="paper/1",
            ),
            ADMIN,
            f"Admin puts On widgets (widgetry, 1234 words) before {SITS} under reviewer/reviewer_full/v1",
        ),
        (
            panel.Phase1(panel_id=SITS, text=phase1()),
            EIC,
            f"EIC commits itself in {SITS} before it sees the work: plans for 5 dimensions",
        ),
        (
            panel.Phase2(panel_id=SITS, text=report("da", {"D1": "block", "D4": "warn"})),
            DA,
            f"DA reviews the work in {SITS}: reject or major revision (1 block, 1 warn, 3 pass)",
        ),
        (
            panel.Phase2(panel_id=SITS, text="editorial_decision=accept\neditorial_decision=reject"),
            DOMAIN,
            f"Domain reviews the work in {SITS}: several decisions",
        ),
        (panel.Phase2(panel_id=SITS, text="Nice."), DOMAIN, f"Domain reviews the work in {SITS}: no decision"),
        (
            panel.Synthesis(panel_id=SITS, text=synthesis()),
            SYNTHESIZER,
            f"Synthesizer concludes {SITS}: accept",
        ),
        (linted(), ORCHESTRATOR, f"Orchestrator passes phase 1 of the EIC in {SITS}"),
        (
            linted(role="methodology", phase=2, is_passed=False, findings=("line 3: D9 is not the contract's",),
                   tag="[PROTOCOL-VIOLATION: x]"),
            ORCHESTRATOR,
            f"Orchestrator faults phase 2 of the Methodology in {SITS}: line 3: D9 is not the contract's "
            "[PROTOCOL-VIOLATION: x]",
        ),
        (decided(), ORCHESTRATOR, f"Orchestrator decides {SITS}: major revision, by F2"),
        (
            decided(
                decision="editorial_decision=accept", fired_conditions=(),
                tags=("[CONTRACT-ACKNOWLEDGED]", "[NO-CONDITION-FIRED]"),
            ),
            ORCHESTRATOR,
            f"Orchestrator decides {SITS}: accept [NO-CONDITION-FIRED]",
        ),
        (
            panel.PanelAborted(
                panel_id=SITS, tag="[PANEL-SHRUNK: usable=4, panel_size=5]", why="4 of 5 reviewers are usable", tags=()
            ),
            ORCHESTRATOR,
            f"Orchestrator ends {SITS} without a decision [PANEL-SHRUNK: usable=4, panel_size=5]: "
            "4 of 5 reviewers are usable",
        ),
    ],
)  # fmt: skip
def test_panels_read_as_sentences(body, author, reads):
    assert sentence(said(body, author)) == labelled(reads, body)
    raw = json.loads(body.model_dump_json(by_alias=True))
    assert predicate(loose(raw)) == reads.partition(" ")[2], "as a guest reads it"


def test_a_report_of_four_million_characters_reads_in_one_short_sentence():
    text = report("eic", {"D1": "block"}, body="word " * 790_000)
    assert predicate(said(panel.Phase2(panel_id=SITS, text=text), EIC)) == (
        f"reviews the work in {SITS}: reject or major revision"
    )


def test_quoted_decisions_and_scores_are_not_read():
    text = "```\neditorial_decision=accept\nscore: pass\n```\neditorial_decision=reject\n"
    assert predicate(said(panel.Phase2(panel_id=SITS, text=text), EIC)).endswith(": reject")


@pytest.mark.parametrize("end", ["VERDICT: REVISE", "VERDICT: APPROVED", "x VERDICT: APPROVED", "no verdict"])
@pytest.mark.parametrize("early", ["VERDICT: REVISE\n", "\n", "VERDICT: APPROVED\r"])
@pytest.mark.parametrize("line", ["y" * 79 + "\n", "\n", "y", "VERDICT:\n"])
def test_7_3_a_very_long_review_reads_by_its_last_verdict_line(early, line, end):
    text = early + line * (3 * reviews.TAIL // len(line)) + end
    assert reviews.verdict_of(text) == parse_verdict(text).verdict


def test_a_review_of_sixteen_million_characters_reads_in_one_short_sentence():
    text = "- item\n" + "x" * 80 + "\n"
    text = text * (arena.MAX_OUTPUT // len(text) - 1) + "VERDICT: REVISE"
    envelope = said(review(text), REVIEWER)
    assert predicate(envelope) == f"asks for a revision of round 2 of {RUN}: {MOST_ITEMS} items or more"
    shown = card(envelope)
    assert all(len(field.value) <= 1_000 for field in shown.fields)


def test_every_message_type_has_a_template_and_no_template_is_left_over():
    assert set(rulebook().wording) == set(MODELS)


@pytest.mark.parametrize("kind", sorted(rulebook().wording))
def test_templates_name_fields_that_the_messages_have(kind):
    for slot in compile_template(rulebook().wording[kind]).slots():
        model = MODELS[kind]
        for name in slot.path:
            if not (isinstance(model, type) and issubclass(model, BaseModel)):
                break
            fields = {field.serialization_alias or key: field for key, field in model.model_fields.items()}
            assert name in fields, (kind, slot.path)
            model = next(
                (a for a in (fields[name].annotation, *get_args(fields[name].annotation)) if a is not None),
                None,
            )


def test_an_escalation_carries_its_buttons():
    body = escalation.Escalation(
        escalation_id="esc_1", level="URGENT", system="A", trigger="3 timeouts", context="critic",
        suggested_actions=("restart",), trigger_code="timeouts", evidence_seqs=(1, 2),
        options=(
            escalation.Option(n=1, label="go on conservatively", effect="conservative"),
            escalation.Option(n=2, label="carry on", effect="none"),
        ),
    )  # fmt: skip
    laid_out = card(said(body, REFEREE, case_id="esc_1"))
    assert laid_out.title == "Escalation · esc_1"
    assert laid_out.buttons == (
        Button("Acknowledge", "ack", {"escalation_id": "esc_1"}),
        Button("1: go on conservatively", "answer", {"escalation_id": "esc_1", "option": 1, "text": None}),
        Button("2: carry on", "answer", {"escalation_id": "esc_1", "option": 2, "text": None}),
    )
    assert laid_out.sentence.startswith(
        "Referee escalates esc_1, urgent: 3 timeouts (critic); options: go on"
    )
    shown = {field.name for field in laid_out.fields}
    assert "auto resolution timeout" in shown
    assert not shown & {"escalation id", "options", "level", "trigger"}, "the sentence says so already"


def test_a_type_from_the_future_reads_as_its_name_and_fields():
    body = {"type": "BRAND_NEW", "mood": "calm", "score": 0.5, "parts": [1, 2, 3, 4, 5]}
    assert sentence(loose(body)) == "Critic says BRAND_NEW: mood calm, parts 1; 2; 3; and 2 more, score 0.50"
    assert card(loose(body)).buttons == ()


def test_an_unknown_seat_still_speaks():
    line = said(people.Note(text="hi")).line.replace('"author":"critic"', '"author":"oracle"')
    assert sentence(open_line(line)) == "Oracle notes: hi"
    assert colour(open_line(line).author) == "default"


def test_a_guest_reads_the_same_sentence_and_line_from_the_socket_as_the_host_wrote():
    log = SmallLog()
    for body in (bodies.assessment(), bodies.hypothesis("c"), people.Note(text='with ,"hash":"00" in it')):
        envelope = log.append(body)
        read = open_line(envelope.line)
        assert (sentence(read), card(read)) == (sentence(envelope), card(envelope))
        assert (read.line, read.json) == (envelope.line, envelope.json)
        assert seq_of(envelope.line) == envelope.seq


def test_text_from_people_cannot_move_the_cursor_or_hide_words():
    text = sentence(said(people.Note(text="a\x1b[2Jb\u202ec\u2028d\x07\x9be")))
    assert text == "Critic notes: a�[2Jb�c d��e"


def test_long_text_is_cut():
    body = people.Note(text="word " * 4_000)
    assert len(predicate(said(body))) <= MOST_SENTENCE
    assert clean("x" * 1_000, 10) == "x" * 9 + "…"


def test_a_text_is_cut_behind_a_word_so_that_no_id_is_cut():
    assert clean("it went to hyp_20260223_1030, and failed", 25) == "it went to…"
    assert clean("it was over. And then it went on", 16) == "it was over…"
    assert clean("two words", 9) == "two words"


def test_codes_in_an_officers_text_are_said_in_words_and_ids_stay():
    said = "strat_20260223_1030. Guardian: elevated, Trader: needs_adjustment (alert_20260223_1031/x_y)"
    assert spoken(said) == said.replace("needs_adjustment", "needs adjustment")


@pytest.mark.parametrize(
    ("logged", "shown"),
    [
        (
            "guardian owed DEPLOY_REVIEW and was silent; void",
            "Guardian owed a deploy review and was silent; ruled void",
        ),
        (
            "explorer owed REBUTTAL or CONCEDE and was silent; REJECT",
            "Explorer owed a rebuttal or a concession and was silent; ruled reject",
        ),
        (
            "TIMEOUT: the Planner owed DRAFT and was silent",
            "TIMEOUT: the Planner owed a draft and was silent",
        ),
        (
            "guardian owed RESUME_CONFIRMED and was silent; operator: too much at once",
            "Guardian owed a confirmation and was silent; Operator: too much at once",
        ),
        ("3 consecutive timeouts from critic", "3 consecutive timeouts from Critic"),
        ("3 consecutive timeouts from eic", "3 consecutive timeouts from EIC"),
        (
            "the log says {'order_type': 'limit', 'position_limit': 0.02}, "
            "the message {'order_type': 'limit', 'position_limit': 0.0201}",
            "the log says position limit 0.0200, the message position limit 0.0201",
        ),
        ("the log says None, the message ('SP500', 'DAX')", "the log says none, the message SP500; DAX"),
        ("the log says hyp_1, the message hyp_2", "the log says hyp_1, the message hyp_2"),
        ("the log says {'a': 1, the message {'a'", "the log says {'a': 1, the message {'a'"),
        ("port: it is taken", "port: it is taken"),
    ],
)
def test_what_a_table_wrote_for_the_log_is_worded_where_it_is_shown(logged, shown):
    assert derived(logged) == shown


def test_a_silence_reads_as_people_say_it_and_the_log_keeps_its_text():
    silence = said(
        officers.Audit(
            event="timeout",
            seat="guardian",
            channel="#b-ops",
            bytes=None,
            truncated=False,
            reason="guardian owed DEPLOY_REVIEW and was silent; void",
        ),
        REFEREE,
        OFFICER,
    )
    assert "Guardian owed a deploy review and was silent; ruled void" in sentence(silence)
    assert "guardian owed DEPLOY_REVIEW" not in str(card(silence))
    assert "guardian owed DEPLOY_REVIEW and was silent; void" in silence.line


def test_what_people_hyphenate_is_hyphenated_and_a_run_ended_in_a_word():
    assert (words("multi_factor"), words("mean_reversion")) == ("multi-factor", "mean reversion")
    assert spoken("tried multi_factor") == "tried multi-factor"
    assert (ended("TERMINATED_APPROVED"), ended("TERMINATED_MAX_ROUNDS")) == ("approved", "max rounds")
    assert wording.decided("editorial_decision=major_revision") == "major revision"
    assert panels.planned("I shall be fair.") == "no plan"
    assert (ended("REJECT"), ended("expired")) == ("reject", "nobody answered, closed")


def test_a_figure_is_told_apart_from_the_limit_that_it_misses():
    assert beside(0.5961, 0.6) == ("0.596", "0.600")
    assert beside(0.6, 0.6) == ("0.60", "0.60")
    assert beside(0.7, 0.6) == ("0.70", "0.60")


def test_every_seat_has_a_colour():
    assert all(info.colour in HEX for info in rulebook().seats.values())


def test_templates_are_refused_when_they_are_broken():
    for text in ("a [b", "a ]b", "{x|shout}"):
        with pytest.raises(ValueError):
            compile_template(text)


names = st.sampled_from(
    sorted(
        {name for model in MODELS.values() for name in model.model_fields} | {"n", "label", "sharpe", "", "é"}
    )
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300)
@given(
    st.sampled_from([*sorted(rulebook().wording), "UNKNOWN", ""]), st.dictionaries(names, values, max_size=8)
)
def test_any_body_gives_one_clean_line(kind, data):
    envelope = loose({**data, "type": kind})
    text, laid_out = sentence(envelope), card(envelope)
    assert text.startswith("Critic ")
    assert len(text) <= MOST_SENTENCE + 100
    assert isinstance(laid_out, Card)
    assert len(laid_out.fields) <= MOST_FIELDS
    for part in (text, laid_out.title, *(f"{field.name}{field.value}" for field in laid_out.fields)):
        part.encode()
        assert not [c for c in part if ord(c) < 32 or ord(c) == 127]


def test_deep_and_wide_bodies_are_cut_short():
    deep: object = 1
    for _ in range(500):
        deep = {"a": [deep]}
    assert sentence(loose({"type": "X", "deep": deep, "wide": list(range(100_000))}))
