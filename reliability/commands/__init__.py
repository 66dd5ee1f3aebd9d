"""The commands of ``python -m reliability``, one module each.

A module has `add(commands)`, which adds its parser to argparse's subparsers, and `main(options)`, which does the work and
returns the exit status: 0, or 1 where the request could not be met (a page that fails, a disk that is full). What was
asked for wrongly raises `reliability.errors.BadInput`. What a command needs is imported in its `main`, so that the others
start without it.
"""

NAMES = ("run", "demo", "plan", "simulate", "sweep", "incidents", "backtest", "stragglers", "spikes")
