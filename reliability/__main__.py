"""The command line: ``python -m reliability run PAGE -p NAME VALUE --out DIR`` and ``python -m reliability demo``."""

import argparse
import os
import signal
import sys

from reliability import __version__
from reliability.scenarios import PAGES, PUBLISHED

EXTRA = "pip install 'training-reliability[run]'"
EPILOG = """\
examples:
  python -m reliability run availability -p cold_mttr_min 30 --out mine
  python -m reliability run checkpoint -p write_s 60 -p step_s 12.5 --out mine
  python -m reliability demo --scenario 2
"""


def parser():
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="python -m reliability",
        description="The numbers behind keeping large AI training jobs alive.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"training-reliability {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    run = commands.add_parser(
        "run",
        help="run a page of the book under parameters of your own",
        description="Run a page under parameters of your own. Leaves in DIR the executed notebook, one HTML file that "
        "opens offline, and the results as JSON: PAGE.ipynb, PAGE.html, PAGE.json.",
    )
    run.add_argument("page", metavar="PAGE", help=", ".join(PAGES))
    run.add_argument(
        "-p",
        "--parameter",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "VALUE"),
        help="a parameter and its value; may be repeated; the others keep their published values",
    )
    run.add_argument("--out", metavar="DIR", required=True, help="folder for the three files")

    demo = commands.add_parser(
        "demo",
        help="print the five scenarios with every published figure, as Markdown",
        description="Print the five scenarios with every published figure, as Markdown.",
    )
    numbers = range(1, len(PUBLISHED) + 1)
    demo.add_argument("--scenario", type=int, choices=numbers, metavar="N", help="only scenario N, 1 to 5")
    return top


def run(options):
    """Run a page; return the exit status."""
    from reliability.arguments import BadInput

    given = {}
    for name, value in options.parameter:
        if name in given:
            return refuse(f"parameter {name} is given twice")
        given[name] = value
    try:
        from reliability.report import run_page

        done = run_page(options.page, given, options.out)
    except BadInput as error:
        return refuse(str(error))
    except ModuleNotFoundError as error:
        return fail(f"{error.name} is not installed, which running a page needs: {EXTRA}")
    except (RuntimeError, OSError) as error:  # a cell that failed, a disk that is full
        return fail(str(error))
    for warning in done.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    for file in done.files:
        print(file)
    return 0


def demo(options):
    """Print the scenarios; return the exit status."""
    from reliability.scenarios import demo as text

    sys.stdout.write(text(options.scenario))
    return 0


def refuse(message):
    """Say what is wrong with the request; return 2, as argparse does."""
    print(f"error: {message}", file=sys.stderr)
    return 2


def fail(message):
    """Say why the request could not be met; return 1."""
    print(f"error: {message}", file=sys.stderr)
    return 1


def main(arguments=None):
    """Run the command line; return the exit status."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that temporary files are cleaned up then, too
    try:
        try:
            options = parser().parse_args(arguments)
            return {"run": run, "demo": demo}[options.command](options)
        finally:
            sys.stdout.flush()  # here, not at exit, where a closed pipe could no longer be caught
    except BrokenPipeError:
        # Whoever read the output has had enough of it; Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
