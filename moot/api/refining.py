"""`moot.arena`: a task refined by Planner, Reviewer and Finalizer in virtual time."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from moot.api.log import log_of, open_log
from moot.api.options import a_listener, a_path, a_seed, place_of, seated
from moot.api.result import CaseResult
from moot.api.running import Prepared, twins
from moot.cases.arena.given import folder_of_notes, given
from moot.cases.arena.offline import RunOptions, opener, run_many
from moot.cases.texts import a_text
from moot.clock import VirtualClock
from moot.minds.choosing import MindSources
from moot.minds.model_choice import BudgetSource, ModelSource
from moot.protocols.arena.opening import refusal
from moot.protocols.arena.run import KIND
from moot.protocols.arena.seats import ARENA
from moot.protocols.authorship import summary
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import BadInput
from moot.workshop import START

Task = str | Path | Mapping[str, Any]


@dataclass(frozen=True, repr=False)
class ArenaResult(CaseResult):
    """What a run of the Arena came to.

    Attributes:
        log: Every message.
        outcome: TERMINATED_APPROVED, TERMINATED_MAX_ROUNDS or TERMINATED_ERROR.
        reason: Why it ended so.
        rounds: How many rounds there were.
        output: The final output; "" for none.
    """

    outcome: str
    reason: str
    rounds: int
    output: str

    def rows(self) -> list[tuple[str, object]]:
        return [
            ("outcome", self.outcome),
            ("reason", self.reason),
            ("rounds", self.rounds),
            ("output", " ".join(self.output.split())[:200] or "none"),
        ]


def _arena(
    task: Task,
    *,
    notebook: Path | str | None = None,
    config: Mapping[str, Any] | None = None,
    max_rounds: int | None = None,
    minds: MindSources | None = None,
    model: ModelSource | None = None,
    seats: Collection[str] | None = None,
    budget: BudgetSource | None = None,
    seed: int = 1,
    out: Path | str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Prepared[ArenaResult]:
    """Have a task refined under Arena Protocol v2.

    Args:
        task: What is to be done as a text, a `TaskContext` as a mapping, or the path of a JSON file that holds one.
        notebook: A folder of notes that grounds the run; by default none.
        config: A `ProtocolConfig`; what is left out is as the protocol has it.
        max_rounds: How many rounds there may be, 1 to 5, instead of the config's.
        minds: What fills a seat: a mind, its class, `"package.module:Class"`, `"simulated"` or `"silent"`.
        model: A language model for seats: `"URL#NAME"`, NAME of a configured `[models.NAME]`, or a mapping with what
            such a section holds, and `temperature` and `max_tokens`. The key of `"URL#NAME"` stands in MOOT_MODEL_KEY.
        seats: Which seats it takes; by default all, but those that `minds` names.
        budget: What it may spend: US dollars, or a mapping with what `[budget]` holds; by default as configured.
        seed: Seeds simulated minds.
        out: A directory that keeps the log; by default it is kept in memory.
        progress: Called with a line whenever somebody has spoken.

    Raises:
        BadInput: An argument cannot be used, or the protocol refuses task, config or notebook before the first
            round; the line says which and why.
        ConfigError: A mind cannot be used, or there is no such model.
        MootError: A model cannot be called, or the directory cannot be written.
    """
    source = None if notebook is None else folder_of_notes(a_path("notebook", notebook))
    names = (str(task) if isinstance(task, Path) else "task", "config")
    what = given(_task(task), _config(config), names=names, max_rounds=max_rounds, source=source)
    filled = seated(minds, ARENA, model=model, seats=seats, budget=budget)
    options = RunOptions(
        task=what.task,
        config=what.config,
        notebook=what.notebook,
        source=source,
        seed=a_seed(seed),
        minds=filled.minds,
        models=filled.models,
        budget=filled.budget,
        prompts=filled.settings.prompts,
        directory=place_of(out),
    )
    if why := refusal(opener(options, 1).body):
        raise BadInput(why)
    return Prepared(partial(_refined, options, a_listener(progress)), START)


arena, aarena = twins(_arena)


def _task(task: Task) -> Any:
    """Return a task as JSON has it."""
    if isinstance(task, Mapping):
        return dict(task)
    if isinstance(task, Path):
        try:
            return json.loads(a_text(task))
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{task}: is not JSON: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(task, str) or not task.strip():
        raise BadInput("task: give a text, a mapping or a pathlib.Path of a JSON file")
    return {"task_id": "task", "initial_prompt": task, "session_id": "task"}


def _config(config: Mapping[str, Any] | None) -> Any:
    """Return a config as JSON has it; what is none is refused with the task."""
    return dict(config or {}) if isinstance(config, Mapping | None) else config


def _refined(options: RunOptions, progress: Callable[[str], None] | None, clock: VirtualClock) -> ArenaResult:
    messages: list[Envelope] = []
    (record,) = run_many([options], progress, clock=clock, log=messages)
    log = log_of(messages) if options.directory is None else open_log(options.directory)
    case = next(one for one in log.cases.values() if one.kind == KIND)
    return ArenaResult(
        log=log,
        outcome=record["terminal_state"] or "",
        reason=record["terminal_reason"] or "",
        rounds=len(record["rounds"]),
        output=record["final_output"] or "",
        written_by=summary(record.get("written_by", {})),
        record=record,
        case=case,
    )
