"""A log of every rules version that Moot reads opens, continues and verifies (R-G17).

`tests/golden/logs/rules-N.tar.xz` is the data directory of `moot simulate --days 1 --seed 5`, written by the last Moot
of rules version N. A new version of the rules needs the log of the version before it here.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from moot.protocols.codec import decode_envelope
from moot.protocols.kernel.officers import SocietyStarted
from moot.protocols.rulebook import READ, VERSION
from tests.doubles.command_line import done, moot
from tests.doubles.data_dir import read_lines
from tests.doubles.up_society import up_society
from tests.doubles.waiting import until

LOGS = Path(__file__).parents[1] / "golden" / "logs"
OLDER = sorted(READ - {VERSION})
MESSAGES = 335
"""Messages in each of the logs."""

pytestmark = pytest.mark.rule("R-G17")


@pytest.fixture(params=OLDER)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def older(tmp_path: Path, version: str) -> Path:
    """Return a copy of a data directory that an older Moot wrote."""
    with tarfile.open(LOGS / f"rules-{version}.tar.xz") as archive:
        archive.extractall(tmp_path / "data", filter="data")
    return tmp_path / "data"


def test_each_version_that_is_read_has_a_log_here() -> None:
    assert {path.name for path in LOGS.iterdir()} == {f"rules-{version}.tar.xz" for version in OLDER}
    assert {str(number) for number in range(2, int(VERSION) + 1)} == READ


def test_an_older_log_verifies_and_the_note_names_its_version(older: Path, version: str) -> None:
    told = moot("verify", older)
    assert told.exit_code == 0
    assert f"{MESSAGES} messages, every rule holds" in told.stdout
    assert f"said under rules {version}" in told.stderr


def test_an_older_log_opens_for_reading(older: Path) -> None:
    assert len(done("log", older, "--json").splitlines()) == MESSAGES
    assert done("status", older)


async def test_an_older_log_continues_under_the_newest_rules_and_verifies(
    older: Path, tmp_path: Path
) -> None:
    before = read_lines(older / "log.sqlite")
    config = tmp_path / "moot.toml"
    config.write_text("")
    with up_society(older, config) as log:
        await until(lambda: log.head > MESSAGES + 15)
    after = read_lines(older / "log.sqlite")
    assert after[:MESSAGES] == before
    started = [env.body for env in map(decode_envelope, after) if isinstance(env.body, SocietyStarted)]
    assert started[-1].rules_version == VERSION
    assert "every rule holds" in done("verify", older)
