"""A real language model for tests: the script of docs/how-to/use-a-model.md serves it, in a process of its own.

It answers on one thread: a second would wait for the first at every layer, and on a loaded machine mostly that.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "use-a-model.md"
NAME = "smollm2"


def script() -> str:
    """Return the page's script, for a free port; answers do not depend on what was asked before."""
    shown = _block("python", "xllamacpp")
    return shown.replace("8080", "0").replace("server =", "params.cache_prompt = False\nserver =")


def settings(url: str) -> dict[str, Any]:
    """Return the page's `[models.NAME]`, with time for a machine that has other things to do."""
    shown = tomllib.loads(_block("toml", f"[models.{NAME}]"))["models"][NAME]
    return {**shown, "url": url, "timeout_s": 280}


def _block(language: str, holds: str) -> str:
    blocks = re.findall(rf"```{language}\n(.*?)```\n", PAGE.read_text(encoding="utf-8"), re.S)
    return str(next(one for one in blocks if holds in one))


@contextmanager
def serving() -> Iterator[str]:
    """Serve the model on a free port; yields its URL. It ends with its standard input, so with whoever started it."""
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            [sys.executable, "-c", script()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        assert process.stdin is not None and process.stdout is not None
        try:
            # It speaks when it listens, and gives its output up when it cannot.
            found = re.search(r"http://\S+", process.stdout.readline())
            if found is None:
                errors.seek(0)
                raise RuntimeError(f"no model is served: {errors.read().decode()[-2_000:]}")
            with urlopen(found[0].removesuffix("/v1") + "/health", timeout=60) as reply:
                assert reply.status == 200
            yield found[0]
        finally:
            process.stdin.close()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
