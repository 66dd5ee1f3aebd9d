"""The recovery page's figures: what is drawn is what was given."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from reliability.figures import recovery as figures

COLD = {"rollback": 10.0, "restart": 2.16, "detection": 0.05}
WARM = {"rollback": 10.0, "restart": 0.68, "detection": 0.05}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_each_bar_is_its_parts_end_to_end():
    ax = figures.hours_by_part({"cold": COLD, "warm": WARM})
    assert [label.get_text() for label in ax.get_yticklabels()] == ["cold", "warm"]
    assert ax.yaxis_inverted()  # the first bar on top
    for row, parts in enumerate((COLD, WARM)):
        bars = [bar for bar in ax.patches if bar.get_y() + bar.get_height() / 2 == pytest.approx(row)]
        assert [bar.get_width() for bar in bars] == pytest.approx(list(parts.values()))
        assert [bar.get_x() for bar in bars] == pytest.approx([0, *np.cumsum(list(parts.values()))[:-1]])


def test_each_part_is_named_once_on_its_bar_or_behind_it():
    ax = figures.hours_by_part({"cold": COLD, "warm": WARM})
    assert words(ax) == [
        "rollback\n10.00",
        "restart\n2.16",
        "12.21 h\ndetection 0.05",
        "rollback\n10.00",
        "10.73 h\nrestart 0.68\ndetection 0.05",
    ]
    inside = [text for text in ax.texts if "\n" in text.get_text() and " h" not in text.get_text()]
    assert all(text.get_color() != "white" or text.get_text().startswith("rollback") for text in inside)


def test_labels_stay_inside_the_figure():
    ax = figures.hours_by_part({"cold restart": COLD, "warm standby": WARM})
    ax.figure.canvas.draw()
    ends = [text.get_window_extent().x1 for text in ax.texts]
    assert max(ends) <= ax.figure.bbox.x1


def test_hours_of_a_period_without_faults_are_drawn():
    ax = figures.hours_by_part({"cold": dict.fromkeys(COLD, 0.0)})
    assert words(ax) == ["0.00 h\nrollback 0.00\nrestart 0.00\ndetection 0.00"]


def test_the_bars_of_a_histogram_hold_every_period():
    sample = np.array([0.0, 1.1, 1.1, 2.2, 33.0])
    (ax,) = figures.drawn_periods({"cold": sample}, {"cold": 2.2}, {"cold": 1.1})
    heights = [bar.get_height() for bar in ax.patches]
    assert sum(heights) == pytest.approx(1)
    at = {round(bar.get_x() + bar.get_width() / 2, 6): bar.get_height() for bar in ax.patches if bar.get_height()}
    assert at == pytest.approx({0.0: 0.2, 1.1: 0.4, 2.2: 0.2, 33.0: 0.2})
    assert {round(bar.get_width(), 6) for bar in ax.patches} == {1.1}


def test_the_recorded_period_is_marked_in_each_panel():
    rng = np.random.default_rng(3)
    samples = {"cold": 0.6 * rng.poisson(20, 1000), "warm": 0.5 * rng.poisson(20, 1000)}
    panels = figures.drawn_periods(samples, {"cold": 12.2, "warm": 10.7}, {"cold": 0.6, "warm": 0.5})
    assert [ax.get_title(loc="left") for ax in panels] == ["cold", "warm"]
    assert [ax.lines[0].get_xdata()[0] for ax in panels] == [12.2, 10.7]
    assert [words(ax) for ax in panels] == [["recorded: 12.20 h"], ["recorded: 10.70 h"]]
    assert len({ax.get_xlim() for ax in panels}) == 1


@pytest.mark.parametrize("recorded", [0.0, 500.0])
def test_a_recorded_period_far_from_the_drawn_ones_is_shown_and_its_label_fits(recorded):
    sample = 0.6 * np.random.default_rng(3).poisson(400, 1000)
    (ax,) = figures.drawn_periods({"cold": sample}, {"cold": recorded}, {"cold": 0.6})
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    assert low <= recorded <= high
    box = ax.texts[0].get_window_extent()
    assert ax.figure.bbox.x0 <= box.x0 and box.x1 <= ax.figure.bbox.x1
    assert len([bar for bar in ax.patches if low <= bar.get_x() <= high]) <= figures.MOST_BARS + 2


def test_one_period_without_a_fault_is_drawn():
    (ax,) = figures.drawn_periods({"cold": np.zeros(1)}, {"cold": 0.0}, {"cold": 0.6})
    assert [bar.get_height() for bar in ax.patches if bar.get_height()] == [1.0]


def test_the_readers_own_style_is_left_alone():
    before = dict(plt.rcParams)
    figures.hours_by_part({"cold": COLD})
    assert dict(plt.rcParams) == before
