"""The figures of checkpoint tiers: what is drawn is what was given."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from reliability.figures import checkpoint_tiers as figures

SIZES = np.array([1024, 2048, 4096])
KEPT = {
    "blocking": np.array([0.8, 0.7, 0.5]),
    "background": np.array([0.9, 0.7, 0.49]),
    "no cost": np.array([0.99, 0.98, 0.96]),
}
QUOTAS = np.array([0.1, 0.5, 0.9])


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def curves(ax):
    return [line for line in ax.lines if len(line.get_xdata()) == 3]


def test_each_plan_is_a_curve_in_a_colour_and_a_style_of_its_own():
    ax = figures.kept_by_size(SIZES, KEPT)
    for line, shares in zip(curves(ax), KEPT.values(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), SIZES)
        np.testing.assert_array_equal(line.get_ydata(), shares)
    assert len({(line.get_color(), line.get_linestyle()) for line in curves(ax)}) == len(KEPT)
    assert len({line.get_linestyle() for line in curves(ax)}) == len(KEPT)


@pytest.mark.parametrize(
    "draw",
    [lambda: figures.kept_by_size(SIZES, KEPT), lambda: figures.kept_by_quota(QUOTAS, dict(list(KEPT.items())[:2]))],
)
def test_names_stand_apart_in_their_curves_colour_and_fit(draw):
    ax = draw()
    ax.figure.canvas.draw()
    names = {text.get_text().strip(): text for text in ax.texts if "%" not in text.get_text()}
    colours = dict(zip(KEPT, (line.get_color() for line in curves(ax)), strict=False))
    assert {name: text.get_color() for name, text in names.items()} == colours
    boxes = sorted((text.get_window_extent() for text in names.values()), key=lambda box: box.y0)
    assert all(low.y1 <= high.y0 for low, high in zip(boxes, boxes[1:], strict=False))
    assert all(box.x1 <= ax.figure.bbox.x1 for box in boxes)


@pytest.mark.parametrize("level", [0.0, 0.5, 1.0])
def test_names_of_curves_that_end_together_stand_apart_beside_the_axis(level):
    ax = figures.kept_by_size(SIZES, {name: np.full(3, level) for name in ("a", "b", "c", "d")})
    places = [text.get_position()[1] for text in ax.texts]
    low, high = ax.get_ylim()
    assert low - 1e-9 <= min(places) and max(places) <= high + 1e-9
    assert min(np.diff(sorted(places))) == pytest.approx(figures.CLEAR * (high - low))


def test_a_plan_has_one_colour_in_both_figures():
    by_size = dict(zip(KEPT, (line.get_color() for line in curves(figures.kept_by_size(SIZES, KEPT))), strict=True))
    (line,) = curves(figures.kept_by_quota(QUOTAS, {"background": KEPT["background"]}))
    assert line.get_color() == by_size["background"]


def test_the_best_quota_has_a_dot_and_its_number():
    ax = figures.kept_by_quota(QUOTAS, {"background": np.array([0.7, 0.9, 0.8])})
    (dot,) = [line for line in ax.lines if line.get_marker() == "o"]
    assert (dot.get_xdata()[0], dot.get_ydata()[0]) == (0.5, 0.9)
    assert [text.get_text() for text in ax.texts if "%" in text.get_text()] == ["50%"]
    low, high = ax.get_ylim()
    assert 0 <= low < 0.7 and high > 0.9


def test_the_readers_own_style_is_left_alone():
    before = dict(plt.rcParams)
    figures.kept_by_size(SIZES, KEPT)
    assert dict(plt.rcParams) == before
