"""Every page under parameters that are not the published ones: its numbers follow, its card steps aside.

One whole run a page by papermill; beside it the page's code is run in this process, which takes a second, under
parameters at the edge of what is allowed and with one parameter changed at a time.
"""

import ast
import json
import re
from pathlib import Path

import nbformat
import pytest
from browsers import browser
from onefile_readers import findings
from page_cases import EDGES, OTHER, WRONG
from papermill import inspect_notebook

from reliability import page as page_module
from reliability import published, report, scenarios
from reliability.anchors import STATUSES
from reliability.errors import BadInput
from reliability.page import RESULTS_MIME

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
PAGES = [page for page in scenarios.PAGES if (NOTEBOOKS / f"{page}.ipynb").exists()]


def notebook(page):
    return nbformat.read(NOTEBOOKS / f"{page}.ipynb", as_version=4)


def parameter_cell(page):
    (cell,) = [cell for cell in notebook(page).cells if "parameters" in cell.metadata.get("tags", [])]
    return cell


def values(page, **changes):
    """Parameters as the page's model takes them."""
    model = scenarios.parameters(page)
    read = report.arguments.check(page, model, scenarios.defaults(page), changes)
    return scenarios.defaults(page) | read


def run_here(page, parameters, monkeypatch):
    """Run a page's code in this process; return all that it shows and its results."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shown, bundles = [], []

    def card(name, inputs, result, results):
        given = inputs.model_dump()
        shown.append(published.card(name, given, result.texts))
        bundles.append(page_module.rounded({"figures": result.texts, "results": results}))

    def anchor_card(inputs, anchors, results):
        inputs.model_dump()
        bundles.append(page_module.rounded({"results": results}))

    monkeypatch.setattr(page_module, "show", shown.append)
    monkeypatch.setattr(page_module, "anchor_card", anchor_card)
    monkeypatch.setattr(page_module, "card", card)
    names = {}
    for cell in notebook(page).cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, f"<{page}, cell {cell.id}>", "exec"), names)
            if "parameters" in cell.metadata.get("tags", []):
                names.update(parameters)
    plt.close("all")
    (bundle,) = bundles
    return "\n".join(shown), bundle


def test_each_page_has_its_cases():
    assert set(OTHER) == set(EDGES) == set(WRONG) == set(scenarios.PAGES)
    for page in scenarios.PAGES:
        changed = scenarios.changed(page, values(page, **OTHER[page]))
        assert set(changed) == set(scenarios.defaults(page)), f"{page}: OTHER repeats a published value"


# The parameters cell --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_the_parameters_cell_is_the_model(page):
    """Names, order, types and units are the model's, values the publication's."""
    fields = scenarios.parameters(page).model_fields
    as_published = scenarios.inputs(page, scenarios.defaults(page))
    inferred = inspect_notebook(notebook(page))
    assert [*inferred] == [*fields]
    for statement in ast.parse(parameter_cell(page).source).body:
        name, value = statement.target.id, ast.literal_eval(statement.value)
        assert eval(ast.unparse(statement.annotation)) == fields[name].annotation, name
        assert (value, type(value)) == (getattr(as_published, name), type(getattr(as_published, name))), name
        unit = re.findall(r"\(\w+\)$", fields[name].description)
        assert inferred[name]["help"], name
        assert re.findall(r"\(\w+\)$", inferred[name]["help"]) == unit, name


# Whole runs -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return a function that runs a page once, under the other parameters."""
    done = {}

    def run(page):
        if page not in done:
            out = tmp_path_factory.mktemp("runs")
            done[page] = out, report.run_page(page, OTHER[page], out, progress=False)
        return done[page]

    return run


@pytest.mark.parametrize("page", PAGES)
def test_a_run_under_other_parameters(page, runs):
    out, run = runs(page)
    assert run.warnings == ()
    assert sorted(path.name for path in out.iterdir()) == [f"{page}.html", f"{page}.ipynb", f"{page}.json"]
    results = json.loads((out / f"{page}.json").read_text(encoding="utf-8"))
    expected = values(page, **OTHER[page])
    assert results["parameters"] == expected
    if page in scenarios.PUBLISHED:
        assert results["figures"] == scenarios.scenario(page).compute(scenarios.inputs(page, expected)).texts
        assert results["published"]["reproduced"] is None
    else:
        assert {found["status"] for found in results["anchors"].values()} <= set(STATUSES)
    assert set(results["published"]["changed"]) == set(expected)


