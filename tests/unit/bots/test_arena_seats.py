"""The shells of the Arena's seats: sessions, tools, hooks; what a writer does cannot get around them (8, 9.5, R-A7)."""

from contextlib import suppress

import pytest

from moot.bots.minds.scripted_arena import ScriptedWriter
from moot.bots.notebook.answers import Passage
from moot.bots.notebook.errors import (
    AccessError,
    NoSuchTool,
    NotebookGarbage,
    NotebookTimeout,
    NotebookUnavailable,
    StudioUnavailable,
    WriteBlocked,
)
from moot.bots.seats.arena import ArenaMind
from moot.bots.seats.hooks import LONGEST_TOLD
from moot.bots.seats.sessions import KEPT, LostSessions, ReviewerSession, SessionMissing, SessionStore
from moot.bots.seats.toolset import toolbox_of
from moot.bots.seats.weighing import MOST_CLAIMS, is_beyond
from moot.protocols.arena import messages as m
from moot.protocols.arena.seats import ARENA
from moot.protocols.arena.seats import FINALIZER as FINALIZER_SEAT
from moot.protocols.arena.seats import PLANNER as PLANNER_SEAT
from moot.protocols.arena.seats import REVIEWER as REVIEWER_SEAT
from moot.protocols.arena.states import State
from tests.doubles.arena_minds import Notes, SayingWriter, stage
from tests.doubles.arena_table import NOTEBOOK
from tests.doubles.copying import replace
from tests.doubles.views import run

PLANNER, REVIEWER, FINALIZER = PLANNER_SEAT, REVIEWER_SEAT, FINALIZER_SEAT
OPTIONAL = {"notebook": NOTEBOOK}
REQUIRED = {"notebook": NOTEBOOK, "notebook_required": True}


def reviews(*texts):
    """Review with one text after another."""
    return {REVIEWER: ScriptedWriter(texts, SayingWriter())}


def reason(table):
    return table.record()["terminal_reason"]


def test_a_run_with_minds_comes_to_its_end():
    table = stage(notes=Notes("a passage"), **OPTIONAL).play()
    assert table.outcome == State.TERMINATED_APPROVED
    assert [hook["status"] for hook in table.record()["hooks"]] == ["SUCCESS"] * 3


# ------------------------------------------------------------------ sessions


def test_t09_a_resumed_session_holds_its_reviews_and_what_is_unresolved():
    writer = SayingWriter(
        lambda work: (
            "- no goal\n- no owner\nVERDICT: REVISE" if not work.session.reviews else "VERDICT: APPROVED"
        )
    )
    table = stage({REVIEWER: writer}).play()
    first, second = [work.session for work in writer.works]
    assert first == ReviewerSession("s1")
    assert second.session_id == "s1"
    assert second.reviews == ("- no goal\n- no owner\nVERDICT: REVISE",)
    assert second.unresolved == (("r1-1", "no goal"), ("r1-2", "no owner"))
    assert table.outcome == State.TERMINATED_APPROVED


def test_a_retry_goes_on_in_the_same_session():
    writer = SayingWriter(lambda work: "VERDICT: APPROVED" if work.session.reviews else "forgot it")
    stage({REVIEWER: writer}).play()
    assert [work.session.reviews for work in writer.works] == [(), ("forgot it",)]


def test_9_5_a_new_process_rebuilds_the_session_from_the_log():
    table = stage(reviews("- a\nVERDICT: REVISE", "none", "- b\nVERDICT: REVISE", "VERDICT: APPROVED"))
    writer = SayingWriter(lambda work: "VERDICT: APPROVED")
    for _ in range(6):
        table.answer()
    assert table.state.owed[0].id.endswith("/review-3-1/reviewer")
    table.minds[REVIEWER] = ArenaMind(writer, lambda _view: None, SessionStore())
    table.answer()
    (work,) = writer.works
    assert work.session.reviews == ("- a\nVERDICT: REVISE", "none", "- b\nVERDICT: REVISE")
    assert work.session.unresolved == (("r2-1", "b"),)
    assert table.play().outcome == State.TERMINATED_APPROVED


