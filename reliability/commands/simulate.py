"""``python -m reliability simulate CLUSTER.toml``: the whole job, many times over, and where its hours go."""

import argparse
import json

from reliability.commands.options import add_place


def replications(text):
    """Return the number of replications that an argument stands for, or "auto"."""
    if text == "auto":
        return text
    if text.isdecimal() and 1 <= int(text) <= 1_000_000:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r}: must be auto or a whole number from 1 to 1,000,000")


def seed(text):
    """Return the seed that an argument stands for."""
    if text.isdecimal() and int(text) < 2**63:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r}: must be a whole number from 0 to 2^63 - 1")


def add(commands):
    """Add the command to argparse's subparsers."""
    parser = commands.add_parser(
        "simulate",
        help="simulate the whole job on its fleet",
        description="Simulate the whole job on its fleet: failures, repair, standbys, checkpoints and what they cost. "
        "The same seed gives the same numbers, wherever they are computed.",
    )
    parser.add_argument("file", metavar="CLUSTER.toml", help="a cluster file, or one with a [fleet] table")
    parser.add_argument(
        "--replications",
        type=replications,
        default="auto",
        metavar="N",
        help="how many times the job is run; auto, the default, until the mean is known to half a percent",
    )
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="seed of the random numbers; 1 by default")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    add_place(parser)


def main(options):
    """Simulate; return the exit status: 0; 130 where it was interrupted, 1 where its work was lost, and prints what it has."""
    from reliability import distribute, fleet_document, fleet_runs, fleet_text, signals
    from reliability.commands.failed import fail
    from reliability.commands.place import place
    from reliability.commands.progress import bar, compiling

    distribute.check_target(options.workers, options.scheduler)
    config, at_medians = fleet_document.read_with_kind(options.file)

    def show(result):
        if options.json:
            print(json.dumps(fleet_text.as_json(result, config, options.seed), indent=1, allow_nan=False), flush=True)
        else:
            print(fleet_text.as_text(result, config, at_medians=at_medians), flush=True)

    try:
        with place(options) as client:
            with compiling(), bar(" replications") as progress:
                result = fleet_runs.simulate(config, options.seed, options.replications, client, progress)
            with signals.unheard():  # an impatient second Ctrl-C would tear it
                show(result)
        return 130 if result.partial else 0
    except distribute.WorkLost as error:
        if error.done is not None:
            show(error.done)
        return fail(str(error))
