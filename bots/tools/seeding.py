"""Where random numbers come from: explicit seeds, spread by SHA-256."""

from __future__ import annotations

import hashlib

import numpy as np


def generator(*parts: str | int) -> np.random.Generator:
    """Make the generator that belongs to these parts.

    The same parts give the same stream in every process and on every machine (Python's ``hash`` would not),
    and streams of different parts are independent, so adding a consumer never disturbs another.

    Args:
        parts: What the stream is for, most general first, such as ``("sample", 7, "SIM-ALFA")``.

    Returns:
        A fresh PCG64 generator at the start of its stream.
    """
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))
