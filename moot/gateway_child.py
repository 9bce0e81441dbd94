"""The gateway as a child of `moot up`: started, watched, started again with growing pauses (K22)."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import structlog

from moot.clock.wall import monotonic_ns

BUS: Final = "MOOT_GATEWAY_BUS"
"""Environment: the address of a society on NATS, whose hosts share what was posted; it may hold secrets."""
FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 30.0
HEALTHY_S: Final = 60.0
USAGE: Final = 2

_log = structlog.get_logger("moot.gateway")


class GatewayChild:
    """Keeps one gateway process alive from a thread of its own; it dies with this process.

    Its standard input is a pipe whose end is the child's signal that its parent is gone, `kill -9` included.
    """

    def __init__(
        self,
        directory: Path,
        config: Path | None,
        *,
        more: Sequence[str] = (),
        environ: Mapping[str, str] | None = None,
        say: Callable[[str], None] = lambda _line: None,
    ) -> None:
        """Start it.

        Args:
            directory: The society's data directory.
            config: Its configuration file.
            more: Further words of the gateway's command line.
            environ: What its environment has beside ours.
            say: Told what it prints, a line at a time, each once; called on a thread of ours.
        """
        self._command = [sys.executable, "-m", "moot.gateway", str(directory)]
        if config is not None:
            self._command += ["--config", str(config)]
        self._command += more
        self._environ = {**os.environ, **(environ or {})}
        self._say = say
        self._said: set[str] = set()
        self._stop = threading.Event()
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._keep, name="gateway keeper", daemon=True)
        self._thread.start()

    def _keep(self) -> None:
        pause = FIRST_PAUSE_S
        while not self._stop.is_set():
            began = monotonic_ns()
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                errors="replace",
                env=self._environ,
                # Ctrl-C is meant for the parent: while it is being loaded the child would die of it, with a traceback.
                process_group=0,
            )
            with self._process.stdout or nullcontext(()) as lines:
                for line in lines:
                    self._pass_on(line.strip())
            code = self._process.wait()
            if self._stop.is_set():
                return
            _log.warning("gateway ended", code=code)
            if code == USAGE:
                return
            if (monotonic_ns() - began) / 1e9 > HEALTHY_S:
                pause = FIRST_PAUSE_S
            self._stop.wait(pause)
            pause = min(pause * 2, LONGEST_PAUSE_S)

    def _pass_on(self, line: str) -> None:
        # Started again it says the same again.
        if line and line not in self._said and not self._stop.is_set():
            self._said.add(line)
            self._say(line)

    def close(self, wait_s: float = 5.0) -> None:
        """End it: the pipe closes, then SIGTERM, then SIGKILL."""
        self._stop.set()
        process = self._process
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            try:
                process.wait(wait_s)
            except subprocess.TimeoutExpired:
                process.terminate()
                try:
                    process.wait(wait_s)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        self._thread.join(wait_s)
