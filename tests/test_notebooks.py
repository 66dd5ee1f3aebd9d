"""What every notebook of the book must be, read from the committed files alone: nothing is executed here.

Each guard takes a notebook and returns its findings, a line each; none means the notebook is sound.
Below the guards, each is shown a notebook that breaks its rule: a guard that finds nothing there guards nothing.
"""

import ast
import copy
import json
import re
import statistics
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from reliability import facts, published
from reliability.page import RESULTS_MIME

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

ANATOMY = [
    "The inputs",
    "The model",
    "The published table",
    "The figure",
    "How to read it",
    "Where the published model is wrong",
    "Toward the real system",
    "Try it",
    "Sources",
]
MAX_LINES = 15
MAX_MEDIAN_LINES = 5
MIN_ALT_LENGTH = 60  # what is on the axes, the shape and the message do not fit into less
UNIT_FACTORS = {24, 60, 168, 365, 3600, 8760, 86400}
MAX_DIGITS = 8  # more are an unrounded float, whose last digits differ between processors


def name_of(notebook):
    """Return the page's name, as the tests below put it into the metadata."""
    return notebook.metadata.get("page", "notebook")


def code_cells(notebook):
    """Yield each code cell that has code, with its place in the notebook."""
    for place, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" and cell.source.strip():
            yield place, cell


def outputs(notebook):
    """Yield each output with the place of its cell."""
    for place, cell in code_cells(notebook):
        for output in cell.outputs:
            yield place, cell, output


def tags(cell):
    return cell.metadata.get("tags", [])


def lines(cell):
    return [line for line in cell.source.split("\n") if line.strip()]


def texts(output):
    """Yield what a reader, or a program, gets as text from an output."""
    if output.output_type == "stream":
        yield output.text
    for mime, data in output.get("data", {}).items():
        if mime.endswith("json"):
            yield json.dumps(data)
        elif not mime.startswith("image/"):
            yield "".join(data)


# The guards -----------------------------------------------------------------------------------------------------------


def executed(notebook):
    """nbval compares nothing in a cell that was never executed: it passes unchecked."""
    return [f"code cell {i} was never executed" for i, c in code_cells(notebook) if c.execution_count is None]


def executed_in_order(notebook):
    """Counts other than 1, 2, 3 mean that the outputs come from another order of cells, or from other cells."""
    counts = [c.execution_count for _, c in code_cells(notebook)]
    wanted = list(range(1, len(counts) + 1))
    return [] if counts == wanted else [f"execution counts are {counts}, not {wanted}"]


def shows_what_it_evaluates(notebook):
    """A cell that ends in an expression shows something; with no output it was stripped."""
    found = []
    for place, cell in list(code_cells(notebook))[1:]:
        body = ast.parse(cell.source).body
        if body and isinstance(body[-1], ast.Expr) and not cell.outputs:
            found.append(f"code cell {place} ends in an expression but has no output: {lines(cell)[-1]!r}")
    return found


def short_cells(notebook):
    """What is longer belongs to the package, where it is tested."""
    # The cell of the parameters has a line for each, and papermill wants them in one cell.
    lengths = {place: len(lines(cell)) for place, cell in code_cells(notebook) if "parameters" not in tags(cell)}
    found = [f"code cell {i} has {n} lines; at most {MAX_LINES}" for i, n in lengths.items() if n > MAX_LINES]
    if lengths and statistics.median(lengths.values()) > MAX_MEDIAN_LINES:
        found.append(
            f"the median code cell has {statistics.median(lengths.values())} lines; at most {MAX_MEDIAN_LINES}"
        )
    return found


