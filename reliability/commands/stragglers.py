"""``python -m reliability stragglers FILE``: which ranks are slow, since when, and what each costs."""

import textwrap

from reliability.commands.answer import answer

SCHEMA, VERSION = "training-reliability/stragglers", 1
WIDTH = 80
SHOWN = 20  # rows of a table
COMMUNICATION_SHARE = 0.01  # of a step; a link that is slower by less is not worth a finding
CANNOT = (
    "Those steps are slow on all ranks alike: these times cannot tell which rank, if any, is the cause, since each "
    "rank waits for the last one. The time before the collective (computing only) or the wait of each rank would tell."
)
BARRIER = (
    "Each step is as long on every rank: the times end at a collective, at which all ranks wait for the last one, and "
    "cannot tell which rank, if any, is slow. The time before it (computing only) or the wait of each rank would tell."
)


def add(commands):
    """Add the command to argparse's subparsers."""
    parser = commands.add_parser(
        "stragglers",
        help="find the slow ranks in a job's step times",
        description="Find the slow ranks in a job's step times: a CSV or Parquet file with the columns step, rank and "
        "seconds, or step and a column a rank, or a trace of operations.",
    )
    parser.add_argument("file", metavar="FILE", help="step times; - is not read, name a file")
    parser.add_argument(
        "--threshold",
        type=float,
        metavar="SHARE",
        help="smallest share above the other ranks that is slow (default: 3 deviations of an ordinary step, 0.05 to 0.10)",
    )
    parser.add_argument(
        "--ranks-per-node", type=int, metavar="N", help="consecutive ranks of a host, where FILE names none"
    )
    parser.add_argument("--decimal", choices=[".", ","], help="decimal sign, where FILE leaves it open")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def main(options):
    """Read, find, print; return the exit status."""
    from reliability.commands.reading import near

    def work():
        return analysed(options.file, options.threshold, options.ranks_per_node, options.decimal)

    return answer(options, work, as_json, as_text, hint=lambda: near(options.file))


def analysed(path, threshold=None, ranks_per_node=None, decimal=None):
    """Return (StepTimes, Findings) of a file."""
    from reliability.commands import progress
    from reliability.logs.step_times import read_steps
    from reliability.slow_ranks import find

    with progress.reading(path):
        times = read_steps(path, decimal=decimal)
        return times, find(times, threshold=threshold, ranks_per_node=ranks_per_node)


def as_json(times, found):
    """Return what was found as a JSON object: see the page on the command line."""
    from reliability.page import rounded

    real = times.unit != "norm"
    return rounded(
        {
            "schema": SCHEMA,
            "version": VERSION,
            "file": times.source,
            "steps": len(times.steps),
            "ranks": len(times.ranks),
            "slow": [_as_record(one, real) for one in found.slow],
            "fast": [_as_record(one, real) for one in found.fast],
            "job_slow": [{"since_step": a, "until_step": b, "ratio": r} for a, b, r in found.job_slow],
            "cannot_tell_which_rank": _cannot_tell(times, found),
            "excluded": [{"since_step": a, "until_step": b, "ratio": r, "why": why} for a, b, r, why in found.excluded],
            "undecided": found.undecided,
            "not_measured": {str(rank): phases for rank, phases in found.not_measured.items()},
            "slow_links": _slow_links(times, found),
            "normal_step_s": found.normal_step_s if real else None,
            "excluded_lost_s": found.pause_lost_s if real else None,
            "jitter": found.jitter,
            "threshold": found.threshold,
            "smallest_slowdown": found.smallest,
            "resolution": found.resolution,
            "notes": [
                {"kind": n.kind, "reason": n.reason, "count": n.count, "lines": list(n.lines)} for n in times.notes
            ],
        }
    )


def _as_record(one, real):
    return {
        "rank": one.rank,
        "ranks": list(one.ranks),
        "node": one.node,
        "since_step": one.since_step,
        "until_step": one.until_step,
        "ratio": one.ratio,
        "ratio_mean": one.ratio_mean,
        "kind": one.kind,
        "course": one.course,
        "phase": one.phase,
        "lost_s": one.lost_s if real else None,
        "episodes": one.episodes,
        "every": one.every,
    }


def _slow_links(times, found):
    """Links whose transfers take longer than others of the same stage by what shows in a step."""
    import numpy as np

    slow = []
    for (replica, stage), seconds in times.links.items():
        peers = np.median([v for (_, s), v in times.links.items() if s == stage])
        if seconds - peers >= COMMUNICATION_SHARE * found.normal_step_s and seconds > 1.1 * peers:
            slow.append({"replica": replica, "stage": stage, "ratio": seconds / peers, "excess_s": seconds - peers})
    return slow


