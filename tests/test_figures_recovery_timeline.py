"""The recovery timeline's figures: what is drawn is what was given."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from reliability.figures import recovery_timeline as figures

AWAY = np.geomspace(60, 604800, 50)
FALLING = 0.9 - 0.4 * AWAY / AWAY[-1]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_each_way_is_its_line_and_is_named_beside_it():
    ax = figures.kept_by_away(AWAY, {"cold": 0.7, "shrink": FALLING}, {"shrink": 302400.0}, 3600.0)
    cold, shrink, dot, chosen = ax.lines
    assert np.all(cold.get_ydata() == 0.7) and np.array_equal(shrink.get_ydata(), FALLING)
    assert dot.get_xdata()[0] == 302400.0 and 0.65 < dot.get_ydata()[0] < 0.75
    assert chosen.get_xdata()[0] == 3600.0
    assert {text.get_text(): text.get_color() for text in ax.texts} == {"cold": figures.BLACK, "shrink": figures.BLUE}


@pytest.mark.parametrize("equal", [0.0, np.inf, 1e9])
def test_a_crossing_outside_the_axis_has_no_dot(equal):
    ax = figures.kept_by_away(AWAY, {"cold": 0.7, "shrink": FALLING}, {"shrink": equal}, 1e9)
    assert len(ax.lines) == 2


@pytest.mark.parametrize("level", [1.0, 0.5, 0.0])
def test_labels_of_lines_that_coincide_do_not_overlap_and_stay_inside(level):
    names = ("cold restart", "standby", "shrink, any size", "shrink, legal size")
    ax = figures.kept_by_away(AWAY, dict.fromkeys(names, level), {}, 3600.0)
    ax.figure.canvas.draw()
    boxes = sorted((text.get_window_extent() for text in ax.texts), key=lambda box: box.y0)
    assert all(above.y0 >= below.y1 - 2 for below, above in zip(boxes, boxes[1:], strict=False))
    assert all(box.x1 <= ax.figure.bbox.x1 + 1 and box.y1 <= ax.figure.bbox.y1 for box in boxes)


def test_phases_lie_on_one_another_and_points_where_they_were_published():
    sizes = np.array([1024, 8192, 65536])
    phases = {"stop": np.full(3, 30.0), "load": np.array([6.0, 60.0, 600.0])}
    published = ("FT-HSDP", np.array([16000.0, 98000.0]), np.array([200.0, 900.0]))
    ax = figures.restart_by_size(sizes, phases, published, {"TrainMover": (8192, 388.2)})
    stop, load, line, points, single = ax.lines
    assert stop.get_ydata().tolist() == [0.5, 0.5, 0.5]
    assert load.get_ydata().tolist() == [0.6, 1.5, 10.5]
    assert line.get_xdata()[[0, -1]] == pytest.approx([16000, 98000])
    assert line.get_ydata()[[0, -1]] == pytest.approx([200 / 60, 15])
    assert points.get_ydata() == pytest.approx([200 / 60, 15])
    assert (single.get_xdata()[0], single.get_ydata()[0]) == (8192, pytest.approx(6.47))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["load", "stop", "FT-HSDP", "TrainMover"]
    assert ax.get_ylim()[1] > 15


def test_the_readers_own_style_is_left_alone():
    before = dict(plt.rcParams)
    figures.kept_by_away(AWAY, {"cold": 0.7}, {}, 60.0)
    assert dict(plt.rcParams) == before
