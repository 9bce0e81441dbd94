"""Check that every rule of docs/design/rules.md has a test that cites it; part of `make check`.

A test cites a rule by `@pytest.mark.rule("R-F12")`, a scene by its key `rule:`. So a landing that loses a rule together
with its tests is refused. Usage: check_rules.py [ROOT].
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import yaml

PAGE: Final = Path("docs", "design", "rules.md")
TESTS: Final = Path("tests")
SCENES: Final = TESTS / "acceptance" / "scenes"
RUNNER: Final = TESTS / "acceptance" / "test_scenes.py"
"""Test that runs the scenes; without it they guard nothing."""

SPECIFICATIONS: Final[Mapping[str, str]] = {"arena": "arena", "panel": "panel"}
"""Prefix of an ambiguous section by the folder of `protocols/` whose code names it; `DISCUSSION` for all others."""
DISCUSSION: Final = "discussion"

PENDING: Final = frozenset[str]()
"""Rules whose tests are still being written; empty in a release."""

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Unreadable(ValueError):
    """A file that may cite a rule cannot be read; the text is one line that names it."""


class Citation(NamedTuple):
    """A test or a scene that names a rule.

    Attributes:
        rule: Number of the rule.
        path: The file, below the root.
        line: Line in it, from 1 on.
    """

    rule: str
    path: Path
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


def numbers(root: Path) -> list[str]:
    """Return the numbers of all rules, in the order of the page; an ambiguous number occurs more than once."""
    rows = re.findall(r"^\|\s*([^|]+?)\s*\|", (root / PAGE).read_text(encoding="utf-8"), re.MULTILINE)
    cells = (cell.strip() for row in rows for cell in row.split(","))
    return [cell for cell in cells if cell != "number" and cell.strip("-: ")]


def numbered(rule: str, protocol: str, known: frozenset[str]) -> str:
    """Return the number on the page of a rule that code names.

    Args:
        rule: What code names, such as "5.1": these strings are logged, so they keep their form.
        protocol: The folder of `protocols/` that the code is in.
        known: The numbers on the page.
    """
    prefixed = f"{SPECIFICATIONS.get(protocol, DISCUSSION)} {rule}"
    return prefixed if prefixed in known else rule


def citations(root: Path) -> Iterator[Citation]:
    """Yield every citation of a rule by a test or a scene.

    Raises:
        Unreadable: A test is no Python, or a scene no YAML.
    """
    for path in sorted((root / TESTS).rglob("test_*.py")):
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except SyntaxError as error:
            raise Unreadable(f"{path.relative_to(root)}:{error.lineno}: {error.msg}") from None
        for mark in _marks(tree):
            for argument in mark.args:
                rule = argument.value if isinstance(argument, ast.Constant) else ast.unparse(argument)
                yield Citation(str(rule), path.relative_to(root), mark.lineno)
    for path in sorted((root / SCENES).glob("*.yaml")) if (root / RUNNER).exists() else ():
        try:
            scene = yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)  # a safe one
        except yaml.YAMLError as error:
            raise Unreadable(f"{path.relative_to(root)}: {' '.join(str(error).split())}") from None
        rules = scene.get("rule", ()) if isinstance(scene, dict) else ()
        for rule in rules if isinstance(rules, list) else [rules] if rules else ():
            yield Citation(str(rule), path.relative_to(root), 1)


def _marks(tree: ast.Module) -> Iterator[ast.Call]:
    """Yield the marks of tests that are run: on a test, on a class of tests, or on the file."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(ast.unparse(one) == "pytestmark" for one in node.targets):
            yield from _rules(node.value.elts if isinstance(node.value, ast.List) else [node.value])
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _rules(node.decorator_list)
            yield from (mark for one in node.body for mark in _of_test(one))
        else:
            yield from _of_test(node)


def _of_test(node: ast.stmt) -> Iterator[ast.Call]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
        skipped = any(
            ast.unparse(one).startswith(("pytest.mark.skip(", "pytest.mark.xfail"))
            for one in node.decorator_list
        )
        yield from () if skipped else _rules(node.decorator_list)


def _rules(marks: Iterable[ast.expr]) -> Iterator[ast.Call]:
    for one in marks:
        if isinstance(one, ast.Call) and ast.unparse(one.func) == "pytest.mark.rule":
            yield one


def complaints(root: Path) -> list[str]:
    """Return what is wrong, a line each."""
    counts = Counter(numbers(root))
    prefixed = {rule.rpartition(" ")[2] for rule in counts if " " in rule}
    cited = list(citations(root))
    named = {citation.rule for citation in cited}
    return [
        *(
            f"{PAGE}: number {rule} stands for {n} rules: put the specification's name before it"
            for rule, n in counts.items()
            if n > 1
        ),
        *(
            f"{PAGE}: number {rule} is also a section of another specification: put its own name before it"
            for rule in counts
            if rule in prefixed
        ),
        *(
            f"{citation}: unknown rule {citation.rule!r}: {PAGE} has no such number"
            for citation in cited
            if citation.rule not in counts
        ),
        *(f"{PAGE}: no test cites rule {rule}" for rule in counts if rule not in named | PENDING),
        *(
            f"rule {rule} has a test that cites it: remove it from PENDING"
            for rule in sorted(PENDING & named)
        ),
    ]


def main(root: Path) -> int:
    """Print what is wrong; returns the exit code."""
    try:
        found = complaints(root)
    except Unreadable as error:
        found = [str(error)]
    known = numbers(root)
    tested = len(known) - len(PENDING.intersection(known))
    pending = f", {', '.join(sorted(PENDING))} have none yet" if PENDING else ""
    print("\n".join(found) or f"rules: {tested} of {len(known)} have a test that cites them{pending}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()))
