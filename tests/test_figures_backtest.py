"""The figure of the backtest: what is drawn is what was given."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from reliability.backtest_scores import Scores
from reliability.figures import backtest as figures

FOUND = Scores(
    low=np.array([1.0, 2.0, 3.0]),
    high=np.array([5.0, 6.0, 7.0]),
    seen=np.array([4.0, 9.0, 3.0]),
    naive_low=np.array([2.0, 2.0, 2.0]),
    naive_high=np.array([4.0, 4.0, 4.0]),
    places=np.full((3, 2), 0.5),
)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_a_panel_a_record_with_its_outcomes_inside_and_outside():
    first, second = figures.forecasts({"one": ([10, 11, 12], FOUND), "two": ([1, 2, 3], FOUND)})
    low, high, inside, outside = first.lines
    assert (low.get_ydata().tolist(), high.get_ydata().tolist()) == ([2, 2, 2], [4, 4, 4])
    assert inside.get_xydata().tolist() == [[10, 4], [12, 3]]
    assert outside.get_xydata().tolist() == [[11, 9]] and outside.get_markerfacecolor() == "white"
    band = first.collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (1, 7)
    assert [ax.get_title(loc="left") for ax in (first, second)] == ["one", "two"]
    assert first.get_ylim()[0] == 0 and second.get_xlabel() == "week of the record"


def test_one_record_is_one_panel_with_its_own_label():
    (only,) = figures.forecasts({"one": ([1, 2, 3], FOUND)}, ylabel="hours down")
    assert only.get_ylabel() == "hours down"
    assert {text.get_text() for text in only.get_legend().get_texts()} >= {"forecast, 90 %", "Poisson, 90 %", "seen"}
