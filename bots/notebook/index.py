"""A folder of notes as a search index: SQLite FTS5 in memory, ranked by BM25. Access: read-only.

A passage's reference is `<note>#<hash>`: the note's path below the folder, and ten hex digits of SHA-256 over that
path, the headings above the passage and its words. So it is the same after a restart and on another machine, does not
move when other passages or notes change, and changes exactly when the passage does. A passage that a note holds
twice gets `-2`, `-3` … in the note's order.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moot.bots.notebook.errors import NotebookFolderError, NotebookQueryError, one_line
from moot.bots.notebook.folder import Limits, Note, UnusableNote, read, scan
from moot.bots.notebook.passages import Part, split_note

REF_DIGITS: Final = 10
MOST_RESULTS: Final = 50
MOST_WORDS: Final = 100
"""How many different words of a query are looked for; a whole draft is a legal query."""

# No `_`: FTS5 splits words there as well.
WORD: Final = re.compile(r"[^\W_]+")
UNSAFE: Final = re.compile(r"[\s#%\x00-\x1f\x7f]")
# Scripts that write no blanks: each character is a word of its own, else only whole sentences would match.
UNSPACED: Final = re.compile(
    r"([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])"
)

COMMON_WORDS: Final = (
    "a about all also an and any are as at be been but by can did do does for from had has have he her "
    "his how i if in into is it its like more no not of on or our she should so some such than that the "
    "their them then there these they this those to was we were what when where which who why will with "
    "would you your "
)
COMMON: Final = frozenset(COMMON_WORDS.split())
"""Words that say nothing about a topic; they are looked for only where a query holds no other word."""

SCHEMA: Final = """
CREATE TABLE passages (id INTEGER PRIMARY KEY, note TEXT NOT NULL, ref TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX passages_by_note ON passages (note);
CREATE VIRTUAL TABLE words USING fts5 (heading, text, tokenize = 'porter unicode61 remove_diacritics 2');
"""
SEARCH: Final = """
SELECT passages.ref, passages.note, passages.text, bm25(words) AS badness
FROM words JOIN passages ON passages.id = words.rowid
WHERE words MATCH ? ORDER BY badness, passages.ref LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found.

    Attributes:
        ref: Its stable reference.
        note: Its note's path below the folder.
        text: The headings above it and its text.
        score: BM25, higher is better; comparable within one answer only.
    """

    ref: str
    note: str
    text: str
    score: float


class NotebookIndex:
    """The searchable notes of one folder; changes on disk are seen at the next question."""

    def __init__(self, folder: Path, limits: Limits | None = None) -> None:
        """Read the folder.

        Raises:
            NotebookFolderError: It is no folder, or cannot be read.
        """
        if not folder.is_dir():
            problem = "it is no folder" if folder.exists() else "there is no such folder"
            raise NotebookFolderError(f"{folder}: {problem}")
        self.folder = folder
        self._limits = limits or Limits()
        self._stamps: dict[str, tuple[int, int, int]] = {}
        self._faults: dict[str, str] = {}
        self._left_out: list[str] = []
        self._database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        try:
            self._database.executescript(SCHEMA)
            self.refresh()
        except BaseException:
            self._database.close()
            raise

    def close(self) -> None:
        """Drop the index; harmless when done."""
        self._database.close()

    @property
    def notes(self) -> tuple[str, ...]:
        """The names of all notes that can be searched, sorted."""
        return tuple(sorted(name for name in self._stamps if name not in self._faults))

    @property
    def passage_count(self) -> int:
        """How many passages can be found."""
        with closing(self._database.execute("SELECT count(*) FROM passages")) as rows:
            return int(rows.fetchone()[0])

    @property
    def notices(self) -> tuple[str, ...]:
        """What was left out and why, one line each."""
        return tuple(sorted([*self._left_out, *self._faults.values()]))

    def refresh(self) -> int:
        """Take in what changed on disk since the last time.

        Returns:
            How many notes were read or dropped.

        Raises:
            NotebookFolderError: The folder cannot be read.
        """
        found, self._left_out = scan(self.folder, self._limits)
        notes = {note.name: note for note in found}
        gone = [name for name in self._stamps if name not in notes]
        changed = [note for note in found if self._stamps.get(note.name) != note.stamp]
        if gone or changed:
            self._database.execute("BEGIN")
            try:
                for name in gone:
                    self._drop(name)
                for note in changed:
                    self._take(note)
            finally:
                # Nothing in it can be half done: a note that fails is a notice.
                self._database.execute("COMMIT")
        return len(gone) + len(changed)

    def query(self, text: str, limit: int = 5) -> tuple[Hit, ...]:
        """Find the passages that share words with a text, best first.

        Any text is a legal query: its words are looked for, nothing in it is syntax. One word is enough to be
        found; more and rarer words rank higher.

        Raises:
            NotebookQueryError: The text holds no word, or `limit` is not in 1 … 50.
            NotebookFolderError: The folder cannot be read any more.
        """
        if not 1 <= limit <= MOST_RESULTS:
            raise NotebookQueryError(f"limit must be in 1 … {MOST_RESULTS}, not {limit}")
        words = list(dict.fromkeys(WORD.findall(_searchable(text).casefold())))
        words = ([word for word in words if word not in COMMON] or words)[:MOST_WORDS]
        if not words:
            raise NotebookQueryError("the query is empty: it holds no word to look for")
        self.refresh()
        wanted = " OR ".join(f'"{word}"' for word in words)
        with closing(self._database.execute(SEARCH, (wanted, limit))) as rows:
            return tuple(Hit(ref, note, body, round(-badness, 4)) for ref, note, body, badness in rows)

    def _take(self, note: Note) -> None:
        self._drop(note.name)
        self._stamps[note.name] = note.stamp
        try:
            parts = split_note(note.suffix, read(note, self._limits))
        except UnusableNote as problem:
            self._faults[note.name] = str(problem)
        except ValueError as problem:
            self._faults[note.name] = one_line(f"{note.name}: left out, it is not valid JSON ({problem})")
        else:
            title = note.name.removesuffix(note.suffix)
            for ref, part in references(note.name, parts):
                shown = f"{part.heading}\n{part.text}" if part.heading else part.text
                row = self._database.execute(
                    "INSERT INTO passages (note, ref, text) VALUES (?, ?, ?)", (note.name, ref, shown)
                )
                searched = (row.lastrowid, _searchable(f"{title} {part.heading}"), _searchable(part.text))
                self._database.execute("INSERT INTO words (rowid, heading, text) VALUES (?, ?, ?)", searched)

    def _drop(self, name: str) -> None:
        if self._stamps.pop(name, None) is not None:
            inside = "SELECT id FROM passages WHERE note = ?"
            self._database.execute(f"DELETE FROM words WHERE rowid IN ({inside})", (name,))
            self._database.execute("DELETE FROM passages WHERE note = ?", (name,))
        self._faults.pop(name, None)


def references(note: str, parts: list[Part]) -> Iterator[tuple[str, Part]]:
    """Give each passage of a note its stable reference, as told at the top of this module."""
    path = UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), note)
    seen: dict[str, int] = {}
    for part in parts:
        content = "\0".join((note, _plain(part.heading), _plain(part.text)))
        digest = hashlib.sha256(content.encode()).hexdigest()[:REF_DIGITS]
        seen[digest] = count = seen.get(digest, 0) + 1
        yield f"{path}#{digest}" + (f"-{count}" if count > 1 else ""), part


def _plain(text: str) -> str:
    # Line breaks of another system, or a paragraph filled anew, leave a passage what it was.
    return " ".join(unicodedata.normalize("NFC", text).split())


def _searchable(text: str) -> str:
    clean = text.replace("\0", " ").encode("utf-8", "replace").decode()
    return UNSPACED.sub(r" \1 ", unicodedata.normalize("NFKC", clean))
