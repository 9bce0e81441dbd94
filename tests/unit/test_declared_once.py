"""Nothing outside a protocol's folder lists its messages, phases, kinds of case or seats: what follows is derived.

A collection counts if three or more of its members, keys or alternatives name things of one sort that one protocol
declares, as text or as a class or constant of that name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from moot.protocols.kernel.protocol import Protocol
from moot.protocols.rulebook import BUILT_IN

ROOT: Final = Path(__file__).resolve().parents[2]
ROOMS: Final = ("bots", "channels", "config", "docs", "memory", "moot")
MANY: Final = 3

ALLOWED: Final = {
    "bots/minds/simulated/": "what each simulated mind answers with what, beside the minds",
    "bots/minds/model/": "what of a message is measured and what a model is asked for, beside the mind that asks",
    "bots/minds/views/": "a case of a protocol as whoever writes a mind sees it, typed for their editor",
    "bots/seats/": "what a seat of the Arena may use: the seat's own module",
    "memory/fold.py": "which of memory's handlers reads which message",
    "moot/verify/": "a second opinion judges raw messages and may not ask the rules that it checks",
    "moot/laws/": "laws judge raw messages and may not ask the rules that they check",
    "moot/cases/arena/": "the Arena's own runs, without a society: what each of its seats is given",
    "moot/cli/arena/": "the Arena's own commands: the colours of what its runs end with",
    "moot/simulation/desk.py": "which figure of the desk's report counts which ending",
}
"""Where a collection stands that no declaration could give, and why."""


class Found(NamedTuple):
    """A collection that names what a protocol declares."""

    where: str
    protocol: str
    sort: str
    names: tuple[str, ...]


def declared_by(protocol: Protocol) -> dict[str, set[str]]:
    """Return what a protocol declares, by its sort; a class and a constant count as what they stand for."""
    seats = {str(info.seat) for info in protocol.seats}
    return {
        "messages": {*protocol.types, *(kind.__name__ for kind in protocol.messages)},
        "phases": {str(phase) for case in protocol.cases for phase in case.phases},
        "kinds of case": {case.kind for case in protocol.cases},
        "seats": seats | {seat.upper() for seat in seats},
    }


DECLARED: Final = [
    (protocol.name, sort, names)
    for protocol in BUILT_IN
    for sort, names in declared_by(protocol).items()
    if len(names) >= MANY
]


def collections(tree: ast.AST) -> Iterator[tuple[int, Iterable[ast.AST | None]]]:
    """Return the members of each collection, or the alternatives of a choice, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Set(elts=members) | ast.List(elts=members) | ast.Tuple(elts=members):
                yield node.lineno, members
            case ast.Dict(keys=keys, values=values):
                yield node.lineno, keys
                yield node.lineno, values
            case ast.MatchOr(patterns=patterns):
                yield node.lineno, patterns
            case ast.Match(cases=cases):
                yield node.lineno, [one.pattern for one in cases]
            case ast.BoolOp(op=ast.Or(), values=values) | ast.BoolOp(op=ast.And(), values=values):
                yield node.lineno, [right for one in values for right in compared(one)]
            case ast.BinOp(op=ast.BitOr()):
                yield node.lineno, united(node)


def compared(node: ast.AST) -> list[ast.AST]:
    """Return what a comparison compares with."""
    return [*node.comparators] if isinstance(node, ast.Compare) else []


def united(node: ast.AST) -> list[ast.AST]:
    """Return the parts of a | b | c."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return united(node.left) + united(node.right)
    return [node]


def names_in(node: ast.AST | None) -> Iterator[str]:
    """Return the names by which a member could mean what is declared."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Tuple(elts=parts):
            for part in parts:
                yield from names_in(part)
        case ast.MatchValue(value=value) | ast.MatchClass(cls=value):
            yield from names_in(value)


def lists_in(source: str, where: str) -> list[Found]:
    """Find the collections of a module that repeat what a protocol declares."""
    found: dict[Found, None] = {}
    for line, members in collections(ast.parse(source)):
        named = {name for member in members for name in names_in(member)}
        for protocol, sort, declared in DECLARED:
            same = named & declared
            if len(same) >= MANY:
                found[Found(f"{where}:{line}", protocol, sort, tuple(sorted(same)))] = None
    return [*found]


def modules() -> dict[str, str]:
    """Return the text of each module outside the protocols; links lead to rooms that are read themselves."""
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
        if not any(parent.is_symlink() for parent in path.parents)
    }


MODULES: Final = modules()


def test_nothing_outside_a_protocol_lists_what_it_declares() -> None:
    found = [one for where, text in MODULES.items() if not is_allowed(where) for one in lists_in(text, where)]
    assert not found, "\n".join(
        f"{one.where} lists {one.sort} of the protocol {one.protocol}: {', '.join(one.names)}"
        for one in found
    )


def is_allowed(where: str) -> bool:
    return any(where.startswith(room) for room in ALLOWED)


@pytest.mark.parametrize("room", ALLOWED)
def test_what_is_allowed_is_still_there(room: str) -> None:
    assert any(lists_in(text, where) for where, text in MODULES.items() if where.startswith(room))


@pytest.mark.parametrize(
    "text",
    [
        'KINDS = ("cycle", "daily", "debate")',
        'URGENT = frozenset({"ESCALATION", "ESCALATION_ACK", "MODE_CHANGED"})',
        "SEATS = {EXPLORER: 1, CRITIC: 2, EVOLVER: 3}",
        "SEATS = seats.EXPLORER | seats.CRITIC | seats.EVOLVER",
        "def f(body): return isinstance(body, (Verdict, FinalVerdict, m.Rebuttal))",
        'def f(k): return k == "VERDICT" or k == "REBUTTAL" or k == "CONCEDE"',
        'match kind:\n    case "VERDICT" | "REBUTTAL" | "CONCEDE": pass',
        "match body:\n    case Verdict(): pass\n    case Rebuttal(): pass\n    case Concede(): pass",
        'ANSWERS = {("critic", "RISK_ASSESSMENT"): 1, ("explorer", "REBUTTAL"): 2, ("evolver", "VERDICT"): 3}',
        'AT = ["deciding", "closing", "awaiting", "reviewing", "assessing"]',
    ],
)  # fmt: skip
def test_a_list_is_found_however_it_is_written(text: str) -> None:
    assert lists_in(text, "x.py")


@pytest.mark.parametrize(
    "text",
    [
        'PAIR = ("cycle", "daily")',
        'MIXED = ("VERDICT", "ORDER", "PANEL_OPENED")',
        'WORDS = ("one", "two", "three")',
    ],
)
def test_what_is_no_list_of_one_protocol_is_left_alone(text: str) -> None:
    assert not lists_in(text, "x.py")
