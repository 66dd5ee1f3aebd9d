"""``python -m reliability backtest FILE``: how well a log's past would have predicted its last part."""

import sys
import textwrap

from reliability.commands.answer import answer
from reliability.units import DAY_S

SCHEMA, VERSION = "training-reliability/backtest", 1
WIDTH = 80
HEADER = ("days", "of", "inside", "Poisson inside", "score", "Poisson score")

LEGEND = (
    "Inside: share of the windows whose outcome lay in its 90 % interval; right if it is within the band, where 95 % of "
    "forecasts with true 90 % lie. Score: mean interval score (width, and 20 times what is missed outside it); lower is "
    "better. Poisson: the naive forecast at the mean rate of all the past."
)
WHY = "python -m reliability incidents FILE says why a Poisson forecast fails; "
WHAT = "python -m reliability incidents FILE tests what a Poisson forecast assumes; "
PLAN = "a cluster file with this log makes a plan."
UNKNOWN, WINDOW = "when watching began and ended is unknown", "; --observed-from and --observed-to tell"
LONGER = "a longer record is needed to score forecasts; python -m reliability incidents FILE fits what there is."


def add(commands):
    """Add the command to argparse's subparsers."""
    from reliability.commands.reading import add_reading

    parser = commands.add_parser(
        "backtest",
        help="predict the last part of a log from what came before, and score it",
        description="Before each week and month in the last 30 % of the record, fit on the past alone, predict incidents and "
        "hours down with 90 % intervals, and score them against the naive Poisson forecast.",
    )
    add_reading(parser)


def main(options):
    """Read, backtest, print; return the exit status."""
    return answer(options, lambda: backtested(options), as_json, as_text)


def backtested(options):
    """Return (Incidents, list of (system or None, Backtest, Ettr or None))."""
    from reliability import backtest, ettr_backtest
    from reliability.commands import progress
    from reliability.commands.reading import read

    with progress.reading(options.file):
        log = read(options)
    parts, tests = log.by_system(), []
    if options.nodes is not None and options.nodes < 1:
        raise ValueError(f"--nodes {options.nodes}: must be at least 1")
    for i, (name, part) in enumerate(parts, 1):
        if sys.stderr.isatty() and len(parts) > 1:
            print(f"\rsystem {i} of {len(parts)}", end="" if i < len(parts) else "\n", file=sys.stderr, flush=True)
        nodes = part.nodes if options.nodes is None else options.nodes
        jobs = ettr_backtest.ettr_backtest(part.jobs) if part.jobs is not None and len(part.jobs) else None
        tests.append((name, backtest.of_incidents(part, nodes), jobs))
    return log, tests


def as_json(log, tests):
    """Return the scores as a JSON object: see the page on the command line."""
    from reliability.page import rounded

    systems = [
        {
            "name": log.source if name is None else name,
            "incidents": found.incidents,
            "days": (found.record_s[1] - found.record_s[0]) / DAY_S,
            "windows": [_window(window) for window in found.windows],
            "ettr": None if ettr is None else _ettr(ettr),
            "assumed": list(found.notes),
        }
        for name, found, ettr in tests
    ]
    head = {"schema": SCHEMA, "version": VERSION, "source": log.source, "format": log.format, "rows": log.rows}
    return rounded({**head, "level": 0.9, "dropped": log.dropped, "systems": systems})


def _window(window):
    from reliability.scoring import binomial_band

    band = binomial_band(window.scored) if window.scored else None
    found = {"days": window.days, "scored": window.scored, "not_scored": window.reason or None, "band90": band}
    return found | _scores(window.counts) | {"hours_down": _scores(window.hours) if window.hours else None}


def _scores(scores):
    names = {
        "coverage90": "coverage",
        "poisson_coverage90": "naive_coverage",
        "mean_width90": "width",
        "poisson_mean_width90": "naive_width",
        "interval_score": "score",
        "poisson_interval_score": "naive_score",
        "inside_band": "inside_band",
        "pit": "pit",
    }
    return {key: None if scores is None else getattr(scores, name) for key, name in names.items()}


