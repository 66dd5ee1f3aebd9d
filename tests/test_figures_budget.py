"""The figures of the budget of time: what is drawn is what was given."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from reliability.budget import BINS
from reliability.figures import budget as figures
from reliability.fleet_result import Estimate

HOURS = {size: {name: float(i + 1) * (1 + (name == "restart") * j) for i, name in enumerate(BINS)} for j, size in enumerate((512, 1024, 131072))}  # fmt: skip
LEVERS = {"write": "short writes", "swap": "swap to a standby"}


def estimate(mean, half=0.01):
    return Estimate(mean, 1.0, mean - half, mean + half)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_each_stack_is_the_whole_time_in_the_order_of_the_bins():
    above, below = figures.hours_by_size({"plain": HOURS, "turned": HOURS})
    assert [above.get_title(loc="left"), below.get_title(loc="left")] == ["plain", "turned"]
    for ax in (above, below):
        assert [bars.get_label() for bars in ax.containers] == list(BINS)
        heights = np.array([[bar.get_height() for bar in bars] for bars in ax.containers])
        bottoms = np.array([[bar.get_y() for bar in bars] for bars in ax.containers])
        assert heights.sum(axis=0) == pytest.approx(1)
        assert bottoms[1:] == pytest.approx(np.cumsum(heights, axis=0)[:-1])
        for column, hours in zip(heights.T, HOURS.values(), strict=True):
            assert column == pytest.approx(np.array(list(hours.values())) / sum(hours.values()))
    assert [tick.get_text() for tick in below.get_xticklabels()] == ["512", "1K", "128K"]


def test_every_bin_has_a_fill_of_its_own():
    assert list(figures.FILLS) == list(BINS)
    assert len(set(figures.FILLS.values())) == len(BINS)


def test_the_tornado_has_a_panel_for_each_size_and_the_first_lever_on_top():
    gains = {
        1024: {"write": estimate(0.05), "swap": estimate(0.01)},
        2048: {"write": estimate(0.06), "swap": estimate(0.03)},
        131072: {"write": estimate(0.01), "swap": estimate(0.08, 0.02)},
    }
    every = figures.tornado(LEVERS, gains, dict.fromkeys(gains))
    assert [ax.get_title(loc="left") for ax in every] == ["1K GPUs", "2K GPUs", "128K GPUs"]
    assert [tick.get_text() for tick in every[0].get_yticklabels()] == list(LEVERS.values())
    assert every[0].get_yticks()[0] > every[0].get_yticks()[1]
    widths = [[bar.get_width() for bar in ax.patches] for ax in every]
    assert widths == [pytest.approx([5, 1]), pytest.approx([6, 3]), pytest.approx([1, 8])]
    (intervals,) = every[2].collections
    assert [segment[:, 0].tolist() for segment in intervals.get_segments()] == [
        pytest.approx([0, 2]), pytest.approx([6, 10])
    ]  # fmt: skip
    # One axis for all, with its numbers below every column; where the last place is empty, below what stands above it.
    assert len({ax.get_xlim() for ax in every}) == 1 and every[0].figure.axes == every
    assert [ax.xaxis.get_tick_params()["labelbottom"] for ax in every] == [False, True, True]


def test_the_best_lever_of_a_size_has_another_colour_there():
    gains = dict.fromkeys([1, 2], {"write": estimate(0.05), "swap": estimate(0.01)})
    one, none = figures.tornado(LEVERS, gains, {1: "swap", 2: None})
    assert [to_hex(bar.get_facecolor()) for bar in one.patches] == [figures.BLUE.lower(), figures.VERMILION.lower()]
    assert [to_hex(bar.get_facecolor()) for bar in none.patches] == [figures.BLUE.lower()] * 2


def test_the_lines_of_the_three_levers_are_theirs():
    sizes = [1024, 2048]
    first = {"failure rate": [estimate(0.01), estimate(0.02)], "recovery": [estimate(0.0), estimate(0.03)]}
    ax = figures.three_by_size(sizes, first, [estimate(0.01), estimate(0.05)], [estimate(0.02), estimate(0.04, 0.03)])
    lines = {line.get_label(): line for line in ax.lines}
    assert lines["failure rate"].get_ydata() == pytest.approx([1, 2])
    assert lines["their sum"].get_ydata() == pytest.approx([1, 5])
    assert lines["together"].get_ydata() == pytest.approx([2, 4])
    assert lines["together"].get_linestyle() == "-" and lines["their sum"].get_linestyle() == "--"
    band = ax.collections[-1].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((1, 7))


def test_gains_that_print_as_nothing_are_not_magnified():
    nothing = {name: estimate(-0.00006, 0.00001) for name in LEVERS}
    (ax,) = figures.tornado(LEVERS, {1024: nothing}, {1024: None})
    assert ax.get_xlim() == (-0.5, 0.5)
    some = [nothing["swap"]]
    assert figures.three_by_size([1024], {"recovery": some}, some, some).get_ylim() == (-0.5, 0.5)


def test_a_single_size_has_lines_and_bands_that_can_be_seen():
    ax = figures.three_by_size([1024], {"recovery": [estimate(0.03)]}, [estimate(0.03)], [estimate(0.02)])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1K"]
    for line, level in zip(ax.lines, (3, 3, 2), strict=False):
        assert line.get_ydata() == pytest.approx(level) and np.ptp(line.get_xdata()) > 0
        assert [line.get_xdata()[place] for place in line.get_markevery()] == [1024]
    for band in ax.collections:
        assert np.ptp(band.get_paths()[0].vertices[:, 0]) > 0
