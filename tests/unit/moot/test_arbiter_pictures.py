"""Pictures of a run: they show the numbers they are given, also to whoever cannot see them."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from moot.arbiter.pictures import (
    TOLD_APART,
    LabelShare,
    cluster_map,
    cluster_sizes,
    convergence,
    label_shares,
    spending,
)
from moot.arbiter.projection import project, sample
from moot.reports.drawing import COLOURS, REST, SIDE, Area, Axis, Curve, Dots, Picture, plot
from moot.reports.html import LOOKS

HOSTILE = "</svg><script>alert('x')</script>\"><img src=x onerror=y>&\x00"


def pictures(label: str = "yes") -> list[Picture]:
    return [
        label_shares(
            [LabelShare(label, 30, 0.75, (0.6, 0.86), (0.5, 0.93)), LabelShare("no", 10, 0.25, (0, 1))]
        ),
        convergence(
            [4, 8, 12], [1.0, None, 0.25], [0.1, None, 0.8], novelty_epsilon=0.05, similarity_threshold=0.95
        ),
        cluster_sizes([4, 8], [[3, 1], [5, 1, 2]]),
        cluster_map([(0.5, -0.5), (-0.5, 0.5)], [0, None], [1], (0.7, 0.2)),
        spending("Tokens", "tokens", [10, 30, 60]),
        spending("Cost", "$", [0.001, 0.002]),
    ]


@pytest.mark.parametrize("picture", pictures(HOSTILE), ids=lambda one: one.title)
def test_a_picture_is_well_formed_names_itself_and_escapes_what_it_is_told(picture: Picture) -> None:
    text = picture.html.replace("\x00", "")
    found = ElementTree.fromstring(f"<div>{text}</div>")
    assert not found.findall(".//script")
    assert not found.findall(".//img")
    assert picture.told
    assert all(len(row) == len(picture.heads) for row in picture.rows)
    named = [one.get("aria-label") for one in found.iter() if one.get("role") == "img"]
    assert named == ([] if picture.title == "Decisions" else [picture.told])


def luminance(colour: str) -> float:
    """Return how bright a colour is to the eye, in [0, 1], as WCAG defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return sum(weight * one for weight, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("colour", [*COLOURS, REST])
def test_a_colour_stands_out_on_a_light_and_on_a_dark_page(colour: str) -> None:
    for page in re.findall(r"--bg: (#\w+)", LOOKS.read_text(encoding="utf-8")):
        dim, bright = sorted((luminance(colour), luminance(page)))
        assert (bright + 0.05) / (dim + 0.05) >= 3


def test_a_share_is_drawn_with_both_of_its_intervals() -> None:
    picture = pictures()[0]
    assert 'rect width="750"' in picture.html
    assert {"600", "860", "500", "930"} <= set(re.findall(r'x1="(\d+)"', picture.html))
    assert picture.rows[0] == ("yes", "30", "75.0 %", "60.0 to 86.0 %", "50.0 to 93.0 %")
    assert picture.rows[1][-1] == "–"


def test_a_curve_has_a_gap_where_nothing_was_measured() -> None:
    axis = Axis(0, 10)
    html = plot([Curve("a", [0, 5, 6, 10], [0, 10, None, 10], "red")], axis, axis, "told")
    assert f"M0 {SIDE}L500 0M1000 0h8" in html


def test_dots_and_areas_stand_where_their_numbers_say() -> None:
    axis = Axis(0, 10)
    marks = [Dots("d", [(5, 10)], "red"), Area("a", [0, 10], [0, 0], [10, 5], "blue")]
    html = plot(marks, axis, axis, "told")
    assert "M500 0h0" in html
    assert "M0 0L1000 500L1000 1000L0 1000Z" in html


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (0, 7), (0, 96), (0, 5000), (0, 1e-7), (-0.3, 0.3), (3, 3)]
)
def test_an_axis_has_few_round_numbers_inside_it(low: float, high: float) -> None:
    ticks = Axis(low, high, word=str).ticks(5)
    assert len(ticks) <= 5
    assert (len(ticks) >= 2) is (high > low)
    assert all(low - 1e-9 <= one <= high + 1e-9 for one in ticks)


