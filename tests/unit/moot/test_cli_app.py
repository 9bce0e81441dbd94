"""The program: help, exit codes, and one line for everything that goes wrong."""

import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

from moot.cli import app as program
from moot.cli.app import PANELS
from moot.cli.commands import app
from moot.cli.errors import CheckFailed, CliError, Refused, Unusable
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import ADMIN
from tests.doubles.command_line import complaint, done, moot
from tests.doubles.data_dir import a_debate, write_log

ROOT = Path(__file__).resolve().parents[3]
TREE = typer.main.get_command(app)


def commands() -> dict[str, Any]:
    """Every command by how it is called."""
    found = {}
    for name, command in TREE.commands.items():  # type: ignore[attr-defined]
        if hasattr(command, "commands"):
            found |= {f"{name} {sub}": one for sub, one in command.commands.items()}
        else:
            found[name] = command
    return found


COMMANDS = commands()
GROUPS = {name: one for name, one in TREE.commands.items() if hasattr(one, "commands")}  # type: ignore[attr-defined]
EXAMPLES = [
    (name, line)
    for name, command in (COMMANDS | GROUPS).items()
    for line in (command.epilog or "").splitlines()
] + [("moot", line) for line in (TREE.epilog or "").splitlines()]


def test_every_command_has_its_place_in_the_help() -> None:
    listed = [name for names in PANELS.values() for name in names]

    assert sorted(listed) == sorted(TREE.commands)  # type: ignore[attr-defined]
    assert len(set(listed)) == len(listed)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_says_what_it_does_and_shows_an_example(name: str) -> None:
    text = done(*name.split(), "--help")

    assert COMMANDS[name].help.split("\n")[0].split(":")[0].split()[0] in text
    assert f"moot {name} " in text.split("\nExamples\n")[1] + " "
    assert all(len(line) <= 80 for line in text.splitlines())


@pytest.mark.parametrize(("name", "line"), EXAMPLES)
def test_an_example_parses(name: str, line: str) -> None:
    words = shlex.split(line)
    assert words[0] == "moot"
    for cut in ("|", "<", ">"):
        words = words[: words.index(cut)] if cut in words else words

    context = TREE.make_context("moot", words[1:])
    _, command, rest = TREE.resolve_command(context, words[1:])  # type: ignore[attr-defined]
    while hasattr(command, "commands"):
        sub = command.make_context(command.name, list(rest), parent=context)
        _, command, rest = command.resolve_command(sub, list(rest))
    command.make_context(command.name, list(rest), parent=context)

    assert command.name == name.rsplit(maxsplit=1)[-1] or name == "moot" or name in GROUPS


@pytest.mark.parametrize("name", GROUPS)
def test_the_help_of_a_group_shows_examples(name: str) -> None:
    assert f"moot {name} " in done(name, "--help").split("\nExamples\n")[1].split("\n\n")[0]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_an_example_that_is_copied_from_a_terminal_runs(width: int) -> None:
    for name, command in (COMMANDS | GROUPS).items():
        shown = done(*name.split(), "--help", COLUMNS=str(width)).split("\nExamples\n")[1].split("\n\n")[0]
        copied = [shlex.split(line) for line in shown.replace("\\\n", " ").splitlines()]

        assert copied == [shlex.split(line) for line in command.epilog.splitlines()], name
        assert max(map(len, shown.splitlines())) <= width, name


DATALESS = {"up", "console", "schema"}
"""What prints no data, or nothing but JSON."""


