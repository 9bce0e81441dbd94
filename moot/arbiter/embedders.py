"""What embeds answers: a model behind an endpoint, or one that comes as a package and needs no network."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from moot.arbiter.asking import EMBEDDING, Patience, Place, Post, ask
from moot.arbiter.ports import Embedded, Embedder
from moot.arbiter.vectors import Vector
from moot.bots.models.caller import NoBudget
from moot.bots.models.embeddings_api import embedding_of
from moot.bots.models.errors import NoPackage
from moot.clock import Clock
from moot.protocols.arbiter.embed_text import well_formed

if TYPE_CHECKING:
    from tokenizers import Tokenizer

LOCAL: Final = "wordllama"
"""The `embedding_model` that needs no endpoint."""

_WEIGHTS: Final = "l2_supercat_256"
_FILES: Final = (f"weights/{_WEIGHTS}.safetensors", "tokenizers/l2_supercat_tokenizer_config.json")


class EndpointEmbedder(Embedder):
    """Has texts embedded by a model behind an endpoint, one a request."""

    def __init__(self, model: str, post: Post, clock: Clock, patience: Patience) -> None:
        """Begin a run.

        Args:
            model: The model's slug.
            post: Sends requests.
            clock: Tells the time.
            patience: How long a text may take, and how often it may be tried.
        """
        self._model = model
        self._post = post
        self._clock = clock
        self._patience = patience

    async def embed(self, trial_id: int, text: str, *, kept: str | None = None) -> Embedded:
        place, request = Place(trial_id, EMBEDDING, 0), embedding_of(text, kept)
        try:
            asked = await ask(self._post, self._clock, place, self._model, request, self._patience)
        except NoBudget as lack:
            return Embedded(None, error=str(lack))
        answer = asked.sent.answer
        named = (well_formed(answer.model_reported) or None, well_formed(answer.provider_id) or None)
        if answer.outcome != "answered":
            return Embedded(None, well_formed(answer.why) or f"the call ended as {answer.outcome}", *named)
        return Embedded(np.array(answer.value, dtype=np.float32), None, *named)


class LocalEmbedder(Embedder):
    """Embeds a text as the mean of the vectors of its tokens, scaled to length 1; the package wordllama brings them.

    The same text gives the same vector wherever it is embedded.
    """

    def __init__(self) -> None:
        """Find the package; it is loaded with the first text.

        Raises:
            NoPackage: It is not installed, or lacks a file.
        """
        found = find_spec(LOCAL)
        if found is None or found.origin is None:
            raise NoPackage(f"the package {LOCAL} is not installed: pip install 'moot[embeddings]'")
        # Its own loader looks for these files on the network.
        self._files = [Path(found.origin).parent / name for name in _FILES]
        for path in self._files:
            if not path.exists():
                raise NoPackage(
                    f"{path}: the package {LOCAL} lacks it: pip install --force-reinstall {LOCAL}"
                )
        self.model = f"{LOCAL}/{_WEIGHTS}@{version(LOCAL)}"
        self._loading = asyncio.Lock()
        self._loaded: tuple[Tokenizer, Any] | None = None

    async def embed(self, trial_id: int, text: str, *, kept: str | None = None) -> Embedded:
        async with self._loading:
            if self._loaded is None:
                self._loaded = await asyncio.to_thread(self._load)
        vector = self._vector(text)
        if vector is None:
            return Embedded(None, "no token of the text has a vector", self.model)
        return Embedded(vector, None, self.model)

    def _vector(self, text: str) -> Vector | None:
        assert self._loaded is not None
        tokenizer, weights = self._loaded
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        mean = weights[ids].astype(np.float64).mean(axis=0) if ids else np.zeros(1)
        length = float(np.sqrt((mean * mean).sum()))
        return (mean / length).astype(np.float32) if length else None

    def _load(self) -> tuple[Tokenizer, Any]:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        weights, tokenizer = self._files
        return Tokenizer.from_file(str(tokenizer)), load_file(weights)["embedding.weight"]
