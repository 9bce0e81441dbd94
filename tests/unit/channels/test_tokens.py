import os

import pytest

from moot.channels.chat.tokens import MOST_BYTES, option_of, read_secret
from moot.channels.surface import SurfaceConfigError, load_surface
from moot.protocols.kernel.redact import redact

VARIABLE = "MOOT_SLACK_BOT_TOKEN"
TOKEN = "xoxb-17-made-up"
WHAT = "the bot's token"


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)


def read(file=None, prefix="xoxb-"):
    return read_secret(None if file is None else str(file), VARIABLE, WHAT, "xoxb-12-…", prefix=prefix)


def refusal(file=None):
    with pytest.raises(SurfaceConfigError) as caught:
        read(file)
    said = str(caught.value)
    assert "\n" not in said
    assert caught.value.__cause__ is None
    assert redact(said) == said
    return said


def private(path, content):
    path.write_bytes(content)
    path.chmod(0o600)
    return path


def test_a_token_comes_from_the_environment_or_from_a_private_file(tmp_path, monkeypatch):
    file = private(tmp_path / "token", f" {TOKEN}\n".encode())
    assert read(file) == TOKEN
    monkeypatch.setenv(VARIABLE, "xoxb-other")
    assert read() == "xoxb-other"
    assert read(file) == "xoxb-other"


def test_without_a_token_the_variable_and_the_option_are_named():
    assert refusal() == f"{WHAT} is missing: set {VARIABLE}, or name a file in bot_token_file"
    assert option_of("MOOT_DISCORD_TOKEN") == "token_file"
    assert option_of("MOOT_SLACK_SIGNING_SECRET") == "signing_secret_file"


def test_a_file_in_the_home_folder_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    private(tmp_path / "token", TOKEN.encode())
    assert read("~/token") == TOKEN


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o601])
def test_a_file_that_others_can_read_is_refused_with_the_command_that_helps(tmp_path, mode):
    file = private(tmp_path / "token", TOKEN.encode())
    file.chmod(mode)
    assert refusal(file) == (
        f"the file {file} (bot_token_file) is not private, others can read it; run: chmod 600 {file}"
    )


def test_a_file_that_is_missing_or_none_is_told(tmp_path):
    nowhere = tmp_path / "nowhere"
    assert (
        refusal(nowhere) == f"the file {nowhere} (bot_token_file) cannot be read (No such file or directory)"
    )
    assert "Is a directory" in refusal(tmp_path)
    os.mkfifo(tmp_path / "pipe", 0o600)
    assert "is no ordinary file" in refusal(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "it is blank"),
        (b" \n", "it is blank"),
        (b"xoxb-1 xoxb-2", "more than one token"),
        (b"Bearer xoxb-1", "white space"),
        (b"xoxb-1\nxoxb-2\n", "more than one token"),
        ("xoxb-ü".encode(), "more than one token"),
        (b"xoxb-\x001", "more than one token"),
        (b"x" * (MOST_BYTES + 1), "more than one token"),
        (b"xapp-1-secret", "begins with xoxb-"),
    ],
)
def test_what_is_no_token_is_told_without_showing_it(tmp_path, monkeypatch, content, says):
    said = refusal(private(tmp_path / "token", content))
    assert says in said
    assert "xoxb-12-…" in said
    for word in content.decode("ascii", "ignore").split():
        assert word.strip("\x00") not in said.replace("xoxb-12-…", "")
    if content.strip() and b"\x00" not in content:
        monkeypatch.setenv(VARIABLE, content.decode())
        assert refusal().startswith(f"in {VARIABLE} {WHAT} ")


@pytest.mark.parametrize("option", ["token", "bot_token", "app_token", "signing_secret", "password"])
def test_a_token_in_the_configuration_is_refused_with_where_it_belongs_and_never_shown(option):
    with pytest.raises(SurfaceConfigError) as caught:
        load_surface("moot.channels.terminal:TerminalSurface", {option: "xoxb-oops"})
    assert f"name that in {option}_file" in str(caught.value)
    assert "xoxb-oops" not in str(caught.value)
