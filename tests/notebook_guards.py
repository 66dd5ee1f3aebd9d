"""What every notebook of the book must be, read from the committed file alone.

Each guard takes a notebook and returns its findings, a line each; none means the notebook is sound.
"""

import ast
import json
import re
import statistics

from reliability import facts, scenarios
from reliability.page import RESULTS_MIME

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
RICHER_ANATOMY = [
    "The inputs",
    "The model",
    "The numbers",
    "The figure",
    "How to read it",
    "Where it holds and where not",
    "Held against published results",
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
    mine, ledger = parameters(notebook), dict(scenarios.defaults(page))
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


def named_cells(notebook):
    """A result's address on the rendered page comes from its cell's id, and people link to it."""
    ids = [cell.get("id", "") for cell in notebook.cells]
    found = []
    for place, cell in code_cells(notebook):
        name = cell.get("id", "")
        if re.fullmatch(r"[0-9a-f]{8}", name):
            found.append(f"the id of code cell {place} is {name!r}, nbformat's random digits, not a name")
        elif not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*", name):
            found.append(f"the id of code cell {place} is {name!r}, not a name of letters, digits and hyphens")
        elif ids.count(name) > 1:
            found.append(f"the id of code cell {place}, {name!r}, is another cell's too")
    return found


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
    wanted = ANATOMY if name_of(notebook) in scenarios.PUBLISHED else RICHER_ANATOMY
    if (order := [h for h in headings if h in wanted]) != wanted:
        found.append(f"the headings are {order}, not {wanted}")
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
    named_cells,
    clean_outputs,
    results_last,
    anatomy,
    quoted_numbers,
]