def test_9_5_a_refused_review_does_not_lose_the_session():
    table = stage(reviews("- a\nVERDICT: REVISE", "VERDICT: APPROVED")).to("REVIEW")
    table.review("VERDICT: APPROVED", round_index=4)
    table.minds[REVIEWER] = ArenaMind(
        reviews("- a\nVERDICT: REVISE")[REVIEWER], lambda _view: None, SessionStore()
    )
    assert isinstance(table.answer(), m.Review)
    table.answer()
    table.minds[REVIEWER] = ArenaMind(SayingWriter(), lambda _view: None, SessionStore())
    assert table.play().outcome == State.TERMINATED_APPROVED


def test_9_5_a_lost_session_is_told_and_nothing_is_reviewed():
    writer = SayingWriter()
    table = stage({REVIEWER: writer}, sessions=LostSessions()).play()
    assert writer.works == []
    assert reason(table).startswith("SESSION_RESUME_MISSING: ")
    assert table.record()["parser"] == []


def test_9_5_a_session_that_is_lost_in_round_two_ends_the_run_there():
    table = stage(reviews("VERDICT: REVISE")).to("REVIEW")
    table.answer()
    table.minds[REVIEWER] = ArenaMind(SayingWriter(), lambda _view: None, LostSessions())
    table.play()
    assert reason(table).startswith("SESSION_RESUME_MISSING: ")
    assert len(table.record()["rounds"]) == 1


def test_sessions_of_two_runs_with_one_session_id_are_two():
    writer = SayingWriter(lambda work: "VERDICT: APPROVED")
    sessions = SessionStore()
    stage({REVIEWER: writer}, sessions=sessions).play()
    stage({REVIEWER: writer}, sessions=sessions, task_id="t2").play()
    assert [work.session.reviews for work in writer.works] == [(), ()]


def test_a_store_forgets_the_oldest_and_says_what_it_lacks():
    store = SessionStore()
    for n in range(KEPT + 1):
        store.open(f"ref{n}", ReviewerSession(str(n)))
    assert store.resume(f"ref{KEPT}").session_id == str(KEPT)
    with pytest.raises(SessionMissing, match="nothing is kept under ref0"):
        store.resume("ref0")
    with pytest.raises(SessionMissing, match="no reference"):
        store.resume("")


# ------------------------------------------------------------------ tools


@pytest.mark.parametrize("seat", sorted(ARENA))
def test_only_the_finalizer_may_write(seat):
    notes = Notes("x")
    box = toolbox_of(seat, notes)
    reads = ("notebook_describe", "notebook_query")
    assert box.names == (*reads, "studio_create") if seat == FINALIZER else reads
    if seat == FINALIZER:
        assert run(box.call("studio_create", title="t", text="x")) == "report/t"
        return
    with pytest.raises(WriteBlocked):
        run(box.call("studio_create", title="t", text="x"))
    assert notes.reports == []


def test_a_seat_without_a_notebook_is_told_so():
    with pytest.raises(NotebookUnavailable, match="no notebook is configured"):
        run(toolbox_of(PLANNER, None).call("notebook_query", text="x", limit=1))


async def swallows(work):
    with suppress(AccessError):
        await work.toolbox.call("studio_create", title="t", text="x")
    return "VERDICT: APPROVED"


async def lets_it_through(work):
    await work.toolbox.call("studio_create", title="t", text="x")


async def raises_something_else(work):
    try:
        await work.toolbox.call("studio_create", title="t", text="x")
    except AccessError as error:
        raise RuntimeError("my own trouble") from error


@pytest.mark.rule("R-A7")
@pytest.mark.parametrize("seat", [PLANNER, REVIEWER])
@pytest.mark.parametrize("how", [swallows, lets_it_through, raises_something_else])
def test_r_a7_a_write_is_blocked_told_and_what_was_said_is_discarded(seat, how):
    notes = Notes("x")
    table = stage({seat: SayingWriter(how)}, notes=notes).play()
    record = table.record()
    assert notes.reports == []
    assert reason(table).startswith("SAFETY_VIOLATION: ")
    (event,) = [one["data"] for one in record["events"] if one["type"] == "SAFETY_VIOLATION"]
    assert (event["seat"], event["tool"]) == (seat, "studio_create")
    assert (record["parser"], record["rounds"], record["final_output"]) == ([], [], None)


async def calls_what_is_not_there(work):
    with suppress(NoSuchTool):
        await work.toolbox.call("rm_rf", path="/")
    return "VERDICT: APPROVED"


