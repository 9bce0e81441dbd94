"""Reports: outside the notebook, under safe names, never over an older one."""

import pytest

from moot.bots.notebook.errors import NotebookFolderError, StudioUnavailable
from moot.bots.notebook.studio import NAME_CHARS, Studio


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def studio(notes):
    return Studio(notes.with_name("studio"), notes)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("My Report: 2026!", "my-report-2026.md"),
        ("../../etc/passwd", "etc-passwd.md"),
        (".hidden", "hidden.md"),
        ("...", "report.md"),
        ("CON", "report-con.md"),
        ("Über die Größe", "über-die-grösse.md"),
        ("a\0b\nc", "a-b-c.md"),
        ("x" * 200, "x" * NAME_CHARS + ".md"),
        ("動" * 200, "動" * NAME_CHARS + ".md"),
    ],
)
def test_any_title_makes_a_safe_name(studio, title, name):
    assert studio.create(title, "text") == name
    assert [path.name for path in studio.folder.iterdir()] == [name]


def test_a_taken_name_gets_a_number(studio):
    assert [studio.create("A", str(n)) for n in range(3)] == ["a.md", "a-2.md", "a-3.md"]
    assert (studio.folder / "a.md").read_text() == "# A\n\n0\n"


def test_a_link_under_the_name_is_not_followed(studio, notes):
    studio.folder.mkdir()
    (studio.folder / "a.md").symlink_to(notes / "planted.md")
    assert studio.create("A", "text") == "a-2.md"
    assert list(notes.iterdir()) == []


@pytest.mark.parametrize(
    ("title", "text"), [("", "x"), (" \n", "x"), ("x" * 201, "x"), ("A", " "), ("A", "x" * 2_000_001)]
)
def test_an_empty_or_endless_report_is_refused(studio, title, text):
    with pytest.raises(StudioUnavailable, match="characters"):
        studio.create(title, text)
    assert not studio.folder.exists()


def test_a_studio_inside_the_notebook_is_refused(notes, tmp_path):
    (tmp_path / "link").symlink_to(notes)
    for inside in (notes, notes / "reports", notes / ".." / "notes" / "x", tmp_path / "link" / "x"):
        with pytest.raises(NotebookFolderError, match="inside the notebook"):
            Studio(inside, notes)


def test_a_studio_that_was_moved_inside_later_writes_nothing(studio, notes):
    (notes / "sub").mkdir()
    studio.folder.symlink_to(notes / "sub")
    with pytest.raises(StudioUnavailable, match="moved inside"):
        studio.create("A", "text")
    assert list((notes / "sub").iterdir()) == []


def test_a_studio_that_is_a_file_is_refused(notes, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotebookFolderError, match="no folder"):
        Studio(tmp_path / "file", notes)
    with pytest.raises(StudioUnavailable, match="cannot be written"):
        Studio(tmp_path / "file" / "deeper", notes).create("A", "text")