def described_figures(notebook):
    """Without alt text in the cell's metadata a screen reader gets a hashed file name."""
    found = []
    for place, cell, output in outputs(notebook):
        if not any(mime.startswith("image/") for mime in output.get("data", {})):
            continue
        mystnb = cell.metadata.get("mystnb", {})
        alt = mystnb.get("image", {}).get("alt", "")
        figure = mystnb.get("figure", {})
        if len(alt) < MIN_ALT_LENGTH:
            found.append(
                f"the figure of code cell {place} needs an alt text of {MIN_ALT_LENGTH} characters, has {alt!r}"
            )
        if not figure.get("name", "").startswith("fig-"):
            found.append(f"the figure of code cell {place} needs a name that begins with 'fig-'")
        if not figure.get("caption"):
            found.append(f"the figure of code cell {place} needs a caption")
    return found


def one_parameters_cell(notebook):
    """papermill takes the names, types and comments of this cell for its help."""
    cells = [cell for _, cell in code_cells(notebook) if "parameters" in tags(cell)]
    if len(cells) != 1:
        return [f"{len(cells)} cells are tagged 'parameters', not one"]
    found = []
    for line in lines(cells[0]):
        if not re.fullmatch(r"\w+: [\w\[\], |]+ = [^#]+  # \S.*", line):
            found.append(f"parameter not written as 'name: type = value  # comment': {line!r}")
    return found


def parameters(notebook):
    """Return the defaults of the parameters cell."""
    for _, cell in code_cells(notebook):
        if "parameters" in tags(cell):
            return {
                node.target.id: ast.literal_eval(node.value)
                for node in ast.parse(cell.source).body
                if isinstance(node, ast.AnnAssign)
            }
    return {}


def published_defaults(notebook):
    """The defaults are the published case: each stands in the ledger, and the page has no others."""
    page = name_of(notebook)
    mine, ledger = parameters(notebook), dict(published.inputs(page))
    found = [f"{name} is not an input of the ledger for {page}" for name in mine.keys() - ledger.keys()]
    found += [f"{name}, an input of the ledger for {page}, is no parameter" for name in ledger.keys() - mine.keys()]
    for name in mine.keys() & ledger.keys():
        if mine[name] != ledger[name]:
            found.append(f"{name} = {mine[name]!r}, but the ledger for {page} says {ledger[name]!r}")
    return sorted(found)


def is_own(number):
    """Say whether a number is somebody's: a small or a round one is everybody's, and so is a factor between units."""
    if type(number) not in (int, float) or number in UNIT_FACTORS:
        return False
    return len(f"{abs(number):.12g}".replace(".", "").strip("0")) >= 3


def owned_numbers(notebook):
    """Return the numbers of the parameters and of the facts, each with the name of its owner."""
    owners = {}
    for name, value in [*((name, facts.value(name)) for name in facts.names()), *parameters(notebook).items()]:
        members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
        owners.update({member: name for member in members if is_own(member)})
    return owners


def numbers_typed_once(notebook):
    """A number of the parameters or of the facts that is typed again in another cell does not follow a change."""
    owners = owned_numbers(notebook)
    found = []
    for place, cell in code_cells(notebook):
        if "parameters" not in tags(cell):
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.Constant) and is_own(node.value) and node.value in owners:
                    found.append(f"code cell {place} types {node.value!r}, which is {owners[node.value]}: use the name")
    return found


def guarded_import(notebook):
    """PyPI has another package named `reliability`: the first cell says so before an attribute is missed."""
    _, cell = next(code_cells(notebook), (0, None))
    if cell is None or "training-reliability" not in cell.source:
        return ["the first code cell does not tell our package from the other one named 'reliability'"]
    return []


UNROUNDED = re.compile(r"(?<![\w.])\d[\d,]*\.\d+(?:[eE][-+]?\d+)?")
LOCAL = re.compile(r"(?<![\w/.])(?:/(?:home|Users|root|tmp|usr|opt|var|private)/|[A-Z]:\\)\S*|\S*site-packages\S*")
HELP = re.compile(r"^usage: |^Help on |^Signature:|^Docstring:", re.MULTILINE)


