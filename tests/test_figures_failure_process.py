"""The figures of the page on the failure process: what is drawn is what was given."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from reliability.figures import failure_process as figures

CURVES = {"one by one": 10.0 ** -np.arange(8.0), "bursts": np.append(0.5 ** np.arange(20.0), np.zeros(20))}
POOLS = {"one by one": 2, "bursts": 7}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_each_pool_has_its_curve_and_its_dot_on_the_target():
    ax = figures.running_out(CURVES, POOLS, 0.01)
    lines = {line.get_label(): line.get_xydata() for line in ax.lines if ":" in line.get_label()}
    assert list(lines) == ["one by one: 2", "bursts: 7"]
    for label, chances in CURVES.items():
        drawn = lines[f"{label}: {POOLS[label]}"]
        assert drawn[:, 1] == pytest.approx(chances[: len(drawn)])
        assert drawn[:, 0].tolist() == list(range(len(drawn)))
    dots = [tuple(line.get_xydata()[0]) for line in ax.lines if line.get_marker() == "o"]
    assert dots == [(2, 0.01), (7, 0.01)]
    assert ax.get_yscale() == "log" and ax.get_ylim()[0] <= 1e-3
    assert ax.texts[0].get_text() == "target 1%"


def test_a_target_far_below_is_in_the_picture_and_a_chance_of_0_leaves_no_line():
    ax = figures.running_out({"bursts": CURVES["bursts"]}, {"bursts": 25}, 1e-6)
    assert ax.get_ylim()[0] < 1e-6
    drawn = ax.lines[1].get_ydata()
    assert np.isnan(drawn[20:]).all() and not np.isnan(drawn[:20]).any()


def test_no_two_lines_look_alike():
    ax = figures.running_out({str(i): 0.5 ** np.arange(9.0) for i in range(4)}, {str(i): 4 for i in range(4)}, 0.1)
    styles = [(line.get_color(), line.get_linestyle()) for line in ax.lines if ":" in line.get_label()]
    assert len(set(styles)) == 4 and len({dash for _, dash in styles}) == 4


def test_gains_are_drawn_and_the_job_is_marked():
    nodes = np.array([1, 2, 4, 8])
    ax = figures.gain_by_size(
        nodes, {"packed": np.array([1, 1.5, 1.8, 1.9]), "scattered": np.array([1, 1, 1.1, 1.9])}, 4
    )
    assert ax.lines[0].get_xdata()[0] == 4
    assert ax.lines[1].get_ydata().tolist() == [1, 1.5, 1.8, 1.9]
    assert ax.lines[2].get_xdata().tolist() == nodes.tolist()
    assert ax.get_ylim()[0] < 1 and ax.get_ylim()[1] > 1.9
    assert figures.gain_by_size(nodes, {"packed": np.ones(4)}, 8).get_ylim()[1] > 1


def test_labels_stay_inside_the_figure():
    for ax in (
        figures.running_out(CURVES, POOLS, 0.01),
        figures.gain_by_size(np.array([1, 64]), {"packed": np.array([1.0, 1.9])}, 1),
    ):
        ax.figure.canvas.draw()
        boxes = [text.get_window_extent() for text in (*ax.texts, *ax.get_legend().get_texts())]
        assert all(box.x1 <= ax.figure.bbox.x1 + 1 and box.y1 <= ax.figure.bbox.y1 + 1 for box in boxes)
