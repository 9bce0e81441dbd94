"""The engine: carries out the trials of a run batch by batch, has them measured, and tells all of it as events.

It knows neither files nor sockets nor who watches: it asks a `Runner` and an `Embedder`, and tells its subscribers.

Source: Arbiter spec, "Locked architecture", "Determinism invariants", "P0 semantics highlights".
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from datetime import timedelta
from typing import Any, Final

from pydantic import ValidationError

from moot.arbiter.embeddings import Embeddings
from moot.arbiter.events import (
    BatchEnded,
    Event,
    RunEnded,
    RunStarted,
    Subscriber,
    TrialEnded,
)
from moot.arbiter.instants import instant
from moot.arbiter.interrupt import Interrupt, Level
from moot.arbiter.monitor import Monitor
from moot.arbiter.outcomes import INTERRUPTED, REDACTED, cut_short
from moot.arbiter.ports import Embedder, NotBegun, RanTrial, Runner
from moot.arbiter.resolving import Prepared
from moot.arbiter.vectors import Vector
from moot.clock import Clock
from moot.protocols.arbiter.convergence import aggregates
from moot.protocols.arbiter.embed_text import EmbedText
from moot.protocols.arbiter.generated import ConvergenceRow, EmbeddingLine, PlannedTrial, Policy
from moot.protocols.arbiter.parsing import Parsed, not_answered
from moot.protocols.arbiter.stopping import is_incomplete, why_stopped
from moot.protocols.arbiter.usage import Spending

GRACE: Final = timedelta(seconds=30)
"""How long trials in flight may still take after the first interrupt."""

_NOTHING: Final = EmbedText("", 0)


class RunFailed(Exception):
    """Say why a run ended as an error; it was told as `RunEnded` all the same."""


class Engine:
    """Carries out one run."""

    def __init__(
        self,
        prepared: Prepared,
        policy: Policy,
        runner: Runner,
        embedder: Embedder,
        clock: Clock,
        interrupt: Interrupt,
        subscribers: Sequence[Subscriber],
        enough: Callable[[], str | None] = lambda: None,
    ) -> None:
        """Take a run.

        Args:
            prepared: What is to be asked.
            policy: What it allows.
            runner: Carries out its trials.
            embedder: Embeds its answers.
            clock: Tells the time; the run lives on its loop.
            interrupt: How it is stopped by hand.
            subscribers: Are told, in this order; whoever keeps the run comes first.
            enough: Says after each batch why the run may end there, in a line for its notes; None lets it go on.
        """
        self._prepared = prepared
        self._policy = policy
        self._excludes = policy.contract_failure_policy == "exclude"
        self._runner = runner
        self._embedder = embedder
        self._clock = clock
        self._interrupt = interrupt
        self._subscribers = tuple(subscribers)
        self._enough = enough
        self._monitor = Monitor(prepared.config.measurement, prepared.config.execution)
        self._spending = Spending()
        self._embeddings = Embeddings()
        self._batch: dict[int, Vector | None] = {}
        self._workers: list[asyncio.Task[None]] = []
        self._is_ending = False
        self._failure: Exception | None = None
        self._heard: list[Subscriber] = []
        self._last: ConvergenceRow | None = None
        self._attempted = 0
        self._unparsed = 0
        self._settled: str | None = None

    async def run(self) -> RunEnded:
        """Carry it out to its end.

        Raises:
            RunFailed: A record breaks its schema, or a subscriber or runner raised; all were told the end before.
        """
        config = self._prepared.config
        grace: asyncio.Task[None] | None = None

        def rise(level: Level) -> None:
            nonlocal grace
            if level is Level.NOW:
                self._end()
            elif grace is None:
                grace = asyncio.create_task(self._after_grace())

        self._interrupt.subscribe(rise)
        if self._interrupt.level:
            rise(self._interrupt.level)
        size = config.execution.batch_size
        try:
            self._tell(RunStarted(self._prepared, self._policy, instant(self._clock.now())))
            for start in range(0, len(self._prepared.trials), size):
                if self._interrupt.level or self._failure or self._is_converged or self._settled:
                    break
                await self._run_batch(self._prepared.trials[start : start + size])
        except Exception as error:
            self._fail(error)
        finally:
            if grace is not None:
                grace.cancel()
        return self._ended()

    @property
    def _is_converged(self) -> bool:
        return self._last is not None and self._last.stop.should_stop

    async def _run_batch(self, trials: Sequence[PlannedTrial]) -> None:
        """Carry out a batch, and measure what of it ran."""
        left = iter(trials)
        workers = min(self._prepared.config.execution.workers, len(trials))
        self._batch = {}
        self._workers = [asyncio.create_task(self._work(left)) for _ in range(workers)]
        try:
            await asyncio.wait(self._workers)
        except asyncio.CancelledError:
            # Nobody waits for the run any more.
            self._end()
            await asyncio.wait(self._workers)
            raise
        if self._failure is not None or not self._batch:
            return
        measured = self._monitor.measure(self._batch, instant(self._clock.now()))
        self._last = measured.row
        self._tell(BatchEnded(measured.row, measured.assignments, self._spending.total()))
        self._settled = self._enough()

    async def _work(self, left: Iterator[PlannedTrial]) -> None:
        """Carry out trials as long as there are any, one after the other."""
        while not self._interrupt.level and not self._is_ending:
            planned = next(left, None)
            if planned is None:
                return
            try:
                await self._run_trial(planned)
            except Exception as error:
                self._fail(error)

    async def _run_trial(self, planned: PlannedTrial) -> None:
        try:
            ran = await self._until_ended(self._runner.run(planned))
        except NotBegun:
            return
        if ran is None:
            is_debate = planned.protocol != "independent"
            ran = cut_short(planned, not_answered(planned.trial_id, "debate-v1" if is_debate else "live-v0"))
        line, vector = await self._embedded(ran)
        self._batch[planned.trial_id] = vector
        self._attempted += 1
        self._unparsed += ran.parsed.line.parse_status != "success"
        self._spending.add(ran.trial)
        self._tell(TrialEnded(ran.trial, ran.parsed.line, line))

    async def _embedded(self, ran: RanTrial) -> tuple[EmbeddingLine, Vector | None]:
        """Have an answer embedded; the vector is None when there is none."""
        lines, text = self._embeddings, ran.parsed.embed or _NOTHING
        trial_id = ran.trial.trial_id
        if ran.trial.status != "success":
            return lines.skipped(trial_id, text, "trial_not_success"), None
        if not text.text:
            return lines.skipped(trial_id, text, "empty_embed_text"), None
        if self._excludes and ran.parsed.line.parse_status != "success":
            return lines.skipped(trial_id, text, "contract_failure"), None
        if self._is_ending:
            return lines.failed(trial_id, text, INTERRUPTED), None
        found = await self._until_ended(self._embedder.embed(trial_id, text.text, **_kept(ran.parsed)))
        if found is None:
            return lines.failed(trial_id, text, INTERRUPTED), None
        lines.note(found.model, found.generation_id)
        if found.vector is None:
            return lines.failed(trial_id, text, found.error or "there is no vector"), None
        return lines.judged(trial_id, text, found.vector)

    async def _until_ended(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Await what a port does; None when the run ended it first."""
        try:
            return await work
        except asyncio.CancelledError:
            if not self._is_ending:
                raise
            return None

    async def _after_grace(self) -> None:
        await self._clock.sleep(GRACE)
        self._interrupt.raise_to(Level.NOW)

    def _end(self) -> None:
        """Cancel what is in flight."""
        self._is_ending = True
        this = asyncio.current_task()
        for worker in self._workers:
            if worker is not this:
                worker.cancel()

    def _fail(self, error: Exception) -> None:
        if self._failure is None:
            self._failure = error
            self._end()

    def _tell(self, event: Event) -> None:
        for tell in self._subscribers:
            tell(event)
            if isinstance(event, RunStarted):
                self._heard.append(tell)

    def _ended(self) -> RunEnded:
        """Tell the end to all who heard the beginning."""
        notes = (self._interrupt.why or None) if self._failure is None else told(self._failure)
        reason = why_stopped(
            failed=self._failure is not None,
            interrupted=bool(self._interrupt.level),
            converged=self._is_converged,
            settled=self._settled is not None,
        )
        if reason == "completed":
            notes = self._settled
        incomplete = is_incomplete(reason)
        if reason != "error" and self._policy.contract_failure_policy == "fail" and self._unparsed:
            # All was asked and measured; it is the policy that does not take the answers.
            reason, incomplete = "error", True
            notes = f"{self._unparsed} of {self._attempted} answers have not the form that was asked for"
        found = aggregates(self._last, incomplete=incomplete)
        ended = RunEnded(
            stop_reason=reason,
            incomplete=incomplete,
            notes=notes,
            cluster_state=self._monitor.cluster_state(),
            aggregates=found,
            usage=self._spending.total(),
            embeddings=self._embeddings.facts(),
            k_attempted=self._attempted,
            ended_at=instant(self._clock.now()),
        )
        for tell in self._heard:
            try:
                tell(ended)
            except Exception as error:
                self._failure = self._failure or error
        if self._failure is not None:
            raise RunFailed(told(self._failure)) from self._failure
        return ended


def _kept(parsed: Parsed) -> dict[str, str]:
    """Return what is kept of a text that is embedded, where that is not the text: it holds what is redacted (R-G7)."""
    stored = parsed.line.embed_text
    return {} if parsed.embed is None or stored == parsed.embed.text else {"kept": stored or REDACTED}


def told(error: Exception) -> str:
    """Say in a line what made a run fail."""
    if isinstance(error, ValidationError):
        fault = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in fault["loc"])
        return f"a record is not what its schema says: {error.title}.{where}: {fault['msg']}"
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'}: cannot be written: {error.strerror or error}"
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