def clean_outputs(notebook):
    """What differs between two machines fails nbval on one of them, or says nothing to a reader."""
    found = []
    for place, _, output in outputs(notebook):
        if output.output_type == "error":
            found.append(f"code cell {place} failed: {output.ename}: {output.evalue}")
        if output.output_type == "stream" and output.name == "stderr":
            found.append(f"code cell {place} wrote to stderr: {output.text.strip()!r}")
        for text in texts(output):
            for number in UNROUNDED.findall(text):
                digits = re.sub(r"[eE].*|\D", "", number).lstrip("0")
                if len(digits) > MAX_DIGITS:
                    found.append(f"code cell {place} shows an unrounded number: {number}")
            found += [f"code cell {place} shows a path: {path}" for path in LOCAL.findall(text)]
            if " at 0x" in text:
                found.append(f"code cell {place} shows an object's address: {text.strip()[:80]!r}")
            if HELP.search(text):
                found.append(f"code cell {place} shows a help text: {text.strip()[:80]!r}")
    return found


def results_last(notebook):
    """A page ends in its card, and whoever runs it reads its results there."""
    last = notebook.cells[-1]
    shown = [mime for output in last.get("outputs", []) for mime in output.get("data", {})]
    return [f"the last cell does not emit {mime}" for mime in (RESULTS_MIME, "text/markdown") if mime not in shown]


def anatomy(notebook):
    """A reader learns the order of a page once."""
    headings = [
        line.lstrip("# ").strip()
        for cell in notebook.cells
        if cell.cell_type == "markdown"
        for line in re.sub(r"(?ms)^(`{3,}|:{3,}).*?^\1$", "", cell.source).split("\n")
        if re.match(r"#{1,2} ", line)
    ]
    found = [] if headings and headings[0].endswith("?") else ["the title is not a question"]
    if (order := [h for h in headings if h in ANATOMY]) != ANATOMY:
        found.append(f"the headings are {order}, not {ANATOMY}")
    return found


# A number that claims something: with decimals, a percent sign, a thousands separator or a unit.
UNITS = "%|h|s|min|ms|days?|hours?|minutes?|seconds?|weeks?|months?|years?|GPUs?|ranks?|nodes?|machines|hosts|TB|GB"
CLAIM = re.compile(
    rf"(?<![\w.,/-])(?:\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+\.\d+|\d+(?=[ -]?(?:{UNITS})(?![\w-])))(?![\w/])"
)
# What carries numbers but claims none: math, code, roles, link targets, options of a directive, a year.
SILENT = re.compile(
    r"(?s)```.*?```|\$\$.*?\$\$|\$[^$\n]+\$|\{[\w:.-]+\}`[^`]*`|`[^`]*`|\]\([^)]*\)"
    r"|(?m:^:[\w-]+:.*$)|\b(?:19|20)\d\d\b|\b(?:Part|Figure|Table|Section|Scenario|scenario|version) \d+"
)
CITED = re.compile(r"\{cite[\w:]*\}`|\]\([^)]*#published-|\{(?:ref|numref|eq)\}`[^`]*published")


def quoted_numbers(notebook):
    """A number in prose is printed by code, so that it follows the parameters; a quotation names its source."""
    found, section = [], ""
    for place, cell in enumerate(notebook.cells):
        if cell.cell_type != "markdown":
            continue
        for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*|]|\d+\.) )", cell.source):
            if heading := re.match(r"## (.*)", paragraph):
                section = heading[1].strip()
            claims = CLAIM.findall(SILENT.sub(" ", paragraph))
            if claims and not CITED.search(paragraph) and section != "Try it":  # an exercise may suppose what it likes
                found.append(
                    f"Markdown cell {place} types {', '.join(claims)}: print it by code, or cite its source in the "
                    f"same paragraph: {' '.join(paragraph.split())[:100]!r}"
                )
    return found


GUARDS = [
    executed,
    executed_in_order,
    shows_what_it_evaluates,
    short_cells,
    described_figures,
    one_parameters_cell,
    published_defaults,
    numbers_typed_once,
    guarded_import,
    clean_outputs,
    results_last,
    anatomy,
    quoted_numbers,
]


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


