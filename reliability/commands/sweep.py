"""``python -m reliability sweep GRID.toml --out DIR``: a grid of cluster settings, simulated point by point."""

import sys
from contextlib import ExitStack

from reliability.commands.simulate import add_place


def add(commands):
    """Add the command to argparse's subparsers."""
    parser = commands.add_parser(
        "sweep",
        help="simulate a grid of cluster settings",
        description="Simulate each point of a grid of cluster settings. Leaves in DIR the results as sweep.parquet and "
        "sweep.csv, and a picture, sweep.svg. Interrupted, it takes up where it stopped when it is run again.",
    )
    parser.add_argument("file", metavar="GRID.toml", help="a grid file: a cluster file, and the settings that vary")
    parser.add_argument("--out", metavar="DIR", required=True, help="folder for the results")
    add_place(parser)


def main(options):
    """Run a sweep; return the exit status."""
    from reliability import distribute, grid, sweep
    from reliability.commands.progress import bar
    from reliability.commands.run import fail

    distribute.check_target(options.workers, options.scheduler)
    read = grid.read(options.file)
    members = sweep.points(read)
    with ExitStack() as stack:
        kept = stack.enter_context(sweep.store(options.out))
        if before := sum(point.key in kept.done for point in members):
            print(f"{before:,} of {len(members):,} points are done already", file=sys.stderr)
        client = stack.enter_context(distribute.place(options.workers, options.scheduler))
        progress = stack.enter_context(bar(" points"))
        try:
            sweep.run(read, members, kept, client, progress)
            results = sweep.table(members, kept)
            files = sweep.write_table(results, options.out)
        except (distribute.WorkLost, OSError) as error:
            return fail(str(error))
        except KeyboardInterrupt:
            done = sum(point.key in kept.done for point in members)
            print(f"interrupted: {done:,} of {len(members):,} points are kept; the same command goes on", file=sys.stderr)
            return 130
    from reliability.figures.sweep import draw

    files.append(draw(results, read.axes, options.out))
    for file in files:
        print(file)
    return 0
