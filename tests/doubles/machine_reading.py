"""What a machine's table is made of, as source: its functions and those that they call, and what they ask for."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.machine import Machine, rows
from moot.protocols.kernel.message import Message

Function = Callable[..., Any]

KERNEL = "moot.protocols.kernel."


def functions_of(machine: Machine) -> dict[str, Function]:
    """Return every function that a machine's table names or that these call, by its full name.

    Calls are followed within the protocols, the kernel left out, through module functions, nested ones, and methods
    and properties of a case's state. What folds do is not looked at: they are no part of a table.
    """
    found: dict[str, Function] = {}
    left = [function for value in _named(machine) for function in _inside(value)]
    while left:
        function = left.pop()
        name = f"{function.__module__}.{function.__qualname__}"
        if name in found or not _is_ours(function):
            continue
        found[name] = function
        left.extend(_called(function))
    return found


def _named(machine: Machine) -> Iterator[Any]:
    for start in machine.start.values():
        yield start.state
    for row in rows(machine):
        yield row.move.effect
    for step in machine.steps.values():
        for field in fields(step):
            yield getattr(step, field.name)
        if step.missed is not None:
            yield step.missed.outcome


def _inside(value: Any) -> Iterator[Function]:
    """Yield a function, and those that it was made with."""
    if isinstance(value, FunctionType):
        yield value
        for cell in value.__closure__ or ():
            yield from _inside(cell.cell_contents)


def _is_ours(function: Function) -> bool:
    name = function.__module__
    return name.startswith("moot.protocols.") and not name.startswith(KERNEL)


def _called(function: Function) -> Iterator[Function]:
    names = function.__globals__
    states = [value for value in names.values() if inspect.isclass(value) and issubclass(value, CaseState)]
    for node in ast.walk(tree_of(function)):
        if isinstance(node, ast.Name):
            yield from _inside(names.get(node.id))
        elif isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and isinstance(names.get(node.value.id), ModuleType):
                yield from _inside(getattr(names[node.value.id], node.attr, None))
            for state in states:
                member = inspect.getattr_static(state, node.attr, None)
                yield from _inside(member.fget if isinstance(member, property) else member)


@cache
def tree_of(function: Function) -> ast.AST:
    """Return a function's syntax tree."""
    return ast.parse(_dedented(inspect.getsource(function)))


def _dedented(source: str) -> str:
    """Return a source that stands alone; a lambda's begins within a line, which then is an expression."""
    source = textwrap.dedent(source)
    try:
        ast.parse(source)
    except SyntaxError:
        return "(" + source.strip().rstrip(",").partition("=")[2].strip() + ")"
    return source


def asked_of(function: Function) -> list[str]:
    """Say where a function asks for a message's type or for the phase, other than to name it to people."""
    names, tree = function.__globals__, tree_of(function)
    said = {part for text in ast.walk(tree) if isinstance(text, ast.JoinedStr) for part in ast.walk(text)}
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if node not in said and (_asks_type(node, names) or _asks_phase(node))
    ]


def _asks_type(node: ast.AST, names: dict[str, Any]) -> bool:
    """Say whether a node tells messages apart by their class or by the name of their type."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("isinstance", "type")
    ):
        return node.func.id == "type" or _is_message(node.args[1], names)
    if isinstance(node, ast.MatchClass):
        return _is_message(node.cls, names)
    return isinstance(node, ast.Attribute) and node.attr == "type" and _is_body(node.value)


def _is_message(node: ast.AST, names: dict[str, Any]) -> bool:
    """Say whether a class that is asked for is, or is among others, one of messages."""
    found = [names.get(part.id) for part in ast.walk(node) if isinstance(part, ast.Name)]
    return any(inspect.isclass(one) and issubclass(one, Message) for one in found)


def _asks_phase(node: ast.AST) -> bool:
    """Say whether a node decides by the phase: compares it, matches it, or looks something up by it."""
    if isinstance(node, ast.Compare):
        return any(_is_phase(side) for side in (node.left, *node.comparators))
    if isinstance(node, ast.Match):
        return _is_phase(node.subject)
    return isinstance(node, ast.Subscript) and _is_phase(node.slice)


def _is_phase(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "phase"


def _is_body(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "body") or (
        isinstance(node, ast.Name) and node.id == "body"
    )
