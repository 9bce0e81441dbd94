"""Where a notebook is, as a configuration names it."""

import sys

import pytest

from moot.bots.notebook.errors import NotebookUnavailable
from moot.bots.notebook.reach import Address, Command, Folder, reach_of


def test_a_configuration_names_an_address_a_folder_or_a_command(tmp_path):
    assert reach_of(" https://notes.example/mcp ") == Address("https://notes.example/mcp")
    assert reach_of(str(tmp_path)) == Folder(tmp_path)
    assert reach_of("uvx 'some server' --flag") == Command(("uvx", "some server", "--flag"))
    assert reach_of("server --at http://x") == Command(("server", "--at", "http://x"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not by nothing"),
        ("'open", "cannot be read"),
        ("ftp://x/y", "http://"),
        ("http://", "names a host"),
        ("http://[", "names a host"),
        ("./gone/notes", "no such folder"),
    ],
)
def test_what_names_nothing_is_refused(text, words):
    with pytest.raises(NotebookUnavailable, match=words):
        reach_of(text)


def test_a_folder_is_served_by_our_own_python(tmp_path):
    command = Folder(tmp_path, studio=tmp_path / "s").command()
    assert command.argv[0] == sys.executable and command.argv[-2:] == ("--studio", str(tmp_path / "s"))
    assert Folder(tmp_path, has_studio=False).command().argv[-1] == "--no-studio"


def test_no_label_and_no_repr_shows_a_key():
    reaches = [
        Command(("/opt/server", "--key", "hunter2"), env={"KEY": "hunter2"}),
        Address("https://me:hunter2@notes.example:99/mcp?key=hunter2", headers={"authorization": "hunter2"}),
    ]
    assert [reach.label for reach in reaches] == [
        "notebook server server",
        "notebook https://notes.example:99/mcp",
    ]
    assert "hunter2" not in repr(reaches)
