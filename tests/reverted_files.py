"""List files whose content returned to an older version, and tests that were lost: signs of a landing that undid work.

Follows renames. A file that is deleted soon after it was added has returned to an older version, too: to none. A commit
that means it says so in a line of its message: `Reverts: COMMIT`, or "This reverts commit ..." as git writes it.

Usage: reverted_files.py [SINCE] [--json]; without SINCE the commits since the newest one over six hours old. The exit
code is 1 if a file is listed.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

NONE: Final = "0" * 40
"""Blob of a file that is not there."""
SOON: Final = 50
"""Commits after its addition within which a deleted file is listed."""
MEANT: Final = re.compile(r"^(?:Reverts: \S+|This reverts commit \S+)", re.MULTILINE)
TEST: Final = re.compile(r"\bdef (test_\w+)")
COMMIT: Final = "\x01"
END: Final = "\x02"


class Change(NamedTuple):
    """One changed file of a commit."""

    path: str
    before: str
    blob: str


class Commit(NamedTuple):
    """A commit of the first parents' line, oldest first."""

    name: str
    message: str
    changes: tuple[Change, ...]


class Return(NamedTuple):
    """A file whose content returned to an older version.

    Attributes:
        commit: The commit that did it.
        subject: First line of its message.
        path: The file.
        older: The commit whose version it has again.
        is_deleted: Whether that version is none.
    """

    commit: str
    subject: str
    path: str
    older: str
    is_deleted: bool

    def __str__(self) -> str:
        if self.is_deleted:
            what = f"deleted again, added by {self.older[:10]}"
        else:
            what = f"back to its version of {self.older[:10]}"
        return f"{self.commit[:10]}  {self.path}  {what}  ({self.subject})"


class LostTest(NamedTuple):
    """A test that was removed soon after it was added.

    Attributes:
        commit: The commit that removed it.
        subject: First line of its message.
        test: Name of the test.
        added: The commit that added it.
    """

    commit: str
    subject: str
    test: str
    added: str

    def __str__(self) -> str:
        return f"{self.commit[:10]}  {self.test}  removed, added by {self.added[:10]}  ({self.subject})"


@dataclass
class History:
    """Versions of one file, through its renames: the commit by blob, and the newest blob."""

    commits: dict[str, str] = field(default_factory=dict)
    added: int = 0
    newest: str = NONE


def commits(root: Path) -> Iterator[Commit]:
    """Yield the commits of the checked-out branch, oldest first."""
    words = ["--first-parent", "-m", "--raw", "-M", "--no-abbrev", "-z", "--reverse"]
    done = subprocess.run(
        ["git", "log", *words, f"--format={COMMIT}%H%x00%B{END}"], cwd=root, capture_output=True, check=True
    )
    for part in done.stdout.decode("utf-8", "replace").split(COMMIT)[1:]:
        name, _, rest = part.partition("\0")
        message, _, raw = rest.partition(END)
        yield Commit(name, message.strip(), tuple(_changes(raw)))


def _changes(raw: str) -> Iterator[Change]:
    words = iter(raw.strip("\0\n").split("\0"))
    for word in words:
        *_, blob, status = word.lstrip("\n").split()
        before = next(words)
        path = next(words) if status[0] in "RC" else before
        yield Change(path, before, blob)


def returned(history: Iterator[Commit], since: frozenset[str]) -> Iterator[Return]:
    """Yield the files that commits of `since` brought back to an older version."""
    files: dict[str, History] = {}
    for n, commit in enumerate(history):
        is_listed = commit.name in since and not MEANT.search(commit.message)
        subject = commit.message.partition("\n")[0]
        for change in commit.changes:
            known = files.setdefault(change.path, History(added=n))
            if change.before != change.path and change.before in files:
                known = files[change.path] = _merged(files[change.before], known)
            blob, was = change.blob, known.newest
            if is_listed and blob != was:
                if blob != NONE and blob in known.commits:
                    yield Return(commit.name, subject, change.path, known.commits[blob], False)
                elif blob == NONE and n - known.added <= SOON and known.commits:
                    yield Return(commit.name, subject, change.path, next(iter(known.commits.values())), True)
            if blob == NONE:
                known.newest = NONE
                continue
            if was == NONE and not known.commits:
                known.added = n
            known.commits.setdefault(blob, commit.name)
            known.newest = blob


