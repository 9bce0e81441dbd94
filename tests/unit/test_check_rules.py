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
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(check_rules, "PENDING", frozenset())
    (tmp_path / "docs" / "design").mkdir(parents=True)
    (tmp_path / "tests" / "acceptance" / "scenes").mkdir(parents=True)
    (tmp_path / "tests" / "acceptance" / "test_scenes.py").write_text("def test_scene(): ...\n")
    (tmp_path / "docs" / "design" / "rules.md").write_text(PAGE)
    (tmp_path / "tests" / "test_it.py").write_text(TEST)
    (tmp_path / "tests" / "acceptance" / "scenes" / "it.yaml").write_text(
        'rule: ["discussion 5.1"]\nstart: 2026-02-23\n'
    )
    return tmp_path


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_tree_whose_rules_all_have_tests_passes(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_rules.main(tree) == 0
    assert "4 of 4" in capsys.readouterr().out


def test_a_rule_that_loses_its_last_test_fails(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(tree / "tests" / "test_it.py", '"1.1", "R-A1"', '"1.1"')
    assert check_rules.main(tree) == 1
    assert capsys.readouterr().out == "docs/design/rules.md: no test cites rule R-A1\n"


def test_a_rule_that_loses_its_last_scene_fails(tree: Path) -> None:
    (tree / "tests" / "acceptance" / "scenes" / "it.yaml").unlink()
    assert check_rules.complaints(tree) == ["docs/design/rules.md: no test cites rule discussion 5.1"]


def test_a_number_that_stands_for_two_rules_fails(tree: Path) -> None:
    edit(tree / "docs" / "design" / "rules.md", "arena 5.1", "1.1")
    found = check_rules.complaints(tree)
    assert (
        "docs/design/rules.md: number 1.1 stands for 2 rules: put the specification's name before it" in found
    )


def test_a_bare_number_beside_a_prefixed_one_fails(tree: Path) -> None:
    edit(tree / "docs" / "design" / "rules.md", "discussion 5.1", "5.1")
    edit(tree / "tests" / "acceptance" / "scenes" / "it.yaml", "discussion 5.1", "5.1")
    (found,) = check_rules.complaints(tree)
    assert "number 5.1 is also a section of another specification" in found


@pytest.mark.parametrize(
    "test",
    [
        '@pytest.mark.rule("R-A1")\ndef helper(): ...\n',
        '@pytest.mark.skip("later")\n@pytest.mark.rule("R-A1")\ndef test_later(): ...\n',
        'def test_more():\n    pytest.mark.rule("R-A1")\n',
    ],
)
def test_a_mark_on_what_is_not_run_is_no_citation(tree: Path, test: str) -> None:
    edit(tree / "tests" / "test_it.py", '"1.1", "R-A1"', '"1.1"')
    with (tree / "tests" / "test_it.py").open("a") as file:
        file.write(test)
    assert check_rules.complaints(tree) == ["docs/design/rules.md: no test cites rule R-A1"]


def test_scenes_without_their_runner_are_no_citations(tree: Path) -> None:
    (tree / "tests" / "acceptance" / "test_scenes.py").unlink()
    assert check_rules.complaints(tree) == ["docs/design/rules.md: no test cites rule discussion 5.1"]


def test_a_list_of_rules_over_several_lines_is_read(tree: Path) -> None:
    (tree / "tests" / "acceptance" / "scenes" / "it.yaml").write_text("rule:\n  - discussion 5.1\nstart: x\n")
    assert check_rules.complaints(tree) == []


def test_a_pending_rule_that_is_cited_has_to_be_removed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_rules, "PENDING", frozenset({"R-A1"}))
    assert check_rules.complaints(tree) == ["rule R-A1 has a test that cites it: remove it from PENDING"]


@pytest.mark.parametrize(
    ("name", "text"), [("tests/test_it.py", "def ("), ("tests/acceptance/scenes/it.yaml", "a: [")]
)
def test_an_unreadable_file_is_one_line(
    tree: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / name).write_text(text)
    assert check_rules.main(tree) == 1
    out = capsys.readouterr().out
    assert out.startswith(name) and out.count("\n") == 1


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


def test_losing_the_scene_and_the_tests_of_a_rule_of_this_tree_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cited = list(check_rules.citations(ROOT))
    kept = [citation for citation in cited if citation.rule != "R-F12"]
    assert {citation.path.suffix for citation in cited if citation not in kept} == {".py", ".yaml"}
    assert check_rules.complaints(ROOT) == []
    monkeypatch.setattr(check_rules, "citations", lambda _root: iter(kept))
    assert check_rules.complaints(ROOT) == ["docs/design/rules.md: no test cites rule R-F12"]
