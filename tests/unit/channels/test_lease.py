import json
import os
import subprocess
import sys

import pytest

from moot.channels.errors import LeaseHeld, StorageError
from moot.channels.log.lease import Lease, holder, keep_private

HOLD = """
import sys
from moot.channels.log.lease import Lease
lease = Lease.acquire(sys.argv[1])
print(lease.epoch, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path):
    """Another process that holds the lease."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "1\n"
    yield process
    process.kill()
    process.communicate()


def test_a_second_host_is_refused_and_told_the_pid(tmp_path, other):
    with pytest.raises(LeaseHeld, match=f"process {other.pid} hosts a society on .*: stop it first"):
        Lease.acquire(tmp_path)


def test_kill_9_frees_the_lease_and_the_next_epoch_is_higher(tmp_path, other):
    other.kill()
    other.wait()
    with Lease.acquire(tmp_path) as lease:
        assert lease.epoch == 2


def test_a_second_lease_in_the_same_process_is_refused_too(tmp_path):
    with Lease.acquire(tmp_path), pytest.raises(LeaseHeld, match=f"process {os.getpid()}"):
        Lease.acquire(tmp_path)


def test_each_epoch_is_higher_and_can_be_raised(tmp_path):
    for epoch in (1, 2, 3):
        with Lease.acquire(tmp_path) as lease:
            assert lease.epoch == epoch
    with Lease.acquire(tmp_path) as lease:
        lease.raise_to(2)
        assert lease.epoch == 4
        lease.raise_to(90)
    assert json.loads((tmp_path / "lock").read_text()) == {"epoch": 90, "pid": os.getpid()}
    with Lease.acquire(tmp_path) as lease:
        assert lease.epoch == 91


def test_releasing_twice_is_fine_and_a_released_lease_cannot_be_raised(tmp_path):
    lease = Lease.acquire(tmp_path)
    lease.release()
    lease.release()
    with pytest.raises(LeaseHeld):
        lease.raise_to(9)


def test_holder_names_the_host_and_disturbs_nobody(tmp_path, other):
    assert holder(tmp_path) == other.pid
    other.kill()
    other.wait()
    assert holder(tmp_path) is None
    with Lease.acquire(tmp_path):
        assert holder(tmp_path) == os.getpid()


def test_nobody_holds_a_directory_without_a_lock(tmp_path):
    assert holder(tmp_path / "none") is None


def test_a_damaged_lock_file_only_loses_its_number(tmp_path):
    (tmp_path / "lock").write_text("not json")
    with Lease.acquire(tmp_path) as lease:
        assert lease.epoch == 1


def test_the_directory_is_made(tmp_path):
    with Lease.acquire(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b" / "lock").exists()


def test_where_it_cannot_be_written_a_line_says_so(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot lock"):
        Lease.acquire(tmp_path / "file")


def test_a_child_that_is_started_does_not_inherit_the_lock(tmp_path):
    with Lease.acquire(tmp_path):
        # Left open on purpose: the lock itself says that it is not for children.
        child = subprocess.Popen(
            [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, close_fds=False
        )
    try:
        Lease.acquire(tmp_path).release()
    finally:
        child.communicate()


def modes(directory):
    return {path.name: path.stat().st_mode & 0o777 for path in (directory, *directory.rglob("*"))}


def test_a_data_directory_is_its_owners_only(tmp_path):
    place = tmp_path / "some" / "data"
    with Lease.acquire(place):
        assert modes(place) == {"data": 0o700, "lock": 0o600}


def test_a_directory_of_an_earlier_version_becomes_its_owners_only(tmp_path):
    place = tmp_path / "data"
    (place / "evidence" / "ab").mkdir(parents=True)
    for name in ("lock", "log.sqlite", "evidence/ab/abc"):
        (place / name).touch()
    (place / "latest").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").touch()
    for path in (tmp_path / "elsewhere", *place.rglob("*")):
        path.chmod(0o755)
    place.chmod(0o755)
    keep_private(place)
    found = modes(place)
    assert found.pop("latest") == 0o755
    assert found == {
        "data": 0o700, "evidence": 0o700, "ab": 0o700, "abc": 0o600, "lock": 0o600, "log.sqlite": 0o600
    }  # fmt: skip


def test_a_directory_with_other_things_in_it_stays_as_it_is(tmp_path):
    (tmp_path / "thesis.txt").touch(mode=0o644)
    tmp_path.chmod(0o755)
    keep_private(tmp_path)
    assert modes(tmp_path) == {tmp_path.name: 0o755, "thesis.txt": 0o644}


@pytest.mark.parametrize("epoch", [10**26, -5, "many", 1.5, True, None])
def test_an_epoch_that_no_lock_can_have_counts_as_none(tmp_path, epoch):
    """The log has an epoch of its own, which is raised at every opening: the lock's is not needed."""
    (tmp_path / "lock").write_text(json.dumps({"epoch": epoch, "pid": 1}))
    with Lease.acquire(tmp_path) as lease:
        assert lease.epoch == 1
        assert lease.remark.startswith(f"{tmp_path / 'lock'} held no epoch") and "\n" not in lease.remark
    with Lease.acquire(tmp_path) as lease:
        assert (lease.epoch, lease.remark) == (2, ""), "it is said once"


def test_nothing_is_said_of_a_fresh_lock_file(tmp_path):
    for _ in range(2):
        with Lease.acquire(tmp_path) as lease:
            assert not lease.remark
        (tmp_path / "lock").write_bytes(b"")
