"""``python -m reliability incidents FILE``: the failure rates in a log, how sure they are, and whether their assumptions hold."""

import textwrap

from reliability.commands.answer import answer

SCHEMA, VERSION = "training-reliability/incidents", 1
WIDTH, SYSTEM_WIDTH = 80, 12


def add(commands):
    """Add the command to argparse's subparsers."""
    from reliability.commands.reading import add_reading

    parser = commands.add_parser(
        "incidents",
        help="fit failure rates to a log, and test their assumptions",
        description="Read a log of failures (CSV, Parquet, sacct --parsable2, Xid lines, Kubernetes events, LANL's release), "
        "fit rates and repair times, and test what they assume.",
    )
    add_reading(parser)
    parser.add_argument("--gpus-per-node", type=int, metavar="N", help="to give rates per GPU as well")
    parser.add_argument(
        "--together-s",
        type=float,
        default=0.0,
        metavar="S",
        help="incidents so many seconds apart began together (default 0)",
    )


def main(options):
    """Read, fit, print; return the exit status."""
    return answer(options, lambda: fitted(options), as_json, as_text)


def fitted(options):
    """Return (Incidents, list of (system or None, Fit))."""
    from reliability import calibrate
    from reliability.commands.reading import read

    log = read(options)
    more = {"gpus_per_node": options.gpus_per_node, "together_s": options.together_s}
    return log, calibrate.fit_systems(log, nodes=options.nodes, **more)


def as_json(log, fits):
    """Return what was found as a JSON object: see the page on the command line."""
    from reliability.fit_document import document
    from reliability.page import rounded

    return rounded({"schema": SCHEMA, "version": VERSION, **document(log, fits)})


def as_text(log, fits):
    """Return the tables and sentences that a person reads."""
    from reliability import fit_tables
    from reliability.commands.reading import as_options
    from reliability.text import counted, escaped

    parts = [
        f"{escaped(log.source)} ({log.format}): {counted(log.rows, 'row')}, {counted(len(log), 'incident')}, "
        f"{log.dropped:,} dropped."
    ]
    parts += [escaped(f"{str(one)[0].upper()}{as_options(str(one)[1:])}.") for one in log.notes]
    parts += _merging_text(log, fits)
    for name, fit in fits:
        if name is not None:
            parts.append(f"System {escaped(name)}")
        parts += fit_tables.parts(fit)
    if log.jobs is not None:
        parts += _job_sizes(log)
    parts.append("Next: " + _next(log, fits))
    return "\n\n".join(part if part.startswith("|") else textwrap.fill(part, WIDTH) for part in parts)


def _merging_text(log, fits):
    """How many rows of each system repeat another or overlap it, and what that does to the mean time between incidents."""
    from reliability.fit_document import merging
    from reliability.text import escaped, table

    rows = []
    for (name, fit), (_, part) in zip(fits, log.by_system(), strict=True):
        found = merging(part, fit)
        if found["before_merging"]:
            counts = [found[key] for key in ("rows", "overlaps", "duplicates")]
            mtbf = [found["before_merging"]["mtbf_h"], fit.mtbf_h[0] if fit.mtbf_h else None]
            rows.append(
                [escaped(name or "all")[:SYSTEM_WIDTH]]
                + [f"{count:,}" for count in [*counts, fit.incidents]]
                + ["-" if hours is None else f"{hours:,.4g}" for hours in mtbf]
            )
    if not rows:
        return []
    return [
        table(["system", "rows", "overlaps", "duplicates", "incidents", "MTBF before", "after"], rows),
        "Overlaps are further outages of a node that was down already; duplicates are those of them that repeat a row in "
        "every field. MTBF: hours between incidents of the whole system, before they are merged and after.",
    ]


def _job_sizes(log):
    from reliability.logs.job_sizes import mttf_by_size
    from reliability.text import table

    try:
        sizes = mttf_by_size(log)
    except ValueError:
        return []
    rows = [
        [
            f"{int(s.size):,}" if s.size < 3 else f"{int(s.above) + 1:,} to {int(s.size):,}",
            f"{s.runs:,}",
            f"{s.run_hours:,.4g}",
            f"{s.failures:,}",
            _hours(s.mttf_h),
            _hours(s.low_h),
            _hours(s.high_h),
        ]
        for s in sizes.itertuples()
    ]
    by = sizes["by"].iloc[0] if len(sizes) else "nodes"
    return (
        [
            table([by, "runs", "hours", "failures", "MTTF h", "from", "to"], rows),
            "Mean time to failure of jobs by size.",
        ]
        if rows
        else []
    )


def _hours(value):
    return "-" if value != value else f"{value:,.4g}"


def _next(log, fits):
    if log.jobs is None and any(fit.nodes is None for _, fit in fits):
        return "give --nodes for rates per node, and --observed-from and --observed-to for the window."
    if any(not fit.window_known for _, fit in fits):
        return "give --observed-from and --observed-to, or the quiet time before the first and after the last incident is left out."
    return (
        "python -m reliability backtest FILE says how well such a record predicts; a cluster file with it makes a plan."
    )
