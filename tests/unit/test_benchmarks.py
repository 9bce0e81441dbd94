"""`make bench` reports a benchmark that fails, and still runs the others."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.benchmarks import run


def test_a_benchmark_that_fails_is_reported_and_the_others_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = ModuleType("tests.benchmarks.bench_of_this_test")
    module.good = lambda: 2.5  # type: ignore[attr-defined]
    module.bad = lambda: 1 / 0  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    rows = [("bus", name, "bench_of_this_test", f"{name}_per_s", 1.0) for name in ("bad", "missing", "good")]
    monkeypatch.setattr(run, "FIGURES", rows)
    monkeypatch.setattr(run, "ROOT", tmp_path)
    (tmp_path / "bench.json").write_text(json.dumps({"bad_per_s": 9.0, "kept_per_s": 3.0}))

    assert run.main(["--only", "bus"]) == 1

    printed = capsys.readouterr()
    assert "ZeroDivisionError" in printed.out
    assert "2 failed: bad_per_s, missing_per_s" in printed.err
    assert json.loads((tmp_path / "bench.json").read_text()) == {"good_per_s": 2.5, "kept_per_s": 3.0}
