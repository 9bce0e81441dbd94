"""`moot arbiter run`: a run that asks models."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from moot.cli.app import command
from moot.cli.arbiter.certifying import StopRule
from moot.cli.arbiter.endpoints import Endpoints, models_of_run, settings_of
from moot.cli.arbiter.hearing import Society, heard
from moot.cli.arbiter.judging import Asked, Judged, begun, group, judge, refused
from moot.cli.arbiter.running import Carrying, carry_out, directory_of, report
from moot.cli.errors import CheckFailed
from moot.cli.output import say

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from moot.arbiter.calling import Earlier
    from moot.arbiter.interrupt import Interrupt
    from moot.arbiter.launching import OpenPorts, Ports
    from moot.arbiter.ledger import Models
    from moot.clock import Clock
    from moot.config.budget import BudgetSettings
    from moot.config.settings import Settings

BudgetOption = Annotated[
    str | None,
    typer.Option(
        "--budget", metavar="USD", help="US dollars that the run may spend; by default as [budget] says."
    ),
]
ResumeOption = Annotated[
    Path | None,
    typer.Option("--resume", metavar="RUN", help="Go on with a run that was interrupted or killed."),
]


@command(
    "moot arbiter run --budget 0.50",
    "moot arbiter run debate.json --max-trials 40 --workers 4 --embeddings wordllama",
    "moot arbiter run --endpoint http://127.0.0.1:8080/v1#qwen3:8b --embeddings wordllama",
    "moot arbiter run --data ./moot-data --budget 0.50",
    "moot arbiter run --resume runs/20261123T082913Z_d85ce4 --budget 2",
    within=group,
    name="run",
)
def run(
    asked: Asked = Asked(),
    way: Carrying = Carrying(),
    where: Endpoints = Endpoints(),
    budget: BudgetOption = None,
    resume: ResumeOption = None,
    stop: StopRule = StopRule(),
    society: Society = Society(),
) -> int:
    """Ask models, embed what they answer, and measure how stable it is.

    Every call is booked in the run's ledger before it is sent, so --budget is never overrun, and what was answered is
    never paid twice: --resume goes on with a run from there. A slug that is the NAME of a [models.NAME] of MOOT_CONFIG
    is called as that says; every other one at the endpoint. Ctrl-C lets the trials in flight end, a second one cancels
    them; the run's folder is whole either way. Exit code 1: a key or the like is missing, or the run ended as an error.
    """
    if resume is not None:
        if asked != Asked() or way.out is not None or way.sizes:
            raise CheckFailed(
                f"--resume goes on with the run as {resume} holds it: leave out what plans another"
            )
        return _resume(resume, where, budget, stop, society, way)
    judged = judge(asked, begun()[1], where, way.changing)
    if not isinstance(judged, Judged):
        return refused("run", asked.path, judged, as_json=way.as_json)
    settings = settings_of()
    models = models_of_run(judged, where.told(settings), _budget(settings, budget))
    return _carry_out(judged, models, directory_of(judged, way.out), stop, society, way)


def _resume(
    directory: Path,
    where: Endpoints,
    budget: str | None,
    stop: StopRule,
    society: Society,
    way: Carrying,
) -> int:
    from moot.arbiter.calling import earlier
    from moot.config.budget import BudgetSettings
    from moot.protocols.kernel.errors import BadInput

    for option, given in (("--endpoint", where.endpoint), ("--embeddings", where.embeddings)):
        if given is not None and ("#" in given or given == "wordllama"):
            raise CheckFailed(f"{option}: --resume asks the models that the run asked: name an address only")
    try:
        before = earlier(directory)
    except BadInput as error:
        raise CheckFailed(str(error)) from None
    settings = settings_of()
    told = replace(where, endpoint=where.endpoint or _address(before, "openai", settings)).told(settings)
    spends = BudgetSettings.model_validate(before.budget) if budget is None else _budget(settings, budget)
    judged = Judged(directory, before.prepared, before.policy, ())
    if not told.embeddings:
        told = replace(told, embeddings=_address(before, "embeddings", settings))
    models = models_of_run(judged, told, spends)
    return _carry_out(judged, models, directory, stop, society, way, is_resumed=True)


def _address(before: Earlier, api: str, settings: Settings) -> str:
    """Return where the models of a run were that no configuration names; "" for none."""
    from moot.arbiter.endpoints import OPENROUTER

    found = (
        str(one["url"])
        for one in before.models.values()
        if one.get("api", "openai") == api and one.get("model") not in settings.models
    )
    url = next(found, "")
    return "" if url == OPENROUTER else url


def _carry_out(
    judged: Judged,
    models: Models,
    directory: Path,
    stop: StopRule,
    society: Society,
    way: Carrying,
    *,
    is_resumed: bool = False,
) -> int:
    from moot.arbiter.ledger import FOLDER
    from moot.bots.models.errors import ModelError
    from moot.channels.errors import ChannelError
    from moot.log_setup import set_up_logging
    from moot.memory.errors import MemoryStoreError

    set_up_logging(None)
    if not way.is_quiet and not way.as_json:
        say(f"moot arbiter run: {_asked(judged, models)}")
    try:
        outcome = carry_out(
            "run",
            judged,
            directory,
            heard("run", judged, society, _ports(judged, models, directory)),
            way,
            extra=(FOLDER,),
            is_resumed=is_resumed,
            stop=stop,
        )
    except (ModelError, ChannelError, MemoryStoreError) as error:
        raise CheckFailed(str(error)) from None
    code = report(judged, outcome, way)
    ended = outcome.ended
    if ended.stop_reason == "user_interrupt" and not way.as_json:
        why = f"{ended.notes}; " if ended.notes else ""
        say(f"moot arbiter run: {why}moot arbiter run --resume {directory} goes on")
    return code


def _ports(judged: Judged, models: Models, directory: Path) -> OpenPorts:
    @asynccontextmanager
    async def open_ports(clock: Clock, interrupt: Interrupt) -> AsyncIterator[Ports]:
        from moot.arbiter.calling import live_ports

        async with live_ports(judged.prepared, models, directory, clock, interrupt) as ports:
            yield ports

    return open_ports


def _asked(judged: Judged, models: Models) -> str:
    """Say in one line who is asked, where, and what that may cost."""
    from moot.arbiter.embedders import LOCAL
    from moot.cli.output import plural

    places: dict[str, list[str]] = {}
    for one in models.settings.values():
        does = f"{one.model} embeds" if one.api == "embeddings" else one.model
        places.setdefault(one.url, []).append(does)
    told = [f"{', '.join(names)} at {url}" for url, names in places.items()]
    if judged.prepared.config.measurement.embedding_model == LOCAL:
        told.append(f"{LOCAL} embeds")
    trials = plural(len(judged.prepared.trials), "trial")
    return "; ".join([f"{trials} at most", *told, models.budget.told()])


def _budget(settings: Settings, usd: str | None) -> BudgetSettings:
    from pydantic import ValidationError

    from moot.config.budget import BudgetSettings
    from moot.protocols.kernel.faults import first_fault

    if usd is None:
        return settings.budget
    plain: Mapping[str, Any] = {**settings.budget.as_log(), "usd": usd}
    try:
        return BudgetSettings.model_validate(plain)
    except ValidationError as exc:
        raise CheckFailed(f"--budget: {first_fault(exc, '', BudgetSettings.model_fields)[1]}") from None