def lost_tests(root: Path, since: frozenset[str]) -> Iterator[LostTest]:
    """Yield the tests that commits of `since` removed soon after they were added, and that are nowhere now.

    A file that other commits changed in between does not return as a whole; what it lost shows in its tests.
    """
    if not since:
        return
    kept = set(
        TEST.findall(_git(root, "grep", "-hE", r"def test_\w+", "HEAD", "--", "*.py", may_be_empty=True))
    )
    words = ["--first-parent", "-m", "--reverse", "-p", "-U0", f"--format={COMMIT}%H%x00%B{END}"]
    log = _git(root, "log", *words, f"-n{len(since) + SOON}", "--", "*.py")
    added: dict[str, tuple[int, str]] = {}
    for n, part in enumerate(log.split(COMMIT)[1:]):
        name, _, rest = part.partition("\0")
        message, _, patch = rest.partition(END)
        lines = patch.splitlines()
        gained = {test for line in lines if line.startswith("+") for test in TEST.findall(line)}
        removed = {test for line in lines if line.startswith("-") for test in TEST.findall(line)} - gained
        if name in since and not MEANT.search(message):
            for test in sorted(removed - kept):
                if test in added and n - added[test][0] <= SOON:
                    yield LostTest(name, message.partition("\n")[0], test, added[test][1])
        for test in gained:
            added.setdefault(test, (n, name))


def _merged(old: History, new: History) -> History:
    """Return the history of a file that was renamed over another one."""
    return History({**new.commits, **old.commits}, old.added, old.newest)


def span(root: Path, since: str | None) -> frozenset[str]:
    """Return the commits after one; by default after the newest one that is over six hours old."""
    if since is None:
        since = _git(root, "rev-list", "-1", "--before=6 hours ago", "HEAD").strip()
        if not since:
            return frozenset(_git(root, "rev-list", "--first-parent", "HEAD").split())
    return frozenset(_git(root, "rev-list", "--first-parent", f"{since}..HEAD").split())


def _git(root: Path, *words: str, may_be_empty: bool = False) -> str:
    done = subprocess.run(
        ["git", *words], cwd=root, capture_output=True, text=True, check=False, errors="replace"
    )
    if done.returncode > (1 if may_be_empty else 0):
        raise subprocess.CalledProcessError(done.returncode, ["git", *words], done.stdout, done.stderr)
    return done.stdout


def main(arguments: list[str]) -> int:
    """Print the files, one a line; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("since", nargs="?", metavar="SINCE", help="commit after which files are looked at")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    options = parser.parse_args(arguments)
    root = Path.cwd()
    try:
        if _git(root, "rev-parse", "--is-shallow-repository").strip() == "true":
            print("the history is shallow: git fetch --unshallow", file=sys.stderr)
            return 2
        since = span(root, options.since)
        found = list(returned(commits(root), since))
        lost = list(lost_tests(root, since))
    except subprocess.CalledProcessError as error:
        told = (
            error.stderr
            if isinstance(error.stderr, str)
            else (error.stderr or b"").decode("utf-8", "replace")
        )
        print(
            f"git {error.cmd[1]} failed: {told.strip().splitlines()[0] if told.strip() else 'no reason'}",
            file=sys.stderr,
        )
        return 2
    if options.json:
        told = {"files": [one._asdict() for one in found], "tests": [one._asdict() for one in lost]}
        print(json.dumps(told, indent=1))
    else:
        lines = [*map(str, found), *map(str, lost)]
        print("\n".join(lines) or "no file returned to an older version")
    return 1 if found or lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
