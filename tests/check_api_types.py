"""What a type checker makes of the API; `make check` holds it, nothing runs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import assert_type

import moot
from moot.minds import Mind, Reply, View
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.protocol import Protocol


class Doubter(Mind):
    """A mind as a user writes one."""

    def answer(self, view: View) -> Reply:
        """Object to nothing."""
        return view.reply(objections=(), confidence=0.5)


async def uses_of_it(paper: Path) -> None:
    """Use all functions, with a mistake in each that has to be found."""
    debated = moot.debate("q?", options=["a", "b"], minds={"critic": Doubter()}, seed=1)
    assert_type(debated, moot.DebateResult)
    assert_type(await moot.adebate("q?"), moot.DebateResult)
    assert_type(debated.objections, tuple[moot.Objection, ...])
    assert_type(debated.confidence, float | None)
    assert_type(debated.verify(), moot.Report)
    assert_type(debated.log.messages(type="VERDICT"), Iterator[Envelope])
    assert_type(await moot.asimulate(days=1), moot.SimulationResult)
    assert_type(moot.simulate(days=1).strategies, Mapping[str, moot.Strategy])
    assert_type(moot.simulate(days=1).cases["hyp_1"], moot.Case)
    assert_type(moot.arena("t", notebook="notes/"), moot.ArenaResult)
    assert_type(await moot.apanel(paper, contract="full"), moot.PanelResult)
    assert_type(moot.open_log("moot-data"), moot.Log)
    moot.debate("q?", model="http://127.0.0.1:8080/v1#qwen3:8b", seats=["critic"], budget=2.00)
    moot.simulate(days=1, model={"url": "http://127.0.0.1:8080/v1", "model": "m"}, budget={"calls": 9})
    await moot.aarena("t", model="local", seats=("reviewer",), budget="0.50")
    await moot.apanel(paper, model="local")
    moot.debate("q?", model=3)  # type: ignore[arg-type]
    moot.debate(3)  # type: ignore[arg-type]
    moot.debate("q?", sed=1)  # type: ignore[call-arg]
    moot.panel(paper, majority="most")  # type: ignore[arg-type]
    moot.debat("q?")  # type: ignore[attr-defined]


async def acts_in_it(protocol: Protocol) -> None:
    """Act in a society, with a mistake that has to be found."""
    async with moot.society(protocol, minds={"critic": Doubter()}, people=["ann"], seed=1) as society:
        assert_type(society, moot.Society)
        assert_type(await society.post("admin", {"type": "NOTE"}, text="hello"), Envelope)
        assert_type(await society.answer("admin", option=1), Envelope)
        assert_type(await society.expect("RULING", within="2h"), Envelope)
        assert_type(
            await society.expect(lambda env: env.author == "critic", within=timedelta(hours=1)), Envelope
        )
        assert_type(await society.advance(hours=2), datetime)
        assert_type(society.case("q"), moot.Case)
        assert_type(society.verify(), moot.Report)
        assert_type(society.log, moot.Log)
        await society.post(3, {"type": "NOTE"})  # type: ignore[arg-type]
    with moot.society([protocol, "weather"], config={"desk": {"enabled": True}}) as blocking:
        assert_type(blocking, moot.BlockingSociety)
        assert_type(blocking.expect("RULING"), Envelope)
    assert_type(moot.scene({"until": "2h"}, protocols=protocol), moot.SceneResult)
    assert_type(await moot.ascene("rain.yaml"), moot.SceneResult)
    moot.society(seeds=1)  # type: ignore[call-arg]
