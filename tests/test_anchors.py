"""Anchors: the declared status is what the computed number says; and the page of sources."""

import dataclasses
from pathlib import Path

import pytest

from reliability import anchors, facts, scenarios, sources
from reliability.anchors import Anchor, AnchorMoved

GOOD = Anchor("a", "a case", "0.96", 0.957, 0.955, 0.965, "rounding", "kokolis2025", True, "emergent")


def changed(**fields):
    return dataclasses.replace(GOOD, **fields)


def test_an_emergent_anchor_that_drifts_off_is_an_error():
    assert anchors.check(GOOD) is GOOD
    with pytest.raises(AnchorMoved, match="anchor a is declared emergent: computed 0.97"):
        anchors.check(changed(computed=0.97))


def test_an_off_anchor_that_comes_right_is_an_error():
    anchors.check(changed(status="off", computed=0.97, reason="the paper counts the stall"))
    with pytest.raises(AnchorMoved, match="declared off"):
        anchors.check(changed(status="off", reason="the paper counts the stall"))


def test_a_calibrated_anchor_agrees():
    anchors.check(changed(status="calibrated"))
    with pytest.raises(AnchorMoved):
        anchors.check(changed(status="calibrated", computed=0.5))


@pytest.mark.parametrize("status", ["off", "declined"])
def test_what_is_off_or_declined_says_why(status):
    with pytest.raises(ValueError, match="reason"):
        anchors.check(changed(status=status, computed=None if status == "declined" else 0.97))


def test_an_unknown_status_is_refused():
    with pytest.raises(ValueError, match="status = 'fine': must be one of calibrated, emergent"):
        anchors.check(changed(status="fine"))


def test_the_table_marks_what_is_secondary():
    assert " 0.96 * (0.955 to 0.965) |" in anchors.table([changed(primary=False)])
    assert " 0.96 (0.955 to 0.965) |" in anchors.table([GOOD])
    assert anchors.summary([GOOD]) == "**1 published results: 1 emergent.**"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"digits": ".1%", "low": 0.435, "computed": 0.5, "high": 0.5}, "(43.5% to 50%)"),
        ({"digits": ",.0f", "low": 9950.0, "computed": 10000.0, "high": 10050.5}, "(9,950 to 10,050.5)"),
        ({"digits": ".0f", "low": 100, "computed": 100, "high": 100}, "(100)"),
    ],
)
def test_what_agrees_stands_behind_what_is_published(fields, said):
    assert f" 0.96 {said} |" in anchors.table([changed(**fields)])


def test_a_result_that_is_held_against_several_models_says_in_each_row_which():
    rows = {}
    for page, held in scenarios.anchors().items():
        for anchor in held:
            rows.setdefault((anchor.source, anchor.published), {}).setdefault(page, []).append(anchor)
    shared = {key: pages for key, pages in rows.items() if len(pages) > 1}
    assert len(shared) > 10
    for key, pages in shared.items():
        found = [anchor for held in pages.values() for anchor in held]
        assert all(anchor.model for anchor in found), key
        cases = [(anchor.what, anchor.model) for anchor in found]
        assert len(set(cases)) == len(cases), key


@pytest.mark.parametrize("page", [*scenarios.RICHER, *scenarios.PLANS])
def test_every_anchor_of_a_page_stands(page):
    held = scenarios.scenario(page).anchors()
    assert len(held) >= 3
    assert len({anchor.name for anchor in held}) == len(held)
    for anchor in map(anchors.check, held):
        assert anchor.source in SOURCES, anchor.name


SOURCES = {facts.fact(name).source for name in facts.names()} | {"daly2006", "saxena2024", "young1974", "benoit2016"}


def test_every_fact_is_used_somewhere_and_the_page_says_where():
    used = sources.uses()
    assert [name for name, places in used.items() if not places] == []
    assert used["llama3_gpus"][:1] == ["availability"]
    assert "checkpoint" in used["published_write_s"]


@pytest.mark.parametrize(
    ("module", "page"),
    [
        ("straggler", "straggler"),
        ("straggler_rounds", "straggler_rounds"),
        ("straggler_rounds_anchors", "straggler_rounds"),
        ("base", None),
    ],
)
def test_a_richer_page_does_not_lend_its_facts_to_the_scenario_whose_name_it_begins_with(module, page):
    assert sources._page(Path(f"{module}.py")) == page


def test_a_models_facts_are_listed_beside_those_of_the_pages():
    used = sources.uses()
    assert used["aegis_incidents"][-1] == "`rates`"
    assert used["greyhound_iterations"] == ["straggler_rounds"]


def test_what_was_not_read_in_its_source_is_an_input_only_where_the_publication_has_it():
    taken = [facts.fact(name) for name in sources.secondary_inputs()]
    assert taken
    assert [fact.name for fact in taken if fact.source != "mini_demo" and "the publication" not in fact.locator] == []


def test_the_table_of_sources_has_every_fact_once():
    rows = sources.table().splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == list(facts.names())
    assert all("{cite:t}`" in row for row in rows)
