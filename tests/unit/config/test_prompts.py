"""Prompts: every seat has its own, what it says is the same each time, and a folder may replace it."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import Final

import pytest

from moot.bots.minds.model.measured import own_fields
from moot.bots.models.forms import form_of
from moot.config.prompts import FOLDER, GENERAL, WrongPrompt, load_prompts
from moot.protocols.panel.seats import PANEL
from moot.protocols.rulebook import rulebook
from moot.protocols.trading.seats import GUARDIAN, TRADER

BOOK = rulebook()

BY_THE_RULES: Final = {"THRESHOLD_REVIEW", "THRESHOLDS_ADJUSTED", "PROMOTION_DECISION"}
"""What no model is asked for."""


def owed() -> list[tuple[str, str]]:
    """Return what a model may be asked for, as (seat, type)."""
    found = {
        (seat, kind)
        for machine in BOOK.types.values()
        for step in machine.steps.values()
        for kind in step.expects
        for seat in BOOK.bots
        if step.seat == seat or (callable(step.seat) and seat in _reviewers(kind))
    }
    return sorted((seat, kind) for seat, kind in found if own_fields(kind) != () and kind not in BY_THE_RULES)


def _reviewers(kind: str) -> frozenset[str]:
    return frozenset(PANEL) if kind.startswith("PHASE") else frozenset({GUARDIAN, TRADER})


@pytest.mark.parametrize(("seat", "kind"), owed(), ids=str)
def test_every_seat_is_told_how_each_of_its_messages_is_written(seat: str, kind: str) -> None:
    prompts = load_prompts()
    told = prompts.instructions(seat, [kind])
    assert f"You owe a {kind}" not in told, "words of its own, not the general ones"
    assert told.startswith(f"You fill the seat {seat} in Moot")
    named = set(re.findall(r"`([a-z][a-z_.]*)`", "\n".join(_section(seat, kind)))) - {"figures"}
    known = _fields(form_of(BOOK.messages[kind]).schema) | _written_forms() | SHOWN
    assert named <= known, "the prompt names fields and quotations that there are"


SHOWN: Final = {
    "market", "work", "plan", "gaps", "contract", "draft", "unresolved", "evidence", "findings",
    "is_best_effort", "none",
}  # fmt: skip
"""What is shown beside the form, as prompts call it."""


def _written_forms() -> set[str]:
    return {
        "paraphrase", "what_to_look_for", "what_triggers_block", "what_triggers_warn", "summary", "finding", "score",
        "dissent", "count", "fired", "issues", "evidence", "rationale", "verdict", "initial_prompt",
    }  # fmt: skip


def _section(seat: str, kind: str) -> list[str]:
    found = []
    for name in (seat, GENERAL):
        text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
        found += re.findall(rf"^## {kind}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    return found


def _fields(schema: object) -> set[str]:
    if isinstance(schema, dict):
        own = set(schema.get("properties", {}))
        return own.union(*[_fields(one) for one in schema.values()])
    return set().union(*[_fields(one) for one in schema]) if isinstance(schema, list) else set()


def test_no_file_is_of_a_seat_that_there_is_not_and_none_speaks_of_what_its_seat_never_writes() -> None:
    kinds = {kind for _, kind in owed()}
    for path in FOLDER.glob("*.md"):
        assert path.stem in {*BOOK.bots, GENERAL}
        sections = set(re.findall(r"^## (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE))
        mine = kinds if path.stem == GENERAL else {kind for seat, kind in owed() if seat == path.stem}
        assert sections - {"any message"} <= mine


def test_a_seat_of_another_protocol_is_told_what_all_are_and_what_is_asked_for() -> None:
    told = load_prompts().instructions("librarian", ["LOAN"], "Lending")
    assert "You fill the seat librarian in Moot" in told
    assert "You owe a LOAN in this Lending." in told


def test_the_same_duty_is_told_the_same_whatever_is_at_hand() -> None:
    first, again = load_prompts(), load_prompts()
    kinds = ["REBUTTAL", "CONCEDE"]
    assert first.instructions("explorer", kinds) == again.instructions("explorer", kinds)
    assert first.hashes() == again.hashes()
    text = (FOLDER / "judge.md").read_bytes()
    assert first.hashes()["judge"] == hashlib.sha256(text).hexdigest()


def test_a_folder_replaces_the_prompts_that_it_holds(tmp_path: Path) -> None:
    (tmp_path / "judge.md").write_text("# Judge\n\nBe brief.\n", encoding="utf-8")
    (tmp_path / "README.txt").write_text("no prompt", encoding="utf-8")
    prompts, own = load_prompts(tmp_path), load_prompts()
    told = prompts.instructions("judge", ["JUDGMENT"], "Motion")
    assert "Be brief." in told
    assert "You owe a JUDGMENT in this Motion." in told
    changed = {name for name, digest in prompts.hashes().items() if own.hashes()[name] != digest}
    assert changed == {"judge"}


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("jugde.md", b"# Judge", "there is no such seat: did you mean judge.md?"),
        ("zzz.md", b"# Z", "there is no such seat: name it after one of advocate, critic"),
        ("judge.md", b"\xff\xfe", "is no UTF-8 text: save it as that"),
        ("judge.md", b" \n", "is empty: write what the seat is told, or remove it"),
        ("judge.md", b"x" * 40_001, "has 40,001 characters, 40,000 are the most: shorten it"),
        (
            "general.md",
            b"# All\n\nBe brief.",
            "needs a text before its first section, and a section '## any message'",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_one_clear_line(
    tmp_path: Path, name: str, data: bytes, why: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(WrongPrompt) as caught:
        load_prompts(tmp_path)
    line = str(caught.value)
    assert line.startswith(f"{tmp_path / name}: {why}")
    assert "\n" not in line


def test_a_folder_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(WrongPrompt, match="there is no such folder of prompts"):
        load_prompts(tmp_path / "none")


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "judge.md")
    with pytest.raises(WrongPrompt, match=r"judge\.md: is no file"):
        load_prompts(tmp_path)
    (tmp_path / "judge.md").unlink()
    (tmp_path / "judge.md").symlink_to("judge.md")
    with pytest.raises(WrongPrompt, match=r"judge\.md: cannot be read"):
        load_prompts(tmp_path)