@pytest.mark.rule("R-A7")
@pytest.mark.parametrize("seat", sorted(ARENA))
def test_r_a7_the_reviewer_may_not_even_try_a_tool_that_is_not_there(seat):
    table = stage({seat: SayingWriter(calls_what_is_not_there)}).play()
    assert reason(table).startswith("SAFETY_VIOLATION: " if seat == REVIEWER else "APPROVED: ")


def test_reading_during_a_review_is_no_violation():
    async def reads(work):
        passages = await work.toolbox.call("notebook_query", text="x", limit=1)
        return f"{passages[0].ref}\nVERDICT: APPROVED"

    table = stage({REVIEWER: SayingWriter(reads)}, notes=Notes("x"), **OPTIONAL).play()
    assert table.outcome == State.TERMINATED_APPROVED


def test_the_finalizer_may_write_a_report():
    notes = Notes("x")

    async def reports(work):
        return await work.toolbox.call("studio_create", title="t", text="x")

    table = stage({FINALIZER: SayingWriter(reports)}, notes=notes).play()
    assert notes.reports == ["t"]
    assert table.record()["final_output"] == "report/t"


def test_a_mind_that_fails_on_its_own_fails_as_any_mind():
    def fails(_work):
        raise RuntimeError("out of words")

    with pytest.raises(RuntimeError, match="out of words"):
        stage({PLANNER: SayingWriter(fails)}).answer()


# ------------------------------------------------------------------ hooks


def test_8_1_the_planner_asks_what_the_notebook_is_and_for_the_context():
    notes = Notes("a", "b")
    table = stage(notes=notes, **OPTIONAL)
    body = table.answer()
    assert notes.asked == ["describe", "context of t1: Plan the widget."]
    assert (body.phase, body.query, body.evidence_refs) == ("before", notes.asked[1], ("n#1", "n#2"))


def test_8_2_8_3_reviewer_and_finalizer_ask_once_a_pass():
    notes = Notes("a")
    stage(reviews("none", "VERDICT: APPROVED"), notes=notes, **OPTIONAL).play()
    assert notes.asked == [
        "describe",
        "context of t1: Plan the widget.",
        "evidence on the claims of t1: Plan the widget.",
        "evidence on the claims of t1: Plan the widget.",
        "drift from t1: Plan the widget.",
    ]


class Library(Notes):
    """A notebook that gives for a question the passages about what it names."""

    def __init__(self, **passages):
        super().__init__()
        self.passages = passages

    async def query(self, text, limit=5):
        self.asked.append(text)
        return tuple(
            Passage(f"n#{key}", "n", said, 1.0) for key, said in self.passages.items() if key in text
        )


WORDS = [f"{a}{b}" for a in "abcdefghijklmnopqrstuvwxyz" for b in "klmnopqrstuvwxyz"]
QUERIES = {"notebook_id": "nb", "tools": ["notebook_query"]}


def claims(count):
    """Write a draft with so many claims, each about another component."""
    return "# Plan\n" + "".join(
        f"The component {word}ware stores records safely.\n" for word in WORDS[:count]
    )


@pytest.mark.parametrize("count", [4, 9, 40, MOST_CLAIMS])
def test_8_2_every_claim_of_a_draft_is_held_against_the_notebook_the_last_one_too(count):
    last = f"{WORDS[count - 1]}ware"
    library = Library(**{last: f"The component {last} never stores records safely."})
    table = stage({PLANNER: SayingWriter(lambda _work: claims(count))}, notes=library, notebook=QUERIES)
    table.to("REVIEW")
    (finding,) = table.state.findings
    assert (finding.claim, finding.stance) == (f"The component {last} stores records safely", "contradicts")
    assert finding.evidence_ref in table.state.consulted
    during = library.asked[1:]
    assert len(during) == count + 1
    assert table.record()["hooks"][-1]["query"].startswith("\n".join(during)[:9_000])


def test_8_2_the_claims_beyond_the_limit_are_not_asked_for():
    library = Library()
    table = stage(
        {PLANNER: SayingWriter(lambda _work: claims(MOST_CLAIMS + 7))}, notes=library, notebook=QUERIES
    ).to("REVIEW")
    assert len(library.asked[1:]) == MOST_CLAIMS + 1
    assert is_beyond(claims(MOST_CLAIMS + 7)) and not is_beyond(claims(MOST_CLAIMS))
    query = table.record()["hooks"][-1]["query"]
    assert query.endswith("\n(the draft claims more than the 200 claims that are asked for)")


