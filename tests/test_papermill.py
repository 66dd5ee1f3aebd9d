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
from papermill import inspect_notebook

from reliability import page as page_module
from reliability import published, report, scenarios
from reliability.arguments import BadInput
from reliability.page import RESULTS_MIME

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
PAGES = [page for page in scenarios.PAGES if (NOTEBOOKS / f"{page}.ipynb").exists()]

# As a person types them. Every parameter differs from the published one.
OTHER = {
    "availability": {
        "anchor_job_mttf_h": "12.5",
        "anchor_job_gpus": "2048",
        "interruption_interval_h": "5",
        "interruption_gpus": "8192",
        "cold_mttr_min": "20",
        "standby_mttr_min": "2.5",
        "sizes": "64,512,4096",
        "gpus_per_node": "4",
    },
    "checkpoint": {
        "step_s": "12.5",
        "write_s": "60",
        "job_mtbf_h": "24",
        "incremental_factor": "0.5",
        "restart_min": "3",
        "no_checkpoint_steps": "2000",
        "curve_every_steps": "100",
        "curve_points": "4",
    },
    "recovery": {
        "days": "14",
        "job_mtbf_h": "4",
        "checkpoint_interval_h": "0.5",
        "stop_min": "1",
        "reschedule_min": "2",
        "load_min": "3",
        "nccl_min": "0.5",
        "warmup_min": "1.5",
        "standby_s": "90",
        "detect_gpu_s": "20",
        "detect_network_s": "60",
        "detect_other_s": "5",
        "mix_gpu": "0.4",
        "mix_network": "0.2",
        "mix_host": "0.2",
        "mix_software": "0.1",
        "mix_other": "0.1",
        "recorded_faults": "gpu=31,network=9,host=4,software=6,other=3",
        "weeks": "2000",
        "seed": "11",
    },
    "straggler": {
        "ranks": "256",
        "step_s": "10",
        "jitter_s": "0.2",
        "slow_rank": "100",
        "slowdown": "0.5",
        "threshold": "0.2",
        "seed": "5",
    },
    "sdc": {
        "ranks": "64",
        "dim": "512",
        "float_format": "float32",
        "corrupted_ranks": "[3, 9]",
        "max_flips": "4",
        "spike_factor": "20",
        "spike_step": "200",
        "guard_threshold": "6",
        "guard_window": "20",
        "seed": "3",
    },
}
# Allowed, and yet a page might trip over them: the ends of ranges, nothing to count, one of something.
EDGES = {
    "availability": [
        {"sizes": [1]},
        {"sizes": [131072, 8], "cold_mttr_min": 1e-3, "gpus_per_node": 1},
        {"cold_mttr_min": 1e5, "standby_mttr_min": 1e5},
    ],
    "checkpoint": [
        {"restart_min": 0.0, "curve_points": 1, "incremental_factor": 1.0},
        {"job_mtbf_h": 0.05},
        {"job_mtbf_h": 1e5, "no_checkpoint_steps": 1},
    ],
    "recovery": [
        {"recorded_faults": dict.fromkeys(["gpu", "network", "host", "software", "other"], 0), "weeks": 1},
        {"mix_gpu": 1.0, "mix_network": 0.0, "mix_host": 0.0, "mix_software": 0.0, "mix_other": 0.0, "weeks": 50},
        {"job_mtbf_h": 1e6, "weeks": 50, "standby_s": 0.0},
    ],
    "straggler": [
        {"ranks": 2, "slow_rank": 1},
        {"ranks": 64, "jitter_s": 0.0},
        {"ranks": 64, "slowdown": 0.001, "threshold": 0.5},
    ],
    "sdc": [
        {"ranks": 16, "dim": 32, "corrupted_ranks": []},
        {"ranks": 3, "dim": 8, "corrupted_ranks": [2], "float_format": "bfloat16", "max_flips": 1},
        {"ranks": 16, "dim": 32, "corrupted_ranks": [0, 1, 2], "spike_factor": 1.01, "spike_step": 51},
    ],
}
WRONG = {
    "availability": {"sizes": "128,128", "anchor_job_mttf_h": "0", "gpus_per_node": "eight"},
    "checkpoint": {"incremental_factor": "1.5", "write_s": "-1", "curve_points": "0"},
    "recovery": {"mix_other": "-0.1", "recorded_faults": "gpu=1,network=1,host=1,software=1,others=1", "weeks": "1e5"},
    "straggler": {"slow_rank": "1024", "jitter_s": "10", "ranks": "1"},
    "sdc": {"float_format": "float16", "corrupted_ranks": "1024", "guard_window": "500"},
}


