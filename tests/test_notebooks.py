"""The committed notebooks against the guards, and the guards against notebooks that break their rules.

A guard that finds nothing in a broken notebook guards nothing. Nothing is executed here.
"""

import copy
from pathlib import Path

import nbformat
import notebook_guards as guards
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from notebook_guards import ANATOMY, GUARDS, code_cells
from sphinx_external_toc.parsing import parse_toc_yaml

from reliability import published
from reliability.page import RESULTS_MIME

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


# The committed notebooks ----------------------------------------------------------------------------------------------


def read(path):
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata["page"] = path.stem
    return notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.__name__)
def test_notebook(guard, path):
    findings = guard(read(path))
    assert not findings, f"notebooks/{path.name}: {guard.__doc__}\n- " + "\n- ".join(findings)


def test_every_notebook_is_in_the_table_of_contents_and_the_other_way_round():
    listed = {page for page in parse_toc_yaml(ROOT / "_toc.yml") if page.startswith("notebooks/")}
    assert listed == {f"notebooks/{path.stem}" for path in NOTEBOOKS}


# The guards can fail --------------------------------------------------------------------------------------------------


def sound():
    """Return a small notebook that every guard accepts."""
    page = "straggler"
    typed = "\n".join(
        f"{name}: {type(value).__name__} = {value!r}  # what it is" for name, value in published.inputs(page).items()
    )
    figure = {
        "image": {"alt": "Step time in seconds against the number of ranks: it rises with every rank that is added."},
        "figure": {"name": "fig-step", "caption": "The step grows with the job."},
    }
    table = {"text/plain": "<IPython.core.display.Markdown object>", "text/markdown": "| 31.70 s |"}
    results = new_output("display_data", {"text/markdown": "**17 of 17.**", RESULTS_MIME: {"step_s": 31.7012}})
    cells = [
        new_markdown_cell("# What does one slow rank cost?"),
        new_markdown_cell("## The inputs\n\nA job of 1,024 GPUs fails every 7.9 h {cite}`kokolis2025`."),
        new_code_cell("import reliability\nassert reliability.DISTRIBUTION == 'training-reliability'"),
        new_code_cell(typed, metadata={"tags": ["parameters"]}),
        new_markdown_cell("## The model\n\nThe step is $30.5 + x$, see {eq}`eq-1`. In 2024 version 3 of `numpy` came."),
        new_markdown_cell("## The published table"),
        new_code_cell("show(table)", outputs=[new_output("display_data", table)]),
        new_markdown_cell("## The figure"),
        new_code_cell("plt.show()", outputs=[new_output("display_data", {"image/png": "AAAA"})]),
        *[new_markdown_cell(f"## {heading}") for heading in ANATOMY[4:]],
        new_code_cell("page.card(inputs, result)", outputs=[results]),
    ]
    cells[8].metadata["mystnb"] = figure
    notebook = new_notebook(cells=cells, metadata={"page": page})
    for count, (_, cell) in enumerate(code_cells(notebook), start=1):
        cell.execution_count = count
        cell.id = f"code-{count}"
    return notebook


IMPORTS, PARAMETERS, TABLE, FIGURE, RESULTS = 2, 3, 6, 8, -1


def put(cell, **fields):
    """Return a change that sets fields of one cell of a notebook."""
    return lambda notebook: notebook.cells[cell].update(fields)


def say(text):
    """Return a change that appends a Markdown cell."""
    return lambda notebook: notebook.cells.insert(1, new_markdown_cell(text))


def say_last(text):
    return lambda notebook: notebook.cells.append(new_markdown_cell(text))


def output(text, kind="display_data"):
    if kind == "stderr":
        return put(TABLE, outputs=[new_output("stream", name="stderr", text=text)])
    if kind == "error":
        return put(TABLE, outputs=[new_output("error", ename="ValueError", evalue=text, traceback=[])])
    return put(TABLE, outputs=[new_output(kind, {"text/plain": text})])


def parameter_line(old, new):
    def change(notebook):
        cell = notebook.cells[PARAMETERS]
        assert old in cell.source, f"no {old!r} in {cell.source!r}"
        cell.source = cell.source.replace(old, new)

    return change


