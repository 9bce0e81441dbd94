"""Every command on the set-up pages of the platforms is one that the command line takes."""

import shlex
from pathlib import Path

import pytest
import typer.main
from typer.exceptions import TyperException

from moot.cli.commands import app

PAGES = Path(__file__).parents[3] / "docs" / "how-to"
TREE = typer.main.get_command(app)


def commands(page):
    """Return the lines of a page's code blocks that begin with `moot `."""
    is_code = False
    for line in (PAGES / page).read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            is_code = not is_code
        elif is_code and line.startswith("moot "):
            yield line.partition("  #")[0]


def parse(words):
    """Have the command line read some words, without doing what they say; return the command's name.

    Raises:
        TyperException: It does not take them.
    """
    context = TREE.make_context("moot", list(words))
    _, command, rest = TREE.resolve_command(context, list(words))
    while hasattr(command, "commands"):
        context = command.make_context(command.name, list(rest), parent=context)
        _, command, rest = command.resolve_command(context, list(rest))
    command.make_context(command.name, list(rest), parent=context)
    return command.name


LINES = [
    pytest.param(page, line, id=f"{page}: {line}")
    for page in ("discord.md", "slack.md")
    for line in commands(page)
]


def test_there_are_commands_on_both_pages():
    assert {"discord.md", "slack.md"} == {param.values[0] for param in LINES}
    assert "moot discord setup --config my-society.toml" in {param.values[1] for param in LINES}


@pytest.mark.parametrize(("page", "line"), LINES)
def test_a_command_on_a_page_is_taken(page, line):
    assert parse(shlex.split(line)[1:]) in line


@pytest.mark.parametrize(
    "line", ["discord set-up", "slack setup --conf x.toml", "slack manifest --url", "up now"]
)
def test_a_command_that_does_not_exist_would_be_noticed(line):
    with pytest.raises(TyperException, match=r"(?i)no such|requires an argument|unexpected extra"):
        parse(shlex.split(line))
