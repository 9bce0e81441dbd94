"""Whom a live run asks, from its ledger to its embedder, and what of an earlier life it goes on with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from moot.arbiter.asking import Patience
from moot.arbiter.embedders import LOCAL, EndpointEmbedder, LocalEmbedder
from moot.arbiter.endpoints import EMBEDS
from moot.arbiter.interrupt import Interrupt, Level
from moot.arbiter.launching import Ports
from moot.arbiter.ledger import FOLDER, Models, ledger_of
from moot.arbiter.live import runner_of
from moot.arbiter.outcomes import Outcomes
from moot.arbiter.ports import Embedder
from moot.arbiter.resolving import Prepared
from moot.clock import Clock
from moot.config.arbiter.judging import judge_of
from moot.place import LOG_NAME
from moot.protocols.arbiter.generated import Hashes, Manifest, Policy, ResolvedConfiguration
from moot.protocols.arbiter.hashes import plan_sha256
from moot.protocols.arbiter.plan import plan
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.frozen import thaw
from moot.protocols.kernel.officers import SocietyStarted
from moot.stored import stored_envelopes


@asynccontextmanager
async def live_ports(
    prepared: Prepared, models: Models, directory: Path, clock: Clock, interrupt: Interrupt
) -> AsyncIterator[Ports]:
    """Open what a live run asks; its ledger lies in the run's folder.

    Args:
        prepared: The run.
        models: What it may call.
        directory: The run's folder.
        clock: The running clock.
        interrupt: Is asked to end the run when a budget is spent.

    Raises:
        NoPackage: What embeds offline is not installed.
        UnusableModel: A key, a package or a price is missing.
        ChannelError: The ledger is in use or damaged, or cannot be written.
        MemoryStoreError: What was asked and answered is damaged, or cannot be written.
    """

    def spent(why: str) -> None:
        interrupt.raise_to(Level.GRACEFUL, why)

    config = prepared.config
    local: Embedder | None = LocalEmbedder() if config.measurement.embedding_model == LOCAL else None
    async with ledger_of(directory / FOLDER, prepared, models, clock, spent) as ledger:
        outcomes = Outcomes(config, judge_of(config.protocol.decision_contract), "live-v0")
        patience = Patience.of(config, config.execution.retry_policy.max_retries)
        name = EMBEDS + config.measurement.embedding_model
        embedder = local or EndpointEmbedder(name, ledger, clock, patience)
        yield Ports(runner_of(config, outcomes, ledger, clock), embedder, (ledger.hear,))


class Earlier(NamedTuple):
    """A run that did not come to its end.

    Attributes:
        prepared: As it was planned.
        policy: What it allows.
        budget: What it could spend, as `[budget]` holds it.
        models: How its models were called, by their names in the ledger.
    """

    prepared: Prepared
    policy: Policy
    budget: Mapping[str, Any]
    models: Mapping[str, Mapping[str, Any]]


def earlier(directory: Path) -> Earlier:
    """Read what a run goes on with.

    Raises:
        BadInput: It holds no live run, one that has ended, or one that was planned otherwise than this Moot does.
        ChannelError: Its ledger cannot be read.
    """
    try:
        config = ResolvedConfiguration.from_json((directory / "config.resolved.json").read_bytes())
        manifest = Manifest.from_json((directory / "manifest.json").read_bytes())
    except OSError as exc:
        raise BadInput(
            f"{exc.filename or directory}: {exc.strerror}: name the folder of a live run"
        ) from None
    except ValidationError as exc:
        fault = exc.errors(include_url=False)[0]
        where = ".".join(str(part) for part in fault["loc"])
        raise BadInput(f"{directory}: {exc.title}: {where}: {fault['msg']}") from None
    if not (directory / FOLDER / LOG_NAME).exists():
        raise BadInput(f"{directory}: has no {FOLDER}: only a live run goes on")
    if not manifest.incomplete:
        raise BadInput(f"{directory}: has ended, as {manifest.stop_reason}: there is nothing to go on with")
    trials = tuple(plan(config))
    if plan_sha256([one.as_json() for one in trials]) != manifest.plan_sha256:
        raise BadInput(f"{directory}: its plan is not the one that this Moot draws: start another run")
    hashes = Hashes.model_validate(manifest.provenance.as_json())
    budget, models = _told(directory)
    return Earlier(Prepared(config, trials, hashes), manifest.policy, budget, models)


def _told(directory: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the last life in a ledger could spend, and how it called its models."""
    last: Any = {}
    for env in stored_envelopes(directory / FOLDER):
        if type(env.body) is SocietyStarted:
            last = thaw(env.body.config)
    return last.get("budget", {}), last.get("models", {})
