"""What the figures of the page on silent data corruption draw."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from reliability import coverage
from reliability.figures import BLUE, VERMILION
from reliability.figures import sdc as figures


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def labels(ax):
    return [text.get_text() for text in ax.texts]


def curve():
    losses = np.linspace(8.0, 4.0, 40)
    losses[20] *= 5
    line = np.full(40, 20.0)
    line[:10] = np.nan  # the warm-up
    return losses, line


def test_loss_and_guard_draws_both_curves_and_rings_the_alarm():
    losses, line = curve()
    ax = figures.loss_and_guard(losses, line, [20])
    by_colour = {to_hex(drawn.get_color()).upper(): drawn for drawn in ax.lines if len(drawn.get_ydata()) == 40}
    np.testing.assert_array_equal(by_colour[BLUE].get_ydata(), losses)
    np.testing.assert_array_equal(by_colour[VERMILION].get_ydata(), line)
    assert by_colour[VERMILION].get_linestyle() != by_colour[BLUE].get_linestyle()
    rings = [drawn.get_xydata().tolist() for drawn in ax.lines if drawn.get_marker() == "o"]
    assert rings == [[[20, losses[20]]]]
    assert "alarm at step 20" in labels(ax)
    low, high = ax.get_ylim()
    assert low < losses.min() and losses.max() < high


def test_many_alarms_are_counted_and_none_is_not_written():
    losses, line = curve()
    assert "3 alarms, the first at step 4" in labels(figures.loss_and_guard(losses, line, [4, 20, 21]))
    assert not any("alarm" in label for label in labels(figures.loss_and_guard(losses, line, [])))


def strips():
    shares = {name: np.zeros(sum(coverage.fields(name).values())) for name in ("float64", "float32", "bfloat16")}
    for share in shares.values():
        share[-2] = 0.9  # the exponent's highest bit
    return {name: (coverage.fields(name), share) for name, share in shares.items()}


def test_flips_seen_draws_one_strip_a_format_with_the_sign_at_the_left():
    formats = strips()
    panels = figures.flips_seen(formats)
    assert [ax.get_title() or ax.get_title(loc="left") for ax in panels] == list(formats)
    for ax, (_, shares) in zip(panels, formats.values(), strict=True):
        bars = [patch for patch in ax.patches if to_hex(patch.get_facecolor()).upper() == VERMILION]
        assert [bar.get_height() for bar in bars] == shares[::-1].tolist()
        assert bars[1].get_height() == 0.9
        all_seen = [drawn for drawn in ax.lines if to_hex(drawn.get_color()).upper() == BLUE]
        assert [drawn.get_xydata().tolist() for drawn in all_seen] == [[[0, 1], [len(shares), 1]]]
        assert ax.get_xlim() == (0, 64)  # a shorter format is a shorter strip


def test_flips_seen_numbers_the_sign_the_first_of_the_fraction_and_the_last_bit():
    ticks = [[label.get_text() for label in ax.get_xticklabels()] for ax in figures.flips_seen(strips())]
    assert ticks == [["63", "51", "0"], ["31", "22", "0"], ["15", "6", "0"]]


def test_a_single_format_is_a_single_strip():
    panels = figures.flips_seen({"bfloat16": (coverage.fields("bfloat16"), np.ones(16))})
    assert len(panels) == 1
    assert panels[0].get_xlim() == (0, 16)
