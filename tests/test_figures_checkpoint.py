"""The checkpoint page's figures: what is drawn is what was given."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from reliability.figures import checkpoint as figures

STEPS = np.geomspace(5, 5000, 200)
KINDS = ("full", "incremental")
FIRST_ORDER = np.array([1 / (1 + top / STEPS + STEPS / 1900) for top in (8.0, 2.4)])
EXACT = FIRST_ORDER * np.exp(-STEPS / 2000)
BEST, KEPT = np.array([118.0, 66.0]), np.array([0.86, 0.92])
GOOD = np.array([[89.0, 46.0], [156.0, 95.0]])


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def by_interval(**changes):
    given = {"first_order": FIRST_ORDER, "exact": EXACT, "best": BEST, "kept": KEPT, "good": GOOD} | changes
    return figures.efficiency_by_interval(STEPS, KINDS, **given)


def curves(ax, style):
    """The lines of that style over the whole axis, in the order of the kinds."""
    return [line for line in ax.lines if line.get_linestyle() == style and len(line.get_xdata()) > 100]


def dots(ax):
    return [line for line in ax.lines if line.get_marker() == "o"]


def test_each_model_of_each_kind_is_drawn_with_the_models_told_apart_by_line_and_the_kinds_by_colour():
    ax = by_interval()
    for style, given in (("--", FIRST_ORDER), ("-", EXACT)):
        drawn = curves(ax, style)
        assert np.array([line.get_ydata() for line in drawn]).tolist() == given.tolist()
        assert [line.get_color() for line in drawn] == list(figures.COLOURS)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["exact", "first order"]


def test_the_best_intervals_have_dots_and_labels_in_their_colours():
    ax = by_interval()
    assert [dot.get_xydata().tolist() for dot in dots(ax)] == [[[118.0, 0.86]], [[66.0, 0.92]]]
    labels = {text.get_text(): text.get_color() for text in ax.texts}
    full, incremental = figures.COLOURS
    assert labels == {"118 steps": full, "full": full, "66 steps": incremental, "incremental": incremental}


def test_a_best_interval_of_one_step_is_called_so():
    assert "1 step" in [text.get_text() for text in by_interval(best=np.array([1.2, 0.9])).texts]


def test_bands_cover_the_equally_good_intervals_and_lie_on_the_exact_curve():
    bands = [line for line in by_interval().lines if line.get_alpha() is not None]
    for k, band in enumerate(bands):
        xs, ys = band.get_data()
        low, high = GOOD[:, k]
        inside = (low <= STEPS) & (high >= STEPS)
        assert xs.tolist() == STEPS[inside].tolist()
        assert ys.tolist() == EXACT[k][inside].tolist()
    assert len(bands) == 2


def test_by_size_has_a_dot_only_where_the_limit_is_on_the_axis():
    sizes = np.geomspace(1024, 131072, 150)
    shares = np.array([1 / (1 + sizes / 20000), 1 / (1 + sizes / 40000)])
    ax = figures.efficiency_by_size(sizes, KINDS, shares, shares**2, np.array([828.0, 2169.0]))
    assert [line.get_ydata().tolist() for line in curves(ax, "--")] == shares.tolist()
    assert [line.get_ydata().tolist() for line in curves(ax, "-")] == (shares**2).tolist()
    (dot,) = dots(ax)
    assert dot.get_color() == figures.COLOURS[1]
    assert dot.get_xdata()[0] == 2169
    assert dot.get_ydata()[0] == pytest.approx(1 / (1 + 2169 / 40000), rel=1e-3)  # on the first-order curve


def test_the_readers_own_style_is_left_alone():
    before = dict(plt.rcParams)
    by_interval()
    assert dict(plt.rcParams) == before
