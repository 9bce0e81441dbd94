"""Texts are embedded offline by the package wordllama."""

from __future__ import annotations

import asyncio
from importlib.machinery import ModuleSpec

import numpy as np
import pytest

from moot.arbiter import embedders
from moot.arbiter.embedders import LocalEmbedder
from moot.bots.models.errors import NoPackage


def test_texts_of_one_meaning_are_near_each_other_and_others_far() -> None:
    texts = [
        "Yes, the library should open on Sundays.",
        "The library ought to be open on Sunday.",
        "Copper conducts electricity.",
    ]

    async def embedded() -> list[embedders.Embedded]:
        one = LocalEmbedder()
        return [await one.embed(n, text) for n, text in enumerate([*texts, texts[0], ""])]

    *found, again, nothing = asyncio.run(embedded())
    vectors = [one.vector for one in found if one.vector is not None]
    assert [vector.shape for vector in vectors] == [(256,)] * 3
    assert [round(float(vector @ vector), 5) for vector in vectors] == [1.0] * 3
    near, far = float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])
    assert near > 0.7 and far < 0.3
    assert again.vector is not None and np.array_equal(again.vector, vectors[0])
    assert found[0].model is not None and found[0].model.startswith("wordllama/l2_supercat_256@")
    assert (nothing.vector, nothing.error) == (None, "no token of the text has a vector")


def test_a_package_that_is_missing_or_not_whole_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setattr(embedders, "find_spec", lambda _name: None)
    with pytest.raises(NoPackage, match=r"is not installed: pip install 'moot\[embeddings\]'"):
        LocalEmbedder()
    spec = ModuleSpec("wordllama", None, origin=f"{tmp_path}/__init__.py")
    monkeypatch.setattr(embedders, "find_spec", lambda _name: spec)
    with pytest.raises(NoPackage, match="lacks it"):
        LocalEmbedder()
