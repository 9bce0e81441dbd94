"""Phase 1 is blind through a real host: no view holds a 12-word run of the paper, whatever is logged (K12, R-P7)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from moot.bots.minds.mind import View
from moot.bots.seats.panel_prompts import prompt_for
from moot.channels.errors import Refused
from moot.protocols.kernel.envelope import BOT, Actor, Draft
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation, Visibility
from moot.protocols.kernel.people import Note, Override
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.panel.contract import as_json
from moot.protocols.panel.messages import PanelOpened, Phase1, Phase2
from moot.protocols.panel.seats import DA, DOMAIN, EIC, METHODOLOGY, PANEL, PERSPECTIVE, SYNTHESIZER
from moot.protocols.research.seats import EVOLVER
from tests.doubles.copying import replace
from tests.doubles.memory_log import record
from tests.doubles.panel_samples import BODY, FULL, phase1, report
from tests.doubles.stage import Stage, play

RUN = 12
REF = "paper/0123456789abcdef"
SUBJECTS = (
    "widgets",
    "gears",
    "levers",
    "springs",
    "pulleys",
    "valves",
    "ratchets",
    "cams",
    "pistons",
    "flanges",
)
FINDINGS = ("wear", "bend", "crack", "rust", "slip", "jam", "break", "hum", "glow", "warp", "leak")
PAPER = " ".join(
    f"In trial {n} our {subject} begin to {finding} after {n * 17} hours of steady load in the cold chamber."
    for n, (subject, finding) in enumerate(
        ((subject, finding) for subject in SUBJECTS for finding in FINDINGS), start=1
    )
)
TITLE = " ".join(PAPER.split()[:16])
"""The paper begins with its title, so that there is a run which must be exempt."""
QUOTE = " ".join(PAPER.split()[200:260])
QUOTING = f"{BODY} It says: {QUOTE}"
TWO_DISSENTS = "### D1: too strict\n### D2: too strict as well"
NO_PLAN = phase1(FULL).replace("## Scoring Plan", "## Plan")

ANN = Actor("human", "test", "ann")
REVIEWERS = (EIC, METHODOLOGY, DOMAIN, PERSPECTIVE, DA)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def runs(text: str) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[n : n + RUN]) for n in range(len(found) - RUN + 1)}


EXEMPT = runs(TITLE) | runs("widgetry") | runs(str(as_json(FULL)))
"""R-P7: what title, field and contract say themselves."""
SECRET = runs(PAPER) - EXEMPT


def everything(view: View) -> dict[str, str]:
    """Write out all that a mind is shown, and what a model would be asked, by part."""
    memory = view.memory
    remembered = (
        memory.experiences(),
        memory.principles(),
        memory.architecture(),
        memory.strategies(),
        memory.metrics(),
    )
    prompt = prompt_for(view)
    return {
        "obligation": repr(view.obligation),
        "refused": view.refused,
        "transcript": repr(view.transcript),
        "notes": repr(view.notes),
        "brief": repr(view.brief),
        "memory": repr(remembered),
        "config": repr(view.config),
        "content": view.content,
        "prompt": f"{prompt.system}\n{prompt.user}",
    }


def leaks(view: View) -> set[str]:
    """Name the parts of a view that hold a run of the paper."""
    return {part for part, text in everything(view).items() if runs(text) & SECRET}


class Sitting:
    """A panel of five about the paper, on a stage whose host gives it out; everything around it quotes it."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.panel_id = ""
        self.keys = 0
        self.seen: list[View] = []
        """Every Phase 1 view that was looked at."""

    async def post(
        self, seat: Seat, body: Message, channel: str = "#r-panel", *, of_panel: bool = True
    ) -> None:
        """Post something that answers nothing, in the panel's case or beside it."""
        self.keys += 1
        case_id = self.panel_id or None if of_panel else None
        actor = ANN if seat == ADMIN else BOT
        key = f"said-{self.keys}"
        draft = Draft(channel=channel, author=seat, body=body, actor=actor, case_id=case_id, key=key)
        await self.stage.post(draft)
        await self.stage.wait(seconds=1)

    def owed(self, seat: Seat) -> Obligation:
        found = [o for o in self.stage.host.docket.owed_by(seat) if o.case_id == self.panel_id]
        assert len(found) == 1
        return found[0]

    async def view(self, seat: Seat, sight: Visibility | None = None) -> View:
        """Return what a seat is shown now; another `sight` stands in for what its obligation says."""
        owed, is_open = self.owed(seat), self.stage.host.docket.open
        if sight is not None:
            is_open[owed.id] = replace(owed, may_see=sight)
        view = await self.stage.host.view(seat, owed)
        is_open[owed.id] = owed
        assert view is not None
        return view

    async def answer(self, seat: Seat, body: Message) -> None:
        view = await self.view(seat)
        assert body.type in view.obligation.expects
        draft = self.stage.host.answer_draft(view, body)
        assert draft is not None
        await self.stage.post(draft)
        await self.stage.wait(seconds=1)

    async def look(self, *seats: Seat) -> None:
        """Look through the eyes of reviewers that owe Phase 1, and find nothing."""
        for seat in seats:
            view = await self.view(seat)
            assert view.obligation.expects == ("PHASE1",)
            assert leaks(view) == set(), (view.obligation.id, leaks(view))
            self.seen.append(view)

    async def open(self) -> None:
        self.stage.host.contents = {REF: PAPER}.__getitem__
        await self.post(EVOLVER, record("ref_001", summary=PAPER[:1900]), "#a-report")
        await self.post(ADMIN, Note(text=PAPER))
        opened = PanelOpened(
            contract=as_json(FULL),
            title=TITLE,
            field="widgetry",
            word_count=len(PAPER.split()),
            content_ref=REF,
        )
        await self.post(ADMIN, opened)
        first = next(env for env in self.stage.log if env.body.type == "PANEL_OPENED")
        assert first.case_id is not None
        self.panel_id = first.case_id
        await self.post(ADMIN, Note(text=PAPER, about_case_id=self.panel_id))
        await self.post(ADMIN, Override(case_id=self.panel_id, verdict="APPROVE", why=PAPER))
        again = PanelOpened(
            panel_id=self.panel_id,
            contract={},
            title=PAPER[:480],
            field=PAPER[:480],
            word_count=1,
            content_ref=QUOTE[:200],
        )
        with pytest.raises(Refused, match="ids like panel_… are counted"):
            await self.post(ADMIN, again)

    async def restart(self, seat: Seat) -> None:
        """Let a reviewer quote the paper in a Phase 2 that sets two dimensions aside."""
        await self.answer(seat, Phase1(text=phase1(FULL)))
        text = report(seat, dissent=f"{TWO_DISSENTS}\n\n{QUOTE}", body=QUOTING)
        await self.answer(seat, Phase2(text=text))