def test_what_was_asked_is_kept_as_far_as_it_fits_and_the_rest_is_counted():
    long = claims(100).replace("safely", "safely " + "and " * 30)
    table = stage({PLANNER: SayingWriter(lambda _work: long)}, notes=Library(), notebook=QUERIES).to("REVIEW")
    *kept, last = table.record()["hooks"][-1]["query"].split("\n")
    assert sum(map(len, kept)) < LONGEST_TOLD and last == f"(and {101 - len(kept)} more)"


def test_8_2_only_what_bears_on_a_claim_is_evidence():
    library = Library(alware="Other things are known.", amware="The component amware stores records safely.")
    table = stage({PLANNER: SayingWriter(lambda _work: claims(3))}, notes=library, notebook=QUERIES).to(
        "REVIEW"
    )
    assert table.state.consulted == ("n#amware",)


def test_contradictions_are_told_before_support_where_there_is_too_much(monkeypatch):
    monkeypatch.setattr("moot.bots.seats.hooks.MOST_FINDINGS", 2)
    words = WORDS[:3]
    said = {f"{word}ware": f"The component {word}ware stores records safely." for word in words[:2]}
    said[f"{words[2]}ware"] = f"The component {words[2]}ware never stores records safely."
    table = stage({PLANNER: SayingWriter(lambda _work: claims(3))}, notes=Library(**said), notebook=QUERIES)
    table.to("REVIEW")
    assert [one.stance for one in table.state.findings] == ["contradicts", "supports"]


def test_9_4_a_notebook_that_fails_at_the_third_claim_has_failed():
    library = Library()
    asked = library.query

    async def query(text, limit=5):
        if "amware" in text:
            raise NotebookTimeout("too slow")
        return await asked(text, limit)

    library.query = query
    table = stage({PLANNER: SayingWriter(lambda _work: claims(5))}, notes=library, notebook=QUERIES).to(
        "REVIEW"
    )
    assert table.record()["hooks"][-1]["status"] == "SKIPPED_DEGRADED"
    assert table.state.consulted == ()


# ------------------------------------------------------------------ which notebook, and which of its tools (4.3)


def test_4_3_a_tool_that_the_context_does_not_list_is_not_called():
    notes = Notes("a")
    table = stage(notes=notes, notebook=QUERIES).play()
    assert "describe" not in notes.asked
    assert [hook["status"] for hook in table.record()["hooks"]] == ["SUCCESS"] * 3


async def describes(work):
    with suppress(NotebookUnavailable):
        await work.toolbox.call("notebook_describe")
        raise AssertionError("it was described")
    return "VERDICT: APPROVED"


async def reports_or_not(work):
    with suppress(StudioUnavailable):
        await work.toolbox.call("studio_create", title="t", text="x")
        raise AssertionError("it was written")
    return "The plan."


def test_4_3_a_mind_cannot_call_it_either_and_the_run_goes_on():
    notes = Notes("a")
    writers = {REVIEWER: SayingWriter(describes), FINALIZER: SayingWriter(reports_or_not)}
    table = stage(writers, notes=notes, notebook=QUERIES).play()
    assert table.outcome == State.TERMINATED_APPROVED
    assert "describe" not in notes.asked and notes.reports == []
    assert table.record()["final_output"] == "The plan."


def test_4_3_what_the_context_lists_is_called_and_a_listed_write_stays_the_finalizers():
    tools = ["notebook_query", "studio_create"]
    notes = Notes("a")

    async def reports(work):
        return await work.toolbox.call("studio_create", title="t", text="x")

    listed = {"notebook_id": "nb", "tools": tools}
    stage({FINALIZER: SayingWriter(reports)}, notes=notes, notebook=listed).play()
    assert notes.reports == ["t"]
    for context in (listed, QUERIES):
        table = stage({REVIEWER: SayingWriter(swallows)}, notes=Notes("a"), notebook=context).play()
        assert reason(table).startswith("SAFETY_VIOLATION: ")


@pytest.mark.rule("R-A10")
def test_r_a10_the_during_hook_weighs_the_claims_of_the_draft():
    claim = "The widget lowers latency in every region"
    drafts = {PLANNER: SayingWriter(lambda _work: f"# Plan\n{claim}.")}
    table = stage(drafts, notes=Notes(f"It is not true that {claim}."), **OPTIONAL).to("REVIEW")
    (finding,) = table.state.findings
    assert (finding.claim, finding.evidence_ref, finding.stance) == (claim, "n#1", "contradicts")