def as_text(times, found):
    """Return the tables and sentences that a person reads."""
    from reliability.text import escaped, table

    parts = [escaped(f"{times.source}: {len(times.steps):,} steps, {len(times.ranks):,} ranks, {times.rows:,} rows.")]
    real = times.unit != "norm"
    if found.slow:
        rows = [_row(one, real) for one in found.slow[:SHOWN]]
        parts.append(table(["rank or node", "kind", "steps", "slower by", "costs"], rows, "llrrr"))
        if len(found.slow) > SHOWN:
            parts.append(f"and {len(found.slow) - SHOWN} more; --json lists all.")
        parts += [_where(one) for one in found.slow[:SHOWN] if one.phase]
        parts += [_period(one) for one in found.slow[:SHOWN] if one.every]
    else:
        parts.append("No slow rank.")
    for since, until, ratio in found.job_slow:
        parts.append(f"Steps {since} to {until} are {ratio - 1:.0%} slower on all ranks alike.")
    if found.job_slow:
        parts.append(CANNOT)
    elif _cannot_tell(times, found):
        parts.append(BARRIER)
    if found.fast:
        names = ", ".join(escaped(one.ranks[0]) for one in found.fast[:SHOWN])
        ratios = sorted(one.ratio for one in found.fast)
        parts.append(
            f"Unusually fast: rank {names} at {ratios[0]:.2f} to {ratios[-1]:.2f} times the others. They do less work or "
            "other work; the others are not slow for it."
        )
    parts += [escaped(text[0].upper() + text[1:]) + "." for text in found.undecided]
    if found.excluded:
        whole = ", ".join(_span(a, b) + f" ({why}, {r:.3g}x)" for a, b, r, why in found.excluded[:8])
        more = f", and {len(found.excluded) - 8} more" if len(found.excluded) > 8 else ""
        cost = f", {found.pause_lost_s:.4g} s in all" if real else ""
        parts.append(f"Left out, since slow on all ranks alike: step {whole}{more}{cost}.")
    for rank, phases in list(found.not_measured.items())[:SHOWN]:
        parts.append(escaped(f"Rank {rank}: {', '.join(phases)} not measured (unknown, not 0)."))
    if times.links:
        slow = _slow_links(times, found)
        text = ", ".join(f"replica {s['replica']} from stage {s['stage']} ({s['ratio']:.2f}x)" for s in slow)
        parts.append(f"Slow in communication, waiting taken out: {text or 'no link by 1% of a step or more'}.")
    parts.append(_seen(times, found, real))
    if times.notes:
        parts += _notes(times.notes)
    parts.append("Next: " + _next(times, found))
    return "\n\n".join(part if part.startswith("|") else textwrap.fill(part, WIDTH) for part in parts)


def _row(one, real):
    from reliability.text import escaped

    name = one.node if one.kind == "node" else one.ranks[0]
    name = escaped(
        f"{name} ({len(one.ranks)} ranks)" if one.kind == "node" else f"rank {name}" if isinstance(name, int) else name
    )
    kind = f"node, {one.course}" if one.kind == "node" else one.kind
    until = "end" if one.until_step is None else one.until_step
    cost = "unknown" if one.lost_s is None or not real else f"{one.lost_s:.4g} s"
    return [name[:30], kind, f"{one.since_step}-{until}", f"{one.ratio - 1:.0%}", cost]


def _where(one):
    from reliability.text import escaped

    return escaped(f"{_name(one)} is slow in {one.phase}.")


def _period(one):
    from reliability.text import escaped

    return escaped(
        f"{_name(one)} is slow in one of every {one.every} steps that are compared: what only it does then (saving, "
        "logging, a check) would explain it."
    )


def _name(one):
    return one.node or (f"Rank {one.ranks[0]}" if isinstance(one.ranks[0], int) else one.ranks[0])


def _cannot_tell(times, found):
    """Whether something may be slow and the times cannot say which rank."""
    return not found.slow and (bool(found.job_slow) or (found.alike and not times.phases))


def _span(first, last):
    return str(first) if first == last else f"{first}-{last}"


def _seen(times, found, real):
    if found.smallest is None:
        return f"One rank alone: slow steps can be told, a slow rank cannot. Normal step: {found.normal_step_s:.4g} s."
    normal = f"{found.normal_step_s:.4g}{' s' if real else ' (normalised)'}"
    if found.alike:
        return f"Normal step {normal}, on all ranks."
    text = (
        f"Normal step {normal}; a rank's ordinary step jitters by {found.jitter:.1%}. A rank that is slow throughout is "
        f"seen from {found.smallest:.0%} on; smaller slowdowns would not be named."
    )
    if found.resolution and found.resolution > found.jitter * found.normal_step_s:
        text += f" The times are printed in steps of {found.resolution:g}."
    return text


def _next(times, found):
    if any(one.kind == "node" for one in found.slow):
        return "look at the host first (power, cooling, network): all of its ranks are slow together."
    if any(one.kind == "drift" for one in found.slow):
        return (
            "look at what grows with time on that rank (temperature, memory, clocks) and replace it at the next stop."
        )
    if found.slow:
        return "test the rank alone (computing, then its links), and replace it if it is slow there too."
    if _cannot_tell(times, found):
        return "log the time before the collective, or the wait of each rank, and run this again."
    if found.undecided:
        return "compare with times from before the difference began, or from another job."
    return "nothing to do for the ranks; python -m reliability plan says what other levers are worth."


def _notes(notes):
    """What was dropped, merged, assumed or is unknown, a sentence each."""
    from reliability.text import escaped

    return [escaped(f"{str(one)[0].upper()}{str(one)[1:]}.") for one in notes]