def sit(script: Callable[[Sitting], Awaitable[None]]) -> None:
    async def on(stage: Stage) -> None:
        sitting = Sitting(stage)
        await sitting.open()
        await script(sitting)

    play({}, on, config={"schedules": {}, "panel": {"use": "off"}})


def test_the_quotes_are_runs_of_the_paper_and_the_title_is_exempt() -> None:
    assert len(SECRET) > 1000
    assert runs(QUOTE) <= SECRET
    assert runs(TITLE) <= EXEMPT
    assert runs(TITLE) <= runs(PAPER)


@pytest.mark.rule("R-P7")
def test_r_p7_no_phase_1_view_holds_twelve_words_of_the_paper() -> None:
    async def script(sitting: Sitting) -> None:
        await sitting.look(*REVIEWERS)
        await sitting.answer(METHODOLOGY, Phase1(text=phase1(FULL)))
        await sitting.answer(METHODOLOGY, Phase2(text=report("methodology", body=QUOTING)))
        await sitting.look(EIC, DOMAIN, PERSPECTIVE, DA)
        await sitting.answer(EIC, Phase1(text=NO_PLAN))
        await sitting.look(EIC)
        await sitting.restart(DOMAIN)
        await sitting.look(EIC, DOMAIN)
        await sitting.answer(DOMAIN, Phase1(text=f"{phase1(FULL)}\n{QUOTE}"))
        await sitting.post(DA, Phase2(text=report("da", body=QUOTING)))
        await sitting.look(EIC, PERSPECTIVE, DA)
        await sitting.stage.wait(minutes=31)
        await sitting.look(PERSPECTIVE, DA)
        assert "TIMEOUT_PING" in {env.body.type for env in sitting.stage.log}
        steps = {view.obligation.step for view in sitting.seen}
        assert steps == {"phase1-1-1", "phase1-1-2", "phase1-2-1"}
        assert len(sitting.seen) == 5 + 4 + 1 + 2 + 3 + 2

    sit(script)


