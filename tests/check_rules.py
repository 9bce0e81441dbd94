"""Check that every rule of docs/design/rules.md has a test that cites it; part of `make check`.

A test cites a rule by `@pytest.mark.rule("R-F12")`, a scene by its key `rule:`. So a landing that loses a rule together
with its tests is refused. Usage: check_rules.py [ROOT].
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import yaml

PAGE: Final = Path("docs", "design", "rules.md")
TESTS: Final = Path("tests")
HEADING: Final = frozenset({"number", "---"})
"""First cells of a table's head."""

SPECIFICATIONS: Final[Mapping[str, str]] = {"arena": "arena", "panel": "panel"}
"""Prefix of an ambiguous section by the folder of `protocols/` whose code names it; `DISCUSSION` for all others."""
DISCUSSION: Final = "discussion"

PENDING: Final = frozenset(f"R-G{n}" for n in range(1, 17)) - {"R-G8", "R-G10", "R-G11"}
"""Rules whose tests are still being written; empty in a release."""


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
    rows = re.findall(r"^\| ([^|]+) \|", (root / PAGE).read_text(encoding="utf-8"), re.MULTILINE)
    cells = (cell.strip() for row in rows for cell in row.split(","))
    return [cell for cell in cells if cell not in HEADING]


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
    """Yield every citation of a rule by a test or a scene."""
    for path in sorted((root / TESTS).rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.rule":
                for argument in node.args:
                    rule = argument.value if isinstance(argument, ast.Constant) else ast.unparse(argument)
                    yield Citation(str(rule), path.relative_to(root), node.lineno)
    for path in sorted((root / TESTS).rglob("scenes/*.yaml")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("rule:"):
                rules = yaml.safe_load(line)["rule"]
                for rule in rules if isinstance(rules, list) else [rules]:
                    yield Citation(str(rule), path.relative_to(root), number)


def complaints(root: Path) -> list[str]:
    """Return what is wrong, a line each."""
    counts = Counter(numbers(root))
    cited = list(citations(root))
    named = {citation.rule for citation in cited}
    return [
        *(
            f"{PAGE}: number {rule} stands for {n} rules: put the specification's name before it"
            for rule, n in counts.items()
            if n > 1
        ),
        *(
            f"{citation}: unknown rule {citation.rule!r}: {PAGE} has no such number"
            for citation in cited
            if citation.rule not in counts
        ),
        *(f"{PAGE}: no test cites rule {rule}" for rule in counts if rule not in named | PENDING),
    ]


def main(root: Path) -> int:
    """Print what is wrong; returns the exit code."""
    found = complaints(root)
    print("\n".join(found) or f"rules: each of {len(numbers(root))} has a test that cites it")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()))
