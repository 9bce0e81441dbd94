"""What every test may use: a test that is a coroutine runs in an event loop of its own."""

from __future__ import annotations

import asyncio
import inspect

import pytest
from hypothesis import HealthCheck, settings

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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests of a file to one worker, and all that start a browser to one: two wait for each other."""
    groups: dict[str, pytest.MarkDecorator] = {}
    for item in items:
        file = item.nodeid.partition("::")[0]
        if file not in groups:
            groups[file] = pytest.mark.xdist_group("browser" if _has_browser(item) else file)
        item.add_marker(groups[file])


def _has_browser(item: pytest.Item) -> bool:
    names = vars(getattr(item, "module", item)).values()
    return any(getattr(one, "__module__", "") == "tests.doubles.browser" for one in names)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine to its end and close its loop; those that are marked for anyio are run by it."""
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test) or pyfuncitem.get_closest_marker("anyio"):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(test(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
