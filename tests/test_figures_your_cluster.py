"""The figures of a cluster's plan: what is drawn is what was given."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from reliability.figures import your_cluster as figures

MINUTES = np.geomspace(1, 500, 30)
CURVE = 0.9 - 0.05 * np.log10(MINUTES / 20) ** 2
GAINS = [{"value": 0.03, "low": 0.01, "high": 0.05}, {"value": 0.0, "low": -0.01, "high": 0.01}]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_both_states_are_their_curves_with_their_bands_and_marks():
    band = (CURVE, CURVE - 0.02, CURVE + 0.02)
    higher = tuple(part + 0.03 for part in band)
    ax = figures.ettr_by_interval(MINUTES, band, higher, (10, 40), {"today": (60, 0.88), "the plan's": (20, 0.93)})
    now, plan, today, best = ax.lines
    assert np.array_equal(now.get_ydata(), CURVE) and np.array_equal(plan.get_ydata(), CURVE + 0.03)
    assert (today.get_xdata()[0], best.get_xdata()[0]) == (60, 20)
    low, high = ax.get_ylim()
    assert low <= band[1].min() and high >= higher[2].max()
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"now", "plan", "today", "the plan's"}


def test_a_mark_outside_the_axis_is_left_out():
    band = (CURVE, CURVE, CURVE)
    assert len(figures.ettr_by_interval(MINUTES, band, band, (10, 40), {"today": (1e4, 0.5)}).lines) == 2


def test_extreme_times_still_have_an_axis():
    minutes = np.geomspace(1e-6, 2e-6, 5)
    ax = figures.ettr_by_interval(minutes, *[(np.full(5, 0.5),) * 3] * 2, (1e-6, 2e-6), {})
    assert ax.get_xlim() == (1e-6, 2e-6)


def test_levers_from_the_top_and_what_can_be_had_is_filled():
    ax = figures.levers(["rate", "write"], GAINS, [True, False])
    bar, dot, _, hollow, zero = ax.lines
    assert bar.get_xdata() == pytest.approx([1, 5]) and dot.get_xdata()[0] == pytest.approx(3)
    assert dot.get_ydata()[0] > hollow.get_ydata()[0]
    assert dot.get_markerfacecolor() == figures.BLUE and hollow.get_markerfacecolor() == "white"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["rate", "write"]


def test_jobs_by_size_have_their_intervals_and_a_bound_where_none_failed():
    seen = {"by": "nodes", "size": 4, "mttf_h": 50.0, "low_h": 20.0, "high_h": 200.0}
    none = {"by": "nodes", "size": 8, "mttf_h": None, "low_h": 30.0, "high_h": None}
    ax = figures.mttf_by_size([seen, none])
    bar, dot, bound = ax.lines
    assert bar.get_ydata() == pytest.approx([20, 200]) and (dot.get_xdata()[0], dot.get_ydata()[0]) == (4, 50)
    assert (bound.get_xdata()[0], bound.get_ydata()[0], bound.get_marker()) == (8, 30, "^")
    assert ax.get_xlabel() == "nodes of the job" and ax.get_yscale() == "log"
