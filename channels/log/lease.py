"""The lease: one host per data directory (K3)."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from pathlib import Path
from typing import Final, Self

from moot.channels.errors import LeaseHeld, StorageError

LOCK_NAME: Final = "lock"
MOST_EPOCH: Final = 2**53
"""No lock file is opened so often: a greater epoch was put there, and the log could not hold it."""
MOST_PID: Final = 2**31
NOTHING: Final = (0, 0)
"""What a lock file says that was never written, or not by us: no host writes it."""
_REMARK: Final = "{} held no epoch that a society writes: it begins anew, for the log keeps its own"
_TRIES: Final = 5
_PAUSE_S: Final = 0.02


def keep_private(directory: Path) -> None:
    """Make a data directory that only its owner may look into; one of an earlier version becomes such a one.

    A directory that holds other things is left as it is, for it is somebody's home or project; what a society writes
    there is its owner's only, for programs begin with `write_privately`.

    Raises:
        OSError: It cannot be made, or is not ours.
    """
    with contextlib.suppress(FileExistsError):
        directory.parent.mkdir(parents=True, exist_ok=True)
        directory.mkdir(mode=0o700)
        return
    is_ours = (directory / LOCK_NAME).exists() or not any(directory.iterdir())
    if not is_ours or not directory.stat().st_mode & 0o077:
        return
    for folder, _, names in os.walk(directory):
        for name in names:
            path = Path(folder, name)
            with contextlib.suppress(FileNotFoundError):
                if not path.is_symlink():
                    path.chmod(0o600)
        Path(folder).chmod(0o700)


def write_privately() -> None:
    """Let every file and folder that this process makes be its owner's only."""
    os.umask(0o077)


class Lease:
    """An OS lock on the file `lock` of a data directory, with a fencing epoch.

    The kernel drops the lock with the process, however it dies; the file stays, for its epoch. Who deletes
    the file breaks the lock, but not the log: its own epoch is raised at every opening and checked with every
    batch, so a host that was fenced out cannot write.

    Attributes:
        directory: The data directory.
        epoch: Higher than that of every earlier holder.
        remark: What its owner should hear of the lock file, in one line; "": nothing.
    """

    def __init__(self, directory: Path, epoch: int, fd: int, remark: str = "") -> None:
        """Keep what `acquire` got."""
        self.directory = directory
        self.remark = remark
        self.epoch = epoch
        self._fd: int | None = fd

    @classmethod
    def acquire(cls, directory: Path | str) -> Self:
        """Lock a data directory, which is created when missing.

        Raises:
            LeaseHeld: Another process hosts a society there; the text names its pid.
            StorageError: The lock file cannot be written.
        """
        place = Path(directory)
        try:
            keep_private(place)
            fd = os.open(place / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as exc:
            raise StorageError(f"cannot lock {place}: {exc.strerror}") from exc
        try:
            if not _lock(fd):
                pid, _ = _read(fd)
                who = f"process {pid}" if pid else "another process"
                raise LeaseHeld(f"{who} hosts a society on {place}: stop it first, or choose another --data")
            found = _read(fd)
            remark = "" if found != NOTHING or not os.fstat(fd).st_size else _REMARK.format(place / LOCK_NAME)
            lease = cls(place, found[1] + 1, fd, remark)
            lease.raise_to(lease.epoch)
        except OSError as exc:
            os.close(fd)
            raise StorageError(f"cannot lock {place}: {exc.strerror}") from exc
        except BaseException:
            os.close(fd)
            raise
        return lease

    def raise_to(self, epoch: int) -> None:
        """Take a higher epoch and write it with the pid into the lock file."""
        if self._fd is None:
            raise LeaseHeld(f"the lease on {self.directory} was released")
        self.epoch = max(self.epoch, epoch)
        text = json.dumps({"epoch": self.epoch, "pid": os.getpid()}).encode() + b"\n"
        os.pwrite(self._fd, text, 0)
        os.ftruncate(self._fd, len(text))

    def release(self) -> None:
        """Unlock; safe to call twice."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()


def holder(directory: Path | str) -> int | None:
    """Return the pid of the host of a data directory (0 when it hides), None when nobody hosts it.

    Looks by taking a shared lock for a moment; `Lease.acquire` tries again for 0.1 s, so it is not disturbed.
    """
    try:
        fd = os.open(Path(directory) / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(fd)[0]
    else:
        return None
    finally:
        os.close(fd)


def fenced_out(directory: Path) -> LeaseHeld:
    """Return what a host is told whose log has an epoch that is not its own."""
    return LeaseHeld(
        f"another process took over {directory}: this one is fenced out and ends; leave the file "
        f"{LOCK_NAME} where it is, for it keeps a second society out"
    )


def _lock(fd: int) -> bool:
    for attempt in range(_TRIES):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if attempt < _TRIES - 1:
                time.sleep(_PAUSE_S)
        else:
            return True
    return False


def _read(fd: int) -> tuple[int, int]:
    """Return pid and epoch as the file has them, 0 where it has none that can be: the log has its own epoch."""
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
        data = json.loads(os.pread(fd, 200, 0))
        pid, epoch = data["pid"], data["epoch"]
        if type(pid) is int and type(epoch) is int and 0 <= pid < MOST_PID and 0 <= epoch < MOST_EPOCH:
            return pid, epoch
    return NOTHING
