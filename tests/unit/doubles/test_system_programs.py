"""System programs of tests: installed once by one process, otherwise a skip that names the command, a failure in CI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parents[3]

APT = """\
#!/bin/sh
# Fails when two of it run at once, as apt-get does.
mkdir "$HERE/apt-is-running" || { echo "E: Could not get lock" >&2; exit 100; }
sleep 0.3
for word in "$@"; do last=$word; done
if [ "$last" = "moot-test-package" ]; then
    echo x >> "$HERE/installs"
    printf '#!/bin/sh\\n' > "$HERE/moot-test-program"; chmod +x "$HERE/moot-test-program"
fi
rmdir "$HERE/apt-is-running"
"""

INSTALL = """\
import os
from pathlib import Path
from tests import system_programs as it
os.geteuid = lambda: {user}
it.PROGRAMS = {{"it": it.Program(("moot-test-program",), "moot-test-package", "tests of this file")}}
it.LOCK_DIRECTORY = Path(os.environ["HERE"])
print(*it.install_missing(), sep="\\n")
"""


def _start(place: Path, user: int = 0) -> subprocess.Popen[str]:
    environment = {**os.environ, "HERE": str(place), "PATH": f"{place}:{os.environ['PATH']}"}
    command = [sys.executable, "-c", INSTALL.format(user=user)]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "apt-get").write_text(APT)
    (tmp_path / "apt-get").chmod(0o755)
    return tmp_path


def test_runs_that_start_at_once_install_a_program_once(place: Path) -> None:
    runs = [_start(place) for _ in range(4)]
    assert [run.communicate()[0].strip() for run in runs] == [""] * 4
    assert (place / "installs").read_text() == "x\n"


def test_an_ordinary_user_is_told_the_command_and_installs_nothing(place: Path) -> None:
    told = _start(place, user=1000).communicate()[0]
    assert "moot-test-program is not installed" in told
    assert "sudo apt-get install moot-test-package" in told
    assert not (place / "installs").exists()


def test_a_failing_package_manager_is_named_with_its_last_line(place: Path) -> None:
    (place / "apt-get").write_text("#!/bin/sh\necho 'E: no network' >&2\nexit 100\n")
    told = _start(place).communicate()[0]
    assert "apt-get update failed: E: no network" in told


TESTS = """\
import pytest
from tests import system_programs as it
it.PROGRAMS = {"it": it.Program(("moot-test-program",), "moot-test-package", "tests of this file")}

@pytest.fixture(scope="module")
def program():
    yield it.require("it")

def test_fixture(program): ...
def test_fixture_again(program): ...
def test_call(): it.require("it")
async def test_coroutine(): it.require("it")
"""


@pytest.mark.parametrize(("ci", "outcome"), [("", "4 skipped"), ("true", "2 failed, 2 errors")])
def test_a_missing_program_skips_its_tests_and_fails_them_in_ci(
    tmp_path: Path, ci: str, outcome: str
) -> None:
    (tmp_path / "test_it.py").write_text(dedent(TESTS))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rs",
        "-p",
        "no:cacheprovider",
        str(tmp_path / "test_it.py"),
    ]
    command += ["-p", "tests.conftest", "--rootdir", str(tmp_path), "-W", "ignore", "-o", "addopts="]
    environment = {**os.environ, "CI": ci, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert outcome in done.stdout.splitlines()[-1], done.stdout + done.stderr
    assert "sudo apt-get install moot-test-package" in done.stdout
