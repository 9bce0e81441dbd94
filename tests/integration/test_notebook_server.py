"""The bundled notebook server as a person starts it, and the page that tells how."""

import signal
import socket
import subprocess
import sys

import pytest

from tests.doubles.notebook_running import ROOT, http_server


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nText.\n")
    return folder


def run(*arguments):
    command = [sys.executable, "-m", "moot.bots.notebook.server", *map(str, arguments)]
    return subprocess.run(
        command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=90, stdin=subprocess.DEVNULL
    )


def test_help_gives_examples_and_exit_codes():
    done = run("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "--http --port 8377" in done.stdout and "exit codes: 0 stopped, 2" in done.stdout


def refused(*arguments):
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    return line


def test_a_missing_folder_is_one_line_and_exit_2(tmp_path):
    assert refused(tmp_path / "gone").endswith("gone: there is no such folder")


def test_a_studio_inside_the_notebook_is_refused(notes):
    assert "lies inside the notebook" in refused(notes, "--studio", notes / "reports")


def test_a_port_that_is_taken_is_one_line_and_exit_2(notes):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"cannot listen on 127.0.0.1 port {port}" in refused(notes, "--http", "--port", port)


def test_it_ends_with_its_client_and_says_what_it_left_out(notes):
    (notes / "bad.txt").write_bytes(b"caf\xe9")
    done = run(notes)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "notebook: bad.txt: left out, it is not UTF-8 text (byte 4)\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_http_server_cleanly(notes, number):
    """K25."""
    with http_server(notes) as (process, address):
        assert address.startswith("http://127.0.0.1:") and address.endswith("/mcp")
        process.send_signal(number)
        assert process.wait(10) == 0
        assert process.stderr.read() == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_stdio_server_cleanly(notes, number):
    """K25."""
    command = [sys.executable, "-m", "moot.bots.notebook.server", str(notes)]
    request = b'{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}\n'
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(request)
        process.stdin.flush()
        assert process.stdout.readline().startswith(b'{"jsonrpc":"2.0","id":1')
        process.send_signal(number)
        assert process.wait(10) == 0
