import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.channels.chat.buttons import Press, button_id, read_button_id, with_ids
from moot.channels.showing.layout import units
from moot.channels.showing.rendering import Button


def answer(option, escalation_id="esc_1"):
    return Button(f"{option}", "answer", {"escalation_id": escalation_id, "option": option, "text": None})


ACK = Button("Acknowledge", "ack", {"escalation_id": "esc_1"})


def test_a_button_is_read_as_it_was_written():
    assert button_id(ACK, 100) == "moot|ack|esc_1"
    assert read_button_id("moot|ack|esc_1") == Press("ack", "esc_1")
    assert dict(Press("ack", "esc_1").fields) == ACK.fields
    assert button_id(answer(2), 100) == "moot|answer|2|esc_1"
    assert read_button_id("moot|answer|2|esc_1") == Press("answer", "esc_1", 2)
    assert dict(Press("answer", "esc_1", 2).fields) == answer(2).fields


@given(st.integers(), st.text(max_size=200), st.integers(5, 255))
def test_any_button_fits_or_is_left_out(option, escalation_id, most):
    text = button_id(answer(option, escalation_id), most)
    if text is not None:
        assert units(text) <= most
        assert read_button_id(text) in (Press("answer", escalation_id, option), Press("answer", "", option))
    else:
        assert units(f"moot|answer|{option}|") > most or abs(option) >= 10**18


def test_what_would_be_pressed_twice_stands_once():
    assert [text for text, _ in with_ids((ACK, answer(1), ACK, answer(1), answer(2)), 100, 9)] == [
        "moot|ack|esc_1", "moot|answer|1|esc_1", "moot|answer|2|esc_1",
    ]  # fmt: skip
    assert len(with_ids([answer(n) for n in range(50)], 100, 25)) == 25


@pytest.mark.parametrize(
    "text", ["", "moot", "moot|ack", "moot|answer|x|e", "moot|answer|1", "xmoot|ack|e", "moot|answer|٣|e"]
)
def test_anything_else_is_no_button_of_ours(text):
    assert read_button_id(text) is None