@pytest.mark.parametrize("name", COMMANDS)
def test_whatever_prints_data_takes_json(name: str) -> None:
    options = [word for param in COMMANDS[name].params for word in param.opts]

    assert ("--json" in options) is (name not in DATALESS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_and_argument_has_a_help_text_and_a_metavar(name: str) -> None:
    for param in COMMANDS[name].params:
        assert param.help, param.name
        if not getattr(param, "is_flag", False):
            assert param.metavar, param.name


@pytest.mark.parametrize("width", [60, 80, 200])
def test_help_fits_the_width(width: int) -> None:
    for name in COMMANDS:
        lines = done(*name.split(), "--help", COLUMNS=str(width)).splitlines()
        prose = [line for line in lines if not line.startswith("  moot ")]
        assert max(map(len, prose)) <= width, name


def test_no_arguments_give_the_help() -> None:
    assert done() == done("--help")
    assert "Act\n  post" in done()
    assert done("config").startswith("Show the configuration.")


def test_the_version_is_printed() -> None:
    assert re.fullmatch(r"moot \d+\.\d+\.\d+\n", done("--version"))


def test_help_has_no_colour_where_none_is_wanted() -> None:
    assert "\x1b" not in done("--help")
    assert "\x1b" not in done("log", "--help", FORCE_COLOR="1")
    assert (
        "\x1b"
        in typer.testing.CliRunner().invoke(app, ["--help"], env={"FORCE_COLOR": "1"}, color=True).output
    )


@pytest.mark.rule("K24")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lgo"], "moot: no such command 'lgo'. Did you mean 'log'? Try 'moot --help'."),
        (["view"], "moot view: missing argument 'DIR|FILE.jsonl|nats://HOST/NAME'. Try 'moot view --help'."),
        (["log", "x", "--form", "3"], "moot log: no such option: --form"),
        (["replay", "x", "--until", "7"], "moot: there is no 'replay' any more: moot status DIR --until SEQ"),
        (["status", "x", "--until", "soon"], "moot status: invalid value for '--until'"),
        (["up", "--bus", "nats"], "moot up: --bus nats: sqlite, memory or nats://HOST:PORT"),
        (["step", "x", "0"], "moot step: invalid value for 'X'"),
    ],
)
def test_a_wrong_command_line_is_usage(words: list[str], said: str) -> None:
    assert complaint(2, *words).startswith(said)


