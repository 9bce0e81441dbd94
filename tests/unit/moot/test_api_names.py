"""What `import moot` gives: every name is there, and nothing is imported before it is needed."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import moot

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", moot.__all__)
def test_every_public_name_is_there_and_says_what_it_is(name):
    found = getattr(moot, name)
    assert name == "__version__" or found.__doc__
    assert name in dir(moot)


def test_every_public_name_has_a_home_and_no_module_of_ours_hides_it():
    assert moot.__all__ == sorted(moot.__all__)
    assert {*moot._HOMES, "__version__"} == {*moot.__all__}
    packages = {path.stem for path in (ROOT / "moot").iterdir()}
    for name in packages & {*moot.__all__}:
        import_module(f"moot.{name}")
        assert not isinstance(getattr(moot, name), ModuleType)


def test_a_name_that_is_not_public_is_no_attribute():
    with pytest.raises(AttributeError, match="has no attribute 'debat'"):
        _ = moot.debat


def test_importing_moot_imports_nothing_but_itself():
    look = """
import sys
before = set(sys.modules)
import moot
dir(moot)
print(*sorted({name.split(".")[0] for name in set(sys.modules) - before} - sys.stdlib_module_names))
print(*sorted(name for name in sys.modules if name.startswith("moot.")))
"""
    done = subprocess.run(
        [sys.executable, "-c", look], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "moot\n\n"


def test_every_error_of_a_users_making_is_a_moot_error():
    from moot.bots.tools.errors import ToolError
    from moot.channels.errors import ChannelError
    from moot.cli.errors import Unusable
    from moot.memory.errors import MemoryStoreError
    from moot.protocols.kernel.errors import Malformed
    from moot.simulation.scene import SceneError

    for kind in (
        moot.BadInput, moot.ConfigError, moot.LogError, ToolError, ChannelError, Unusable, MemoryStoreError, Malformed,
        SceneError,
    ):  # fmt: skip
        assert issubclass(kind, moot.MootError), kind


def test_every_public_name_stands_on_the_page_about_them():
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    twins = {f"a{name}" for name in ("arena", "debate", "panel", "scene", "simulate")}
    lacking = [
        name for name in moot.__all__ if name not in twins and not re.search(rf"`(moot\.)?{name}\b", page)
    ]
    assert not lacking
