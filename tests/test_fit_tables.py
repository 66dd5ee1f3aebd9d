"""A fit as text, HTML and DataFrames: short, escaped, and with the numbers of the fit."""

from types import SimpleNamespace

import numpy as np
import pytest

from reliability import calibrate

DAY = 86_400.0


def fitted(n=60, nodes=None, observed_s=None, cls=("gpu", "<b>net\x1b")):
    rng = np.random.default_rng(3)
    start = np.sort(rng.uniform(0, 90 * DAY, n))
    table = {
        "start_s": start,
        "end_s": start + 3600,
        "open": np.zeros(n, bool),
        "node": np.array([f"n{i}" for i in rng.integers(0, 20, n)], dtype=object),
        "cls": rng.choice(cls, n).astype(object),
    }
    return calibrate.fit(SimpleNamespace(table=table), nodes=nodes, observed_s=observed_s)


def test_text_fits_a_terminal_and_html_is_escaped():
    fit = fitted(nodes=40)
    text, html = str(fit), fit._repr_html_()
    assert max(map(len, text.splitlines())) <= 80
    assert "| total" in text and "steady rate" in text
    assert "\x1b" not in text + html
    assert "<b>" not in html and "&lt;b&gt;net\\x1b" in html
    assert html.count("<table>") == 2


def test_tables_hold_the_numbers_of_the_fit():
    fit = fitted(nodes=40, observed_s=(0, 90 * DAY))
    tables = fit.tables()
    assert list(tables) == ["rates", "repairs", "tests", "lemons"]
    rates = tables["rates"].set_index("class")
    assert rates.loc["total", "value"] == pytest.approx(fit.total.value)
    assert rates.loc["gpu", "incidents"] == fit.by_class["gpu"][0]
    assert len(tables["tests"]) == len(fit.findings)
    without = fitted().tables()["rates"]
    assert without["value"].isna().all() and without["incidents"].iloc[0] == 60


@pytest.mark.parametrize("observed_s", [None, (0, 90 * DAY)])
def test_the_rates_of_classes_add_up_to_the_total(observed_s):
    fit = fitted(nodes=40, observed_s=observed_s)
    assert sum(rate.value for _, rate in fit.by_class.values()) == pytest.approx(fit.total.value)
    assert ("into 59 gaps" in fit.exposure) == (observed_s is None)


def test_without_a_number_of_nodes_what_only_failed_nodes_show_is_unknown():
    holds = {one.name: one.holds for one in fitted().findings}
    assert holds["nodes alike"] is None and holds["nodes without memory"] is None
    told = {one.name: one.holds for one in fitted(nodes=20).findings}
    assert told["nodes alike"] is True and told["nodes without memory"] is True
