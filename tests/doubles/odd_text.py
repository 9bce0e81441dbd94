"""Texts that chat platforms trip over, and a strategy that mixes them."""

from __future__ import annotations

from hypothesis import strategies as st

ODD = (
    "@everyone", "@here", "<!channel>", "<!here|here>", "<@1234>", "<@!1234>", "<@&99>", "<#55>", "<:pepe:123>",
    "<a:spin:9>", "<t:1:R>", "</halt:5>", ":smile:", ":+1:", ":a:b:c:", "[x](http://y)", "https://example.org/a_b_c",
    "discord.gg/abc", "<https://x.example|y>", "`", "```", "``a``", "**bold**", "__under__", "_a_", "~~gone~~",
    "||spoiler||", "# heading", "-# small", "- item", "1. one", "2) two", "> quoted", ">>> all", "\\", "\\*",
    "&amp;", "&lt;@U1&gt;", "&", "<", ">", "😀", "👩\u200d👩\u200d👧", "🏳\ufe0f\u200d🌈", "e\u0301",
    "שלום", "مرحبا", "\u202etxt.exe", "\u200b", "\x00", "\x1b[2J", "\n", "\r\n", "\n\n\n\n", "\t", " ",
    "word", "x" * 300, "long word " * 40, "\U0001d538" * 90, "hyp_20260223_1030", "¯\\_(ツ)_/¯", "10:30:45",
    "\u2028", "\u3000", "\n# a", "\n- b", "\n> c", "\n 1. d", "a@b.example", "…", "; and 3 more",
)  # fmt: skip

odd_text = st.lists(st.sampled_from(ODD) | st.text(max_size=30), max_size=12).map("".join) | st.lists(
    st.sampled_from(ODD), max_size=12
).map(" ".join)
"""Any text of up to a few thousand characters."""
