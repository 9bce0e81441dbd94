"""The bar of a run on a terminal."""

from __future__ import annotations

import io
import re
import sys

import pytest

from moot.cli.arbiter.progress import RunProgress
from tests.doubles.arbiter_runs import Held, prepared


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(patch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in the place of standard error; pytest puts its own there before each test."""
    found = Terminal()
    patch.setattr(sys, "stderr", found)
    for name, value in (("TERM", "xterm"), ("COLUMNS", "100"), ("NO_COLOR", "1")):
        patch.setenv(name, value)
    return found


def plain(screen: Terminal) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())


def test_a_bar_tells_trials_and_what_the_last_batch_brought(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    with RunProgress() as bar:
        held = Held(prepared(k_max=6, batch_size=4)).hold(bar)
    assert held.error is None
    told = plain(screen)
    assert "6/6" in told
    row = held.batches[-1].row
    assert f"novelty {row.novelty_rate:.2f}, {len(row.cluster_distribution)} clusters" in told  # type: ignore[attr-defined]


def test_a_bar_goes_away_however_a_run_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)

    def before(trial_id: int) -> None:
        raise OSError(28, "No space left on device")

    with RunProgress() as bar:
        assert Held(prepared(), before=before).hold(bar).error is not None
    assert "0/8" in plain(screen)
    # The cursor is there again, and the line is empty.
    assert screen.getvalue().endswith("\x1b[?25h\r\x1b[1A\x1b[2K")
