"""The page of the rules: every number that pages and code cite stands on it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.check_docs import prose
from tests.check_rules import numbered, numbers

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "design" / "rules.md"
PACKAGES = ("protocols", "channels", "memory", "config", "bots", "moot")
RULING = re.compile(r"\b(?:K[1-9]\d?|R-[A-Z][1-9]\d?)\b")
USERS = ("README.md", "docs/index.md", "docs/glossary.md", "docs/how-to", "docs/tutorial", "docs/reference")
"""Pages for people who use Moot: they say what a rule says, not which it is."""
SECTION = re.compile(r"\d{1,2}\.\d")
BREAKS = {"Violation": 0, "Late": 0, "Forbidden": 0, "illegal": 2, "Decision": 2}
"""What names a rule, and at which of its arguments."""


def rules() -> frozenset[str]:
    """Return the numbers in the first column of the page's tables."""
    return frozenset(numbers(ROOT))


def cited() -> Iterator[tuple[str, str]]:
    """Yield every citation of a ruling or a promise with its file, on pages and in code."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    code = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    for path in (*pages, *code):
        text = path.read_text(encoding="utf-8")
        yield from ((number, str(path.relative_to(ROOT))) for number in RULING.findall(text))


def named_in_code() -> Iterator[tuple[str, str]]:
    """Yield the rule that each violation and each ruling of the protocols names, with its file."""
    for path in (ROOT / "protocols").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            at = BREAKS.get(getattr(node.func, "id", "")) if isinstance(node, ast.Call) else None
            if at is None or len(node.args) <= at:  # type: ignore[attr-defined]
                continue
            rule = node.args[at]  # type: ignore[attr-defined]
            if isinstance(rule, ast.Constant) and isinstance(rule.value, str):
                yield rule.value, str(path.relative_to(ROOT))


def test_every_number_that_is_cited_stands_on_the_page() -> None:
    known = rules()

    assert sorted({(number, where) for number, where in cited() if number not in known}) == []


def test_every_rule_that_code_says_is_broken_stands_on_the_page() -> None:
    known = rules()
    named = [(numbered(number, Path(where).parts[1], known), where) for number, where in named_in_code()]

    assert sorted({(number, where) for number, where in named if number not in known}) == []
    assert {number for number, _ in named if SECTION.fullmatch(number)} >= {"1.1", "8.2"}
    assert len(named) > 100


def test_pages_for_users_say_rules_in_words_and_no_numbers() -> None:
    pages = [path for path in ROOT.rglob("*.md") if str(path.relative_to(ROOT)).startswith(USERS)]
    pages.append(ROOT / "config" / "society.toml")
    found = [
        (path.name, line)
        for path in pages
        for line, text in prose(path.read_text("utf-8"))
        if RULING.search(text)
    ]

    assert len(pages) > 20
    assert found == []


def test_pages_for_builders_that_cite_numbers_lead_to_the_page_of_the_rules() -> None:
    pages = [path for folder in ("design", "adr") for path in (ROOT / "docs" / folder).glob("*.md")]
    citing = {path.name: text for path in pages if RULING.search(text := path.read_text("utf-8"))}
    alone = [name for name, text in citing.items() if name != "rules.md" and "rules.md)" not in text]

    assert len(citing) > 5
    assert alone == []
