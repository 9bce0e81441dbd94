"""The studio: where a notebook writes reports. Never inside the notebook, never over an older one. Access: write."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path
from typing import Final

from moot.bots.notebook.errors import NotebookFolderError, StudioUnavailable, one_line

TITLE_CHARS: Final = 200
TEXT_CHARS: Final = 2_000_000
NAME_CHARS: Final = 60
MOST_OF_ONE_NAME: Final = 10_000


class Studio:
    """Writes reports as Markdown files into one folder beside a notebook.

    Reports are no evidence: the notebook must not find its own readers' conclusions again.
    """

    def __init__(self, folder: Path, notebook: Path) -> None:
        """Take the folder; it is made when the first report is written.

        Raises:
            NotebookFolderError: It lies inside the notebook, or is no folder.
        """
        self.folder = folder
        self._notebook = notebook
        if folder.exists() and not folder.is_dir():
            raise NotebookFolderError(f"{folder}: the studio is no folder")
        if self._is_inside():
            raise NotebookFolderError(f"{folder}: the studio lies inside the notebook; name a folder outside")

    def create(self, title: str, text: str) -> str:
        """Write a report and return its file name.

        The name is made of the title's letters and digits; where it is taken, a number follows.

        Raises:
            StudioUnavailable: The title or text is empty or too long, or the file cannot be written.
        """
        title = " ".join(_encodable(title).split())
        if not title or len(title) > TITLE_CHARS:
            raise StudioUnavailable(f"a report's title has 1 to {TITLE_CHARS} characters, not {len(title)}")
        if not text.strip() or len(text) > TEXT_CHARS:
            raise StudioUnavailable(
                f"a report's text has 1 to {TEXT_CHARS:,} characters, not {len(text.strip())}"
            )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if self._is_inside():
                raise StudioUnavailable("the studio was moved inside the notebook; nothing was written")
            return self._write(_file_stem(title), f"# {title}\n\n{_encodable(text).strip()}\n".encode())
        except OSError as error:
            raise StudioUnavailable(f"the report cannot be written ({error.strerror})") from error

    def _is_inside(self) -> bool:
        return self.folder.resolve().is_relative_to(self._notebook.resolve())

    def _write(self, stem: str, content: bytes) -> str:
        for number in range(1, MOST_OF_ONE_NAME + 1):
            path = self.folder / (f"{stem}-{number}.md" if number > 1 else f"{stem}.md")
            try:
                # "x" neither overwrites nor follows a link that somebody put there.
                with path.open("xb") as file:
                    try:
                        file.write(content)
                        file.flush()
                        os.fsync(file.fileno())
                    except BaseException:
                        path.unlink(missing_ok=True)
                        raise
            except FileExistsError:
                continue
            return path.name
        raise StudioUnavailable(f"{MOST_OF_ONE_NAME:,} reports are called {one_line(stem)} already")


def _encodable(text: str) -> str:
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def _file_stem(title: str) -> str:
    """Make a file name of a title: small letters and digits of any script, joined by hyphens."""
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", title).casefold())
    # A file name has at most 255 bytes, and a letter takes up to four.
    stem = "-".join(words)[:NAME_CHARS].rstrip("-")
    if not stem:
        return "report"
    return f"report-{stem}" if stem in RESERVED else stem


RESERVED: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
)
"""Names that some systems keep for devices."""