@pytest.mark.parametrize("page", PAGES)
def test_the_file_of_a_run_shows_everything_and_needs_nothing(page, runs):
    out, _ = runs(page)
    html = (out / f"{page}.html").read_text(encoding="utf-8")
    assert findings(html) == []
    assert ("The published case was not run." if page in scenarios.PUBLISHED else "published results") in html
    executed = nbformat.read(out / f"{page}.ipynb", as_version=4)
    kinds = {output.output_type for cell in executed.cells for output in cell.get("outputs", [])}
    assert "error" not in kinds
    assert any(RESULTS_MIME in output.get("data", {}) for output in executed.cells[-1].outputs)
    assert not re.search(r"/(tmp|home|root|Users)/", nbformat.writes(executed))


def test_in_a_browser_a_run_asks_for_nothing_and_fits_a_phone_and_a_screen(runs):
    cut = "[...document.querySelectorAll('.table-scroll')].filter(box => box.scrollWidth > box.clientWidth).length"
    with browser() as chromium:
        for page in PAGES:
            file = (runs(page)[0] / f"{page}.html").as_uri()
            tab = chromium.new_page(viewport={"width": 390, "height": 844})
            asked = []
            tab.on("request", lambda request, asked=asked: asked.append(request.url))
            tab.goto(file)
            assert [url for url in asked if not url.startswith("data:")] == [file]
            assert tab.evaluate("document.documentElement.scrollWidth") <= 390, page
            assert tab.evaluate("document.querySelector('h1').getBoundingClientRect().top") < 844, page
            tab.set_viewport_size({"width": 1200, "height": 900})
            assert tab.evaluate("document.documentElement.scrollWidth") <= 1200, page
            assert tab.evaluate(cut) == 0, page
            tab.close()


# In this process ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("page", "case"), [(page, case) for page in PAGES for case in range(3)])
def test_a_page_at_the_edge_of_what_is_allowed(page, case, monkeypatch):
    shown, _ = run_here(page, values(page, **EDGES[page][case]), monkeypatch)
    assert "The published case was not run." in shown or page not in scenarios.PUBLISHED
    assert not re.search(r"\b(nan|inf|None)\b", shown), re.search(r".*\b(nan|inf|None)\b.*", shown)[0]


@pytest.mark.parametrize("page", PAGES)
def test_each_parameter_reaches_a_result(page, monkeypatch):
    """Parameters that the scenario itself does not use are tried on the whole page."""
    small = values(page, **OTHER[page])
    compute = scenarios.scenario(page).compute
    said = told(compute(scenarios.inputs(page, small)))
    silent = [name for name in small if told(compute(scenarios.inputs(page, one_back(page, small, name)))) == said]
    if silent:
        base = run_here(page, small, monkeypatch)
        for name in silent:
            assert run_here(page, one_back(page, small, name), monkeypatch) != base, (
                f"{name} changes nothing on the page"
            )


def told(result):
    """What a scenario prints."""
    return result.texts, result.sections


def one_back(page, parameters, name):
    """The other parameters with one of them as published; shares give to or take from another one."""
    back = parameters | {name: scenarios.defaults(page)[name]}
    if name.startswith("mix_"):
        other = "mix_gpu" if name != "mix_gpu" else "mix_other"
        rest = sum(value for key, value in back.items() if key.startswith("mix_") and key != other)
        back[other] = 1 - rest
        if back[other] < 0:  # the other one is too small to give so much: half-way will do
            back |= {name: 0.45, other: parameters[other] + parameters[name] - 0.45}
    if name == "corrupted_ranks":
        back["corrupted_ranks"] = [1, 2, 5]
    return back


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("page", "name"), [(page, name) for page in scenarios.PAGES for name in WRONG[page]])
def test_a_page_refuses(page, name, tmp_path):
    value = WRONG[page][name]
    with pytest.raises(BadInput, match=name):
        report.run_page(page, {name: value}, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("page", scenarios.PAGES)
def test_a_page_refuses_a_name_that_it_does_not_have(page, tmp_path):
    with pytest.raises(BadInput, match="no parameter 'mtbf'"):
        report.run_page(page, {"mtbf": "1"}, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
