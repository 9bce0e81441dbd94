"""A protocol that somebody names is looked for where Python looks, then in the working directory."""

import sys
from pathlib import Path

import pytest

from moot.config.protocols import UnusableProtocol, install


def test_a_module_in_the_working_directory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_first_rules.py").write_text("PROTOCOL = 'none yet'\n")
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    monkeypatch.chdir(tmp_path)
    try:
        with pytest.raises(UnusableProtocol, match="the module my_first_rules holds no PROTOCOL"):
            install(["my_first_rules"])
    finally:
        sys.modules.pop("my_first_rules", None)


def test_a_module_that_is_nowhere_is_told_in_one_line() -> None:
    with pytest.raises(UnusableProtocol, match="the module my_last_rules cannot be imported: ModuleNotFound"):
        install(["my_last_rules"])
