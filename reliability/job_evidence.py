"""What the job's own logs say, for its plan: which ranks are slow and what that costs, and what the job kept."""

import numpy as np

from reliability.errors import ClusterError
from reliability.log_evidence import concealed, told
from reliability.log_keys import there
from reliability.log_reads import stamp
from reliability.logs.notes import LogError
from reliability.plan_words import many
from reliability.units import HOUR_S
from reliability.unknowns import Unknown

BLOCKS = 20  # of steps, that are drawn anew for the uncertainty of what slow ranks cost
MOST_ROWS = 12  # of a table that lists nodes or ranks


def step_times(cluster, streams, names, reads):
    """Find slow ranks in step times, and draw what they cost.

    Returns
    -------
    (drag, about, unknown)
        `drag` [draws]: by which share the steps of the log were longer than without the slow ranks.
    """
    from reliability import slow_ranks
    from reliability.logs.step_times import read_steps

    path, key = cluster.stragglers.step_times, "stragglers.step_times"
    file = there(cluster, path, key, names)
    try:
        times = reads.once(("steps", stamp(file)), lambda: read_steps(file))
        found = reads.once(("slow", stamp(file)), lambda: slow_ranks.find(times))
    except LogError as error:
        raise concealed(error, key, names, path) from None
    except ValueError as error:
        raise ClusterError(f"{key}: {names.file(path)}: {told(error, names)}") from None
    if times.nodes:
        names.learn(nodes=times.nodes.values())
    rows = [
        [
            names.node(f.node)
            if f.node
            else f"rank {f.rank if f.rank is not None else ', '.join(map(str, f.ranks[:8]))}",
            str(f.since_step),
            f"{f.ratio:.2f}",
            f.kind,
        ]
        for f in found.slow[:MOST_ROWS]
    ]
    lines, unknown = [], []
    if found.job_slow:
        lines.append(
            f"{many(len(found.job_slow), 'period')} in which all ranks were slow alike: which one made the others wait cannot be said."
        )
        unknown.append(
            Unknown(
                "which rank made all others wait",
                "such periods count as ordinary ones",
                "the time of each rank before its collective",
            )
        )
    if found.smallest is not None:
        lines.append(f"A rank that is slower by less than {100 * found.smallest:.1f}% would not be seen.")
    drag, at_end = _drag(times, found, streams)
    if found.slow:
        lines.append(
            f"Over the whole log slow ranks made the steps longer by {100 * float(np.median(drag)):.1f}%, over its last twentieth by {100 * at_end:.1f}%; the plan takes the former."
        )
    about = {
        "file": names.file(path),
        "said": f"{len(times.steps):,} steps of {len(times.ranks):,} ranks; {len(found.slow) or 'no'} slow.",
        "header": ["slow", "since step", "times its peers", "kind"],
        "rows": rows,
        "align": "lrrl",
        "lines": lines,
        "slow": [{"since_step": _step(f.since_step), "ratio": f.ratio, "kind": f.kind} for f in found.slow],
    }
    return drag, about, unknown


def _step(step):
    return step if isinstance(step, int | str) or step is None else int(step)


def _drag(times, found, streams):
    """How much longer the steps were than without the slow ranks, blocks of steps drawn anew [draws]; and in the last block."""
    slow = {rank for f in found.slow for rank in f.ranks}
    columns = np.array([rank in slow for rank in times.ranks])
    if not columns.any() or columns.all():
        return np.zeros(streams.draws), 0.0
    order = {step: i for i, step in enumerate(times.steps)}
    kept = np.ones(len(times.steps), dtype=bool)
    for first, last, *_ in found.excluded:
        kept[order.get(first, 0) : order.get(last, -1) + 1] = False
    seconds = np.asarray(times.seconds)[kept]
    seconds = seconds[~np.isnan(seconds[:, ~columns]).all(axis=1)]
    if not len(seconds):
        return np.zeros(streams.draws), 0.0
    every, without = np.nanmax(seconds, axis=1), np.nanmax(seconds[:, ~columns], axis=1)
    blocks = np.array_split(np.arange(len(every)), min(BLOCKS, len(every)))
    sums = np.array([[every[b].sum(), without[b].sum()] for b in blocks])
    drawn = streams.generator("slowdown").integers(len(sums), size=(streams.draws, len(sums)))
    with_slow, healthy = sums[drawn].sum(axis=1).T
    return np.maximum(0.0, with_slow / healthy - 1), float(sums[-1, 0] / sums[-1, 1] - 1)


def training(cluster, names, reads):
    """Return what the job's own log says of its time."""
    from reliability import goodput_log
    from reliability.logs.training import read_training

    path, key = cluster.training.log, "training.log"
    file = there(cluster, path, key, names)
    try:
        kind = cluster.training.format
        log = reads.once(("training", stamp(file), kind), lambda: read_training(file, kind))
        account = goodput_log.account(log)
    except LogError as error:
        raise concealed(error, key, names, path) from None
    about = {
        "file": names.file(path),
        "format": log.framework,
        "said": f"{many(len(log.points), 'point')}, {many(len(log.segments), 'start')}.",
        "goodput": None,
        "lines": [],
    }
    if account is None:
        about["lines"].append("It has no stamps, so that it does not say where the time went.")
        return about
    hours = account.wall_s / HOUR_S
    about |= {
        "goodput": account.goodput,
        "interruptions": account.interruptions,
        "wall_h": hours,
        "repeated_steps": account.repeated_steps,
    }
    about["lines"].append(
        f"Of {hours:,.1f} h the job turned {100 * account.goodput:.1f}% into steps that count, with {account.interruptions:,} interruptions and {account.repeated_steps:,} steps made anew: "
        "hold the model's ETTR against it."
    )
    return about
