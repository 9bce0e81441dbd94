"""Files whose content returned to an older version are listed, through renames, unless a commit means it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests import reverted_files


class Repository:
    """A small repository of git."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
        done = subprocess.run(
            ["git", *who, *words], cwd=self.root, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, message: str, files: dict[str, str | None]) -> str:
        for name, text in files.items():
            if text is None:
                (self.root / name).unlink()
            else:
                (self.root / name).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def returned(self, since: str) -> list[reverted_files.Return]:
        commits = reverted_files.commits(self.root)
        return list(reverted_files.returned(commits, reverted_files.span(self.root, since)))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


LONG = "".join(f"line {n}\n" for n in range(40))


def test_a_landing_over_a_newer_main_is_listed_with_what_it_undid(repository: Repository) -> None:
    first = repository.commit("one", {"a.py": "1", "b.py": "1"})
    repository.commit("two", {"a.py": "2", "scene.yaml": "new"})
    landing = repository.commit("three", {"a.py": "1", "b.py": "2", "scene.yaml": None})
    found = repository.returned(first)
    assert [(one.path, one.commit, one.is_deleted) for one in found] == [
        ("a.py", landing, False),
        ("scene.yaml", landing, True),
    ]
    assert found[0].older == first
    assert str(found[0]) == f"{landing[:10]}  a.py  back to its version of {first[:10]}  (three)"


def test_a_file_that_returns_after_a_rename_is_listed(repository: Repository) -> None:
    first = repository.commit("one", {"old.py": LONG})
    repository.commit("two", {"old.py": LONG + "more\n"})
    repository.commit("three", {"old.py": None, "new.py": LONG + "more\n"})
    repository.commit("four", {"new.py": LONG})
    (found,) = repository.returned(first)
    assert (found.path, found.older) == ("new.py", first)


def test_a_rename_and_a_return_in_one_commit_are_listed(repository: Repository) -> None:
    first = repository.commit("one", {"old.py": LONG})
    repository.commit("two", {"old.py": LONG + "more\n"})
    repository.commit("three", {"old.py": None, "new.py": LONG})
    (found,) = repository.returned(first)
    assert (found.path, found.older) == ("new.py", first)


def test_a_plain_rename_and_new_content_are_not_listed(repository: Repository) -> None:
    first = repository.commit("one", {"old.py": LONG})
    repository.commit("two", {"old.py": None, "new.py": LONG})
    repository.commit("three", {"new.py": LONG + "more\n"})
    assert repository.returned(first) == []


@pytest.mark.parametrize("line", ["Reverts: {two}", "This reverts commit {two}."])
def test_a_commit_that_says_what_it_reverts_is_not_listed(repository: Repository, line: str) -> None:
    first = repository.commit("one", {"a.py": "1"})
    two = repository.commit("two", {"a.py": "2"})
    repository.commit(f"three\n\n{line.format(two=two)}", {"a.py": "1"})
    assert repository.returned(first) == []


def test_only_commits_after_the_base_are_judged(repository: Repository) -> None:
    repository.commit("one", {"a.py": "1"})
    repository.commit("two", {"a.py": "2"})
    base = repository.commit("three", {"a.py": "1"})
    repository.commit("four", {"a.py": "3"})
    assert repository.returned(base) == []


def test_the_command_prints_lines_or_json_and_exits_with_1(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = repository.commit("one", {"a b.py": "1"})
    repository.commit("two", {"a b.py": "2"})
    monkeypatch.chdir(repository.root)
    assert reverted_files.main([first]) == 0
    assert capsys.readouterr().out == "no file returned to an older version\n"
    repository.commit("three", {"a b.py": "1"})
    assert reverted_files.main([first, "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["files"]
    assert (found["path"], found["older"], found["subject"]) == ("a b.py", first, "three")
    assert reverted_files.main(["no-such-commit"]) == 2


def test_a_test_that_is_lost_from_a_file_that_others_changed_is_listed(repository: Repository) -> None:
    first = repository.commit("one", {"test_a.py": "def test_one(): ...\n"})
    repository.commit("two", {"test_a.py": "def test_one(): ...\n\ndef test_rule(): ...\n"})
    repository.commit(
        "three", {"test_a.py": "def test_one(): ...\n\ndef test_rule(): ...\n\ndef test_three(): ...\n"}
    )
    landing = repository.commit("four", {"test_a.py": "def test_one(): ...\n\ndef test_three(): ...\n"})
    since = reverted_files.span(repository.root, first)
    assert repository.returned(first) == []
    (lost,) = reverted_files.lost_tests(repository.root, since)
    assert (lost.test, lost.commit) == ("test_rule", landing)


def test_a_test_that_moved_is_not_listed(repository: Repository) -> None:
    first = repository.commit("one", {"a.txt": "1"})
    repository.commit("two", {"test_a.py": "def test_rule(): ...\n"})
    repository.commit("three", {"test_a.py": None, "test_b.py": "def test_rule(): ...\n"})
    assert list(reverted_files.lost_tests(repository.root, reverted_files.span(repository.root, first))) == []


def test_a_shallow_clone_is_refused(
    repository: Repository,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    repository.commit("one", {"a.py": "1"})
    repository.commit("two", {"a.py": "2"})
    repository.git("clone", "-q", "--depth", "1", f"file://{repository.root}", str(tmp_path / "shallow"))
    monkeypatch.chdir(tmp_path / "shallow")
    assert reverted_files.main([]) == 2
    assert "shallow" in capsys.readouterr().err
