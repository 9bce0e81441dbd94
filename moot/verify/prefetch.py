"""A second process that looks at lines by themselves, ahead of the one that folds them.

Whether a line says just what its envelope says, fits the hash of the line before it and holds no secret can be
told without the rest of the log. A process of its own does that where there is a second processor. It only ever
says that a batch of lines is beyond doubt; whatever it does not say so of, or not in time, is looked at as if it
were not there. So it makes a verification faster, and changes nothing that is found.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Final, NamedTuple, Self

from moot.logs import Line
from moot.protocols.kernel.envelope import GENESIS, link
from moot.verify.reading import Read, read
from moot.verify.secrecy import is_beyond_doubt

AFTER: Final = 5_000
"""A shorter log is judged before a second process could help."""

MOST_UNANSWERED: Final = 32
"""So many batches are on their way at most: what is known too late helps nobody."""

_SIZE: Final = 8
_BUFFER: Final = 65536
_DOUBTFUL: Final = b"?"
_CLEAN: Final = b"c"
_FOLLOWS: Final = b"f"
_ANSWER: Final = 1 + len(GENESIS)
"""One of these letters and a hash, zeros where there is none."""


class Look(NamedTuple):
    """What was found out about a batch of lines.

    Attributes:
        is_clean: Every line says just what its envelope says and holds no secret, and the hash of each but the
            first fits the line before it; or no line has a hash.
        follows: The hash that the first line fits, too; empty when none is known.
    """

    is_clean: bool
    follows: bytes


DOUBTFUL: Final = Look(is_clean=False, follows=b"")


class Looker:
    """Looks at one batch after the other; knows of those before only the last hash that they state."""

    def __init__(self) -> None:
        """Start with no batch."""
        self._last = b""

    def look(self, lines: Sequence[Line]) -> Look:
        """Look at the next batch."""
        before, self._last = self._last, b""
        found = [read(line) for line in lines]
        stated = [bytes.fromhex(one.hash) for one in found]
        self._last = stated[-1]
        if not all(map(_is_sound, found)):
            return DOUBTFUL
        if not any(stated):
            return Look(is_clean=True, follows=b"")
        if not all(map(_fits, found[1:], stated, stated[1:])):
            return DOUBTFUL
        is_next = before != b"" and _fits(found[0], before, stated[0])
        return Look(is_clean=True, follows=before if is_next else b"")


def _is_sound(found: Read) -> bool:
    return found.envelope is not None and not found.problems and is_beyond_doubt(found.text)


def _fits(found: Read, previous: bytes, stated: bytes) -> bool:
    return link(previous, found.text) == stated


class Prefetch:
    """The process, seen from the one that folds, which never waits for it; it ends with it, `kill -9` included."""

    def __init__(self, *, after: int = AFTER) -> None:
        """Start it once so many lines have come by."""
        self._after = after
        self._child: subprocess.Popen[bytes] | None = None
        self._to_send = b""
        self._received = b""
        self._asked = 0
        self._answered = 0
        self._told = 0
        self._answers: dict[int, Look] = {}

    def ask(self, lines: Sequence[Line]) -> int:
        """Have the next batch looked at.

        Returns:
            A number to ask `told` with; 0 when it is not looked at.
        """
        self._after -= len(lines)
        if self._after >= 0 or self._asked - self._answered >= MOST_UNANSWERED:
            self._exchange()
            return 0
        if self._child is None:
            try:
                self._child = _start()
            except OSError:
                self._after = sys.maxsize  # no room for it: then without
                return 0
        self._asked += 1
        data = pickle.dumps([tuple(line) for line in lines])
        self._to_send += len(data).to_bytes(_SIZE) + data
        self._exchange()
        return self._asked

    def told(self, number: int) -> Look:
        """Return what was found out about a batch by now, once; batches are asked for in their order."""
        self._exchange()
        self._told = max(self._told, number)
        return self._answers.pop(number, DOUBTFUL)

    def _exchange(self) -> None:
        """Send and receive as much as goes without waiting."""
        child = self._child
        if child is None:
            return
        asked, answered = child.stdin, child.stdout
        assert asked is not None and answered is not None
        with suppress(OSError):
            while self._to_send and (sent := os.write(asked.fileno(), self._to_send)):
                self._to_send = self._to_send[sent:]
        with suppress(OSError):
            while read := os.read(answered.fileno(), _BUFFER):
                self._received += read
        while len(self._received) >= _ANSWER:
            answer, self._received = self._received[:_ANSWER], self._received[_ANSWER:]
            self._answered += 1
            if self._answered > self._told:
                self._answers[self._answered] = _parse(answer)

    def close(self) -> None:
        """End it, whatever it is doing."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _start() -> subprocess.Popen[bytes]:
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "moot.verify.prefetch"],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    for pipe in (child.stdin, child.stdout):
        assert pipe is not None
        os.set_blocking(pipe.fileno(), False)
    return child


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _write(look: Look) -> bytes:
    letter = _FOLLOWS if look.follows else _CLEAN if look.is_clean else _DOUBTFUL
    return letter + (look.follows or GENESIS)


def _parse(answer: bytes) -> Look:
    letter, follows = answer[:1], answer[1:]
    return Look(is_clean=letter != _DOUBTFUL, follows=follows if letter == _FOLLOWS else b"")


def _receive(stream: IO[bytes]) -> bytes | None:
    """Read what was sent; None at the end."""
    size = stream.read(_SIZE)
    data = stream.read(int.from_bytes(size)) if len(size) == _SIZE else b""
    return data if size and len(data) == int.from_bytes(size) else None


def main() -> None:
    """Look at what comes in until nothing more comes."""
    # Ctrl-C is meant for the parent, whose end is the end of the input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked, answered = sys.stdin.buffer, sys.stdout.buffer
    looker = Looker()
    while (batch := _receive(asked)) is not None:
        look = looker.look([Line(*line) for line in pickle.loads(batch)])
        answered.write(_write(look))
        answered.flush()


if __name__ == "__main__":
    main()
