"""``python -m reliability plan CLUSTER.toml --out DIR``: the plan of a cluster as a report, or two plans compared."""

import sys

from reliability.commands.failed import blocked, fail
from reliability.commands.options import add_out
from reliability.errors import BadInput
from reliability.plan_draws import DRAWS, FEWEST_DRAWS, MOST_DRAWS, SEED

EPILOG = """\
With one cluster file it leaves report.html, report.ipynb and plan.json in DIR and
prints the answer in a few lines; without --out it prints the whole plan.
With two it compares them, draw by draw on common random numbers, and leaves
compare.json and compare.md in DIR.
"""


def add(commands):
    """Add the command to argparse's subparsers."""
    import argparse

    parser = commands.add_parser(
        "plan",
        help="plan your own cluster from its cluster file and its logs",
        description="Plan a cluster: where its hours go, what it could keep, and by what.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "clusters", metavar="CLUSTER.toml", nargs="+", help="a cluster file, or example:NAME; two are compared"
    )
    add_out(parser, "the report", required=False)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument(
        "--anonymise", action="store_true", help="call hosts, users, jobs, files and clusters by aliases"
    )
    parser.add_argument(
        "--draws", type=int, default=DRAWS, metavar="N", help=f"draws of what is not known exactly ({DRAWS})"
    )
    parser.add_argument("--seed", type=int, default=SEED, metavar="N", help=f"seed of the draws ({SEED})")


def main(options):
    """Make the plan, print it or leave it in a folder; return the exit status."""
    if len(options.clusters) > 2:
        raise BadInput(f"{len(options.clusters)} cluster files given: one is planned, two are compared")
    if not FEWEST_DRAWS <= options.draws <= MOST_DRAWS:
        raise BadInput(f"--draws {options.draws}: must be from {FEWEST_DRAWS} to {MOST_DRAWS}")
    if not 0 <= options.seed < 2**63:
        raise BadInput(f"--seed {options.seed}: must be from 0 to 2^63 - 1")
    try:
        if len(options.clusters) == 2:
            return _compare(options)
        return _report(options) if options.out is not None else _print(options)
    except OSError as error:
        return blocked(error, options.out)
    except RuntimeError as error:
        return fail(str(error))


def planned(path, draws=DRAWS, seed=SEED, anonymise=False):
    """Return the plan of a cluster file as plain values, rounded: what ``plan.json`` holds."""
    from reliability import plan_document
    from reliability.aliases import Names
    from reliability.page import rounded

    return rounded(plan_document.document(_made(path, draws, seed, Names(anonymise))))


def compared(first, second, draws=DRAWS, seed=SEED, anonymise=False):
    """Return the comparison of two cluster files as plain values, rounded: what ``compare.json`` holds."""
    from reliability import plan_compare
    from reliability.aliases import Names
    from reliability.page import rounded

    names = Names(anonymise)
    return rounded(plan_compare.compare(*(_made(path, draws, seed, names) for path in (first, second))))


def _made(path, draws, seed, names):
    from reliability import plan
    from reliability.cluster import read

    return plan.make(_unnamed(lambda: read(path), path, names.hidden), draws, seed, names=names)


def _unnamed(read, path, hidden):
    """Read a cluster file; with aliases an error does not say where it lies."""
    from reliability.text import escaped

    try:
        return read()
    except BadInput as error:
        if not hidden:
            raise
        said = str(error).replace(escaped(path), "cluster.toml")
        if "cannot be read" in said:
            said = said.split("; did you mean ")[0]  # nor what other files are called
        raise BadInput(said) from None


def _print(options):
    from reliability import plan_terminal

    found = planned(options.clusters[0], options.draws, options.seed, options.anonymise)
    _show(found, plan_terminal.plan(found), options.json)
    return 0


def _show(found, text, as_json):
    if as_json:
        import json

        # In ASCII: what a terminal's encoding does not have is printed as an escape of Python's, which JSON may not know.
        text = json.dumps(found, indent=1, allow_nan=False) + "\n"
    sys.stdout.write(text)


def _compare(options):
    from reliability import plan_terminal

    found = compared(*options.clusters, options.draws, options.seed, options.anonymise)
    if options.out is None:
        _show(found, plan_terminal.comparison(found), options.json)
        return 0
    from pathlib import Path

    from reliability.report import as_json
    from reliability.staging import publish, staging

    with staging(Path(options.out)) as folder:
        (folder / "compare.json").write_text(as_json(found), encoding="utf-8")
        (folder / "compare.md").write_text(plan_terminal.comparison(found), encoding="utf-8")
        written = publish(folder, Path(options.out))
    _left(found, plan_terminal.comparison_short(found), written, options.json)
    return 0


def _left(found, text, files, as_json):
    """Print what is in the files that were left, in short, and their names; with JSON, that alone."""
    _show(found, text + "".join(f"{file}\n" for file in files), as_json)


def _report(options):
    import json

    from reliability import plan_terminal
    from reliability.plan_report import write

    path, hidden = options.clusters[0], options.anonymise
    done = _unnamed(lambda: write(path, options.out, options.draws, options.seed, hidden), path, hidden)
    for warning in done.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    (written,) = (file for file in done.files if file.name == "plan.json")
    found = json.loads(written.read_text(encoding="utf-8"))
    _left(found, plan_terminal.short(found), done.files, options.json)
    return 0
