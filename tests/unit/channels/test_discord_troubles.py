"""What the Discord adapter says when something is wrong: one line, which our own redaction leaves as it is."""

import ast
from pathlib import Path
from types import SimpleNamespace

import pytest

import moot.channels.discord
from moot.channels.discord import troubles
from moot.channels.discord.library import discord
from moot.channels.surface import PostRefused, RateLimited, SurfaceConfigError, SurfaceDown
from moot.protocols.kernel.redact import redact

MODULES = sorted(Path(moot.channels.discord.__file__).parent.glob("*.py"))
CODES = sorted({0, 50035, *(value for value in vars(troubles).values() if isinstance(value, int))})


def docstrings(tree):
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    owners = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    # Below an attribute stands its docstring as an expression of its own.
    return {id(node.value) for one in owners for node in one.body if isinstance(node, ast.Expr)}


def lines_of(path):
    """Return every text of a module that is not a docstring, with a word for each value that is put in."""
    tree = ast.parse(path.read_text())
    skipped = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped.update(id(part) for part in node.values)
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "something" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


def answer(status, code, text="Unknown"):
    return discord.HTTPException(
        SimpleNamespace(status=status, reason="reason"), {"code": code, "message": text}
    )


def test_texts_are_found():
    lines = [line for path in MODULES for line in lines_of(path)]
    assert troubles.TOKEN in lines
    assert any("has as many webhooks" in line for line in lines)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_line_of_the_adapter_looks_like_a_secret(path):
    assert [line for line in lines_of(path) if redact(line) != line] == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 429, 500])
def test_every_answer_is_one_line_that_reads_the_same_after_redaction(status):
    for code in CODES:
        line = str(troubles.of_answer(answer(status, code), "make a webhook in #a-arena"))
        assert redact(line) == line
        assert line == " ".join(line.split())


def test_too_many_webhooks_wait_and_say_what_to_do():
    found = troubles.of_answer(answer(400, troubles.TOO_MANY_WEBHOOKS), "make a webhook in #a-arena")
    assert isinstance(found, SurfaceDown)
    assert (found.everywhere, found.maybe_posted) == (False, False)
    assert "delete one" in str(found)


def test_of_a_group_of_errors_the_one_that_a_person_must_put_right_counts():
    wrong = SurfaceConfigError("wrong token")
    group = ExceptionGroup("", [RateLimited(1.0), ExceptionGroup("", [PostRefused("x"), wrong]), KeyError()])
    assert troubles.foremost(group) is wrong
    assert troubles.foremost(wrong) is wrong
    down = SurfaceDown("down")
    assert troubles.foremost(ExceptionGroup("", [KeyError(), down])) is down
