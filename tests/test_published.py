"""Each of the 127 published figures against what the package computes, to the printed digit."""

import tomllib
from pathlib import Path

import pytest

from reliability import published, scenarios

SEED = Path(__file__).parents[2] / "shared" / "seed" / "figures.toml"
LEDGER = [figure for page in scenarios.PUBLISHED for figure in published.figures(page)]


@pytest.fixture(scope="module")
def results():
    return {page: run(page, published.inputs(page)) for page in scenarios.PUBLISHED}


def run(page, values):
    return scenarios.scenario(page).compute(scenarios.inputs(page, values))


@pytest.mark.parametrize("figure", LEDGER, ids=lambda figure: figure.id)
def test_figure_comes_out_as_printed(figure, results):
    assert results[figure.page].texts[figure.name] == figure.text


def test_the_ledger_has_127_figures_of_three_kinds():
    kinds = [figure.kind for figure in LEDGER]
    assert {kind: kinds.count(kind) for kind in published.KINDS} == {"computed": 83, "input": 32, "recorded": 12}
    assert len({figure.id for figure in LEDGER}) == len({figure.anchor for figure in LEDGER}) == 127


def test_the_ledger_is_the_publication():
    """The ledger against the publication's own list: nothing left out, no digit changed."""
    if not SEED.exists():
        pytest.skip(f"the publication's list is not beside the project ({SEED.name})")
    document = tomllib.loads(SEED.read_text(encoding="utf-8"))
    chapters = [body for name, body in document.items() if name.startswith("scenario_")]
    for page, chapter in zip(scenarios.PUBLISHED, chapters, strict=True):
        printed = [
            text for key, value in chapter.items() if key not in ("inputs", "unpublished") for text in leaves(value)
        ]
        assert sorted(printed) == sorted(figure.text for figure in published.figures(page)), page


def leaves(value):
    if isinstance(value, str):
        return [value]
    return [text for item in (value.values() if isinstance(value, dict) else value) for text in leaves(item)]


def test_an_input_is_restated_from_the_parameters_not_from_the_ledger(results):
    changed = run("recovery", published.inputs("recovery") | {"stop_min": 0.6})
    assert changed.texts["phase.stop"] == "0.60"
    assert changed.texts["cold_restart_min"] == "6.55"
    assert results["recovery"].texts["phase.stop"] == "0.52"


@pytest.mark.parametrize("page", scenarios.PUBLISHED)
def test_the_card_counts_the_computed_figures_alone(page, results):
    n = published.counts(page)
    card = published.card(page, published.inputs(page), results[page].texts)
    assert card.startswith(f"**{n['computed']} of {n['computed']} computed figures")


@pytest.mark.parametrize("figure", [f for f in LEDGER if f.kind == "computed"], ids=lambda figure: figure.id)
def test_a_changed_digit_is_named(figure, results):
    texts = results[figure.page].texts | {figure.name: figure.text + "1"}
    with pytest.raises(published.PublishedMismatch, match=figure.id) as caught:
        published.card(figure.page, published.inputs(figure.page), texts)
    assert f"published {figure.text}, here {figure.text}1" in str(caught.value)


def test_a_missing_figure_is_named(results):
    texts = {name: text for name, text in results["sdc"].texts.items() if name != "spike_steps"}
    with pytest.raises(published.PublishedMismatch, match="sdc.spike_steps: published .500., here None"):
        published.card("sdc", published.inputs("sdc"), texts)


def test_a_figure_that_was_not_published_is_refused(results):
    with pytest.raises(ValueError, match="no_such: no published figures of page sdc"):
        published.mismatches("sdc", results["sdc"].texts | {"no_such": "1"})


@pytest.mark.parametrize("page", scenarios.PUBLISHED)
def test_under_other_parameters_the_card_steps_aside(page):
    name = {
        "availability": "cold_mttr_min",
        "checkpoint": "write_s",
        "recovery": "days",
        "straggler": "slowdown",
        "sdc": "guard_threshold",
    }[page]
    values = published.inputs(page)
    values[name] = values[name] * 1.5
    card = published.card(page, values, run(page, values).texts)
    assert "The published case was not run" in card
    assert f"`{name}` = {values[name]} (published: {published.inputs(page)[name]})" in card


def test_a_wrong_formula_fails_the_published_figures(monkeypatch):
    """Breaking what it guards: one formula without its restart term."""
    from reliability.scenarios import checkpoint

    monkeypatch.setattr(
        checkpoint,
        "efficiency",
        lambda interval, write, restart, mtbf: interval / (interval + write + interval**2 / 2 / mtbf),
    )
    texts = run("checkpoint", published.inputs("checkpoint")).texts
    with pytest.raises(published.PublishedMismatch, match=r"checkpoint.curve.300.full: published 83.43%, here 84"):
        published.card("checkpoint", published.inputs("checkpoint"), texts)


def test_388_seconds_of_restart_miss_three_figures():
    """The publication prints 388 s; only the 388.2 s of 6.47 min give every figure."""
    wrong = published.mismatches(
        "checkpoint", run("checkpoint", published.inputs("checkpoint") | {"restart_min": 388 / 60}).texts
    )
    assert len(wrong) == 3


def test_unknown_pages_are_refused():
    with pytest.raises(ValueError, match="page = 'weather': must be one of availability, checkpoint"):
        published.figures("weather")
