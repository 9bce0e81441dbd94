"""Errors of the transport.

Tree::

    ChannelError
    ├── Refused           the sequencer did not take a draft; `.violation` says why; nothing was logged
    ├── BusClosed         the bus is closed or its host stops
    ├── StorageError      the disk did not take a batch (full, read-only); none of it was logged
    │   └── NatsUnavailable  no server of NATS answers, or none lets us in
    ├── CorruptLog        stored bytes that are no envelope, a gap, or a broken hash chain
    ├── NotALog           a file of another application, of a newer Moot, or none at all
    │   └── EmptyLog      a file in which no society was ever started
    └── LeaseHeld         another process hosts a society on this data directory (K3)
"""

from __future__ import annotations

from moot.protocols.kernel.errors import MootError, Violation


class ChannelError(MootError):
    """Base of all errors of `channels`."""


class Refused(ChannelError):
    """Say that the sequencer did not take a draft.

    Attributes:
        violation: The rule it breaks.
    """

    def __init__(self, violation: Violation) -> None:
        """Keep the violation."""
        super().__init__(str(violation))
        self.violation = violation

    @property
    def rule(self) -> str:
        """Number of the rule that the draft breaks: a section ("1.3"), a ruling ("R-D9") or a kernel number ("K14")."""
        return self.violation.rule

    @property
    def reason(self) -> str:
        """One sentence for people."""
        return self.violation.why


class BusClosed(ChannelError):
    """Say that nothing more is taken."""


class StorageError(ChannelError):
    """Say that a batch could not be stored; its publishers may try again with the same ids."""


class NatsUnavailable(StorageError):
    """Say that no server of NATS answers, or that it does not let us do what we must."""


class CorruptLog(ChannelError):
    """Say that the stored log is not what was written.

    Attributes:
        seq: The first offending sequence number, 0 when unknown.
    """

    def __init__(self, why: str, *, seq: int = 0) -> None:
        """Keep sentence and place."""
        super().__init__(f"seq {seq}: {why}" if seq else why)
        self.seq = seq


class NotALog(ChannelError):
    """Say that a file is no log that this Moot can read; nothing in it was touched."""


class EmptyLog(NotALog):
    """Say that no society was ever started in a file."""


class LeaseHeld(ChannelError):
    """Say that a society already runs on the data directory."""
