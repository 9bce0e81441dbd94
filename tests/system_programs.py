"""Find the system programs that some tests need, and install them once.

`tests/conftest.py` calls `install_missing` once, before the workers start. Only root can install, and only with
apt-get. A program that is still missing raises `Unavailable`, which skips the test and names the command that installs
it; in CI the test fails.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

SYSTEM_PATHS: Final = "/usr/sbin:/sbin"
"""Directories with system programs that an ordinary user's PATH may lack."""
LOCK_DIRECTORY: Final = Path("/run")
APT_TIMEOUT_S: Final = 600
"""Maximum wait for another process that holds the package manager's lock, in seconds of wall time."""


class Program(NamedTuple):
    """A program that tests run.

    Attributes:
        commands: Names under which it may be installed.
        package: Debian's package.
        needed_by: What needs it, for people.
    """

    commands: tuple[str, ...]
    package: str
    needed_by: str


PROGRAMS: Final[Mapping[str, Program]] = {
    "nats-server": Program(("nats-server",), "nats-server", "tests of the bus on NATS"),
    "chromium": Program(
        ("chromium", "chromium-browser", "google-chrome"), "chromium", "tests of the web page"
    ),
    "ssh-keygen": Program(("ssh-keygen",), "openssh-client", "tests of signed anchors"),
}


class Unavailable(RuntimeError):
    """Something that a test needs cannot be had on this machine; the message names the command that provides it."""


class MissingProgram(Unavailable):
    """A program that a test needs is not installed.

    Attributes:
        command: The shell command that installs it.
    """

    def __init__(self, program: Program) -> None:
        self.command = f"sudo apt-get install {program.package}"
        super().__init__(f"{program.commands[0]} is not installed ({program.needed_by}): {self.command}")


def find(name: str) -> Path | None:
    """Return the path of a program, None if it is not installed."""
    path = f"{os.environ.get('PATH', os.defpath)}:{SYSTEM_PATHS}"
    found = (shutil.which(command, path=path) for command in PROGRAMS[name].commands)
    return next((Path(one) for one in found if one), None)


def require(name: str) -> Path:
    """Return the path of a program.

    Raises:
        MissingProgram: It is not installed.
    """
    if (found := find(name)) is None:
        raise MissingProgram(PROGRAMS[name])
    return found


def install_missing() -> list[str]:
    """Install what is missing where that is possible, under one lock for all test runs of this machine.

    Returns:
        A line for each program that is missing afterwards: why, and the command that installs it.
    """
    if not _missing():
        return []
    failure = ""
    if (apt := shutil.which("apt-get")) is not None and os.geteuid() == 0:
        with _locked():
            # Another run may have installed it during the wait.
            if packages := [program.package for program in _missing()]:
                failure = _install(apt, packages)
    return [f"{MissingProgram(program)}{failure}" for program in _missing()]


def _missing() -> list[Program]:
    return [program for name, program in PROGRAMS.items() if find(name) is None]


def _install(apt: str, packages: list[str]) -> str:
    """Install packages; return why it failed, "" when it did not."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    wait = f"DPkg::Lock::Timeout={APT_TIMEOUT_S}"
    for words in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        done = subprocess.run(
            [apt, "-o", wait, *words], capture_output=True, text=True, check=False, env=environment
        )
        if done.returncode:
            last = (done.stderr or done.stdout).strip().splitlines()[-1:]
            return f" (apt-get {words[0]} failed: {' '.join(last)})"
    return ""


@contextmanager
def _locked() -> Iterator[None]:
    with (LOCK_DIRECTORY / "moot-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