@pytest.mark.rule("K12")
def test_k12_a_reviewer_whose_wrong_answer_was_refused_is_still_blind() -> None:
    async def script(sitting: Sitting) -> None:
        view = await sitting.view(DA)
        wrong = sitting.stage.host.answer_draft(view, Phase2(text=report("da", body=QUOTING)))
        assert wrong is not None
        await sitting.stage.post(wrong)
        await sitting.stage.wait(seconds=1)
        refused = await sitting.view(DA)
        assert (refused.attempt, bool(refused.refused)) == (1, True)
        await sitting.look(DA)

    sit(script)


def test_a_reviewer_sees_the_paper_once_its_own_phase_1_has_passed_and_no_other_does() -> None:
    async def script(sitting: Sitting) -> None:
        await sitting.answer(EIC, Phase1(text=NO_PLAN))
        assert (await sitting.view(EIC)).content == ""
        await sitting.answer(EIC, Phase1(text=phase1(FULL)))
        view = await sitting.view(EIC)
        assert view.obligation.expects == ("PHASE2",)
        assert view.content == PAPER
        assert leaks(view) == {"content", "prompt"}
        await sitting.look(*REVIEWERS[1:])

    sit(script)


def test_in_phase_2_a_reviewer_is_shown_no_other_reviewer_and_no_person() -> None:
    async def script(sitting: Sitting) -> None:
        await sitting.answer(METHODOLOGY, Phase1(text=phase1(FULL)))
        await sitting.answer(METHODOLOGY, Phase2(text=report("methodology", body=QUOTING)))
        await sitting.answer(EIC, Phase1(text=NO_PLAN))
        await sitting.answer(EIC, Phase1(text=phase1(FULL)))
        view = await sitting.view(EIC)
        assert view.transcript == ()
        assert view.brief["phase1_output"] == phase1(FULL)
        assert view.notes == ()
        assert view.memory.experiences() == ()

    sit(script)


def test_the_synthesizer_is_shown_reports_and_scores_and_neither_paper_nor_people() -> None:
    async def script(sitting: Sitting) -> None:
        for seat in REVIEWERS:
            await sitting.answer(seat, Phase1(text=phase1(FULL)))
            await sitting.answer(seat, Phase2(text=report(seat)))
        view = await sitting.view(SYNTHESIZER)
        assert leaks(view) == set()
        assert [env.body.type for env in view.transcript] == ["PHASE2"] * 5
        assert set(view.brief["scores"]) == set(REVIEWERS)

    sit(script)


WEAKENED: dict[str, Callable[[Visibility], Visibility]] = {
    "transcript": lambda sight: replace(sight, shown_types=None),
    "notes": lambda sight: replace(sight, shown_types=frozenset({"NOTE"})),
    "memory": lambda sight: replace(sight, has_memory=True),
    "content": lambda sight: replace(sight, content_ref=REF),
}


@pytest.mark.parametrize("part", WEAKENED)
def test_without_one_of_the_protections_the_paper_is_found_in_the_view(part: str) -> None:
    async def script(sitting: Sitting) -> None:
        await sitting.look(EIC)
        weak = WEAKENED[part](sitting.owed(EIC).may_see)
        assert part in leaks(await sitting.view(EIC, weak))

    sit(script)


@pytest.mark.parametrize(
    ("seat", "over"),
    [
        (DOMAIN, {"shown_types": frozenset({"PHASE1", "PHASE2"})}),
        (DOMAIN, {"shown_types": frozenset({"PHASE2"})}),
        (EIC, {"hidden_authors": frozenset(), "shown_types": frozenset({"PHASE1"})}),
        (EIC, {"hidden_authors": frozenset(), "shown_types": frozenset({"PHASE2"})}),
    ],
)
def test_what_a_reviewer_wrote_after_it_saw_the_paper_is_hidden_from_phase_1(
    seat: Seat, over: dict[str, Any]
) -> None:
    async def script(sitting: Sitting) -> None:
        await sitting.restart(DOMAIN)
        await sitting.restart(METHODOLOGY)
        await sitting.answer(METHODOLOGY, Phase1(text=f"{QUOTE}\n\n{phase1(FULL)}"))
        await sitting.look(DOMAIN, EIC)
        weak = replace(sitting.owed(seat).may_see, **over)
        assert leaks(await sitting.view(seat, weak)) == {"transcript"}

    sit(script)


def test_no_seat_of_a_panel_reads_any_other_channel() -> None:
    async def script(sitting: Sitting) -> None:
        for seat in PANEL:
            assert sitting.stage.host.rules.matrix.readable(seat) == {"#r-panel"}

    sit(script)
