"""Logging: JSON to a file, warnings readable on the terminal, secrets nowhere, other handlers untouched."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from moot.log_setup import set_up_logging
from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.errors import OfficerFault
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.seats import REFEREE
from moot.protocols.research.seats import CRITIC, EXPLORER
from tests.doubles import bodies
from tests.doubles.canned import CannedMind
from tests.doubles.stage import Stage, play

TOKEN = "xoxb-123456789012-abcdefghijkl"


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    level = logging.getLogger().level
    yield
    set_up_logging(None)
    logging.getLogger().setLevel(level)
    structlog.reset_defaults()


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_line_of_the_file_is_json_with_time_level_and_logger(tmp_path: Path) -> None:
    set_up_logging(tmp_path / "deep" / "moot.log")
    structlog.get_logger("moot.test").info("it began", seq=7, case_id="hyp_1")
    logging.getLogger("another.library").warning("slow %s", "disk")
    ours, theirs = lines(tmp_path / "deep" / "moot.log")
    assert (ours["event"], ours["seq"], ours["case_id"]) == ("it began", 7, "hyp_1")
    assert (ours["level"], ours["logger"]) == ("info", "moot.test")
    assert ours["timestamp"].endswith("Z")
    assert (theirs["event"], theirs["level"]) == ("slow disk", "warning")


def test_secrets_are_redacted_wherever_they_stand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging(tmp_path / "moot.log", terminal=True)
    log = structlog.get_logger("moot.test")
    log.warning(f"token={TOKEN}", why=TOKEN, nested={"headers": [f"Bearer {TOKEN}"]}, error=ValueError(TOKEN))
    logging.getLogger("library").warning("connecting with %s", TOKEN)
    try:
        raise RuntimeError(TOKEN)
    except RuntimeError:
        log.error("it failed", exc_info=True)
    said = (tmp_path / "moot.log").read_text() + capsys.readouterr().err
    assert "xoxb-1234" not in said
    assert said.count("redacted") >= 12


def test_values_under_keys_that_tell_a_secret_are_redacted_and_others_are_not(tmp_path: Path) -> None:
    set_up_logging(tmp_path / "moot.log")
    structlog.get_logger("moot.test").info(
        "it",
        token="abc-1",
        nested={"api_key": "abc-2", "deep": [{"password": "abc-3", "secret": ["abc-4"]}], "tokens": 7},
        session_id="s-1",
        budget_tokens=4096,
        client_secret=b"abc-5",
    )
    try:
        raise RuntimeError("password=abc-6") from ValueError({"token": "abc-7"})
    except RuntimeError:
        structlog.get_logger("moot.test").exception("it failed")
    said = (tmp_path / "moot.log").read_text()
    assert "abc-" not in said
    line = lines(tmp_path / "moot.log")[0]
    assert (line["session_id"], line["budget_tokens"], line["nested"]["tokens"]) == ("s-1", 4096, 7)
    assert "RuntimeError" in said and "ValueError" in said


def test_the_terminal_shows_warnings_readably_and_nothing_less(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up_logging(tmp_path / "moot.log", terminal=True)
    log = structlog.get_logger("moot.test")
    log.info("not for people")
    log.warning("mind failed", seat="critic", exc_info=ValueError("no idea"))
    shown = capsys.readouterr().err
    assert "not for people" not in shown
    assert "mind failed" in shown and "seat=critic" in shown and "no idea" in shown
    assert "{" not in shown and "\x1b[" not in shown


def test_without_a_file_or_a_terminal_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging(None)
    structlog.get_logger("moot.test").error("quiet")
    shown = capsys.readouterr()
    assert shown.out == shown.err == ""


def test_setting_up_again_moves_to_the_new_file_and_leaves_strangers_handlers_alone(tmp_path: Path) -> None:
    root = logging.getLogger()
    set_up_logging(None)
    strangers = [handler for handler in root.handlers if type(handler) is not logging.NullHandler]
    one, two = tmp_path / "one.log", tmp_path / "two.log"
    log = structlog.get_logger("moot.test")
    set_up_logging(one)
    log.info("first")
    set_up_logging(two)
    log.info("second")
    assert [line["event"] for line in lines(one)] == ["first"]
    assert [line["event"] for line in lines(two)] == ["second"]
    assert len(strangers) >= 1, "pytest's own are among them"
    assert [handler for handler in root.handlers if handler in strangers] == strangers
    assert len(root.handlers) == len(strangers) + 1


def test_a_violation_and_a_fault_are_logged_with_the_seq_and_the_case_they_concern(tmp_path: Path) -> None:
    set_up_logging(tmp_path / "moot.log")
    cases: list[str] = []

    class Wrong(CannedMind):
        async def answer(self, view: Any) -> Any:
            reply = await super().answer(view)
            return type(reply)(bodies.assessment(3)) if not view.attempt else reply  # type: ignore[misc]

    async def script(stage: Stage) -> None:
        await stage.wait(minutes=20)
        case = next(s.case_id for s in stage.host.docket.cases.values() if s.kind == "debate")
        cases.append(case)
        ruling = Ruling(
            obligation_id=None, case_id=case, outcome="REJECT", reason="x", rule="1.4", of_seq=None
        )
        with pytest.raises(OfficerFault, match="no table asks"):
            await stage.post(
                Draft(channel="#a-arena", author=REFEREE, body=ruling, case_id=case, key="ruling/9")
            )

    log = play({EXPLORER: CannedMind(), CRITIC: Wrong()}, script)
    said = {line["event"]: line for line in lines(tmp_path / "moot.log")}
    broke = next(env for env in log if env.body.type == "RISK_ASSESSMENT")
    assert (said["violation"]["seq"], said["violation"]["case_id"]) == (broke.seq, cases[0])
    assert said["the host stops"]["case_id"] == cases[0]
    assert said["the host stops"]["seq"] == log[-1].seq + 1


def test_a_line_that_cannot_be_kept_prints_no_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", True)
    set_up_logging(tmp_path / "a" / "moot.log")
    (tmp_path / "a").rmdir()

    structlog.get_logger("moot.test").error("not stored")

    assert "Traceback" not in capsys.readouterr().err
