"""Plan files are byte for byte what the draws of the specification give, computed here from the facts alone."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests.doubles.arbiter_configs import config as small
from tests.doubles.command_line import data

VECTORS: Final = {
    "424242:plan:0": (0.21684354869648814, 0.2692262183409184, 0.09735313686542213),
    "424242:plan:1": (0.20954564167186618, 0.1309630419127643, 0.6886748280376196),
    "424242:decode:0": (0.31205789605155587, 0.9710459581110626),
    "424242:embedding:0": (0.34103567455895245, 0.8598208238836378, 0.5217433588113636),
    "alpha-seed": (0.16804267489351332, 0.6811481018085033),
}


def floats(seed: str) -> Iterator[float]:
    """32-bit FNV-1a over UTF-16 code units, then mulberry32."""
    units = memoryview(seed.encode("utf-16-le")).cast("H")
    state = 0x811C9DC5
    for unit in units:
        state = ((state ^ unit) * 0x01000193) & 0xFFFFFFFF
    while True:
        state = (state + 0x6D2B79F5) & 0xFFFFFFFF
        t = ((state ^ (state >> 15)) * (state | 1)) & 0xFFFFFFFF
        t ^= (t + (((t ^ (t >> 7)) * (t | 61)) & 0xFFFFFFFF)) & 0xFFFFFFFF
        yield (t ^ (t >> 14)) / 4294967296


def weighted(items: Sequence[Mapping[str, Any]], draw: float) -> Any:
    """The first item with x <= cumulative weight, x being the draw times the sum."""
    reached = 0.0
    for item in items:
        reached += item["weight"]
        if draw * sum(one["weight"] for one in items) <= reached:
            return next(iter(item.values()))
    raise AssertionError("no item")


def decoded(given: Mapping[str, Any], draws: Iterator[float]) -> dict[str, Any]:
    """In this order; only ranges use up a draw."""
    found = {}
    for name in ("temperature", "top_p", "max_tokens", "presence_penalty", "frequency_penalty"):
        if name not in given:
            continue
        value = given[name]
        if isinstance(value, Mapping) and name == "max_tokens":
            low, high = math.ceil(value["min"]), math.floor(value["max"])
            value = math.floor(low + next(draws) * (high - low + 1))
        elif isinstance(value, Mapping):
            value = value["min"] + next(draws) * (value["max"] - value["min"])
        found[name] = value
    return found


def entry(config: Mapping[str, Any], trial: int) -> dict[str, Any]:
    seed, sampling, kind = config["run"]["seed"], config["sampling"], config["protocol"]["type"]
    plan = floats(f"{seed}:plan:{trial}")
    model = weighted(sampling["models"], next(plan))
    first = weighted(sampling["personas"], next(plan))
    second = weighted(sampling["personas" if kind == "debate_v1" else "protocols"], next(plan))
    decode: dict[str, Any] = {}
    if "decode" in sampling:
        decode = {"decode": decoded(sampling["decode"], floats(f"{seed}:decode:{trial}"))}
    template = kind if kind == "debate_v1" else second
    assigned = {"model": model, "persona": first, "protocol": template, **decode}
    line = {"trial_id": trial, "protocol": kind, "assigned_config": assigned}
    if kind == "debate_v1":
        line["role_assignments"] = {
            "proposer": {"model_slug": model, "persona_id": first, **decode},
            "critic": {"model_slug": model, "persona_id": second, **decode},
        }
    return line


def number(value: float) -> str:
    """Write a number as ECMAScript does: no exponent from 1e-6 on, no zero before its digits, 1 for 1.0."""
    if value == int(value):
        return str(int(value))
    digits = repr(value)
    if "e-0" in digits and abs(value) >= 1e-6:
        return plain(digits)
    return digits.replace("e-0", "e-")


def plain(digits: str) -> str:
    mantissa, exponent = digits.split("e-")
    sign = "-" if mantissa.startswith("-") else ""
    figures = mantissa.lstrip("-").replace(".", "")
    return f"{sign}0.{'0' * (int(exponent) - 1)}{figures}"


def js(value: Any, *, is_sorted: bool = False) -> str:
    if isinstance(value, dict):
        names = sorted(value) if is_sorted else list(value)
        return f"{{{','.join(f'{js(one)}:{js(value[one], is_sorted=is_sorted)}' for one in names)}}}"
    if isinstance(value, list):
        return f"[{','.join(js(one, is_sorted=is_sorted) for one in value)}]"
    return number(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


DECODE: Final = {
    "temperature": {"min": 0.2, "max": 1.3},
    "top_p": {"min": 0.5, "max": 1},
    "max_tokens": {"min": 16, "max": 64},
    "presence_penalty": 0.25,
    "frequency_penalty": {"min": -0.5, "max": 0.5},
}
SMALL: Final = {
    "temperature": {"min": 0, "max": 0.0001},
    "top_p": {"min": 0, "max": 0.000002},
    "max_tokens": 32,
}
"""Numbers that programs write differently."""


@pytest.mark.parametrize("seed", VECTORS)
def test_the_draws_of_this_test_are_those_of_the_vectors(seed: str) -> None:
    drawn = floats(seed)
    assert tuple(next(drawn) for _ in VECTORS[seed]) == VECTORS[seed]


@pytest.mark.rule("R-G5")
@pytest.mark.parametrize("decode", [None, DECODE, SMALL], ids=["plain", "decode", "small"])
@pytest.mark.parametrize("seed", [424242, 0, "alpha-seed", "ü😀:plan:"])
@pytest.mark.parametrize("kind", ["independent", "debate_v1"])
def test_a_plan_file_is_byte_for_byte_what_the_draws_give(
    kind: str, seed: int | str, decode: Mapping[str, Any] | None, tmp_path: Path
) -> None:
    config = small()
    config["run"]["seed"] = seed
    config["protocol"]["type"] = kind
    config["execution"].update(k_max=40, batch_size=40)
    for kinds, name in (("personas", "persona"), ("protocols", "protocol")):
        config["sampling"][kinds] = [{**one, "text": f"As {one[name]}."} for one in config["sampling"][kinds]]
    if decode is not None:
        config["sampling"]["decode"] = decode
    file = tmp_path / "run.json"
    file.write_text(json.dumps(config), encoding="utf-8")
    run = Path(data("arbiter", "resolve", file, "--out", tmp_path)["path"])
    entries = [entry(config, trial) for trial in range(40)]
    expected = "".join(f"{js(one)}\n" for one in entries).encode()
    assert (run / "trial_plan.jsonl").read_bytes() == expected
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    canonical = js(entries, is_sorted=True).encode()
    assert manifest["plan_sha256"] == hashlib.sha256(canonical).hexdigest()


def test_a_run_leaves_the_same_plan_file(tmp_path: Path) -> None:
    config = small()
    for kinds, name in (("personas", "persona"), ("protocols", "protocol")):
        config["sampling"][kinds] = [{**one, "text": f"As {one[name]}."} for one in config["sampling"][kinds]]
    config["protocol"]["type"] = "debate_v1"
    file = tmp_path / "run.json"
    file.write_text(json.dumps(config), encoding="utf-8")
    run = Path(data("arbiter", "mock-run", file, "--out", tmp_path)["path"])
    expected = "".join(f"{js(entry(config, trial))}\n" for trial in range(8)).encode()
    assert (run / "trial_plan.jsonl").read_bytes() == expected