@pytest.mark.parametrize(
    "error",
    [
        NotebookTimeout("it did not answer within 20 s"),
        NotebookUnavailable("it died"),
        NotebookGarbage("no passages"),
    ],
)
@pytest.mark.parametrize("how", [OPTIONAL, REQUIRED])
def test_9_4_a_notebook_that_fails_is_told_of(error, how):
    table = stage(notes=Notes(error=error), **how)
    body = table.answer()
    assert (body.status, body.why) == ("FAILED" if how is REQUIRED else "SKIPPED_DEGRADED", str(error))
    assert body.query == "context of t1: Plan the widget."
    table.play()
    assert reason(table).startswith("NOTEBOOK_UNAVAILABLE: " if how is REQUIRED else "APPROVED: ")


def test_9_4_a_seat_without_a_notebook_degrades_or_fails():
    table = stage(**OPTIONAL).play()
    assert [one["status"] for one in table.record()["hooks"]] == ["SKIPPED_DEGRADED"] * 3
    assert reason(stage(**REQUIRED).play()).startswith("NOTEBOOK_UNAVAILABLE: ")


def test_a_notebook_that_knows_nothing_has_answered():
    table = stage(notes=Notes(), **REQUIRED).play()
    assert [(one["status"], one["evidence_refs"]) for one in table.record()["hooks"]] == [("SUCCESS", [])] * 3
    assert table.outcome == State.TERMINATED_APPROVED


@pytest.mark.parametrize("question", ["", " \n", "x" * 5000])
def test_a_writer_cannot_ask_nothing_or_too_much(question):
    writer = SayingWriter()
    writer.question = lambda work: question
    body = stage(writer, notes=Notes("a"), **OPTIONAL).answer()
    assert 0 < len(body.query) <= 1000
    assert body.query.strip()


# ------------------------------------------------------------------ what the seats are shown


@pytest.mark.rule("R-A9")
def test_r_a9_seats_work_with_drafts_as_they_are_kept():
    seen = []

    def looks(work):
        seen.append(work.last_draft())
        return "VERDICT: APPROVED"

    stage(
        {PLANNER: SayingWriter(lambda _w: "A plan.\nCPU usage: 93 %"), REVIEWER: SayingWriter(looks)}
    ).play()
    (draft,) = seen
    assert draft.startswith("A plan.\n")
    assert "93" not in draft


def test_scripts_say_one_text_after_another_and_repeat_the_last():
    table = stage(
        {
            PLANNER: ScriptedWriter(("one", "two"), SayingWriter()),
            REVIEWER: ScriptedWriter(("VERDICT: REVISE", "nothing", "VERDICT: REVISE"), SayingWriter()),
            FINALIZER: ScriptedWriter((), SayingWriter(lambda _work: "what the other says")),
        },
        config={"max_rounds": 3},
    ).play()
    texts = {name.split("/sha256")[0]: text for name, text in table.record()["artifacts"].items()}
    assert texts == {
        "round-1/draft": "one",
        "round-1/review-1": "VERDICT: REVISE",
        "round-2/draft": "two",
        "round-2/review-1": "nothing",
        "round-2/review-2": "VERDICT: REVISE",
        "round-3/draft": "two",
        "round-3/review-1": "VERDICT: REVISE",
        "final": "what the other says",
    }


def test_t11_a_script_may_want_the_reviewer_to_write():
    writer = ScriptedWriter(("VERDICT: APPROVED",), SayingWriter(), tries_to_write=True)
    assert reason(stage({REVIEWER: writer}).play()).startswith("SAFETY_VIOLATION: ")


def test_a_seat_is_shown_nothing_of_the_other_runs_of_its_parent():
    writer = SayingWriter()
    table = stage(writer).to("REVIEW")
    view = table.view()
    (draft,) = [env for env in view.transcript if env.body.type == "DRAFT"]
    body = m.ArenaDraft(text="the draft of another run")
    sibling = replace(draft, case_id="arena_20260223_0900", body=body)
    reply = run(table.minds[REVIEWER].answer(view._replace(transcript=(*view.transcript, sibling))))

    assert isinstance(reply.body, m.Review)
    assert writer.works[-1].last_draft() == draft.body.text
