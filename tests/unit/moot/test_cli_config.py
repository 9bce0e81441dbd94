"""`moot config show`, `moot schema`."""

import json
import tomllib
from pathlib import Path

from moot.protocols.rulebook import rulebook
from tests.doubles.command_line import complaint, data, done, write


def test_the_effective_configuration_is_shown() -> None:
    found = data("config", "show")

    assert found["schedules"]["micro"] == {"cron": "0 */2 * * *"}
    assert found["log"] == {"durability": "power"}


def test_what_is_shown_is_toml_that_gives_the_same(tmp_path: Path) -> None:
    text = done("config", "show")

    assert tomllib.loads(text) == data("config", "show")
    assert (
        done("config", "show", "--config", write(tmp_path / "x.toml", text)).split("\n", 1)[1]
        == text.split("\n", 1)[1]
    )


def test_a_file_and_variables_come_over_the_shipped_ones(tmp_path: Path) -> None:
    file = write(tmp_path / "x.toml", '[admins]\ncli = ["ann"]\n')

    assert data("config", "show", "--config", file)["admins"] == {"cli": ["ann"]}
    assert data("config", "show", MOOT_CONFIG=str(file))["admins"] == {"cli": ["ann"]}
    assert data("config", "show", MOOT_LOG__DURABILITY="process")["log"]["durability"] == "process"


def test_a_wrong_value_is_one_line_that_names_it(tmp_path: Path) -> None:
    file = write(tmp_path / "x.toml", '[schedules]\nhourly = { cron = "0 * * * *" }\n')

    assert "there is no schedule 'hourly'" in complaint(2, "config", "show", "--config", file)
    assert "is not TOML" in complaint(2, "config", "show", "--config", write(tmp_path / "y.toml", "="))


def test_a_file_that_cannot_be_read_is_told_in_words(tmp_path: Path) -> None:
    gone, bytes_ = tmp_path / "z.toml", tmp_path / "b.toml"
    bytes_.write_bytes(b"\xff\xfe")

    for words in (["config", "show"], ["simulate"], ["up", "--data", tmp_path / "q"]):
        said = complaint(2, *words, "--config", gone)
        assert said.endswith(f": {gone}: cannot be read: no such file or directory")
        assert complaint(2, *words, "--config", bytes_).endswith(": is not text in UTF-8: save it as such")
    assert not (tmp_path / "q").exists()


def test_the_schema_holds_every_message() -> None:
    found = json.loads(done("schema"))

    assert set(found["discriminator"]["mapping"]) == set(rulebook().messages)
    assert len(found["oneOf"]) == len(rulebook().messages)
    assert found["$defs"]["Verdict"]["properties"]["type"]["const"] == "VERDICT"
