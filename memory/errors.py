"""Errors of memory.

Tree::

    MemoryStoreError
    ├── CorruptStore       the file is no memory store, is damaged, or another version of Moot wrote it
    ├── StoreUnavailable   the disk did not take a batch, or the file cannot be opened; RAM still holds it
    ├── StoreGap           an envelope was left out, or a view lies ahead of what was folded (a bug of ours)
    ├── StorePruned        a view lies below the low-water mark
    ├── StoreClosed        the store is closed
    ├── UnknownEvidence    no such evidence is kept
    └── CorruptEvidence    the bytes kept are not those that the reference names
"""

from __future__ import annotations

from moot.protocols.kernel.errors import MootError


class MemoryStoreError(MootError):
    """Base of all errors of `memory`; its text is one line for a person."""


class CorruptStore(MemoryStoreError):
    """Say that a memory file cannot be used; one that was folded from the log may be deleted, the log rebuilds it."""


class StoreUnavailable(MemoryStoreError):
    """Say that a memory file cannot be written or opened now."""


class StoreGap(MemoryStoreError):
    """Report a bug of ours: messages must be applied in seq order, and read only after that."""


class StorePruned(MemoryStoreError):
    """Say that versions this old were let go."""


class StoreClosed(MemoryStoreError):
    """Say that nothing more is taken."""


class UnknownEvidence(MemoryStoreError):
    """Say that no evidence is kept under a reference."""


class CorruptEvidence(MemoryStoreError):
    """Say that a piece of evidence was damaged."""
