"""The notes in a folder: which files count, how they are read, and what is left out and why.

Access: read-only. Nothing outside the folder is ever opened: links that lead out, hidden files and special files are
left out. What looks like a note and cannot be used becomes a notice, one line for a person.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Final

from moot.bots.notebook.errors import NotebookFolderError, one_line

SUFFIXES: Final = (".json", ".markdown", ".md", ".text", ".txt")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a notebook may hold; what exceeds it is left out with a notice.

    Attributes:
        note_bytes: Largest note.
        notes: Most notes.
        total_bytes: Most bytes in all notes together.
    """

    note_bytes: int = 2_000_000
    notes: int = 5_000
    total_bytes: int = 100_000_000


@dataclass(frozen=True, slots=True)
class Note:
    """A file that may be a note.

    Attributes:
        name: Its path below the folder with `/`, in NFC, so that it is the same on every machine.
        path: Where it is read; a link is already followed.
        stamp: Changes whenever the file does: time of change in ns, size, inode.
    """

    name: str
    path: str
    stamp: tuple[int, int, int]

    @property
    def suffix(self) -> str:
        """The kind of note: its extension in small letters, with the dot."""
        return os.path.splitext(self.name)[1].lower()  # noqa: PTH122 — a name, not a path of this system


class UnusableNote(Exception):
    """A note cannot be used; its text is the notice."""


def scan(folder: Path, limits: Limits) -> tuple[list[Note], list[str]]:
    """List the notes of a folder and its subfolders, sorted by name, and the notices about what was left out.

    Raises:
        NotebookFolderError: The folder cannot be read.
    """
    root = os.path.realpath(folder)
    notes: dict[str, Note] = {}
    notices: list[str] = []
    total = 0
    try:
        entries = sorted(_files(root, notices), key=lambda found: found[0])
    except OSError as error:
        raise NotebookFolderError(f"{folder}: the folder cannot be read ({error.strerror})") from error
    for name, path in entries:
        try:
            note = _note(root, name, path, limits)
        except UnusableNote as problem:
            notices.append(str(problem))
            continue
        if note.name in notes:
            notices.append(one_line(f"{name}: left out, another note has the same name"))
        elif len(notes) >= limits.notes:
            notices.append(f"only the first {limits.notes:,} notes are served")
            break
        elif total + note.stamp[1] > limits.total_bytes:
            notices.append(f"only the first {limits.total_bytes:,} bytes of notes are served")
            break
        else:
            notes[note.name] = note
            total += note.stamp[1]
    return list(notes.values()), notices


def read(note: Note, limits: Limits) -> str:
    """Read a note.

    Raises:
        UnusableNote: It vanished, is too large, or is not UTF-8.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with os.fdopen(os.open(note.path, flags), "rb") as file:
            if not S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UnusableNote(one_line(f"{note.name}: left out, it is no regular file"))
            content = file.read(limits.note_bytes + 1)
    except OSError as error:
        raise UnusableNote(
            one_line(f"{note.name}: left out, it cannot be read ({error.strerror})")
        ) from error
    if len(content) > limits.note_bytes:
        raise UnusableNote(_too_large(note.name, limits))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = f"byte {error.start + 1}"
        raise UnusableNote(one_line(f"{note.name}: left out, it is not UTF-8 text ({at})")) from error


def _files(root: str, notices: list[str]) -> Iterator[tuple[str, str]]:
    """Yield (name, path) of every file with a note's ending, in no order; the root must be readable."""
    folders = [""]
    while folders:
        below = folders.pop()
        try:
            with os.scandir(os.path.join(root, below)) as found:  # noqa: PTH118 — thousands of Paths are slow
                entries = list(found)
        except OSError as error:
            if not below:
                raise
            notices.append(one_line(f"{below}: left out, the folder cannot be read ({error.strerror})"))
            continue
        for entry in entries:
            name = f"{below}/{entry.name}" if below else entry.name
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(name)
            elif _is_link_to_folder(entry):
                notices.append(one_line(f"{name}: left out, links to folders are not followed"))
            elif entry.name.lower().endswith(SUFFIXES):
                yield name, entry.path


def _is_link_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def _note(root: str, name: str, path: str, limits: Limits) -> Note:
    if any("\ud800" <= character <= "\udfff" for character in name):
        raise UnusableNote(
            one_line(f"{name.encode('utf-8', 'replace').decode()}: left out, its name is not UTF-8")
        )
    # Asking for the real path of every note would cost more than all the rest.
    real = _target(root, name, path) if os.path.islink(path) else path  # noqa: PTH114 — as below
    try:
        status = os.lstat(real)
    except OSError as error:
        raise UnusableNote(one_line(f"{name}: left out, it cannot be read ({error.strerror})")) from error
    if not S_ISREG(status.st_mode):
        raise UnusableNote(one_line(f"{name}: left out, it is no regular file"))
    if status.st_size > limits.note_bytes:
        raise UnusableNote(_too_large(name, limits))
    stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
    return Note(unicodedata.normalize("NFC", name.replace(os.sep, "/")), real, stamp)


def _target(root: str, name: str, path: str) -> str:
    """Follow a link to a file; only one that stays among the notes is followed."""
    real = os.path.realpath(path)
    parts = Path(os.path.relpath(real, root)).parts
    if parts[:1] == (os.pardir,):
        raise UnusableNote(one_line(f"{name}: left out, it is a link out of the folder"))
    if any(part.startswith(".") for part in parts):
        raise UnusableNote(one_line(f"{name}: left out, it is a link to a hidden file"))
    return real


def _too_large(name: str, limits: Limits) -> str:
    return one_line(f"{name}: left out, it is larger than {limits.note_bytes:,} bytes")
