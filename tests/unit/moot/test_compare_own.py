"""Cases of one's own, and what is wrong with them in one line."""

import json
from pathlib import Path

import pytest

from moot.compare.cases.own import read_cases
from moot.protocols.kernel.errors import BadInput

GOOD = {"id": "q1", "question": "What is the capital of Norway?", "truth": "Oslo"}


def _file(folder: Path, *lines: object) -> Path:
    path = folder / "cases.jsonl"
    texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def test_a_question_needs_three_words_of_json(tmp_path: Path) -> None:
    kept = {"id": "w", "kind": "weather", "shown": {"sky": "grey"}, "truth": {"rain": True}}
    found = read_cases(_file(tmp_path, GOOD, "", kept))
    assert [(one.id, one.kind, one.truth) for one in found] == [
        ("q1", "question", "Oslo"),
        ("w", "weather", {"rain": True}),
    ]
    assert dict(found[0].shown) == {"question": GOOD["question"]}
    assert found.places["w"].endswith("cases.jsonl:3")
    assert len(read_cases(_file(tmp_path, GOOD, kept), count=1)) == 1


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (GOOD, r"cases.jsonl:2: the id 'q1' is that of .*cases.jsonl:1: give another"),
        ({**GOOD, "id": "q2", "truth": None}, r"cases.jsonl:2: case 'q2' has no truth: say under truth"),
        ({"question": "?", "truth": 1}, r"cases.jsonl:2: id is missing"),
        ({**GOOD, "id": "q2", "answer": 1}, r"cases.jsonl:2: 'answer' is no key of a case: id, kind"),
        ({"id": "q2", "truth": 1}, r"cases.jsonl:2: nothing is shown"),
        ({"id": "q2", "truth": 1, "options": ["a"]}, r"cases.jsonl:2: question is missing"),
        ("[1]", r"cases.jsonl:2: a case is an object"),
        ("{", r"cases.jsonl:2: is not JSON"),
    ],
)
def test_what_is_no_case_is_said_in_a_line_with_its_place(tmp_path: Path, line: object, says: str) -> None:
    with pytest.raises(BadInput, match=says) as caught:
        read_cases(_file(tmp_path, GOOD, line))
    assert "\n" not in str(caught.value)


def test_a_file_without_cases_or_none_at_all_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"holds no case; a line is such as"):
        read_cases(_file(tmp_path, ""))
    with pytest.raises(BadInput, match=r"nowhere.jsonl: cannot be read"):
        read_cases(tmp_path / "nowhere.jsonl")