def _ettr(found):
    windows = [{"days": w.days, "scored": w.scored, "coverage90": w.coverage, "mean_width90": w.width, "interval_score": w.score, "mean_predicted": w.mean_predicted, "mean_measured": w.mean_measured} for w in found.windows]  # fmt: skip
    return {"measured": found.measured, "windows": windows, "assumed": list(found.notes)}


def _pairs(found):
    """(days, what, scores) of all that was scored."""
    for window in found.windows:
        for what, scores in (("incidents", window.counts), ("hours down", window.hours)):
            if scores is not None:
                yield window.days, what, scores


def _worse(found):
    """Where the naive forecast scored better than ours, if anywhere."""
    worse = [f"{what} in {days} days ({s.score / s.naive_score:.2f} times its score)" for days, what, s in _pairs(found) if s.score > s.naive_score > 0]  # fmt: skip
    return (
        [f"Our forecast scored worse than Poisson's for {', '.join(worse)}: there the naive one did better."]
        if worse
        else []
    )


def _next(tests):
    """The next step; it says that Poisson fails only where ours scored better throughout."""
    scores = [s for _, found, _ in tests for _, _, s in _pairs(found)]
    return (WHY if scores and all(s.naive_score > s.score for s in scores) else WHAT) + PLAN


def as_text(log, tests):
    """Return the tables and sentences that a person reads."""
    from reliability.scoring import binomial_band
    from reliability.text import counted, escaped, percent, table

    parts = [
        f"{escaped(log.source)} ({log.format}): {counted(log.rows, 'row')}, {counted(len(log), 'incident')}, {log.dropped:,} dropped."
    ]
    for name, found, ettr in tests:
        days = (found.record_s[1] - found.record_s[0]) / DAY_S
        parts.append(
            f"{'System ' + escaped(name) + ': ' if name is not None else ''}{counted(found.incidents, 'incident')} in {days:,.0f} days."
        )
        rows, bands = [], []
        for window in found.windows:
            for what, s in (("incidents", window.counts), ("hours down", window.hours)):
                if s is not None:
                    rows.append([str(window.days), what, percent(s.coverage, 0), percent(s.naive_coverage, 0), f"{s.score:.3g}", f"{s.naive_score:.3g}"])  # fmt: skip
            if window.scored:
                low, high = binomial_band(window.scored)
                bands.append(
                    f"{low:.0%} to {high:.0%} for the {counted(window.scored, 'window')} of {window.days} days"
                )
            if not window.scored:
                parts.append(f"Windows of {window.days} days are not scored: {window.reason}.")
        if rows:
            parts += [table(HEADER, rows, "llrrrr"), f"Band: {', '.join(bands)}."]
        parts += _worse(found)
        parts += _ettr_text(ettr) if ettr else []
        parts += [f"Assumed: {note}{WINDOW if note.endswith(UNKNOWN) else ''}." for note in found.notes]
    scored = any(window.scored for _, found, _ in tests for window in found.windows)
    parts += [LEGEND] if scored else []
    parts.append(f"Next: {_next(tests) if scored else LONGER}")
    return "\n\n".join(part if part.startswith("|") else textwrap.fill(part, WIDTH) for part in parts)


def _ettr_text(found):
    parts = [f"Measured ETTR of the jobs: {found.measured:.4f}."] if found.measured is not None else []
    for w in found.windows:
        if w.scored:
            parts.append(
                f"ETTR of windows of {w.days} days: {w.mean_predicted:.4f} predicted, {w.mean_measured:.4f} measured on average; "
                f"{w.coverage:.0%} of {w.scored} inside their 90 % intervals."
            )
    return parts + [f"Assumed for the ETTR: {note}." for note in found.notes]