def files_of(toc):
    """Yield every file that a table of contents names."""
    for key, value in toc.items() if isinstance(toc, dict) else []:
        if key in ("root", "file"):
            yield value
        elif isinstance(value, list):
            for member in value:
                yield from files_of(member)


def test_every_notebook_is_in_the_table_of_contents_and_the_other_way_round():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    listed = {file.removesuffix(".ipynb") for file in files_of(toc) if file.startswith("notebooks/")}
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
    (executed, put(TABLE, execution_count=None), "code cell 6 was never executed"),
    (executed_in_order, put(TABLE, execution_count=7), "[1, 2, 7, 4, 5]"),
    (shows_what_it_evaluates, put(TABLE, outputs=[]), "show(table)"),
    (short_cells, put(TABLE, source="x = 1\n" * 16), "has 16 lines"),
    (short_cells, lambda n: [c.update(source="x = 1\n" * 6) for _, c in code_cells(n)], "median"),
    (described_figures, put(FIGURE, metadata={}), "alt text"),
    (described_figures, put(FIGURE, metadata={"mystnb": {"image": {"alt": "fig-step"}}}), "'fig-step'"),
    (described_figures, lambda n: n.cells[FIGURE].metadata.mystnb.figure.pop("caption"), "caption"),
    (described_figures, lambda n: n.cells[FIGURE].metadata.mystnb.figure.pop("name"), "'fig-'"),
    (one_parameters_cell, put(PARAMETERS, metadata={}), "0 cells"),
    (one_parameters_cell, put(TABLE, metadata={"tags": ["parameters"]}), "2 cells"),
    (one_parameters_cell, parameter_line("ranks: int", "ranks"), "'ranks = 1024  # what it is'"),
    (one_parameters_cell, parameter_line("  # what it is", ""), "'ranks: int = 1024'"),
    (published_defaults, parameter_line("1024", "1025"), "ranks = 1025, but the ledger for straggler says 1024"),
    (published_defaults, parameter_line("ranks:", "rank_count:"), "rank_count is not an input"),
    (numbers_typed_once, put(TABLE, source="show(1024 * step_s)"), "1024, which is ranks"),
    (numbers_typed_once, put(TABLE, source="show(419 / 2)"), "419, which is llama3_unexpected"),
    (guarded_import, put(IMPORTS, source="import reliability"), "first code cell"),
    (clean_outputs, output("0.30000000000000004"), "unrounded number: 0.30000000000000004"),
    (clean_outputs, output("1.234567891e-05"), "unrounded number: 1.234567891e-05"),
    (clean_outputs, lambda n: n.cells[RESULTS].outputs[0].data.update({RESULTS_MIME: [31.701234567]}), "31.7012"),
    (clean_outputs, output("<Axes at 0x7f22be074f40>"), "address"),
    (clean_outputs, output("read /home/me/book/facts.toml"), "a path: /home/me/book/facts.toml"),
    (clean_outputs, output("usage: page [-h]"), "help text"),
    (clean_outputs, output("divide by zero", "stderr"), "stderr: 'divide by zero'"),
    (clean_outputs, output("ranks = 0", "error"), "ValueError: ranks = 0"),
    (results_last, put(RESULTS, outputs=[]), RESULTS_MIME),
    (results_last, say_last("The end."), "text/markdown"),
    (anatomy, put(0, source="# Stragglers"), "question"),
    (anatomy, lambda n: n.cells.pop(7), "['The inputs', 'The model', 'The published table', 'How to read it'"),
    (quoted_numbers, say("The step takes 31.70 s."), "types 31.70"),
    (quoted_numbers, say("A job of 16,384 GPUs."), "types 16,384"),
    (quoted_numbers, say("It loses 17 % of its time."), "types 17"),
    (quoted_numbers, say("The publication says 5 min {cite}`k`.\n\nWe say 6 min."), "types 6"),
    (quoted_numbers, say("- 7.9 h {cite}`k`\n- and 2.78 h"), "types 2.78"),
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