BREAKS = [
    (guards.executed, put(TABLE, execution_count=None), "code cell 6 was never executed"),
    (guards.executed_in_order, put(TABLE, execution_count=7), "[1, 2, 7, 4, 5]"),
    (guards.shows_what_it_evaluates, put(TABLE, outputs=[]), "show(table)"),
    (guards.short_cells, put(TABLE, source="x = 1\n" * 16), "has 16 lines"),
    (guards.short_cells, lambda n: [c.update(source="x = 1\n" * 6) for _, c in code_cells(n)], "median"),
    (guards.described_figures, put(FIGURE, metadata={}), "alt text"),
    (guards.described_figures, put(FIGURE, metadata={"mystnb": {"image": {"alt": "fig-step"}}}), "'fig-step'"),
    (guards.described_figures, lambda n: n.cells[FIGURE].metadata.mystnb.figure.pop("caption"), "caption"),
    (guards.described_figures, lambda n: n.cells[FIGURE].metadata.mystnb.figure.pop("name"), "'fig-'"),
    (guards.one_parameters_cell, put(PARAMETERS, metadata={}), "0 cells"),
    (guards.one_parameters_cell, put(TABLE, metadata={"tags": ["parameters"]}), "2 cells"),
    (guards.one_parameters_cell, parameter_line("ranks: int", "ranks"), "'ranks = 1024  # what it is'"),
    (guards.one_parameters_cell, parameter_line("  # what it is", ""), "'ranks: int = 1024'"),
    (guards.published_defaults, parameter_line("1024", "1025"), "ranks = 1025, but the ledger for straggler says 1024"),
    (guards.published_defaults, parameter_line("ranks:", "rank_count:"), "rank_count is not an input"),
    (guards.numbers_typed_once, put(TABLE, source="show(1024 * step_s)"), "1024, which is ranks"),
    (guards.numbers_typed_once, put(TABLE, source="show(419 / 2)"), "419, which is llama3_unexpected"),
    (guards.guarded_import, put(IMPORTS, source="import reliability"), "first code cell"),
    (guards.named_cells, put(TABLE, id="de77b8a1"), "'de77b8a1', nbformat's random"),
    (guards.named_cells, put(TABLE, id="3f09c2d4"), "'3f09c2d4', nbformat's random"),
    (guards.named_cells, put(TABLE, id="the_table"), "'the_table', not a name"),
    (guards.named_cells, put(TABLE, id="7"), "'7', not a name"),
    (guards.named_cells, lambda n: n.cells[TABLE].pop("id"), "code cell 6 is '', not a name"),
    (guards.named_cells, put(TABLE, id="code-1"), "code cell 6, 'code-1', is another cell's too"),
    (guards.named_cells, put(0, id="code-3"), "code cell 6, 'code-3', is another cell's too"),
    (guards.clean_outputs, output("0.30000000000000004"), "unrounded number: 0.30000000000000004"),
    (guards.clean_outputs, output("1.234567891e-05"), "unrounded number: 1.234567891e-05"),
    (
        guards.clean_outputs,
        lambda n: n.cells[RESULTS].outputs[0].data.update({RESULTS_MIME: [31.701234567]}),
        "31.7012",
    ),
    (guards.clean_outputs, output("<Axes at 0x7f22be074f40>"), "address"),
    (guards.clean_outputs, output("read /home/me/book/facts.toml"), "a path: /home/me/book/facts.toml"),
    (guards.clean_outputs, output("usage: page [-h]"), "help text"),
    (guards.clean_outputs, output("divide by zero", "stderr"), "stderr: 'divide by zero'"),
    (guards.clean_outputs, output("ranks = 0", "error"), "ValueError: ranks = 0"),
    (guards.results_last, put(RESULTS, outputs=[]), RESULTS_MIME),
    (guards.results_last, say_last("The end."), "text/markdown"),
    (guards.anatomy, put(0, source="# Stragglers"), "question"),
    (guards.anatomy, lambda n: n.cells.pop(7), "['The inputs', 'The model', 'The published table', 'How to read it'"),
    (guards.quoted_numbers, say("The step takes 31.70 s."), "types 31.70"),
    (guards.quoted_numbers, say("A job of 16,384 GPUs."), "types 16,384"),
    (guards.quoted_numbers, say("It loses 17 % of its time."), "types 17"),
    (guards.quoted_numbers, say("The publication says 5 min {cite}`k`.\n\nWe say 6 min."), "types 6"),
    (guards.quoted_numbers, say("- 7.9 h {cite}`k`\n- and 2.78 h"), "types 2.78"),
]


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.__name__)
def test_guard_accepts_a_sound_notebook(guard):
    assert guard(sound()) == []


@pytest.mark.parametrize(("guard", "change", "message"), BREAKS, ids=[f"{g.__name__}-{m}" for g, _, m in BREAKS])
def test_guard_finds(guard, change, message):
    notebook = copy.deepcopy(sound())
    change(notebook)
    findings = guard(notebook)
    assert any(message in finding for finding in findings), findings


def test_every_guard_is_proved_able_to_fail():
    assert {guard for guard, _, _ in BREAKS} == set(GUARDS)
