"""Runs notebooks as a society does: under a virtual clock, with I/O on its thread, and nothing left behind."""

import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil

from moot.bots.notebook.reach import Command
from moot.clock import IoThread, VirtualClock

ROOT = Path(__file__).parents[2]
START = datetime(2026, 1, 5, tzinfo=UTC)
# The server of another maker needs no packages, and starts faster without them.
OTHER = (sys.executable, "-S", "-E", str(ROOT / "tests/doubles/notebook_misbehaving.py"))

# What runs beside a society and outlives it, such as the resource tracker of multiprocessing.
_others = set()


def other(*faults, **how):
    """The command of a server of another maker, with its faults."""
    return Command((*OTHER, *faults), **how)


def live(main):
    """Run `main(clock, io)` as a society in virtual time; afterwards no process and no thread of it is left (K25)."""

    async def society(clock):
        async with IoThread(clock, name="moot-io-notebook") as io:
            return await main(clock, io)

    _others.update(psutil.Process().children(recursive=True))
    try:
        return VirtualClock(START).run(society)
    finally:
        assert servers() == []
        assert "moot-io-notebook" not in [thread.name for thread in threading.enumerate()]


def servers():
    """The processes that run, or were not waited for, and that `live` did not find here."""
    return [process for process in psutil.Process().children(recursive=True) if process not in _others]


def until_all_are_gone(within_s=60.0):
    """Wait until no process of ours runs, without taking its exit status from whoever waits for it."""
    end = time.monotonic() + within_s
    while any(is_running(server) for server in servers()):
        assert time.monotonic() < end
        time.sleep(0.01)


def is_running(server):
    """Say whether a child lives; a dead one may wait for a loop that stands still to take its exit status."""
    try:
        # Not the state "zombie", which a process has while threads of it still hold its pipes.
        return os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False


@contextmanager
def http_server(folder, *options):
    """Run the bundled server over HTTP; yields its process and its address."""
    command = [
        sys.executable,
        "-m",
        "moot.bots.notebook.server",
        str(folder),
        "--http",
        "--port",
        "0",
        *options,
    ]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process, process.stdout.readline().split()[-1]
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()
        process.stderr.close()


@contextmanager
def web_page(status, body, *, is_slow=False):
    """Serve one and the same answer to every request, or none at all; yields the address."""
    gate = threading.Event()

    class Page(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers.get("content-length", 0)))
            if is_slow:
                gate.wait(10)
            self.send_response(status)
            self.send_header("content-type", "text/html" if body.startswith("<") else "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    server.daemon_threads = False
    serving = threading.Thread(target=server.serve_forever, args=(0.01,))
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
    finally:
        gate.set()
        server.shutdown()
        serving.join()
        server.server_close()
