"""Small runs of Arbiter in virtual time, of which every byte is known beforehand; kept in `tests/golden/arbiter/`.

python -m tests.doubles.arbiter_golden writes them anew.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from moot.arbiter.artifacts import ArtifactWriter
from moot.arbiter.asking import EMBEDDING, Patience, Place, Sent
from moot.arbiter.embedders import EndpointEmbedder
from moot.arbiter.engine import Engine
from moot.arbiter.interrupt import Interrupt
from moot.arbiter.live import runner_of
from moot.arbiter.meetings import MEETINGS
from moot.arbiter.mocking import MockEmbedder, MockRunner
from moot.arbiter.outcomes import Outcomes
from moot.arbiter.resolving import prepare
from moot.bots.models.answer import Answer
from moot.bots.models.request import Request
from moot.clock import Clock, VirtualClock
from moot.config.arbiter.bank import load_bank
from moot.config.arbiter.judging import judge_of
from moot.config.arbiter.moot_protocols import ARENA, PANEL
from moot.protocols.arbiter.generated import ResolvedConfiguration
from moot.protocols.calls.usage import Usage
from tests.doubles.arbiter_configs import resolved
from tests.doubles.arbiter_meetings import ASKS, held, protocol_of
from tests.doubles.arbiter_runs import START, clock_task, policy

FOLDER: Final = Path(__file__).parents[1] / "golden" / "arbiter"
RUN_ID: Final = "20260101T000000Z_abcdef"

DECODE: Final = {
    "temperature": {"min": 0, "max": 1},
    "top_p": 0.9,
    "max_tokens": {"min": 16, "max": 64},
    "presence_penalty": {"min": -0.5, "max": 0.5},
    "frequency_penalty": 0,
}


class Reply(NamedTuple):
    """What a server answers to a request.

    Attributes:
        text: What the model writes.
        status: The HTTP status.
        seconds: How long it takes.
        vector: Where a text was to be embedded.
    """

    text: str = ""
    status: int = 200
    seconds: float = 1.0
    vector: tuple[float, ...] = ()


class ScriptedPost:
    """Answers requests by where in the run they stand, as `Post`."""

    def __init__(self, clock: Clock, script: Callable[[Place], Reply]) -> None:
        self._clock, self._script = clock, script

    async def send(self, place: Place, model: str, request: Request, until: datetime) -> Sent:
        began = self._clock.now()
        said = self._script(place)
        left = until - began
        await self._clock.sleep(min(left, timedelta(seconds=said.seconds)))
        sampled = {"temperature": request.temperature, "top_p": request.top_p}
        body = {
            "model": model,
            "messages": [dict(one) for one in request.messages],
            "max_tokens": request.max_tokens,
            **{name: value for name, value in sampled.items() if value is not None},
        }
        late = timedelta(seconds=said.seconds) >= left
        return Sent(_late() if late else _answer(place, model, said), body, began, self._clock.now())

    def learns(self, model: str, sent: Sent) -> bool:
        return False


def _late() -> Answer:
    return Answer(outcome="timed_out", why="no answer in time", tries=1)


def _answer(place: Place, model: str, said: Reply) -> Answer:
    if said.status != 200:
        told = {"error": {"message": "no", "code": "model_not_found" if said.status == 404 else "busy"}}
        return Answer(
            outcome="provider_error",
            why=f"HTTP {said.status}",
            fault="no_model" if said.status == 404 else "server",
            status=said.status,
            reply=json.dumps(told).encode(),
            tries=1,
        )
    tokens = {"prompt_tokens": 20 + place.call, "completion_tokens": len(said.text), "cost": 0.25}
    reply = {
        "id": f"gen-{place.turn}",
        "model": f"{model}-2026",
        "choices": [{"message": {"role": "assistant", "content": said.text}}],
        "usage": tokens,
    }
    return Answer(
        outcome="answered",
        text=said.text,
        value=list(said.vector),
        usage=Usage(input=20 + place.call, output=len(said.text)),
        model_reported="mock/vectors" if said.vector else f"{model}-2026",
        provider_id=f"gen-{place.turn}",
        status=200,
        reply=json.dumps(reply).encode(),
        tries=1,
    )


VECTORS: Final = (
    (1.0, 0.0, 0.0),
    (0.8, 0.6, 0.0),
    (0.0, 0.0, 1.0),
    (0.96, 0.28, 0.0),
    (-0.6, 0.8, 0.0),
    (0.0, 0.6, 0.8),
)

ANSWERS: Final[Mapping[int, Reply]] = {
    0: Reply(
        '```json\n{"decision": "yes", "rationale": "A trial period shows who comes.", "confidence": 0.75}\n```'
    ),
    1: Reply('So: {"decision": "no", "rationale": "' + "Nobody has said who pays. " * 24 + '"}'),
    2: Reply("I would rather not say.\r\n  "),
    3: Reply(" \n"),
    4: Reply(status=404),
    5: Reply(status=500),
    6: Reply(seconds=1000.0),
    7: Reply('{"decision": "perhaps", "rationale": "Both."}'),
}


def independent(place: Place) -> Reply:
    """Answer an independent trial in one of all ways; every fifth text cannot be embedded."""
    if place.call != EMBEDDING:
        return ANSWERS[place.trial_id % len(ANSWERS)]
    if place.trial_id % 5 == 0 and place.trial_id:
        return Reply(status=500)
    return Reply(vector=VECTORS[place.trial_id % len(VECTORS)], seconds=0.25 * (1 + place.trial_id % 3))


def debate(place: Place) -> Reply:
    """Answer a debate; one in four ends before its last turn."""
    if place.call == EMBEDDING:
        return Reply(vector=VECTORS[place.trial_id % len(VECTORS)])
    if place.trial_id % 4 == 1 and place.call == 1:
        return Reply("")
    if place.trial_id % 4 == 3 and place.call == 2:
        return Reply(status=503)
    last = '{"decision": "open", "confidence": "high", "reasoning": "It is \\u2028asked for."}'
    return Reply(("Open it.", "Who pays?", last)[place.call], seconds=0.5 + place.trial_id % 2)


class Golden(NamedTuple):
    """A run whose every byte is known.

    Attributes:
        config: The resolved configuration, plain data.
        script: What is answered; None for a mock run.
        stops: Seconds after which it is interrupted, and how often then.
        is_debug: Keeps the working file of embeddings.
    """

    config: dict[str, Any]
    script: Callable[[Place], Reply] | None = None
    stops: Mapping[float, int] = {}
    is_debug: bool = False


def _config(
    kind: str = "independent", *, contract: bool = False, **changes: Mapping[str, Any]
) -> dict[str, Any]:
    found = resolved(kind)
    found["run"]["run_id"] = RUN_ID
    if contract:
        found["protocol"]["decision_contract"] = load_bank().contracts["binary_decision_v1"].as_json()
    found["execution"].update(changes.get("execution", {}))
    found["sampling"].update(changes.get("sampling", {}))
    clustering = found["measurement"]["clustering"]
    clustering.update(changes.get("clustering", {}))
    found["measurement"].update(changes.get("measurement", {}))
    return found


INSTRUMENT: Final = {
    "instrument": "i0",
    "sha256": "bfd8f7409a99fbd8832daf193a92b1f03e6351421421883e049614b613adc445",
    "text": "Say how sure you are.",
}


def goldens() -> dict[str, Golden]:
    """Return all of them, by name."""
    settled = {
        "k_max": 16,
        "k_min": 4,
        "stop_mode": "enforcer",
        "stop_policy": {"novelty_epsilon": 0.8, "similarity_threshold": 0.7, "patience": 2},
    }
    one_kind = {"cluster_limit": 2, "centroid_update_rule": "incremental_mean", "tau": 0.9}
    return {
        "mock-independent": Golden(
            _config(execution=settled, sampling={"decode": DECODE, "instruments": [INSTRUMENT]}),
            is_debug=True,
        ),
        "mock-debate": Golden(_config("debate_v1", execution={"k_max": 6}, clustering={"enabled": False})),
        "live-independent": Golden(
            _config(contract=True, execution={"k_max": 12}, sampling={"decode": DECODE}, clustering=one_kind),
            independent,
            is_debug=True,
        ),
        "live-debate": Golden(
            _config(
                "debate_v1", execution={"k_max": 6, "batch_size": 3}, measurement={"embedding_max_chars": 3}
            ),
            debate,
        ),
        "interrupted": Golden(_config(execution={"k_max": 12}), stops={2.5: 1}),
        "interrupted-at-once": Golden(
            _config("debate_v1", execution={"k_max": 6}), debate, stops={2.25: 1, 2.5: 1}
        ),
        "mock-arena": Golden(_meetings(ARENA)),
        "mock-panel": Golden(_meetings(PANEL)),
    }


def _meetings(kind: str) -> dict[str, Any]:
    # What is held in threads at once ends in any order.
    found = _config(execution={"k_max": 4, "k_min": 1, "batch_size": 2, "workers": 1})
    found["question"]["text"] = ASKS[kind]
    found["protocol"].update(protocol_of(kind))
    return found


def carry_out(golden: Golden, directory: Path) -> None:
    """Carry out a run into a folder that is not there yet."""
    config = ResolvedConfiguration.from_json(json.dumps(golden.config))
    run = prepare(config, load_bank())
    clock, interrupt = VirtualClock(START), Interrupt()

    def warn(line: str) -> None:
        raise AssertionError(line)

    async def main(clock: Clock) -> None:
        tasks = [
            clock_task(clock, at, lambda times=times: [interrupt.ask() for _ in range(times)])
            for at, times in golden.stops.items()
        ]
        outcomes = Outcomes(
            config, judge_of(config.protocol.decision_contract), "live-v0" if golden.script else "mock-v0"
        )
        meeting = partial(held, config) if config.protocol.type in MEETINGS else None
        runner: Any = MockRunner(outcomes, clock, delay=timedelta(seconds=1), meeting=meeting)
        embedder: Any = MockEmbedder(config.run.seed)
        if golden.script is not None:
            post = ScriptedPost(clock, golden.script)
            runner = runner_of(config, outcomes, post, clock)
            patience = Patience.of(config, config.execution.retry_policy.max_retries)
            embedder = EndpointEmbedder(config.measurement.embedding_model, post, clock, patience)
        writer = ArtifactWriter(directory, warn, is_debug=golden.is_debug, has_log=True)
        await Engine(run, policy(), runner, embedder, clock, interrupt, [writer]).run()
        for task in tasks:
            task.cancel()

    clock.run(main)
    # Where a run lies is no part of it.
    receipt = directory / "receipt.txt"
    receipt.write_text(receipt.read_text(encoding="utf-8").replace(str(directory), "RUN"), encoding="utf-8")


def main() -> None:
    """Write all of them anew."""
    for name, golden in goldens().items():
        shutil.rmtree(FOLDER / name, ignore_errors=True)
        carry_out(golden, FOLDER / name)
        print(FOLDER / name)


if __name__ == "__main__":
    main()
