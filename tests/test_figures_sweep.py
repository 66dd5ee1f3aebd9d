"""The figure of a sweep: what is drawn is what was found, and every word of it is inside the picture."""

import itertools

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from reliability import cluster
from reliability.figures import sweep as figures

SHARES = [[0.9, 0.07, 0.03], [1 / 3, 1 / 3, 1 / 3]]
FIELDS = cluster.keys()
LONG = max((f"{table}.{key}".lstrip(".") for table, key, _ in FIELDS), key=len)
GRIDS = {
    "one number": {"a.n": [16]},
    "few numbers": {"a.n": [16, 0, 4]},
    "ratios": {"a.n": [10, 20, 40, 80, 160]},
    "eight": {"a.n": [1024 * 2**k for k in range(8)], "b.n": [1, 2]},
    "eight of seven digits": {"a.n": [10**6 + 12345 * k for k in (0, 2, 4, 6, 9, 12, 16, 21)]},
    "close together": {"a.n": [0, 1, 2, 3, 1000]},
    "forty": {"a.n": list(np.geomspace(300, 14400, 40))},
    "large": {"a.n": [1e5, 4e5, 1e6, 1.5e6], "b.size": [1024, 131072]},
    "many lines": {"a.n": list(range(41)), "b.s": list(np.geomspace(300, 14400, 12))},
    "four": {
        "a.n": [1.0, 2.0, 3.0],
        "b.shares": SHARES,
        LONG: [0.123456789, 0.2],
        "c.wait": ["yes", "no"],
        "d.paths": [["a", "b"], 8 * ["log"]],
        "e.m": ["m" * 90],
    },
    "texts": {LONG: ["wait", "requeue"], "a.flag": [True, False]},
    "lists": {"b.shares": [*SHARES, [0.02] * 50]},
    "lists and numbers": {"b.shares": SHARES, "a.n": [0, 16]},
    "tables": {"b.faults": [[{"name": "crash", "share": 1.0}], [{"name": "hang", "share": 0.5}]]},
    "paths": {
        "log.path": [f"../a/long/path/to/the/logs/of/year{i}/failures.csv" for i in range(90)],
        "b.c": ["$x_{2$"],
    },
    "not finite": {"a.n": [1.0, float("inf"), float("nan")]},
}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Return a function that draws a grid whose ratios are 0.9, 0.899, ... from point to point, but for those that failed."""
    kept = []
    monkeypatch.setattr(plt, "close", lambda figure: kept.append(figure))

    def draw(values, failed=()):
        rows = []
        for i, settings in enumerate(itertools.product(*values.values())):
            mean = float("nan") if i in failed else 0.9 - 0.001 * i
            parts = {"mean": mean, "low": mean - 0.01, "high": mean + 0.02}
            estimate = {f"{figures.RATIO}.{part}": value for part, value in parts.items()}
            rows.append(dict(zip(values, settings, strict=True)) | estimate)
        assert figures.draw(pd.DataFrame(rows), values, tmp_path).read_text().startswith("<?xml")
        return kept[-1].axes[0]

    return draw


def points(ax):
    """Return the means that are drawn, a list a curve."""
    flat = ax.get_xlabel().startswith(figures.LABEL)
    return [np.round(line.get_xdata() if flat else line.get_ydata(), 3).tolist() for line in ax.lines]


def said(ax):
    """Return the note above the picture in one line."""
    return " ".join(ax.get_title(loc="left").split())


def seen(axis):
    """Return the labels of an axis; it has ticks beyond its ends as well, which are not drawn."""
    low, high = sorted(axis.get_view_interval())
    return [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]


def labels(ticks):
    return [tick.get_text() for tick in ticks]


@pytest.mark.parametrize("name", GRIDS)
def test_every_word_is_inside_the_picture_and_none_on_another(drawn, name):
    ax = drawn(GRIDS[name])
    figure = ax.figure
    figure.canvas.draw()
    inside = figure.bbox.padded(0.5)
    note = figure.findobj(lambda artist: isinstance(artist, Text) and artist.get_text() == ax.get_title(loc="left"))[:1]
    legends = [text for legend in figure.legends for text in [legend.get_title(), *legend.get_texts()]]
    ticks = [text for axis in (ax.xaxis, ax.yaxis) for text in seen(axis)]
    visible = [t for t in [*note, ax.xaxis.label, ax.yaxis.label, *ticks, *legends] if t.get_text().strip()]
    boxes = [text.get_window_extent() for text in visible]
    for text, box in zip(visible, boxes, strict=True):
        assert inside.contains(box.x0, box.y0) and inside.contains(box.x1, box.y1), text
    for (one, box), (other, its) in itertools.combinations(zip(visible, boxes, strict=True), 2):
        assert not box.overlaps(its), (one, other)


def test_numbers_that_are_multiples_have_a_logarithmic_scale_with_their_own_ticks(drawn):
    ax = drawn(GRIDS["ratios"])
    assert ax.get_xscale() == "log"
    assert labels(ax.get_xticklabels()) == ["10", "20", "40", "80", "160"]
    assert labels(ax.get_xticklabels(minor=True)) == []
    assert drawn(GRIDS["forty"]).get_xscale() == "log"


@pytest.mark.parametrize("values", [[0, 1, 10, 100], [1, 2, 3], [1, 2], [1, 50, 100], list(range(1, 100))])
def test_other_numbers_have_a_linear_one(drawn, values):
    assert drawn({"a.n": values}).get_xscale() == "linear"


@pytest.mark.parametrize("name", ["few numbers", "eight", "eight of seven digits", "close together"])
def test_each_point_of_a_short_axis_has_its_tick(drawn, name):
    ax = drawn(GRIDS[name])
    along = sorted(GRIDS[name]["a.n"])
    assert ax.get_xticks().tolist() == along
    if name == "close together":  # labels only as far as they are apart
        assert labels(ax.get_xticklabels()) == ["0", "", "", "", "1,000"]
    else:
        assert labels(ax.get_xticklabels()) == [figures.word(value) for value in along]


def test_a_whole_number_has_no_half_beside_it(drawn):
    assert all(label.isdigit() for label in labels(seen(drawn(GRIDS["many lines"]).xaxis)))


def test_a_curve_runs_through_its_numbers_in_their_order(drawn):
    ax = drawn(GRIDS["few numbers"])
    (line,) = ax.lines
    assert line.get_xdata().tolist() == [0, 4, 16]
    assert points(ax) == [[0.899, 0.898, 0.9]]
    (band,) = ax.collections
    (path,) = band.get_paths()
    assert {(x, round(y, 3)) for x, y in path.vertices} >= {(0, 0.889), (0, 0.919), (16, 0.89), (16, 0.92)}


def test_the_lines_are_spread_over_the_values_and_each_has_its_own_style(drawn):
    ax = drawn(GRIDS["many lines"])
    (legend,) = ax.figure.legends
    assert labels(legend.get_texts()) == ["300", "862.267", "2,478.35", "5,010.05", "14,400"]
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.lines}) == figures.MOST_LINES
    assert [curve[0] for curve in points(ax)] == [0.9, 0.897, 0.894, 0.892, 0.889]
    assert said(ax) == "5 of the 12 values of b.s"


def test_what_has_no_order_is_joined_by_no_line(drawn):
    ax = drawn(GRIDS["texts"])
    assert {line.get_linestyle() for line in ax.lines} == {"None"}
    assert len({line.get_marker() for line in ax.lines}) == len(ax.lines) == 2
    assert labels(ax.get_yticklabels()) == ["wait", "requeue"]
    assert ax.yaxis_inverted()
    assert points(ax) == [[0.9, 0.898], [0.899, 0.897]]
    assert not set(ax.lines[0].get_ydata()) & set(ax.lines[1].get_ydata())
    spans = [np.round(segment[:, 0], 3).tolist() for segment in ax.collections[0].get_segments()]
    assert spans == [[0.89, 0.92], [0.888, 0.918]]


def test_what_is_not_finite_has_no_place_on_a_scale(drawn):
    assert labels(drawn(GRIDS["not finite"]).get_yticklabels()) == ["1", "inf", "nan"]


def test_of_more_rows_than_a_page_has_some_are_shown(drawn):
    ax = drawn(GRIDS["paths"])
    names = labels(ax.get_yticklabels())
    assert len(names) == len(set(names)) == figures.MOST_ROWS
    assert names[-1].endswith("year89/failures.csv")
    assert "40 of the 90 values of log.path" in said(ax)


def test_lists_are_told_apart_and_stay_at_their_first(drawn):
    assert points(drawn(GRIDS["lists and numbers"])) == [[0.9, 0.899], [0.898, 0.897]]
    ax = drawn(GRIDS["four"])
    assert said(ax) == f"b.shares = [0.9, 0.07, 0.03], c.wait = yes, d.paths = [a, b], e.m = {'m' * 10}…{'m' * 21}"
    assert points(ax) == [[0.9, 0.884, 0.868], [0.896, 0.88, 0.864]]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["ratios", "texts", "lists and numbers"])
def test_a_point_that_could_not_be_simulated_is_a_gap(drawn, name):
    whole, ax = points(drawn(GRIDS[name])), drawn(GRIDS[name], failed=[1])
    found = points(ax)
    assert np.isnan(found).sum() == 1
    assert np.array_equal(np.where(np.isnan(found), found, whole), found, equal_nan=True)
    assert said(ax) == "without 1 point that could not be simulated"
    assert "without 5 points that" in said(drawn(GRIDS["ratios"], failed=range(5)))
