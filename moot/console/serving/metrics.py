"""Figures for Prometheus: messages, how long publishing takes, what is open, how late the loop is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from moot.console.errors import ConsoleError
from moot.console.model.interface import ReadModel
from moot.console.reading.health import LogHealth
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.rulebook import rulebook

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
LOOK_S: Final = 0.25
"""How often the loop's lag is measured."""

OTHER: Final = "other"
"""Counts types that this version does not know, so that no log can make any number of series."""

LATENCIES: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """The console's own registry: the default one is shared with whatever else runs in the process."""

    def __init__(self, model: ReadModel, health: LogHealth) -> None:
        """Count from now on."""
        self._model = model
        self._health = health
        self.registry = registry = CollectorRegistry()
        self._messages = Counter(
            "moot_messages",
            "Messages that arrived since the console started, by type",
            ["type"],
            registry=registry,
        )
        self._publish = Histogram(
            "moot_publish_seconds",
            "From an act on a page to its receipt",
            buckets=LATENCIES,
            registry=registry,
        )
        self._lag = Histogram(
            "moot_loop_lag_seconds", "How late the gateway's loop is", buckets=LATENCIES, registry=registry
        )
        self._head = Gauge("moot_head", "Seq of the last message", registry=registry)
        self._pages = Gauge("moot_listeners", "Pages and streams that are open", registry=registry)
        self._obligations = Gauge(
            "moot_open_obligations",
            "What is owed now, and how much of it is late",
            ["late"],
            registry=registry,
        )
        self._escalations = Gauge("moot_open_escalations", "Escalations that are open", registry=registry)
        self._violations = Gauge("moot_violations", "VIOLATION messages in the log", registry=registry)
        self._running = Gauge("moot_running", "Whether a society runs", registry=registry)
        self._damaged = Gauge(
            "moot_log_damaged",
            "Whether the log is damaged or cannot be read (1), or not (0)",
            registry=registry,
        )
        self._checked = Gauge(
            "moot_log_checked", "Seq up to which the last complete check of the log came", registry=registry
        )
        self._behind = Gauge("moot_docket_behind", "Messages that are not folded yet", registry=registry)

    def hear(self, env: Envelope) -> None:
        """Count a message; its type is told where its channel is public, for viewers read these figures too."""
        kind, book = env.body.type, rulebook()
        is_told = kind in book.messages and env.channel in {channel.name for channel in book.public}
        self._messages.labels(kind if is_told else OTHER).inc()

    @contextmanager
    def publishing(self) -> Iterator[None]:
        """Measure how long an act takes."""
        with self._publish.time():
            yield

    async def watch_loop(self) -> None:
        """Measure the loop's lag until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            wanted = loop.time() + LOOK_S
            await asyncio.sleep(LOOK_S)
            self._lag.observe(max(0.0, loop.time() - wanted))

    async def text(self, listeners: int) -> bytes:
        """Return all figures in Prometheus' text format."""
        model = self._model
        now = model.now()
        progress = model.progress()
        self._head.set(model.head)
        self._pages.set(listeners)
        self._running.set(now.is_running)
        self._behind.set(progress.total - progress.done)
        self._damaged.set(bool(self._health.problem or progress.problem))
        self._checked.set(self._health.checked)
        try:
            owed = await model.obligations()
            late = sum(view.is_late(now.at) for view in owed)
            self._obligations.labels("yes").set(late)
            self._obligations.labels("no").set(len(owed) - late)
            self._escalations.set(sum(s.kind == "escalation" for s in model.docket().cases.values()))
            self._violations.set(sum(count.n for count in await model.counts("VIOLATION")))
        except ConsoleError:
            # Not read yet: figures keep what they were, and `behind` says why.
            pass
        return generate_latest(self.registry)
