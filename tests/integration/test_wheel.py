"""The wheel: one name is installed, and whatever else lies beside a user's script gets in nobody's way."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SCENE = ROOT / "docs" / "tutorial" / "first-debate.yaml"
FOLDERS = ("bots", "channels", "config", "memory", "protocols")


def tracked(folder: str) -> list[str]:
    """List what git tracks below a folder, and what it would."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder]
    found = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in found if (ROOT / name).is_file() or (ROOT / name).is_symlink()]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of what git tracks, as it is now."""
    place = tmp_path_factory.mktemp("wheel")
    source = place / "source"
    for name in tracked("."):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, source / name, follow_symlinks=False)
    tools = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "-q", "--no-deps"]
    subprocess.run([*tools, "--no-build-isolation", "-w", place, source], check=True)
    return next(place.glob("moot-*.whl"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an environment that holds the wheel, and finds the libraries that it asks for in this one."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, with_pip=False)
    site = next(place.glob("lib/python*/site-packages"))
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    # A path file of another directory is not read, so the editable install of this tree stays unknown there.
    (site / "libraries.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return place / "bin" / "python"


def test_the_wheel_holds_one_name_with_everything_in_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"moot"}
    assert "moot/py.typed" in names, "type checkers believe the annotations only where it is"
    for folder in FOLDERS:
        assert {f"moot/{name}" for name in tracked(folder)} <= set(names)


def test_a_scene_runs_beside_a_users_own_modules_of_the_same_names(python: Path, tmp_path: Path) -> None:
    (tmp_path / "config.py").write_text("raise SystemExit('the config of somebody else')\n")
    for folder in ("memory", "bots", "protocols", "channels"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text(f"raise SystemExit('the {folder} of somebody else')\n")
    script = tmp_path / "mine.py"
    script.write_text(
        "import sys, moot\n"
        "assert 'environment' in moot.__file__, moot.__file__\n"
        "from moot.__main__ import main\n"
        f"sys.argv = ['moot', 'scene', {str(SCENE)!r}, '--json']\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run(
        [python, script],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kinds = [json.loads(line)["body"]["type"] for line in done.stdout.splitlines() if line.startswith("{")]
    assert "VERDICT" in kinds or "FINAL_VERDICT" in kinds, done.stdout[:2000]


def run(python: Path, home: Path, *words: object) -> list[str]:
    """Run a program in the wheel's environment; return the lines that it printed."""
    done = subprocess.run(
        [python, *map(str, words)],
        cwd=home,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.mark.timeout(300)
def test_every_python_block_of_readme_and_docs_runs_and_prints_what_the_page_says(
    python: Path, tmp_path: Path
) -> None:
    pages = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    blocks = sum(page.read_text(encoding="utf-8").count("\n```python\n") for page in pages)
    ran = run(python, tmp_path, DOCS / "snippets.py", *pages)
    assert len(ran) == blocks > 10, "a block is indented, or lies in another fence"


@pytest.mark.timeout(300)
def test_the_tutorials_notebook_shows_in_a_real_kernel_what_it_says(python: Path, tmp_path: Path) -> None:
    (notebook,) = (DOCS / "tutorial").glob("*.ipynb")
    ran = run(python, tmp_path, DOCS / "notebook.py", notebook)
    assert ran == [f"{len(json.loads(notebook.read_text())['cells'])} cells"]
