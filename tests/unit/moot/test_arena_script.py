"""Scripts of `moot arena run`: what they may say, and one line for what they may not."""

from pathlib import Path

import pytest

from moot.cases.arena.script import ArenaScript, NotebookScript, ScriptError, read_script, script_from

WHOLE = """\
planner: [one, "two"]
reviewer:
  - |
    - no goal
    VERDICT: REVISE
  - "VERDICT: APPROVED"
finalizer: [done]
notebook: {before: ok, during: contradict, after: timeout}
reviewer_writes: true
resume_token: missing
"""


def written(tmp_path, text):
    path = tmp_path / "script.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refused(tmp_path, text):
    path = written(tmp_path, text)
    with pytest.raises(ScriptError) as caught:
        read_script(path)
    said = str(caught.value)
    assert said.startswith(f"{path}: ")
    assert said.isprintable()
    assert len(said) < 600
    return said.removeprefix(f"{path}: ")


def test_a_whole_script_is_read(tmp_path):
    assert read_script(written(tmp_path, WHOLE)) == ArenaScript(
        planner=("one", "two"),
        reviewer=("- no goal\nVERDICT: REVISE\n", "VERDICT: APPROVED"),
        finalizer=("done",),
        notebook=NotebookScript(before="ok", during="contradict", after="timeout"),
        reviewer_writes=True,
        resume_token="missing",
    )


@pytest.mark.parametrize("text", ["", "{}", "# nothing\n", "null", "\ufeff{}"])
def test_an_empty_script_says_nothing(tmp_path, text):
    assert read_script(written(tmp_path, text)) == ArenaScript()


def test_a_notebook_may_be_told_in_part(tmp_path):
    script = read_script(written(tmp_path, "notebook: {after: fail}"))
    assert script.notebook == NotebookScript(before="ok", during="ok", after="fail")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("planner: text", "planner: "),
        ("planner: [1]", "planner.0: "),
        ("planner: [[a]]", "planner.0: "),
        ("reviewer: {a: b}", "reviewer: "),
        ("reviewer: [null]", "reviewer.0: "),
        ("reviewer: [2020-01-01]", "reviewer.0: "),
        ("finalizer: yes", "finalizer: "),
        ("notebook: ok", "notebook: "),
        ("notebook: {before: maybe}", "notebook.before: "),
        ("notebook: {later: ok}", "notebook.later: "),
        ("reviewer_writes: 1", "reviewer_writes: "),
        ("reviewer_writes: 'true'", "reviewer_writes: "),
        ("resume_token: lost", "resume_token: "),
        ("unknown: 1", "unknown: "),
        ("1: a", "1: "),
        ("[a]", "needs keys such as planner"),
        ("text", "needs keys such as planner"),
        ("7", "needs keys such as planner"),
        ("a: b: c", "is no YAML: "),
        ("a: [", "is no YAML: "),
        ("\t- x", "is no YAML: "),
        ("planner: !!python/object/apply:os.system [ls]", "is no YAML: "),
        (b"planner: [\xff]", "is not UTF-8 at byte 10"),
        ("? [a]\n: b", "is no YAML: "),
        ("? {a: b}\n: c", "is no YAML: "),
        ('"a\\nb": 1', "a b: "),
        ("k" * 5000 + ": 1", "is no YAML: "),
        ("? " + "k" * 5000 + "\n: 1", "kkk"),
        ("[" * 5000, "is no script: line 1: nested too deeply"),
        ("a: &x [*x, *x]\nplanner: *x", "is no script: line 1: *x holds itself"),
    ],
)
def test_what_no_script_may_say_is_told_in_one_line(tmp_path, text, said):
    assert refused(tmp_path, text).startswith(said)


def test_a_file_that_cannot_be_read_is_told_in_one_line(tmp_path):
    for path in (tmp_path / "absent.yaml", tmp_path):
        with pytest.raises(ScriptError, match="cannot be read"):
            read_script(path)


def test_a_script_of_plain_data_needs_no_file():
    assert script_from({"planner": ["x"]}).planner == ("x",)
    with pytest.raises(ScriptError, match=r"^script: "):
        script_from([])


@pytest.mark.parametrize("text", ["reviewer: " + "[" * 100_000, "? " * 100_000, "- " * 100_000])
def test_a_script_nested_without_end_is_refused_and_ends_no_process(tmp_path: Path, text: str) -> None:
    path = tmp_path / "deep.yaml"
    path.write_text(text)
    with pytest.raises(ScriptError, match="nested too deeply"):
        read_script(path)
