"""``python -m reliability run PAGE -p NAME VALUE --out DIR``: a page under parameters of one's own."""

import sys

from reliability.commands.failed import blocked, fail
from reliability.commands.options import add_out
from reliability.errors import BadInput
from reliability.scenarios import PAGES, TEMPLATES


def add(commands):
    """Add the command to argparse's subparsers."""
    parser = commands.add_parser(
        "run",
        help="run a page of the book under parameters of your own",
        description="Run a page under parameters of your own. Leaves in DIR the executed notebook, one HTML file that "
        "opens offline, and the results as JSON: PAGE.ipynb, PAGE.html, PAGE.json.",
    )
    parser.add_argument("page", metavar="PAGE", help=", ".join(PAGES + TEMPLATES))
    parser.add_argument(
        "-p",
        "--parameter",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "VALUE"),
        help="a parameter and its value; may be repeated; the others stay as they are in the book",
    )
    add_out(parser, "the three files")


def main(options):
    """Run a page; return the exit status."""
    given = {}
    for name, value in options.parameter:
        if name in given:
            raise BadInput(f"parameter {name} is given twice")
        given[name] = value
    try:
        from reliability.report import run_page

        done = run_page(options.page, given, options.out)
    except RuntimeError as error:  # a cell that failed
        return fail(str(error))
    except OSError as error:  # a disk that is full
        return blocked(error, options.out)
    for warning in done.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    for file in done.files:
        print(file)
    return 0
