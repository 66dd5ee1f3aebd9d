"""``python -m reliability spikes FILE``: alarms of the guards on loss and gradient norm in a training log."""

import textwrap

from reliability.commands.answer import answer

SCHEMA, VERSION = "training-reliability/spikes", 1
WIDTH, SHOWN = 80, 20
NOTABLE = 3.0  # times the median: a rise below the threshold that is worth a second look
EXPLAINED = (
    "Highest quiet: the largest value that was no alarm, in medians of the last {window} points (alarm above {threshold:g}). "
    "5x seen: share of the points at which a value five times too large would have been an alarm."
)


def add(commands):
    """Add the command to argparse's subparsers."""
    parser = commands.add_parser(
        "spikes",
        help="run the spike guard over a training log",
        description="Run the guard on loss and gradient norm over a training log: Megatron-LM, DeepSpeed, torchtitan, NeMo, "
        "Hugging Face's Trainer, llm.c, or a table (CSV, JSON lines) with step and loss.",
    )
    parser.add_argument("file", metavar="FILE", help="training log")
    # The numbers are log_guard's THRESHOLD and WINDOW; to import them here would slow every other command down.
    parser.add_argument(
        "--threshold", type=float, metavar="X", help="alarm above X times the rolling median (default 4)"
    )
    parser.add_argument("--window", type=int, metavar="N", help="points that the median is over (default 50)")
    parser.add_argument(
        "--format", default="auto", metavar="NAME", help="auto, table, or a framework's name, such as megatron"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def main(options):
    """Read, guard, print; return the exit status."""
    from reliability.commands.reading import near

    def work():
        return analysed(options.file, options.threshold, options.window, options.format)

    return answer(options, work, as_json, as_text, hint=lambda: near(options.file))


def analysed(path, threshold=None, window=None, format="auto"):
    """Return (TrainingLog, Guarded, Account or None) of a file."""
    from reliability import goodput_log, log_guard
    from reliability.commands import progress
    from reliability.logs.training import read_training

    threshold = log_guard.THRESHOLD if threshold is None else threshold
    window = log_guard.WINDOW if window is None else window
    with progress.reading(path):
        log = read_training(path, format)
    return log, log_guard.guard(log, threshold, window), goodput_log.account(log)


def as_json(log, found, account):
    """Return what was found as a JSON object: see the page on the command line."""
    from dataclasses import asdict

    from reliability.page import rounded

    good = log.good_checkpoint()
    last = int(log.points.step[log.points.kept].max()) if log.points.kept.any() else None
    poisoned = sorted(log.checkpoints.step[log.checkpoints.verdict == "poisoned"].tolist())
    return rounded(
        {
            "schema": SCHEMA,
            "version": VERSION,
            "file": log.source,
            "framework": log.framework,
            "points": len(log.points),
            "steps": len(log.final()),
            "interval": log.interval,
            "segments": [{k: s[k] for k in ("first", "last", "resumed_from")} for s in log.segments],
            "loss_alarms": found.loss.alarms,
            "gradient_alarms": found.gradient.alarms,
            "abandoned_loss_alarms": found.loss.abandoned,
            "abandoned_gradient_alarms": found.gradient.abandoned,
            "first_nan": first_nan(log),
            "nan_steps": found.nan,
            "abandoned_nan_steps": found.abandoned_nan,
            "dead_steps": found.dead,
            "skipped_steps": found.skipped,
            "checkpoints": {"newest_good": good, "poisoned": poisoned},
            "lost_if_rolled_back": last - good if found.nan and good is not None else None,
            "validation": log.validation[["step", "loss"]].to_dict("records"),
            "threshold": found.threshold,
            "window": found.window,
            "guarded_since": {"loss": found.loss.since, "gradient": found.gradient.since},
            "seen_of_5x": {"loss": found.loss.seen, "gradient": found.gradient.seen},
            "account": None if account is None else asdict(account),
            "notes": [
                {"kind": n.kind, "reason": n.reason, "count": n.count, "lines": list(n.lines)} for n in log.notes
            ],
        }
    )


def first_nan(log):
    """Where the first NaN that was not abandoned shows: the step, the steps it may have come in, and the field."""
    odd = log.points[(log.points.nan_field != "") & log.points.kept]
    if not len(odd):
        return None
    first = odd.loc[odd.step.idxmin()]
    return {
        "step": int(first.step),
        "began_between": [int(first.step - first.interval + 1), int(first.step)],
        "field": first.nan_field,
    }


def as_text(log, found, account):
    """Return the tables and sentences that a person reads."""
    from reliability.logs.training_formats import NAMES
    from reliability.text import escaped, table

    final = log.final()
    every = f", a point every {log.interval} steps" if (log.interval or 1) > 1 else ""
    steps = f"steps {final.step.min()} to {final.step.max()}" if len(final) else "no step that counts"
    parts = [escaped(f"{log.source}: {NAMES[log.framework]}, {len(log.points):,} points{every}, {steps}.")]
    rows = [_row("loss", found.loss), _row("gradient norm", found.gradient)]
    parts.append(table(["guard", "points", "alarms", "highest quiet", "5x seen"], rows))
    if any(one.highest is not None for one in (found.loss, found.gradient)):
        parts.append(EXPLAINED.format(window=found.window, threshold=found.threshold))
    for name, one in (("loss", found.loss), ("gradient norm", found.gradient)):
        if one.alarms:
            parts.append(f"Alarms of the {name}: step {_listed(one.alarms)}.")
        elif one.alarms is None:
            parts.append(f"The {name} was not judged: {one.why}.")
        if one.abandoned:
            parts.append(f"Alarms of the {name} in steps that a restart made anew: {_listed(one.abandoned)}.")
        if one.alarms is not None and one.since is None:
            parts.append(
                f"With {one.points} points and a median over {found.window} the guard on the {name} is warming up throughout: "
                "only values that are not a number alarm."
            )
    if (nan := first_nan(log)) is not None:
        a, b = nan["began_between"]
        when = f"step {b}" if a == b else f"steps {a} to {b}"
        parts.append(f"Not a number since {when} (shown by: {nan['field'].replace('_', ' ')}).")
    if found.dead:
        parts.append(f"A loss of exactly 0 at step {_listed(found.dead)}: a dead run, not a perfect one.")
    parts += _checkpoints(log, found)
    if len(log.segments) > 1:
        text = "; ".join(f"{s['first']}-{s['last']}" + _from(s) for s in log.segments[:8])
        parts.append(f"{len(log.segments) - 1} restart(s): steps {text}{'; …' if len(log.segments) > 8 else ''}.")
    if account is not None and account.wall_s > 0:
        parts.append(
            f"Of {account.wall_s:,.0f} s, {account.goodput:.1%} went into steps that count ({account.useful_steps}), "
            f"{account.lost_s:,.0f} s into {account.repeated_steps} steps done again, {account.tail_s:,.0f} s into work since the "
            f"last printed step, {account.down_s:,.0f} s down, {account.slow_start_s:,.0f} s into slow first intervals, "
            f"{abs(account.other_s):,.0f} s between steps. An ordinary step takes {account.steady_step_s:.4g} s."
        )
    if log.notes:
        parts += _notes(log.notes)
    parts.append("Next: " + _next(log, found))
    return "\n\n".join(part if part.startswith("|") else textwrap.fill(part, WIDTH) for part in parts)


def _row(name, one):
    alarms = "unknown" if one.alarms is None else f"{len(one.alarms):,}"
    highest = "unknown" if one.highest is None else f"{one.highest:.2f}x"
    return [name, f"{one.points:,}", alarms, highest, "unknown" if one.seen is None else f"{one.seen:.0%}"]


def _listed(steps):
    more = f", and {len(steps) - SHOWN} more" if len(steps) > SHOWN else ""
    return ", ".join(map(str, steps[:SHOWN])) + more


def _from(segment):
    return "" if segment["resumed_from"] is None else f" from {segment['resumed_from']}"


def _checkpoints(log, found):
    if not len(log.checkpoints):
        return []
    good, verdicts = log.good_checkpoint(), log.checkpoints.verdict
    kept = log.points.step[log.points.kept]
    # The loss of a step is computed before its update: only a later point shows what was saved.
    alone = "" if good is None or (len(kept) and kept.max() > good) else ", by its own step; no later point shows it"
    text = [f"Newest checkpoint known to be good: {'none' if good is None else good}{alone}."]
    later = sorted(step for step in log.checkpoints.step[verdicts == "unknown"].tolist() if good is None or step > good)
    if later:
        text.append(f"Of {_listed(later)} it is not known: no later point shows it.")
    if (verdicts == "poisoned").any():
        steps = sorted(log.checkpoints.step[verdicts == "poisoned"].tolist())
        text.append(f"Poisoned, written after the NaN: {_listed(steps)}.")
    if found.nan and good is not None:
        last = int(log.points.step[log.points.kept].max())
        text.append(f"Rolling back to {good} from {last} loses {last - good} steps.")
    return [" ".join(text)]


def _next(log, found):
    """The next step; a loss that rose without an alarm is worth a lower threshold."""
    good = log.good_checkpoint()
    if found.nan or found.dead:
        return "stop the run and go back " + (
            f"to checkpoint {good}." if good is not None else "to a checkpoint from before the NaN."
        )
    if found.loss.alarms or found.gradient.alarms:
        return "compare the batches and the ranks at the alarms; a repeat on other ranks tells data from hardware."
    high = found.loss.highest
    if high is not None and NOTABLE < high <= found.threshold:
        return f"the loss rose to {high:.2f} times its median without an alarm: --threshold {NOTABLE:g} shows where."
    return "nothing alarmed; keep the guard on, with a threshold below the factor that it is to find."


def _notes(notes):
    from reliability.text import escaped

    """What was dropped, merged, assumed or is unknown, a sentence each."""
    return [escaped(f"{str(one)[0].upper()}{str(one)[1:]}.") for one in notes]
