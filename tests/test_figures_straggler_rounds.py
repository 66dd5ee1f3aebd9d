"""The figures of stragglers over many rounds: what is drawn is what was given."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from reliability.figures import straggler_rounds as figures

ALARMS = np.array([0.01, 0.1, 1.0])
SMALL = {
    "one round": np.array([9.0, 5.0, 2.0]),
    "votes": np.array([3.0, 2.5, 2.0]),
    "cumulative sum": np.array([2.0, 1.5, 1.0]),
}
LARGE = {name: 2 * minutes for name, minutes in SMALL.items()}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def curves(ax):
    return {line.get_label(): line for line in ax.lines if len(line.get_xdata()) > 2}


def marked(ax):
    return [line.get_xdata()[0] for line in ax.lines if list(line.get_ydata()) == [0, 1]]


def test_each_detector_and_each_size_has_its_curve():
    ax = figures.detection_curves(ALARMS, {1024: SMALL, 131072: LARGE}, 0.05)
    drawn = curves(ax)
    assert len(drawn) == 6
    assert drawn["votes, 1,024"].get_ydata().tolist() == SMALL["votes"].tolist()
    assert drawn["one round, 131,072"].get_ydata().tolist() == LARGE["one round"].tolist()
    assert {line.get_linestyle() for name, line in drawn.items() if name.endswith(" 1,024")} == {"-"}
    assert {line.get_linestyle() for name, line in drawn.items() if name.endswith("131,072")} == {"--"}
    assert marked(ax) == [0.05]
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["one round", "votes", "cumulative sum", "solid: 1,024 ranks\ndashed: 131,072 ranks"]


def test_one_size_alone_and_one_rate_alone_can_be_drawn():
    ax = figures.detection_curves(ALARMS, {1024: SMALL}, 0.05)
    assert ax.texts[-1].get_text() == "solid: 1,024 ranks"
    figures.detection_curves(ALARMS[:1], {1024: {name: m[:1] for name, m in SMALL.items()}}, 0.05)


def test_the_band_is_the_cheapest_answer():
    lengths = np.array([1.0, 10.0, 100.0])
    costs = {
        "ignore": 0.1 * lengths,
        "rebalance": 1 + 0.05 * lengths,
        "swap at the next checkpoint": np.array([0.1, 1.0, 7.0]),
        "swap now": np.full(3, 9.0),
    }
    ax = figures.answers(lengths, costs, [20.0, 50.0])
    drawn = curves(ax)
    assert drawn["the best answer"].get_ydata().tolist() == pytest.approx([0.1, 1.0, 6.0])
    for name, cost in costs.items():
        assert drawn[name].get_ydata().tolist() == cost.tolist()
    assert marked(ax) == [20.0, 50.0]


def test_answers_that_cost_nothing_can_be_drawn():
    lengths = np.array([1.0, 10.0, 100.0])
    ax = figures.answers(lengths, dict.fromkeys(figures.STYLES, np.zeros(3)), [])
    assert ax.get_yscale() == "linear"


def test_the_readers_own_style_is_left_alone():
    before = dict(plt.rcParams)
    figures.detection_curves(ALARMS, {1024: SMALL}, 0.05)
    assert dict(plt.rcParams) == before
