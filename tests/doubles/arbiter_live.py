"""A live run against a server that is told what to answer: the real engine, client, bursar and ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from moot.arbiter.asking import Patience
from moot.arbiter.embedders import EndpointEmbedder
from moot.arbiter.endpoints import EMBEDS, Told, models_of
from moot.arbiter.engine import Engine
from moot.arbiter.events import Event, RunEnded, TrialEnded
from moot.arbiter.interrupt import Interrupt, Level
from moot.arbiter.ledger import FOLDER, Ledger, ledger_of
from moot.arbiter.live import runner_of
from moot.arbiter.outcomes import Outcomes
from moot.arbiter.resolving import Prepared, prepare
from moot.clock import Clock, RealClock
from moot.config.arbiter.bank import load_bank
from moot.config.arbiter.judging import judge_of
from moot.config.budget import BudgetSettings
from moot.protocols.arbiter.generated import ResolvedConfiguration
from tests.doubles.arbiter_runs import configured, policy
from tests.doubles.model_server import ModelServer


class Ran(NamedTuple):
    """A live run that ended."""

    ended: RunEnded
    trials: list[TrialEnded]


def run_live(
    server: ModelServer,
    directory: Path,
    *,
    config: ResolvedConfiguration | None = None,
    budget: Mapping[str, Any] | None = None,
    key_env: str = "",
    watch: Callable[[Ledger, Interrupt, Event], None] = lambda _ledger, _interrupt, _event: None,
) -> Ran:
    """Carry out a run whose ledger lies in a directory; `watch` is told each event."""
    run: Prepared = prepare(config or configured(), load_bank(None))
    models = models_of(
        run.config,
        Told(endpoint=server.url, key_env=key_env, configured={}),
        BudgetSettings.model_validate(budget or {}),
    )
    trials: list[TrialEnded] = []

    async def main(clock: Clock) -> RunEnded:
        interrupt = Interrupt()

        def spent(why: str) -> None:
            interrupt.raise_to(Level.GRACEFUL, why)

        async with ledger_of(directory / FOLDER, run, models, clock, spent) as ledger:

            def hear(event: Event) -> None:
                ledger.hear(event)
                if isinstance(event, TrialEnded):
                    trials.append(event)
                watch(ledger, interrupt, event)

            outcomes = Outcomes(run.config, judge_of(run.config.protocol.decision_contract), "live-v0")
            runner = runner_of(run.config, outcomes, ledger, clock)
            patience = Patience.of(run.config, run.config.execution.retry_policy.max_retries)
            embedder = EndpointEmbedder(
                EMBEDS + run.config.measurement.embedding_model, ledger, clock, patience
            )
            engine = Engine(run, policy(), runner, embedder, clock, interrupt, [hear])
            return await engine.run()

    return Ran(RealClock().run(main), trials)
