"""What notebook tools of any maker answer, as typed results."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import CallToolResult, EmbeddedResource, ImageContent, TextContent, TextResourceContents

from moot.bots.notebook.answers import Passage, described, passages, report_ref
from moot.bots.notebook.errors import NotebookError, NotebookGarbage, NotebookRefused


def says(*texts, structured=None, is_error=False):
    content = [TextContent(type="text", text=text) for text in texts]
    return CallToolResult(content=content, structured_content=structured, is_error=is_error)


ONE = {"ref": "a.md#1", "note": "a.md", "text": "It is so.", "score": 2}
WHOLE = Passage("a.md#1", "a.md", "It is so.", 2.0)


@pytest.mark.parametrize(
    "answer",
    [
        says(structured={"passages": [ONE]}),
        says("ignored", structured={"result": [ONE]}),
        says(json.dumps({"results": [ONE]})),
        says(json.dumps([ONE])),
        says(json.dumps(ONE)),
        says(json.dumps({**ONE, "text": None, "snippet": "It is so."})),
    ],
)
def test_passages_come_in_many_forms(answer):
    assert passages(answer, 5) == (WHOLE,)


def test_plain_text_is_one_passage_with_a_reference_made_of_it():
    [first] = passages(says("It is so."), 5)
    assert (first.note, first.text, first.score) == ("", "It is so.", None)
    assert first.ref.startswith("answer#") and len(first.ref) == 17
    [again] = passages(says("It  is\nso."), 5)
    assert again.ref == first.ref != passages(says("It is not."), 5)[0].ref


def test_several_blocks_are_several_passages():
    assert [p.text for p in passages(says("one", "two"), 5)] == ["one", "two"]
    blocks = says(json.dumps(ONE), json.dumps({**ONE, "ref": "a.md#2"}))
    assert [p.ref for p in passages(blocks, 5)] == ["a.md#1", "a.md#2"]


def test_an_embedded_resource_counts_and_a_picture_does_not():
    resource = TextResourceContents(uri="note://a", text="It is so.")
    picture = ImageContent(type="image", data="", mime_type="image/png")
    answer = CallToolResult(content=[picture, EmbeddedResource(type="resource", resource=resource)])
    assert passages(answer, 5)[0].text == "It is so."
    with pytest.raises(NotebookGarbage, match="answered nothing"):
        passages(CallToolResult(content=[picture]), 5)


def test_no_passage_is_an_answer_and_too_many_are_cut():
    assert passages(says(structured={"passages": []}), 5) == ()
    assert len(passages(says(structured={"passages": [ONE] * 9}), 5)) == 5


@pytest.mark.parametrize("score", [True, "2", None, float("nan"), float("inf"), 10**400, [1]])
def test_a_score_that_is_none_is_none(score):
    assert passages(says(structured={"passages": [{**ONE, "score": score}]}), 5)[0].score is None


@pytest.mark.parametrize(
    "answer",
    [
        says(),
        says(" "),
        says(structured={}),
        says(structured={"passages": None}),
        says(structured={"passages": 7}),
        says(structured={"passages": [7]}),
        says(structured={"passages": [{}]}),
        says(structured={"passages": [{"text": " "}]}),
        says(structured={"weather": "fine"}),
    ],
)
def test_what_holds_no_passages_is_garbage(answer):
    with pytest.raises(NotebookGarbage):
        passages(answer, 5)


def test_a_refusal_is_no_passage():
    with pytest.raises(NotebookRefused, match=r"refused: no, not today"):
        passages(says("no,\nnot today", is_error=True), 5)


def test_a_description_takes_what_is_there():
    full = {
        "id": "n",
        "title": "N",
        "notes": ["a.md", {"title": "b.md"}, 7],
        "note_count": 3,
        "passage_count": True,
    }
    about = described(says(structured=full), "fallback", ("x",))
    assert (about.id, about.title, about.notes) == ("n", "N", ("a.md", "b.md"))
    assert (about.note_count, about.passage_count, about.tools) == (3, None, ("x",))
    assert described(says("A box."), "fallback", ()).title == "A box."
    assert described(says("{}"), "fallback", ()).id == "fallback"
    with pytest.raises(NotebookGarbage):
        described(says("[]"), "fallback", ())


def test_a_report_is_named_or_the_answer_is_garbage():
    assert report_ref(says(structured={"ref": "studio/a.md"})) == "studio/a.md"
    assert report_ref(says("made it")) == "made it"
    with pytest.raises(NotebookGarbage):
        report_ref(says(structured={"fine": True}))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["passages", "text", "ref", "score", "notes", "id", "x"]), inner)
    ),
    max_leaves=8,
)


@given(value=st.dictionaries(st.sampled_from(["passages", "text", "ref", "notes", "id", "result"]), values))
def test_any_answer_is_a_result_or_one_clear_line(value):
    for read in (lambda a: passages(a, 3), lambda a: described(a, "n", ()), report_ref):
        for answer in (says(structured=value), says(json.dumps(value))):
            try:
                result = read(answer)
            except NotebookError as error:
                assert str(error).isprintable()
            else:
                for found in result if isinstance(result, tuple) else ():
                    assert found.text.strip() and found.ref.isprintable() and found.text.encode()
