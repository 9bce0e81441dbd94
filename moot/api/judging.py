"""`moot.panel`: a work judged by a review panel under a sprint contract, in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from moot.api.log import log_of, open_log
from moot.api.options import a_listener, a_seed, place_of, seated
from moot.api.result import CaseResult
from moot.api.running import Prepared, twins
from moot.cases.panel.given import a_contract
from moot.cases.panel.offline import PanelOptions, run_panel, seats_of
from moot.cases.panel.show import shown
from moot.cases.texts import a_text
from moot.clock import VirtualClock
from moot.minds.choosing import MindSources
from moot.minds.model_choice import BudgetSource, ModelSource
from moot.protocols.authorship import summary
from moot.protocols.kernel.errors import BadInput
from moot.protocols.panel.contract import contract_from
from moot.workshop import START


@dataclass(frozen=True, repr=False)
class PanelResult(CaseResult):
    """What a panel came to.

    Attributes:
        log: Every message.
        decision: accept, minor_revision and so on, as the contract has them; None where the panel aborted.
        aborted: Why the panel aborted; "" when it did not.
        scores: What each reviewer gave in each dimension, by dimension.
        fired: The contract's conditions that fired.
    """

    decision: str | None
    aborted: str
    scores: Mapping[str, Any]
    fired: tuple[str, ...]

    def report(self) -> str:
        """Return the reviewers, the matrix, the arithmetic of the conditions and the decision, as text."""
        return "\n".join(shown(self.record, contract_from(self.record["contract"])))

    def rows(self) -> list[tuple[str, object]]:
        return [
            ("title", self.record["title"]),
            ("decision", self.decision or f"none: {self.aborted}"),
            ("fired", ", ".join(self.fired) or "no condition"),
        ]


def _panel(
    paper: str | Path,
    *,
    contract: str | Path = "full",
    title: str | None = None,
    field: str = "unspecified",
    majority: Literal["spec", "strict"] = "spec",
    on_none_fired: Literal["accept", "abort"] = "accept",
    minds: MindSources | None = None,
    model: ModelSource | None = None,
    seats: Collection[str] | None = None,
    budget: BudgetSource | None = None,
    seed: int = 1,
    out: Path | str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Prepared[PanelResult]:
    """Have a work judged: reviewers commit to a standard without seeing it, then review it.

    Args:
        paper: The work as a text, or the path of a file that holds it.
        contract: full, methodology_focus, strategy, architecture, or a file.
        title: What reviewers know before they see it; by default its first line.
        field: What else they know: what it is about.
        majority: How a majority is counted: spec is half of them, rounded up, and one more; strict is more than half.
        on_none_fired: What follows when no condition fires.
        minds: What fills a seat: a mind, its class, `"package.module:Class"`, `"simulated"` or `"silent"`.
        model: A language model for seats: `"URL#NAME"`, NAME of a configured `[models.NAME]`, or a mapping with what
            such a section holds, and `temperature` and `max_tokens`. The key of `"URL#NAME"` stands in MOOT_MODEL_KEY.
        seats: Which seats it takes; by default all, but those that `minds` names.
        budget: What it may spend: US dollars, or a mapping with what `[budget]` holds; by default as configured.
        seed: Seeds simulated reviewers.
        out: A directory that keeps the log; by default it is kept in memory.
        progress: Called with a line whenever somebody has spoken.

    Raises:
        BadInput: An argument cannot be used; the line says which and why.
        ConfigError: A mind cannot be used, or there is no such model.
        MootError: A model cannot be called, or the directory cannot be written.
    """
    for name, value, known in (
        ("majority", majority, ("spec", "strict")),
        ("on_none_fired", on_none_fired, ("accept", "abort")),
    ):
        if value not in known:
            raise BadInput(f"{name} {value!r}: choose {' or '.join(known)}")
    work = _work_of(paper)
    judged_by = a_contract(contract)
    filled = seated(minds, seats_of(judged_by), model=model, seats=seats, budget=budget)
    options = PanelOptions(
        contract=judged_by,
        content=work,
        title=_title(work) if title is None else title,
        field=field,
        majority=majority,
        on_none_fired=on_none_fired,
        seed=a_seed(seed),
        minds=filled.minds,
        models=filled.models,
        budget=filled.budget,
        prompts=filled.settings.prompts,
        directory=place_of(out),
    )
    return Prepared(partial(_judged, options, a_listener(progress)), START)


panel, apanel = twins(_panel)


def _work_of(paper: str | Path) -> str:
    if isinstance(paper, Path):
        return a_text(paper)
    if not isinstance(paper, str) or not paper.strip():
        raise BadInput("paper: give its text, or the pathlib.Path of a file")
    if "\n" not in paper.strip():
        raise BadInput(f"paper: {paper[:60]!r} is one line of text: name a file with pathlib.Path")
    return paper


def _title(work: str) -> str:
    return next(line for line in work.splitlines() if line.strip()).lstrip("# ").strip()[:200] or "untitled"


def _judged(
    options: PanelOptions, progress: Callable[[str], None] | None, clock: VirtualClock
) -> PanelResult:
    done = run_panel(options, progress, clock=clock)
    log = log_of(done.log) if options.directory is None else open_log(options.directory)
    record = done.record
    case_id = next(env.case_id for env in done.log if env.body.type == "PANEL_OPENED")
    return PanelResult(
        log=log,
        decision=record["editorial_decision"],
        aborted="" if record["aborted"] is None else record["aborted"]["why"],
        scores=record["matrix"] or {},
        fired=tuple(record["fired_conditions"] or ()),
        written_by=summary(record["written_by"]),
        record=record,
        case=log.cases[case_id or ""],
    )
