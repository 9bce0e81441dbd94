"""Where a notebook's server is: a command to start, an address, or a folder for the bundled server."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from moot.bots.notebook.errors import NotebookUnavailable, one_line
from moot.channels.network import is_loopback

PASSED_ON: Final = ("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ")
"""Environment variables that a started server gets besides those of the SDK: HOME, LOGNAME, PATH, SHELL, TERM, USER."""


@dataclass(frozen=True, slots=True)
class Command:
    """A server that is started as a process and spoken to over its standard input and output.

    It gets a small environment: the society's keys and tokens are not passed on.

    Attributes:
        argv: Program and arguments.
        env: Further environment variables, such as the server's own key.
        cwd: Working directory; None: ours.
    """

    argv: tuple[str, ...] = field(repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: Path | None = None

    def __post_init__(self) -> None:
        """Refuse an empty command."""
        if not self.argv:
            raise NotebookUnavailable("a notebook's server needs a program to start")

    @property
    def label(self) -> str:
        """How errors call it: the program alone, since arguments may hold a key."""
        return f"notebook server {one_line(Path(self.argv[0]).name, 80)}"


@dataclass(frozen=True, slots=True)
class Address:
    """A server that runs already and speaks streamable HTTP.

    Attributes:
        url: Its address, `http://` or `https://`.
        headers: Further request headers, such as an authorization.
    """

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Refuse what is no address."""
        try:
            parts = urlsplit(self.url)
            is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_usable = False
        if not is_usable:
            raise NotebookUnavailable("a notebook's address starts with http:// or https:// and names a host")

    @property
    def label(self) -> str:
        """How errors call it: without user, password and query, which may hold a key."""
        parts = urlsplit(self.url)
        return one_line(f"notebook {parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}", 120)

    @property
    def is_here(self) -> bool:
        """Whether it is on this machine, where no proxy is asked."""
        return is_loopback(urlsplit(self.url).hostname)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of notes; the bundled server is started for it.

    Attributes:
        path: The folder.
        studio: Where reports go; None: beside the folder.
        has_studio: Whether reports can be written at all.
    """

    path: Path
    studio: Path | None = None
    has_studio: bool = True

    @property
    def label(self) -> str:
        """How errors call it."""
        return f"notebook {one_line(self.path.name or str(self.path), 80)}"

    def command(self) -> Command:
        """Return the command that serves it."""
        options = [] if self.has_studio else ["--no-studio"]
        if self.studio is not None and self.has_studio:
            options += ["--studio", str(self.studio.absolute())]
        # -P and PYTHONPATH: our own package is found, and nothing that lies in the working directory.
        argv = (
            sys.executable,
            "-P",
            "-m",
            "moot.bots.notebook.server",
            str(self.path.absolute()),
            *options,
        )
        return Command(argv, env={"PYTHONPATH": str(Path(__file__).parents[3]), "PYTHONUTF8": "1"})


Reach = Command | Address | Folder


def reach_of(text: str) -> Reach:
    """Read what a configuration names: an address, a folder that exists, or else a command line.

    Raises:
        NotebookUnavailable: It is none of them.
    """
    text = text.strip()
    if "://" in text.split(" ", 1)[0]:
        return Address(text)
    if text and Path(text).expanduser().is_dir():
        return Folder(Path(text).expanduser())
    try:
        argv = tuple(shlex.split(text))
    except ValueError as error:
        raise NotebookUnavailable(f"the notebook's command line cannot be read ({error})") from error
    if not argv:
        raise NotebookUnavailable(
            "the notebook is named by a folder, an address or a command line, not by nothing"
        )
    if len(argv) == 1 and os.sep in text and not Path(text).exists():
        raise NotebookUnavailable(f"{text}: there is no such folder")
    return Command(argv)