@pytest.mark.rule("K24")
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CheckFailed("x"), 1),
        (Unusable("x"), 2),
        (Refused("x"), 3),
        (CliError("x"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_errors_end_with_their_exit_code(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("moot.cli.setup.config.settings", fail)

    result = moot("config", "show")

    assert result.exit_code == code
    assert result.stderr == ("" if code == 130 else "moot config: x\n")


def test_a_refusal_quotes_no_control_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise Refused("bad \x1b[31m\nnews")

    monkeypatch.setattr("moot.cli.setup.config.settings", fail)

    assert complaint(3, "config", "show") == "moot config: bad �[31m news"


def test_an_unforeseen_error_is_one_line_and_its_story_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("nothing\nof that")

    monkeypatch.setattr("moot.cli.setup.config.settings", fail)

    line = complaint(1, "config", "show")

    found = re.search(
        r"unexpected KeyError: .*The whole story is in (\S+\.log); MOOT_DEBUG=1 shows it\.", line
    )
    assert found is not None
    story = Path(found[1])
    assert "Traceback" in story.read_text()
    assert story.stat().st_mode & 0o077 == 0
    story.unlink()


def test_moot_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("moot.cli.setup.config.settings", fail)

    result = moot("config", "show", MOOT_DEBUG="1")

    assert result.exit_code == 1
    assert "Traceback" in result.stderr


def test_moot_debug_keeps_the_exit_code_of_an_error_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    from moot.channels.errors import LeaseHeld

    def fail(*_: object) -> None:
        raise LeaseHeld("held")

    monkeypatch.setattr("moot.cli.setup.config.settings", fail)

    result = moot("config", "show", MOOT_DEBUG="1")

    assert result.exit_code == 3
    assert result.stderr.startswith("Traceback")
    assert result.stderr.endswith("moot config: held\n")


def test_an_output_that_knows_no_arrows_gets_something_else() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "moot", "doctor", "nowhere"],
        cwd=ROOT, capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip

    assert found.stdout.startswith(b"? python")
    assert b"set LANG to a UTF-8 locale" in found.stdout


def test_errors_of_other_packages_are_told_by_their_class(monkeypatch: pytest.MonkeyPatch) -> None:
    from moot.channels.errors import LeaseHeld
    from moot.config.settings import ConfigError

    for error, code in (
        (LeaseHeld("held"), 3),
        (ConfigError("wrong"), 2),
        (PermissionError(13, "no", "f"), 2),
    ):

        def fail(*_: object, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr("moot.cli.setup.config.settings", fail)
        assert moot("config", "show").exit_code == code


def test_every_error_that_is_told_exists() -> None:
    import importlib

    from moot.cli.known import KNOWN

    for dotted in KNOWN:
        module, _, name = dotted.rpartition(".")
        assert issubclass(getattr(importlib.import_module(module), name), Exception), dotted


@pytest.mark.parametrize("words", [["schema"], ["log", "LOG"]])
def test_a_reader_that_goes_away_is_no_error(words: list[str], tmp_path: Path) -> None:
    table = a_debate()
    for n in range(2_000):
        table.post(ADMIN, Note(text=f"note {n} " + "x" * 60), channel="#a-arena", key=f"n{n}")
    log = write_log(tmp_path / "d", table.log)
    with subprocess.Popen(
        [sys.executable, "-m", "moot", *(str(log) if word == "LOG" else word for word in words)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(10)
        process.stdout.close()
        assert process.stderr is not None
        errors = process.stderr.read()

    assert (process.returncode, errors) == (program.PIPE_CLOSED, b"")


def test_ctrl_c_ends_a_follower_quietly(tmp_path: Path) -> None:
    log = write_log(tmp_path / "d", a_debate().log)
    with subprocess.Popen(
        [sys.executable, "-m", "moot", "log", log, "--follow"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(2)
        _, errors = process.communicate(timeout=60)

    assert (process.returncode, errors) == (130, "")


HEAVY = {
    "aiohttp", "aiosqlite", "apscheduler", "discord", "fastapi", "httpx2", "matplotlib", "mcp", "nicegui", "numpy",
    "pandas", "pyarrow", "pydantic", "scipy", "slack_sdk", "starlette", "structlog", "uvicorn", "yaml",
}  # fmt: skip


@pytest.mark.parametrize(
    ("words", "first", "most"),
    [
        (["--help"], "A society", 300),
        (["--version"], "moot ", 300),
        (["log", "--help"], "Show what", 400),
        (["panel", "--help"], "Review", 400),
    ],
)
def test_help_is_quick_for_it_imports_little(words: list[str], first: str, most: int) -> None:
    code = f"""
import runpy, sys
before = set(sys.modules)
sys.argv = ["moot", *{words}]
try:
    runpy.run_module("moot", run_name="__main__", alter_sys=True)
except SystemExit as end:
    assert not end.code, end.code
sys.stdout.flush()
print(*sorted(set(sys.modules) - before), file=sys.stderr)
"""
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    imported = set(found.stderr.split())

    assert found.stdout.startswith(first)
    assert "moot.cli.commands" in imported
    # The command line's own library reads what follows a command's name with pydantic.
    typers = set() if words[0].startswith("--") else {"pydantic"}
    assert {name.partition(".")[0] for name in imported} & HEAVY <= typers
    assert "moot.protocols.rulebook" not in imported
    assert len(imported) < most


def test_a_terminal_gets_colours_unless_no_color_says_no(tmp_path: Path) -> None:
    log = write_log(tmp_path / "d", a_debate().log)

    looks = ["log", log], ["status", log]
    assert b"\x1b[" in on_terminal(looks[:1], {})
    assert b"\x1b[" not in on_terminal(looks, {"NO_COLOR": "1"})
    assert b"\x1b[" not in on_terminal(looks[:1], {"TERM": "dumb"})


IN_TURN = """
import sys
from moot.__main__ import main
for line in sys.argv[1].splitlines():
    sys.argv = ["moot", *line.split("\\t")]
    try:
        main()
    except SystemExit as end:
        assert not end.code, line
"""
"""Run command lines one after the other: a process for each would take most of its time to begin."""


def on_terminal(lines: Iterable[Sequence[object]], env: dict[str, str], width: int = 80) -> bytes:
    """Run commands on a terminal of their own and return what they wrote."""
    master, slave = pty.openpty()
    base = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-c", IN_TURN, "\n".join("\t".join(map(str, words)) for words in lines)],
        cwd=ROOT, stdin=slave, stdout=slave, stderr=slave,
        env={**base, "TERM": "xterm-256color", "COLUMNS": str(width), **env},
    ) as process:  # fmt: skip
        os.close(slave)
        found = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            found += piece
    os.close(master)
    assert process.returncode == 0
    return found


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_what_is_printed_fits_the_terminal(tmp_path: Path, width: int) -> None:
    log = write_log(tmp_path / "d", a_debate().log)
    looks = ["log", log], ["status", log], ["case", log, "hyp"], ["status", log, "--until", "7"]
    lines = on_terminal(looks, {"NO_COLOR": "1"}, width).decode().splitlines()
    assert lines and not [line for line in lines if len(line) > width]
