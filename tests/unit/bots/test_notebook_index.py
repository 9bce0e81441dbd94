"""The search index over a folder of notes: references, ranking, limits, what is left out."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.bots.notebook.errors import NotebookFolderError, NotebookQueryError
from moot.bots.notebook.folder import Limits
from moot.bots.notebook.index import NotebookIndex, references
from moot.bots.notebook.passages import Part

FIRST = (
    "# Momentum\n\nMomentum crashes after bear markets.\n\n## Crowding\n\nCrowded trades unwind together.\n"
)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "notes"
    (folder / "sub").mkdir(parents=True)
    (folder / "momentum.md").write_text(FIRST)
    (folder / "sub" / "value.txt").write_text("Value is cheap.\n\nIt needs patience.")
    return folder


@pytest.fixture
def opened():
    indexes = []

    def open_(folder, **limits):
        indexes.append(NotebookIndex(folder, Limits(**limits)))
        return indexes[-1]

    yield open_
    for index in indexes:
        index.close()


def refs(index, text):
    return [hit.ref for hit in index.query(text, 50)]


def test_references_are_the_same_everywhere_and_for_ever():
    """These strings stand in logs: a change of the scheme would orphan them."""
    parts = [Part("Momentum", "It crashes."), Part("", "It\r\n crashes."), Part("", "It crashes.")]
    assert [ref for ref, _ in references("my notes/a#1.md", parts)] == [
        "my%20notes/a%231.md#d17fd81441",
        "my%20notes/a%231.md#aebc23988a",
        "my%20notes/a%231.md#aebc23988a-2",
    ]


def test_a_reference_outlives_every_other_change(folder, opened):
    index = opened(folder)
    [before] = refs(index, "unwind")
    (folder / "other.md").write_text("Unrelated.")
    (folder / "sub" / "value.txt").unlink()
    (folder / "momentum.md").write_text(
        "Quite new.\r\n\r\n" + FIRST.replace("after bear", "in bull"), newline=""
    )
    assert refs(index, "unwind") == [before] == refs(opened(folder), "unwind")
    (folder / "momentum.md").write_text(FIRST.replace("together", "slowly"))
    assert refs(index, "unwind") != [before]


def test_headings_and_names_of_notes_are_found_too(folder, opened):
    index = opened(folder)
    [hit] = index.query("crowding")
    assert (hit.note, hit.text) == ("momentum.md", "Momentum > Crowding\nCrowded trades unwind together.")
    assert [hit.text for hit in index.query("sub/value")] == ["Value is cheap.", "It needs patience."]


def test_more_and_rarer_words_rank_higher(folder, opened):
    hits = opened(folder).query("Do crowded momentum trades crash after bear markets?")
    assert [hit.text.splitlines()[-1][:8] for hit in hits] == ["Momentum", "Crowded "]
    assert hits[0].score > hits[1].score > 0
    assert len(opened(folder).query("momentum", 1)) == 1


@pytest.mark.parametrize(
    "text",
    [
        '"',
        "AND",
        "NEAR(a b)",
        "text:foo",
        "(((",
        "a*",
        "-",
        "x OR",
        "^x",
        "{a}: b",
        "'; DROP TABLE words",
        "\0x",
        "\ud800 y",
    ],
)
def test_nothing_in_a_query_is_syntax(folder, opened, text):
    try:
        opened(folder).query(text)
    except NotebookQueryError as error:
        assert "no word" in str(error)


@given(text=st.text(st.characters(codec=None)))
def test_any_text_is_a_query_or_a_clear_error(folder, text):
    index = NotebookIndex(folder)
    try:
        index.query(text)
    except NotebookQueryError as error:
        assert "no word" in str(error)
    finally:
        index.close()


@pytest.mark.parametrize("text", ["", "  \n", "?! … —", "_"])
def test_an_empty_query_is_refused(folder, opened, text):
    with pytest.raises(NotebookQueryError, match="holds no word"):
        opened(folder).query(text)


@pytest.mark.parametrize("limit", [0, -1, 51])
def test_an_absurd_limit_is_refused(folder, opened, limit):
    with pytest.raises(NotebookQueryError, match="1 … 50"):
        opened(folder).query("value", limit)


def test_common_words_find_nothing_unless_they_are_all_there_is(folder, opened):
    index = opened(folder)
    assert index.query("is it like the zebra?") == ()
    assert [hit.text for hit in index.query("it")] == ["It needs patience."]


@pytest.mark.parametrize(
    ("note", "asked"),
    [("Über die Größe", "uber grosse größe"), ("動量會崩潰", "崩潰"), ("\uff26\uff55\uff4c\uff4c", "full")],
)
def test_every_script_is_found(folder, opened, note, asked):
    (folder / "new.txt").write_text(note)
    assert [hit.note for hit in opened(folder).query(asked)] == ["new.txt"]


def test_a_whole_draft_is_a_query(folder, opened):
    draft = " ".join(f"word{n}" for n in range(20_000)) + " cheap"
    assert opened(folder).query("cheap " + draft)


def test_what_cannot_be_used_is_left_out_and_said(folder, opened, tmp_path):
    (tmp_path / "secret.md").write_text("hidden treasure")
    (folder / "broken.json").write_text("{")
    (folder / "latin.txt").write_bytes(b"caf\xe9 treasure")
    (folder / "big.md").write_text("treasure " * 200)
    (folder / ".git").mkdir()
    (folder / ".git" / "x.md").write_text("treasure")
    (folder / ".x.md").write_text("treasure")
    (folder / "image.png").write_bytes(b"treasure")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    (folder / "hid.md").symlink_to(folder / ".x.md")
    (folder / "dir").symlink_to(tmp_path)
    (folder / "loop.md").symlink_to(folder / "loop.md")
    os.mkfifo(folder / "pipe.txt")
    index = opened(folder, note_bytes=500)
    assert index.query("treasure") == ()
    assert index.notes == ("momentum.md", "sub/value.txt")
    assert [notice.split(" (")[0] for notice in index.notices] == [
        "big.md: left out, it is larger than 500 bytes",
        "broken.json: left out, it is not valid JSON",
        "dir: left out, links to folders are not followed",
        "hid.md: left out, it is a link to a hidden file",
        "latin.txt: left out, it is not UTF-8 text",
        "loop.md: left out, it is no regular file",
        "out.md: left out, it is a link out of the folder",
        "pipe.txt: left out, it is no regular file",
    ]


def test_a_link_inside_the_folder_is_a_note(folder, opened):
    (folder / "alias.md").symlink_to(folder / "momentum.md")
    index = opened(folder)
    assert "alias.md" in index.notes
    (folder / "momentum.md").write_text("Pineapple.")
    assert {hit.note for hit in index.query("pineapple")} == {"alias.md", "momentum.md"}


def test_a_notebook_has_a_size(folder, opened):
    (folder / "zzz.md").write_text("Zebra.")
    index = opened(folder, notes=2)
    assert index.query("zebra") == () and index.notices == ("only the first 2 notes are served",)
    index = opened(folder, total_bytes=120)
    assert index.query("zebra") == () and index.notices == ("only the first 120 bytes of notes are served",)


def test_a_note_that_breaks_and_heals_goes_and_comes(folder, opened):
    (folder / "facts.json").write_text('["zebra"]')
    index = opened(folder)
    assert refs(index, "zebra") and index.notices == ()
    (folder / "facts.json").write_text('["zebra"')
    assert refs(index, "zebra") == [] and len(index.notices) == 1
    (folder / "facts.json").write_text('["zebra", 1]')
    assert refs(index, "zebra") and index.notices == ()
    assert index.passage_count == 6


def test_only_what_changed_is_read_again(folder, opened):
    index = opened(folder)
    assert index.refresh() == 0
    (folder / "new.md").write_text("x")
    assert index.refresh() == 1
    (folder / "new.md").unlink()
    assert index.refresh() == 1


@pytest.mark.parametrize("name", ["gone", "notes/momentum.md"])
def test_what_is_no_folder_is_refused(folder, name):
    with pytest.raises(NotebookFolderError, match=r"no such folder|it is no folder"):
        NotebookIndex(folder.parent / name)


def test_a_folder_that_vanishes_is_told_at_the_next_query(folder, opened):
    index = opened(folder)
    folder.rename(folder.with_name("moved"))
    with pytest.raises(NotebookFolderError, match="cannot be read"):
        index.query("value")
