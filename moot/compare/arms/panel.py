"""Documents put before a review panel: reviewers commit themselves, then review, and a synthesis concludes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from moot.api.options import seated
from moot.bots.minds.simulated.proofreading.reviewer import ReadingReviewer
from moot.bots.minds.simulated.proofreading.stated import FORM, Stated, numbered, stated_in
from moot.bots.seats.in_turn import followed
from moot.cases.panel.offline import PanelOptions, PanelRun, again, run_panel, seats_of
from moot.clock import VirtualClock, in_thread
from moot.compare.arms.arm import Answer, Arm, Trial
from moot.compare.arms.logs import held, kept, spent
from moot.compare.arms.reading import reader_of
from moot.compare.cases.case import DOCUMENT
from moot.config.contracts import load_contract
from moot.minds.choosing import chosen
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.frozen import Json
from moot.protocols.panel.contract import Amendments, Contract
from moot.protocols.panel.reports import parse_report
from moot.recording import Recording
from moot.workshop import START

CONTRACTS: Final = ("methodology_focus", "full")
"""The shipped contracts for papers: a panel has as many reviewers as one of them has roles."""

IN_TURN: Final = (
    " This panel departs from its protocol: the reviews before yours stand behind the work, each under a line "
    "`=== review by ROLE ===`."
)
"""What reviewers are told besides who are not blind."""


class ReviewPanel(Arm):
    """Holds a review panel over a document; what enough of its reviewers object to is the answer.

    Each simulated reviewer is another reader of the same skill.
    """

    kinds = frozenset({DOCUMENT})

    def __init__(
        self,
        reviewers: int = 5,
        blind: bool = True,
        needed: int = 1,
        skill: Mapping[str, float] | None = None,
        minds: Mapping[str, Any] | None = None,
        model: str | Mapping[str, Any] | None = None,
        usd: float = 0.0,
    ) -> None:
        """Convene a panel.

        Args:
            reviewers: How many: 2 or 5.
            blind: Whether they review without the reviews before theirs, as the protocol has it.
            needed: How many of them must object to a line.
            skill: What differs from a usual reader (`Reader`), for simulated reviewers.
            minds: What fills a seat; the others are the model's, or simulated.
            model: URL#NAME, or what a configuration says of one.
            usd: US dollars that an answer may cost, where a model sits somewhere; 0: as configured.

        Raises:
            BadInput: No contract has so many roles, more must agree than there are, or a reader has no such property.
            UnusableMind: A seat is none of this panel's, or what is to fill it cannot be used.
        """
        contracts = {one.panel_size: one for one in map(load_contract, CONTRACTS)}
        if reviewers not in contracts:
            sizes = " or ".join(map(str, contracts))
            raise BadInput(
                f"reviewers: a panel has {sizes}, as its contracts have roles, not {reviewers!r:.40}"
            )
        if not isinstance(blind, bool):
            raise BadInput(f"blind: say true or false, not {blind!r:.40}")
        if isinstance(needed, bool) or not isinstance(needed, int) or not 1 <= needed <= reviewers:
            raise BadInput(f"needed: {needed!r:.40} of {reviewers} reviewers cannot agree")
        notes = FORM if blind else FORM + IN_TURN
        self._contract = _noted(contracts[reviewers], notes)
        self._seats = seats_of(self._contract)
        self._filled = seated(minds or {}, self._seats, model=model, seats=None, budget=usd or None)
        chosen(self._filled.minds, self._seats)
        self._blind = blind
        self._needed = needed
        self._reader = reader_of(skill)
        self.least = self.most = 2 * reviewers + 1

    async def run(self, trial: Trial) -> Answer:
        """Put before a panel what is shown."""
        options = held(
            trial,
            filled=self._filled,
            again=partial(self._again, trial),
            anew=partial(self._options, trial),
        )
        done = await in_thread(trial.clock, partial(run_panel, options, clock=VirtualClock(START)))
        calls, usd = spent(done.log, self._seats)
        answer, confidence, votes = self._answered(done)
        return Answer(
            answer=answer,
            confidence=confidence,
            calls=calls,
            usd=usd,
            votes=votes,
            head=kept(done.log, None if options.directory is not None else trial.log),
        )

    def _options(self, trial: Trial, directory: Path | None) -> PanelOptions:
        shown: Any = trial.case.shown
        given = PanelOptions(
            contract=self._contract,
            content=shown["text"],
            title=shown.get("title") or trial.case.id,
            field=shown.get("field") or "unnamed",
            seed=trial.seed,
            minds=self._filled.minds,
            models=self._filled.models,
            budget=self._filled.budget,
            prompts=self._filled.settings.prompts,
            directory=directory,
        )
        return self._shown(trial, given)

    def _again(self, trial: Trial, recording: Recording, directory: Path | None) -> PanelOptions:
        return self._shown(trial, again(recording, directory))

    def _shown(self, trial: Trial, given: PanelOptions) -> PanelOptions:
        """Add what no log says: who reads, and what reviewers are shown."""
        return replace(
            given,
            simulated=ReadingReviewer(self._reader, trial.seed),
            shows=_numbered if self._blind else _followed,
            is_in_turn=not self._blind,
        )

    def _answered(self, done: PanelRun) -> tuple[Json, float | None, tuple[Json, ...]]:
        """Return what was found, how sure that is, and what each reviewer found; nothing of a panel without a decision.

        It is as sure as the share of reviewers whose scores say the same: something to object to, or nothing.
        """
        record = done.record
        if record["editorial_decision"] is None:
            return None, None, ()
        *roles, _synthesizer = self._seats
        last = [record["outputs"][role]["phase2"][-1] for role in roles]
        given = [stated_in(parse_report(text, self._contract).body) for text in last]
        answer = agreed(given, self._needed)
        columns = record["matrix"].values()
        objects = [any(column[role] != "pass" for column in columns) for role in roles]
        confidence = sum(one == bool(answer) for one in objects) / len(objects)
        return answer, confidence, tuple(agreed([one], 1) for one in given)


def agreed(given: Sequence[Sequence[Stated]], needed: int) -> tuple[Json, ...]:
    """Return as an answer what enough reviewers object to: of each place the first who speaks of it."""
    said = {(one.first, one.last): one for found in reversed(given) for one in reversed(found)}
    return tuple(
        {"lines": place, "text": said[place].text}
        for place in sorted(said)
        if sum(_speaks_of(place, found) for found in given) >= needed
    )


def _speaks_of(place: tuple[int, int], found: Iterable[Stated]) -> bool:
    return any(one.first <= place[1] and place[0] <= one.last for one in found)


def _noted(contract: Contract, notes: str) -> Contract:
    return contract.model_copy(update={"agent_amendments": Amendments(stage_specific_notes=notes)})


def _numbered(work: str, _reviews: Mapping[str, str]) -> str:
    return numbered(work)


def _followed(work: str, reviews: Mapping[str, str]) -> str:
    return followed(numbered(work), reviews)
