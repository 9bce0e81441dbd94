"""Shared hooks: event loops for coroutines, system programs, and the distribution of files over workers."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

from tests.system_programs import Unavailable, install_missing

# A slow machine fails no test, every run tries the same examples, and fixtures hold for all of them.
settings.register_profile(
    "moot",
    deadline=None,
    derandomize=True,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
        HealthCheck.function_scoped_fixture,
    ],
)
settings.load_profile("moot")


class _Files(LoadFileScheduling):  # type: ignore[misc]  # xdist says no types
    """Gives the tests of a file to one worker, and all that start a browser to one: two wait for each other."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return "browser" if _has_browser(file) else file


@cache
def _has_browser(file: str) -> bool:
    return "tests.doubles.browser" in Path(file).read_text(encoding="utf-8")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadFileScheduling | None:
    """Say which worker gets which tests."""
    return _Files(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine to its end and close its loop; those that are marked for anyio are run by it."""
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test) or pyfuncitem.get_closest_marker("anyio"):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(test(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


def pytest_configure(config: pytest.Config) -> None:
    """Install missing system programs once, before the workers start."""
    if not hasattr(config, "workerinput"):
        for line in install_missing():
            print(f"{'missing' if _is_ci() else 'skipping tests'}: {line}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    """Skip a test whose fixture needs what this machine does not have."""
    return (yield from _skipped_when_unavailable())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """Skip a test that needs what this machine does not have."""
    return (yield from _skipped_when_unavailable())


def _skipped_when_unavailable() -> Generator[None, object, object]:
    try:
        return (yield)
    except Unavailable as error:
        # In CI a skipped test would hide a fault.
        if _is_ci():
            raise
        pytest.skip(str(error))


def _is_ci() -> bool:
    return os.environ.get("CI", "") not in {"", "0", "false"}
