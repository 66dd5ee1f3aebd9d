"""``python -m reliability sweep GRID.toml --out DIR``: a grid of cluster settings, simulated point by point."""

import sys

from reliability.commands.failed import blocked, fail
from reliability.commands.options import add_out, add_place
from reliability.commands.place import place


def add(commands):
    """Add the command to argparse's subparsers."""
    parser = commands.add_parser(
        "sweep",
        help="simulate a grid of cluster settings",
        description="Simulate each point of a grid of cluster settings. Leaves in DIR the results as sweep.parquet and "
        "sweep.csv, and a picture, sweep.svg. Interrupted, it takes up where it stopped when it is run again.",
    )
    parser.add_argument("file", metavar="GRID.toml", help="a grid file: a cluster file, and the settings that vary")
    add_out(parser, "the results")
    parser.add_argument(
        "--reports",
        action="store_true",
        help="make the page of each point as well, in DIR/reports; that takes some ten seconds each",
    )
    add_place(parser)


def main(options):
    """Run a sweep; return the exit status: 1 where a point or a report could not be made, 130 where it was interrupted."""
    from reliability import distribute, grid, sweep
    from reliability.commands.progress import bar

    distribute.check_target(options.workers, options.scheduler)
    read = grid.read(options.file)
    try:
        if options.reports:
            from reliability import sweep_reports

            sweep_reports.check()
        with place(options) as client:  # first: to check the points may take minutes
            with bar(" points", "checking") as progress:
                members = sweep.points(read, progress)
            reports = sweep_reports.members(read, members, options.out) if options.reports else []
            with sweep.store(options.out) as kept:
                return _run(options, read, members, reports, kept, client)
    except distribute.WorkLost as error:
        return fail(str(error))
    except OSError as error:
        return blocked(error, options.out)


def _run(options, read, members, reports, kept, client):
    """Simulate what is not kept yet, and make the reports that are asked for; return the exit status."""
    from reliability import sweep, sweep_table
    from reliability.commands.progress import bar, compiling
    from reliability.figures.sweep import draw

    if before := sum(point.key in kept.done for point in members):
        print(f"{before:,} of {len(members):,} points are done already", file=sys.stderr)
    try:
        with compiling(), bar(" points") as progress:
            sweep.run(read, members, kept, client, progress)
        results = sweep_table.table(members, kept)
        for file in [*sweep_table.write(results, options.out), draw(results, read.axes, options.out)]:
            print(file)
        said = [sweep.not_simulated(members, kept), _make(options, reports, kept, client)]
        return fail(". ".join(filter(None, said))) if any(said) else 0
    except KeyboardInterrupt:
        done = [f"{sum(point.key in kept.done for point in members):,} of {len(members):,} points"]
        if reports:
            wanted, _ = _of_simulated(reports, kept)
            done.append(f"{sum(member.folder.is_dir() for member in wanted):,} of {len(wanted):,} reports")
        print(f"interrupted: {' and '.join(done)} are kept; the same command goes on", file=sys.stderr)
        return 130


def _of_simulated(reports, kept):
    """Return the reports without those of points that could not be simulated, and of those, by their folders, why."""
    from reliability.sweep import ERROR

    why = {member.folder: kept.done.get(member.point.key, {}).get(ERROR) for member in reports}
    without = {folder: reason for folder, reason in why.items() if reason}
    return [member for member in reports if member.folder not in without], without


def _make(options, reports, kept, client):
    """Make the reports of the points that could be simulated; return what to say of those that could not be made."""
    if not reports:
        return ""
    from reliability import sweep_reports
    from reliability.commands.progress import bar

    wanted, without = _of_simulated(reports, kept)
    with bar(" reports") as progress:
        failed = sweep_reports.run(wanted, client, progress)
    print(sweep_reports.write_table(reports, failed | without, options.out))
    if not failed:
        return ""
    first = next(member for member in wanted if member.folder in failed)
    return (
        f"{len(failed):,} of {len(wanted):,} reports could not be made; {sweep_reports.TABLE} says why. "
        f"At {sweep_reports.label(first.point.settings)}: {failed[first.folder]}"
    )
