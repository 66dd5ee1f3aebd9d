"""``python -m reliability demo``: the five scenarios with every published figure, as Markdown."""

import sys

from reliability.scenarios import PUBLISHED


def add(commands):
    """Add the command to argparse's subparsers."""
    parser = commands.add_parser(
        "demo",
        help="print the five scenarios with every published figure, as Markdown",
        description="Print the five scenarios with every published figure, as Markdown.",
    )
    numbers = range(1, len(PUBLISHED) + 1)
    parser.add_argument("--scenario", type=int, choices=numbers, metavar="N", help="only scenario N, 1 to 5")


def main(options):
    """Print the scenarios; return the exit status."""
    from reliability.scenarios import demo

    sys.stdout.write(demo(options.scenario))
    return 0
