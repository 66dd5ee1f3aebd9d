"""What the figures of the page on defences against silent corruption draw."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from reliability.figures import sdc_defences as figures

NAMES = ["guards", "digests", "checksums", "replay"]
COSTS = [0.0, 0.0, 0.003, 0.01]
THROUGH = np.array([0.7, 0.6, 0.05, 0.02])


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_layers_draws_a_row_a_plan_with_its_interval_and_its_cost():
    ax = figures.layers(dict(zip(NAMES, COSTS, strict=True)), THROUGH, THROUGH / 3, THROUGH * 2)
    (points,) = ax.lines
    np.testing.assert_array_equal(points.get_xydata(), np.column_stack([THROUGH, range(4)]))
    ends = np.array([segment[:, 0] for segment in ax.collections[0].get_segments()])
    np.testing.assert_allclose(ends, np.column_stack([THROUGH / 3, THROUGH * 2]))
    assert [label.get_text() for label in ax.get_yticklabels()] == NAMES
    assert [text.get_text() for text in ax.texts] == ["0.00%", "0.00%", "0.30%", "1.00%", "cost"]
    assert ax.get_xscale() == "log"
    bottom, top = ax.get_ylim()
    assert bottom > top  # the first plan is the highest row


def test_time_kept_draws_each_curve_and_its_two_marks():
    intervals = np.geomspace(5, 200, 40)
    curves = {
        "each write": 0.7 - 0.1 * np.log(intervals / 35) ** 2,
        "every 3": 0.72 - 0.1 * np.log(intervals / 35) ** 2,
    }
    marks = {label: {"first": (36.0, 0.69), "drawn": (35.0, 0.7)} for label in curves}
    ax = figures.time_kept(intervals, curves, marks)
    drawn = [line for line in ax.lines if len(line.get_xdata()) == 40]
    for line, curve in zip(drawn, curves.values(), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), curve)
    assert len({line.get_linestyle() for line in drawn}) == 2
    single = [line for line in ax.lines if len(line.get_xdata()) == 1]
    assert [(line.get_marker(), line.get_xydata()[0].tolist()) for line in single] == 2 * [
        ("s", [36.0, 0.69]),
        ("o", [35.0, 0.7]),
    ]
    assert {text.get_text() for text in ax.texts} == set(curves)
    low, high = ax.get_ylim()
    assert 0 <= low < 0.7 < high <= 1


def test_one_curve_alone_draws():
    intervals = np.geomspace(5, 200, 40)
    curve = 0.7 - 0.1 * np.log(intervals / 35) ** 2
    figures.time_kept(intervals, {"each write": curve}, {"each write": {"first": (36.0, 0.69), "drawn": (35.0, 0.7)}})
