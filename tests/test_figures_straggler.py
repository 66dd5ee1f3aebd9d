"""The straggler page's figures: what is drawn is what was given."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from reliability.figures import straggler as figures

SIZES = np.array([1024.0, 8192.0, 131072.0])


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def notes(ax):
    return [text.get_text() for text in ax.texts]


def levels(ax):
    """Heights of the horizontal lines across the whole axes."""
    return [line.get_ydata()[0] for line in ax.lines if list(line.get_xdata()) == [0, 1]]


def test_every_rank_is_drawn_and_the_two_slowest_are_named():
    times = np.array([30.1, 29.9, 36.0, 31.5])
    ax = figures.rank_times(times, 2, 33.0, 30.0)
    dots, slow, slowest = ax.lines[:3]
    assert dots.get_xydata().tolist() == [[0, 30.1], [1, 29.9], [3, 31.5]]
    assert slow.get_xydata().tolist() == [[2, 36.0]]
    assert slowest.get_xydata().tolist() == [[3, 31.5]]
    assert levels(ax) == [33.0, 30.0]
    assert notes(ax) == ["rank 2: 36.00 s", "slowest other: 31.50 s", "the detector's limit"]


def test_of_very_many_ranks_some_thousands_are_drawn_and_the_slowest_always():
    times = np.full(100_001, 30.0)
    times[77_777] = 31.0
    ax = figures.rank_times(times, 0, 33.0, 30.0)
    assert len(ax.lines[0].get_xdata()) <= figures.DOTS + 1
    assert 77_777 in ax.lines[0].get_xdata()


def test_steps_with_and_without_the_slow_rank_and_the_simulated_means():
    expected, slow = np.array([31.6, 31.9, 32.2]), np.array([36.0, 36.0, 36.1])
    ax = figures.step_by_ranks(SIZES, expected, slow, (SIZES[:2], expected[:2] + 0.01, np.array([0.02, 0.03])), 30.0)
    assert ax.lines[0].get_ydata().tolist() == slow.tolist()
    assert ax.lines[1].get_ydata().tolist() == expected.tolist()
    (bars,) = ax.containers
    assert bars.lines[0].get_ydata().tolist() == (expected[:2] + 0.01).tolist()
    ends = [segment[:, 1] for segment in bars.lines[2][0].get_segments()]
    assert np.diff(ends).ravel() == pytest.approx([0.04, 0.06])
    assert levels(ax) == [30.0]


def test_thresholds_with_the_levels_near_them():
    thresholds = np.array([0.089, 0.095, 0.102])
    ax = figures.threshold_by_ranks(SIZES, thresholds, thresholds + 0.027, 0.1, 0.2, 0.95)
    assert ax.lines[0].get_ydata().tolist() == thresholds.tolist()
    assert ax.lines[1].get_ydata().tolist() == (thresholds + 0.027).tolist()
    assert levels(ax) == [0.1, 0.2]
    assert "found in one round, 95 % recall" in notes(ax)
    assert ax.get_ylim()[1] > 0.2


def test_a_level_far_above_the_thresholds_does_not_flatten_them():
    thresholds = np.array([0.089, 0.095, 0.102])
    ax = figures.threshold_by_ranks(SIZES, thresholds, thresholds + 0.027, 0.1, 5.0, 0.95)
    assert levels(ax) == [0.1]
    assert "the slow rank" not in notes(ax)
    assert ax.get_ylim()[1] < 0.2


def test_thresholds_without_any_jitter_can_be_drawn():
    ax = figures.threshold_by_ranks(SIZES, np.zeros(3), np.zeros(3), 0.1, 5.0, 0.95)
    assert levels(ax) == [0.1, 5.0]


def test_the_readers_own_style_is_left_alone():
    before = dict(plt.rcParams)
    figures.rank_times([30.0, 36.0], 1, 33.0, 30.0)
    assert dict(plt.rcParams) == before