def notebook(page):
    return nbformat.read(NOTEBOOKS / f"{page}.ipynb", as_version=4)


def parameter_cell(page):
    (cell,) = [cell for cell in notebook(page).cells if "parameters" in cell.metadata.get("tags", [])]
    return cell


def values(page, **changes):
    """Parameters as the page's model takes them."""
    model = scenarios.parameters(page)
    read = report.arguments.check(page, model, published.inputs(page), changes)
    return published.inputs(page) | read


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

    monkeypatch.setattr(page_module, "show", shown.append)
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
        changed = published.changed(page, values(page, **OTHER[page]))
        assert set(changed) == set(published.inputs(page)), f"{page}: OTHER repeats a published value"


# The parameters cell --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_the_parameters_cell_is_the_model(page):
    """Names, order, types and units are the model's, values the publication's."""
    fields = scenarios.parameters(page).model_fields
    as_published = scenarios.inputs(page, published.inputs(page))
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
    texts = scenarios.scenario(page).compute(scenarios.inputs(page, expected)).texts
    assert results["figures"] == texts
    assert results["published"]["reproduced"] is None
    assert set(results["published"]["changed"]) == set(expected)


@pytest.mark.parametrize("page", PAGES)
def test_the_file_of_a_run_shows_everything_and_needs_nothing(page, runs):
    out, _ = runs(page)
    html = (out / f"{page}.html").read_text(encoding="utf-8")
    assert findings(html) == []
    assert "The published case was not run." in html
    executed = nbformat.read(out / f"{page}.ipynb", as_version=4)
    kinds = {output.output_type for cell in executed.cells for output in cell.get("outputs", [])}
    assert "error" not in kinds
    assert any(RESULTS_MIME in output.get("data", {}) for output in executed.cells[-1].outputs)
    assert not re.search(r"/(tmp|home|root|Users)/", nbformat.writes(executed))


def test_in_a_browser_a_run_asks_for_nothing_and_fits_a_phone(runs):
    with browser() as chromium:
        for page in PAGES:
            file = (runs(page)[0] / f"{page}.html").as_uri()
            tab = chromium.new_page(viewport={"width": 390, "height": 844})
            asked = []
            tab.on("request", lambda request, asked=asked: asked.append(request.url))
            tab.goto(file)
            assert [url for url in asked if not url.startswith("data:")] == [file]
            assert tab.evaluate("document.documentElement.scrollWidth") <= 390, page
            tab.close()


# In this process ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("page", "case"), [(page, case) for page in PAGES for case in range(3)])
def test_a_page_at_the_edge_of_what_is_allowed(page, case, monkeypatch):
    shown, _ = run_here(page, values(page, **EDGES[page][case]), monkeypatch)
    assert "The published case was not run." in shown
    assert not re.search(r"\b(nan|inf|None)\b", shown), re.search(r".*\b(nan|inf|None)\b.*", shown)[0]


@pytest.mark.parametrize("page", PAGES)
def test_each_parameter_reaches_a_result(page, monkeypatch):
    """Parameters that the scenario itself does not use are tried on the whole page."""
    small = values(page, **OTHER[page])
    compute = scenarios.scenario(page).compute
    texts = compute(scenarios.inputs(page, small)).texts
    silent = [name for name in small if compute(scenarios.inputs(page, one_back(page, small, name))).texts == texts]
    if silent:
        base = run_here(page, small, monkeypatch)
        for name in silent:
            assert run_here(page, one_back(page, small, name), monkeypatch) != base, (
                f"{name} changes nothing on the page"
            )


def one_back(page, parameters, name):
    """The other parameters with one of them as published; shares give to or take from another one."""
    back = parameters | {name: published.inputs(page)[name]}
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
