"""What every test may use: a test that is a coroutine runs in an event loop of its own."""

from __future__ import annotations

import asyncio
import inspect
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

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
