"""`make check` refuses a tree in which a rule has no test, or a test cites a rule that is none or is ambiguous."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import check_rules

ROOT = Path(__file__).resolve().parents[2]
PAGE = """\
| number | rule |
|---|---|
| 1.1, R-A1 | Two rules. |
| discussion 5.1 | A section that exists twice. |
| arena 5.1 | Its namesake. |
"""
TEST = """\
import pytest
pytestmark = [pytest.mark.rule("arena 5.1")]

@pytest.mark.rule("1.1", "R-A1")
def test_it(): ...
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "docs" / "design").mkdir(parents=True)
    (tmp_path / "tests" / "scenes").mkdir(parents=True)
    (tmp_path / "docs" / "design" / "rules.md").write_text(PAGE)
    (tmp_path / "tests" / "test_it.py").write_text(TEST)
    (tmp_path / "tests" / "scenes" / "it.yaml").write_text('rule: ["discussion 5.1"]\nstart: 2026-02-23\n')
    return tmp_path


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_tree_whose_rules_all_have_tests_passes(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_rules.main(tree) == 0
    assert "each of 4" in capsys.readouterr().out


def test_a_rule_that_loses_its_last_test_fails(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(tree / "tests" / "test_it.py", '"1.1", "R-A1"', '"1.1"')
    assert check_rules.main(tree) == 1
    assert capsys.readouterr().out == "docs/design/rules.md: no test cites rule R-A1\n"


def test_a_rule_that_loses_its_last_scene_fails(tree: Path) -> None:
    (tree / "tests" / "scenes" / "it.yaml").unlink()
    assert check_rules.complaints(tree) == ["docs/design/rules.md: no test cites rule discussion 5.1"]


def test_a_number_that_stands_for_two_rules_fails(tree: Path) -> None:
    edit(tree / "docs" / "design" / "rules.md", "arena 5.1", "1.1")
    found = check_rules.complaints(tree)
    assert (
        "docs/design/rules.md: number 1.1 stands for 2 rules: put the specification's name before it" in found
    )


@pytest.mark.parametrize("unknown", ["5.1", "R-A2", "arena 1.1"])
def test_a_citation_of_no_rule_fails_and_is_named_with_its_line(tree: Path, unknown: str) -> None:
    edit(tree / "tests" / "test_it.py", '"R-A1"', f'"R-A1", "{unknown}"')
    (found,) = check_rules.complaints(tree)
    assert found.startswith(f"tests/test_it.py:4: unknown rule '{unknown}'")


@pytest.mark.parametrize(
    ("rule", "protocol", "number"),
    [
        ("5.1", "arena", "arena 5.1"),
        ("5.1", "research", "discussion 5.1"),
        ("5.1", "escalation", "discussion 5.1"),
        ("2", "panel", "panel 2"),
        ("9.4", "arena", "9.4"),
        ("R-F12", "escalation", "R-F12"),
    ],
)
def test_a_rule_that_code_names_is_found_on_the_page(rule: str, protocol: str, number: str) -> None:
    known = frozenset(check_rules.numbers(ROOT))
    assert check_rules.numbered(rule, protocol, known) == number
    assert number in known


def test_losing_the_scene_and_the_tests_of_a_rule_of_this_tree_is_found(tree: Path) -> None:
    kept = [c for c in check_rules.citations(ROOT) if c.rule == "R-F12"]
    assert {c.path.suffix for c in kept} == {".py", ".yaml"}
