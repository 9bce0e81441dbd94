"""The project's own promises: pinned and hashed dependencies, and a tree that stands alone."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements-build.lock", "requirements.lock", "requirements-dev.lock")
CHECK_DOCS = ROOT / "tests" / "check_docs.py"


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements(lock: str) -> dict[str, str]:
    """Map each pinned name of a lock file to its whole entry."""
    text = (ROOT / lock).read_text()
    entries = re.findall(
        r"^\S.*(?:\n[ \t]+.*)*", re.sub(r"^#.*$", "", text, flags=re.MULTILINE), re.MULTILINE
    )
    return {canonical(re.split(r"[=<>~!;\[ @]", entry, maxsplit=1)[0]): entry for entry in entries}


def declared(lists: list[list[str]]) -> set[str]:
    return {canonical(re.split(r"[=<>~!;\[ ]", line, maxsplit=1)[0]) for lines in lists for line in lines}


def tracked_files() -> Iterator[Path]:
    """Yield what git tracks or would track; outside a clone, every file that no tool wrote."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listing.returncode == 0:
        paths = [ROOT / name for name in listing.stdout.decode().split("\0") if name]
    else:
        paths = [
            path for path in ROOT.rglob("*") if not {".venv", ".git"} & set(path.relative_to(ROOT).parts)
        ]
    yield from (path for path in paths if path.is_file())


def project() -> dict[str, list[str]]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return {
        "build": table["build-system"]["requires"],
        "runtime": table["project"]["dependencies"],
        "dev": table["project"]["optional-dependencies"]["dev"],
    }


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_address_and_no_index(lock: str) -> None:
    text = (ROOT / lock).read_text()

    assert "://" not in text
    assert not re.search(r"^\s*--(?!hash=)", text, re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_of_a_lock_is_pinned_and_hashed(lock: str) -> None:
    entries = requirements(lock)

    assert entries
    for name, entry in entries.items():
        assert re.match(r"[\w.-]+==[\w.!+-]+( ; .+)? \\\n", entry), name
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry), name


def test_every_declared_dependency_is_in_its_lock() -> None:
    listed = project()

    assert declared([listed["build"]]) <= requirements("requirements-build.lock").keys()
    assert declared([listed["runtime"]]) <= requirements("requirements.lock").keys()
    assert declared([listed["runtime"], listed["dev"]]) <= requirements("requirements-dev.lock").keys()


def test_the_locks_agree_on_every_version() -> None:
    whole = requirements("requirements-dev.lock")

    for lock in LOCKS:
        for name, entry in requirements(lock).items():
            assert entry.split()[0] == whole[name].split()[0], f"{name} in {lock}"


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_the_lock_has_what_packages_ask_for_on_another_python(python: str) -> None:
    locked = requirements("requirements-dev.lock")
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    left_out = set(pyproject["tool"]["uv"]["exclude-dependencies"])
    there = {"python_version": python, "python_full_version": f"{python}.0", "extra": ""}
    missing = {
        f"{asked.name}, for {name}"
        for name in locked
        for asked in map(Requirement, asked_by(name))
        if (asked.marker is None or asked.marker.evaluate(there))
        and canonical(asked.name) not in locked.keys() | left_out
    }

    assert not missing


def asked_by(name: str) -> list[str]:
    """Return what an installed package asks for; nothing for one that only another system needs."""
    try:
        return metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []


def test_no_file_names_a_folder_beside_the_repository() -> None:
    beside = re.compile(rb"\.\./" + rb"shared\b|/work/" + rb"shared\b")

    naming = [path.relative_to(ROOT) for path in tracked_files() if beside.search(path.read_bytes())]

    assert naming == []


def test_continuous_integration_is_executable() -> None:
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111 == 0o111


def check_docs(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, CHECK_DOCS, root], capture_output=True, text=True, check=False)


def test_links_to_files_headings_and_other_hosts_pass(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# A title, `coded`\n## Twice\n## Twice\n")
    (tmp_path / "page.md").write_text(
        "# Here\n"
        "[a](other.md) ![b](other.md#a-title-coded) [c](other.md#twice-1) [d](#here) [e](https://example.net/x)\n"
        "`[not](a-link.md)`\n"
        "```\n[nor](this.md)\n```\n"
        "[f]: <other.md#twice>\n"
    )

    result = check_docs(tmp_path)

    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[a](gone.md)", "no such file"),
        ("[a](#gone)", "no heading"),
        ("[a](page.md#gone)", "no heading"),
        ("[a](../outside.md)", "out of the repository"),
        ("[a](/page.md)", "absolute path"),
        ("[a]()", "empty link"),
        ("[a]: gone.md", "no such file"),
        ("[[a](page.md)](gone.md 'titled')", "no such file"),
        ('<img alt="a > b" src="gone.png">', "no such file"),
        ('  <source media="(min-width: 9px)" srcset="gone.png">', "no such file"),
    ],
)
def test_a_broken_link_is_reported_with_its_file_and_line(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "page.md").write_text(f"# Here\n\n{text}\n")

    result = check_docs(tmp_path)

    assert result.returncode == 1
    assert re.fullmatch(rf"page\.md:3: .*{reason}.*\n", result.stdout)


def test_the_first_page_is_short() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()

    assert len(lines) <= 180
