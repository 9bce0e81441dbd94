"""A log hosted on the gateway's socket, and a gateway process as its guest, killed at will."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from tests.doubles.hosting import hosting
from tests.doubles.small_log import SmallLog

ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def society(directory: Path, log: SmallLog) -> AsyncGenerator[None]:
    """Host a log on the gateway socket of a data directory."""
    async with hosting(directory, log, heartbeat_s=0.2):
        yield


@contextmanager
def gateway(
    directory: Path,
    surfaces: Mapping[str, tuple[str, Mapping[str, Any]]],
    *,
    env: Mapping[str, str] | None = None,
    **more: Any,
) -> Generator[subprocess.Popen[bytes]]:
    """Run a gateway process; the pipe to its standard input is its lifeline.

    Args:
        directory: The society's data directory.
        surfaces: `package.module:Class` and options by name.
        env: Variables beside ours.
        more: Further options of `tests.doubles.gateway_process`, such as `admins`.
    """
    config = {
        "data_dir": str(directory),
        "surfaces": {name: list(how) for name, how in surfaces.items()},
        **more,
    }
    command = [sys.executable, "-m", "tests.doubles.gateway_process", json.dumps(config)]
    with (directory / "gateway.err").open("ab") as err:
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stderr=err, env={**os.environ, **(env or {})}
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(10)
        assert process.stdin is not None
        process.stdin.close()
