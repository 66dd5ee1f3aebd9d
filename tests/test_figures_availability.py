"""The availability page's figures: what is drawn is what was given."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from reliability.figures import availability as figures


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_availability_curves_cross_one_half_at_their_marks():
    sizes = np.geomspace(128, 131072, 50)
    halves = {"cold": 8000.0, "swap": 96000.0}
    ax = figures.availability_by_size(sizes, {label: 1 / (1 + sizes / half) for label, half in halves.items()}, halves)
    curves = [line for line in ax.lines if len(line.get_xdata()) == len(sizes)]
    marks = [line for line in ax.lines if line.get_marker() == "o"]
    assert [mark.get_xdata()[0] for mark in marks] == list(halves.values())
    for curve, mark in zip(curves, marks, strict=True):
        assert np.interp(mark.get_xdata()[0], *curve.get_data()) == pytest.approx(0.5, abs=0.01)
        assert curve.get_color() == mark.get_color()


def test_a_half_beyond_the_sizes_has_no_mark():
    sizes = np.array([100.0, 1000.0])
    ax = figures.availability_by_size(sizes, {"cold": np.array([0.9, 0.8])}, {"cold": 4000.0})
    assert not [line for line in ax.lines if line.get_marker() == "o"]


def test_rates_are_sorted_and_secondary_ones_are_hollow():
    ax = figures.rates(["b", "a"], [6.5, 2.3], [float("nan"), 2.0], [float("nan"), 2.6], [True, False])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert [dot.get_xdata()[0] for dot in dots] == [2.3, 6.5]
    assert [dot.get_markerfacecolor() == "white" for dot in dots] == [False, True]
    assert len(ax.lines) == 3  # one interval only: where no count is known, none is drawn


def test_job_mtbf_lines_and_points():
    sizes = np.array([1024.0, 16384.0])
    ax = figures.lines_of_job_mtbf(sizes, {"one": 8089.6 / sizes, "two": 45547.5 / sizes}, [("job", 1024, 7.9)])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]
    assert (ax.lines[0].get_ydata() == 8089.6 / sizes).all()
    assert ax.lines[-1].get_xydata().tolist() == [[1024, 7.9]]


def test_the_readers_own_style_is_left_alone():
    before = dict(plt.rcParams)
    figures.rates(["a"], [2.0], [float("nan")], [float("nan")], [False])
    assert dict(plt.rcParams) == before
