"""Streams of draws are those of the test vectors, and a plan follows from its seed alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.arbiter.generated import PlannedTrial, ResolvedConfiguration
from moot.protocols.arbiter.hashes import AT_ONCE, config_sha256, plan_sha256, sha256_of, sha256_of_text
from moot.protocols.arbiter.plan import plan
from moot.protocols.arbiter.prng import Purpose, Stream, stream
from tests.doubles.arbiter_configs import resolved

PLAN_0 = (0.21684354869648814, 0.2692262183409184, 0.09735313686542213)
PLAN_1 = (0.20954564167186618, 0.1309630419127643, 0.6886748280376196)
DECODE_0 = (0.31205789605155587, 0.9710459581110626)


def whole(kind: str = "independent", k_max: int = 8, **sampling: Any) -> ResolvedConfiguration:
    value = resolved(kind, **sampling)
    value["execution"]["k_max"] = k_max
    return ResolvedConfiguration.from_json(json.dumps(value))


def lines(config: ResolvedConfiguration) -> list[dict[str, Any]]:
    return [one.as_json() for one in plan(config)]


@pytest.mark.parametrize(
    ("purpose", "trial_id", "draws"),
    [
        ("plan", 0, PLAN_0),
        ("plan", 1, PLAN_1),
        ("decode", 0, DECODE_0),
        ("embedding", 0, (0.34103567455895245, 0.8598208238836378, 0.5217433588113636)),
    ],
)
def test_a_trial_has_the_stream_of_the_vectors(
    purpose: Purpose, trial_id: int, draws: tuple[float, ...]
) -> None:
    found = stream(424242, purpose, trial_id)
    assert tuple(found.draw() for _ in draws) == draws


def test_a_seed_may_be_a_text() -> None:
    found = Stream("alpha-seed")
    assert (found.draw(), found.draw()) == (0.16804267489351332, 0.6811481018085033)


@pytest.mark.parametrize("seed", [0, 424242, "alpha-seed", "ü😀"])
def test_the_stream_of_a_trial_is_that_of_its_whole_seed(seed: int | str) -> None:
    assert stream(seed, "plan", 17).draw() == Stream(f"{seed}:plan:17").draw()


def test_what_lies_outside_the_basic_plane_counts_as_two_units() -> None:
    assert Stream("😀").draw() == Stream("\ud83d\ude00").draw() != Stream("\ud83d").draw()


@given(st.text(max_size=8), st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0]), min_size=1, max_size=5))
def test_only_what_has_a_weight_is_chosen(seed: str, weights: list[float]) -> None:
    draws = Stream(seed)
    if not sum(weights):
        with pytest.raises(ValueError, match="add up to nothing"):
            draws.choose(weights)
    else:
        assert all(weights[draws.choose(weights)] > 0 for _ in range(20))


def test_not_even_a_draw_of_zero_chooses_what_has_no_weight() -> None:
    class Zero(Stream):
        def draw(self) -> float:
            return 0.0

    assert Zero("any").choose([0, 2, 1]) == 1


def test_choices_come_in_proportion_to_their_weights() -> None:
    draws = Stream("proportion")
    found = [draws.choose([1, 0, 3]) for _ in range(4000)]
    assert found.count(1) == 0
    assert 0.22 < found.count(0) / len(found) < 0.28


@given(st.text(max_size=8), st.integers(-20, 20), st.integers(0, 20))
def test_a_whole_number_lies_within_its_bounds(seed: str, least: int, span: int) -> None:
    assert least <= Stream(seed).whole(least, least + span) <= least + span


def test_an_independent_trial_draws_model_persona_and_template_in_that_order() -> None:
    first, second = list(plan(whole()))[:2]
    # 0.217 of two models, 0.269 of weights 1, 1, 2 and 0.097 of two templates.
    assert first.assigned_config.as_json() == {"model": "a/one", "persona": "p1", "protocol": "t0"}
    # 0.210, 0.131, 0.689.
    assert second.assigned_config.as_json() == {"model": "a/one", "persona": "p0", "protocol": "t1"}


@pytest.mark.rule("R-G5")
def test_a_debate_draws_a_model_and_two_personas() -> None:
    first = next(iter(plan(whole("debate_v1")))).as_json()
    assert first["assigned_config"] == {"model": "a/one", "persona": "p1", "protocol": "debate_v1"}
    assert first["role_assignments"] == {
        "proposer": {"model_slug": "a/one", "persona_id": "p1"},
        "critic": {"model_slug": "a/one", "persona_id": "p0"},
    }


def test_only_ranges_use_up_draws_of_decoding() -> None:
    ranges = {
        "temperature": {"min": 0, "max": 2},
        "top_p": 0.9,
        "max_tokens": {"min": 10, "max": 19},
        "frequency_penalty": 1,
    }
    found = next(iter(plan(whole(decode=ranges)))).assigned_config.decode
    assert found is not None
    assert found.as_json() == {
        "temperature": 2 * DECODE_0[0],
        "top_p": 0.9,
        "max_tokens": 10 + int(10 * DECODE_0[1]),
        "frequency_penalty": 1,
    }


def test_a_trial_does_not_depend_on_how_many_there_are() -> None:
    assert lines(whole(k_max=3)) == lines(whole(k_max=30))[:3]


def test_a_plan_is_read_again_as_it_was_written() -> None:
    for one in plan(whole("debate_v1", decode={"temperature": 1})):
        assert PlannedTrial.from_json(json.dumps(one.as_json())) == one


def test_the_hash_of_a_plan_follows_from_its_seed() -> None:
    other = resolved()
    other["run"]["seed"] = 424243
    assert plan_sha256(lines(whole())) == plan_sha256(lines(whole()))
    assert plan_sha256(lines(whole())) != plan_sha256(
        lines(ResolvedConfiguration.from_json(json.dumps(other)))
    )


@pytest.mark.parametrize("count", [0, 1, AT_ONCE - 1, AT_ONCE, 2 * AT_ONCE + 1])
def test_the_hash_of_a_plan_is_that_of_all_its_lines_as_one_list(count: int) -> None:
    entries = [
        {"b": n, "a": {"t": n / 4, "u": 1e22, "v": float(n), "w": "x.0e+\u00fc"}} for n in range(count)
    ]
    assert plan_sha256(iter(entries)) == sha256_of(entries)


@pytest.mark.rule("R-S7")
def test_the_id_of_a_run_does_not_count_in_the_hash_of_its_configuration() -> None:
    one, other, third = resolved(), resolved(), resolved()
    other["run"]["run_id"] = "20260101T000000Z_abcdef"
    third["question"]["text"] = "Should it close?"
    assert config_sha256(one) == config_sha256(other) != config_sha256(third)


def test_the_order_of_keys_and_the_way_to_write_a_whole_number_do_not_count() -> None:
    assert sha256_of({"b": 1.0, "a": [2]}) == sha256_of({"a": [2.0], "b": 1})
    assert sha256_of({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (1e-5, "0.00001"),
        (-2.5e-6, "-0.0000025"),
        (1.5e-7, "1.5e-7"),
        (1e20, "1" + "0" * 20),
        (1e21, "1e+21"),
        (2.0, "2"),
    ],
)
def test_numbers_are_hashed_as_ecmascript_writes_them(number: float, written: str) -> None:
    assert sha256_of({"b": [number], "a": "1.0, 1e-05"}) == sha256_of_text(
        f'{{"a":"1.0, 1e-05","b":[{written}]}}'
    )
    assert sha256_of(number) == sha256_of_text(written)
