"""The command line in a test's hands."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import typer.testing

from moot.cli.commands import app

Result = typer.testing.Result

# Every call would build all commands anew, which takes longer than most of them run.
typer.testing._get_command = functools.cache(typer.testing._get_command)


def moot(*args: object, stdin: str | bytes | None = None, **env: str) -> Result:
    """Run one command line, without colours, unwrapped; environment variables by name."""
    return typer.testing.CliRunner().invoke(
        app,
        [str(arg) for arg in args],
        input=stdin,
        env={"NO_COLOR": "1", "COLUMNS": None, "FORCE_COLOR": None, "MOOT_DEBUG": None, **env},  # type: ignore[arg-type]
        catch_exceptions=False,
    )


def done(*args: object, **more: Any) -> str:
    """Run a command line that succeeds; return what it printed."""
    result = moot(*args, **more)
    assert result.exit_code == 0, result.output
    return result.stdout


def wide(*args: object, **more: Any) -> str:
    """Run a command line that succeeds where there is room for every row in a line."""
    return done(*args, COLUMNS="1000", **more)


def data(*args: object, **more: Any) -> Any:
    """Run a command line with --json that succeeds; return what it printed as data."""
    return json.loads(done(*args, "--json", **more))


def complaint(code: int, *args: object, **more: Any) -> str:
    """Run a command line that ends with an exit code and one line on standard error; return that line."""
    result = moot(*args, **more)
    assert result.exit_code == code, (result.exit_code, result.output)
    assert result.stderr.count("\n") == 1, result.stderr
    assert "Traceback" not in result.output
    return result.stderr.rstrip("\n")


def write(path: Path, text: str) -> Path:
    """Write a file and return it."""
    path.write_text(text, encoding="utf-8")
    return path
