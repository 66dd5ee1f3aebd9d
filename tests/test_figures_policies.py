"""The figures of the page on policies: what is drawn is what was given."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from reliability.figures import policies as figures

CELLS = [
    [("S", ["S 4", "97.8%", "+1.4 on C"], True), ("W", ["W", "55.0%", "+0.1 on E"], False)],
    [("C", ["C", "2.61", "−0.9% on S"], False), ("E", ["E", "2.70", "−0.2% on S"], True)],
]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_each_cell_has_its_letter_its_lead_and_a_hatch_where_none_is_shown():
    panels = {"time": CELLS, "money": [row[::-1] for row in CELLS]}
    top, bottom = figures.best_ways(["1K", "8K"], ["low", "high"], "rate", panels, "S: standby")
    written = {(round(t.get_position()[0] - 0.5), int(t.get_position()[1])): [] for t in top.texts}
    for text in top.texts:
        written[round(text.get_position()[0] - 0.5), int(text.get_position()[1])].append(text.get_text())
    assert written == {(x, y): CELLS[y][x][1] for x in (0, 1) for y in (0, 1)}
    hatched = {patch.get_xy() for patch in top.patches if patch.get_hatch()}
    assert hatched == {(1, 0), (0, 1)}
    filled = {patch.get_xy(): patch.get_facecolor() for patch in top.patches if not patch.get_hatch()}
    assert len(set(filled.values())) == 4
    assert [label.get_text() for label in top.get_yticklabels()] == ["low", "high"]
    assert bottom.get_xlabel() == "GPUs\nS: standby" and bottom.get_title(loc="left") == "money"


def test_low_maps_share_the_label_for_which_one_has_no_room():
    for rows in (1, 4):
        panels = dict.fromkeys(("time", "money"), CELLS[:1] * rows)
        top, bottom = figures.best_ways(["1K", "8K"], [str(n) for n in range(rows)], "failures", panels, "S: standby")
        assert [top.get_ylabel(), bottom.get_ylabel()] == ["failures" if rows == 4 else ""] * 2
        assert top.figure.get_supylabel() == ("" if rows == 4 else "failures")


def test_the_colours_of_the_ways_differ_in_grey_as_the_letters_do_in_form():
    assert set(figures.FILLS) == set("WCSE")
    light = [np.array(matplotlib.colors.to_rgb(fill)) @ [0.299, 0.587, 0.114] for fill in figures.FILLS.values()]
    assert min(light) > 0.75  # black text is read on each


def test_pools_have_their_curves_bands_and_marks():
    numbers = [0, 4, 8]
    ettr, cost = np.array([0.3, 0.8, 0.9]), np.array([np.inf, 3.0, 3.2])
    curves = {"single": ((ettr, ettr - 0.1, ettr + 0.1), (cost, cost - 0.1, cost + 0.1))}
    top, bottom = figures.by_standbys(numbers, curves, {"single": (8, 4)}, "cost")
    curve, mark = top.lines
    assert np.array_equal(curve.get_ydata(), ettr) and (mark.get_xdata()[0], mark.get_ydata()[0]) == (8, 0.9)
    assert (bottom.lines[1].get_xdata()[0], bottom.lines[1].get_ydata()[0]) == (4, 3.0)
    low, high = bottom.get_ylim()
    assert low < 3.0 < 3.2 < high < np.inf
    bottom.figure.canvas.draw()


def test_rules_stand_side_by_side_with_their_intervals():
    series = {"right": ([(0.3, 0.2, 0.4), (0.1, 0.0, 0.2)], [(0.1, 0.0, 0.2), (-0.1, -0.2, 0.0)])}
    series["wrong"] = series["right"]
    top, bottom = figures.by_rule(["2", "3"], series)
    first, second = (container.lines[0] for container in top.containers)
    assert first.get_ydata().tolist() == [0.3, 0.1] and bottom.containers[0].lines[0].get_ydata().tolist() == [
        0.1,
        -0.1,
    ]
    assert (first.get_xdata() < second.get_xdata()).all() and first.get_marker() != second.get_marker()
    (bars,) = top.containers[0].lines[2]
    assert [segment[:, 1].round(9).tolist() for segment in bars.get_segments()] == [[0.2, 0.4], [0.0, 0.2]]