def test_a_legend_and_labels_escape_what_they_are_told() -> None:
    axis = Axis(0, 10, HOSTILE, lambda value: HOSTILE)
    html = plot([Dots(HOSTILE, [], "red"), Dots("b", [], "blue")], axis, axis, HOSTILE)
    found = ElementTree.fromstring(f"<div>{html}</div>".replace("\x00", ""))
    assert "script" not in {one.tag for one in found.iter()}
    assert html.count("&lt;script&gt;") > 5


def test_small_clusters_share_a_colour_and_none_is_lost() -> None:
    sizes = [5, 1, 9, *[2] * TOLD_APART]
    picture = cluster_sizes([20, 40], [[1] * 3, sizes])
    assert picture.heads[:3] == ("trials", "cluster 2", "cluster 0")
    assert picture.heads[-1] == "3 smaller"
    assert sum(int(one) for one in picture.rows[-1][1:]) == sum(sizes)
    assert sum(int(one) for one in picture.rows[0][1:]) == 3


def test_what_was_spent_is_told_at_its_end() -> None:
    assert (
        spending("Tokens", "tokens", [10, 30, 60]).told
        == "60 tokens over 3 trials, 20 tokens each on average."
    )
    assert spending("Cost", "$", list(np.arange(1, 5001) / 1000)).rows[-1] == ("5,000", "$5")


def test_without_batches_or_answers_a_picture_says_so() -> None:
    assert label_shares([]).told == "No trial decided."
    assert cluster_sizes([], []).told == "No answer was put into a cluster."
    nothing = convergence([4], [None], [None], novelty_epsilon=0.05, similarity_threshold=0.95)
    assert nothing.told.count("unmeasured") == 2


def test_a_plane_keeps_what_differs_most() -> None:
    rng = np.random.default_rng(1)
    rows = np.zeros((60, 8))
    rows[:, 0] = 10
    rows[:, 3] = rng.normal(0, 2, 60)
    rows[:, 5] = rng.normal(0, 0.5, 60)
    points, explained = project(rows)
    assert sum(explained) > 0.98
    assert explained[0] > explained[1]
    assert abs(np.corrcoef(points[:, 0], rows[:, 3])[0, 1]) > 0.99
    assert np.allclose(points.mean(axis=0), 0)
    assert np.array_equal(points, project(rows.copy()).points)


@pytest.mark.parametrize("rows", [np.ones((5, 3)), np.ones((1, 3)), np.zeros((4, 2)), np.ones((3, 1))])
def test_answers_that_do_not_differ_lie_on_one_spot(rows: np.ndarray) -> None:
    points, explained = project(rows)
    assert points.shape == (len(rows), 2)
    assert not points.any()
    assert explained == (0.0, 0.0)


def test_a_map_without_answers_is_refused() -> None:
    with pytest.raises(ValueError, match="needs answers"):
        project(np.empty((0, 3)))


def test_a_sample_is_spread_evenly_and_no_larger_than_it_may_be() -> None:
    assert sample(3, 10).tolist() == [0, 1, 2]
    found = sample(5000, 100)
    assert len(found) == 100
    assert (found[0], found[-1]) == (0, 4999)
    assert len(sample(0, 10)) == 0


def test_a_map_has_one_scale_and_holds_all_points() -> None:
    picture = cluster_map([(0, 0), (10, 0), (10, 2)], [0, 0, 1], [2, 1], (0.9, 0.1))
    drawn = [(float(a), float(b)) for a, b in re.findall(r"M([\d.]+) ([\d.]+)h0", picture.html)]
    (c, a, b) = drawn
    assert a[1] == b[1]
    assert c[0] == b[0]
    assert (b[0] - a[0]) == pytest.approx(5 * (b[1] - c[1]), rel=0.01)
    assert all(0 < value < SIDE for point in drawn for value in point)
