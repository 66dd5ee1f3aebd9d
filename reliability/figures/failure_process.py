"""Figures of the page on the failure process."""

import numpy as np
from matplotlib.ticker import FuncFormatter

from reliability.figures import BLACK, BLUE, PURPLE, SKY, VERMILION, axes, in_style

STYLES = [(BLUE, "-"), (VERMILION, "--"), (PURPLE, "-."), (BLACK, ":"), (SKY, "-")]
LOWEST = 1e-4  # of a chance that is drawn


def _percent(share, _):
    return f"{100 * share:g}%"


@in_style
def running_out(curves, pools, target):
    """Draw the chance that an interruption finds too few standbys against the size of the pool.

    Parameters
    ----------
    curves : mapping of label to array
        The chance for 0, 1, 2, ... standbys.
    pools : mapping of label to int
        The pool that meets the target, for each of them.
    target : float
    """
    ax = axes(height=4.2)
    lowest = min(LOWEST, target / 10)
    widest = int(1.15 * max(pools.values())) + 3
    ax.axhline(target, color=BLACK, linewidth=1)
    ax.annotate(
        f"target {_percent(target, 0)}", (widest, target), (-2, 3), textcoords="offset points", ha="right", va="bottom"
    )
    for (label, chances), (colour, line) in zip(curves.items(), STYLES, strict=False):
        shown = np.asarray(chances, dtype=float)[: widest + 1]
        ax.plot(
            np.arange(shown.size),
            np.where(shown > 0, shown, np.nan),
            color=colour,
            linestyle=line,
            label=f"{label}: {pools[label]}",
        )
        ax.plot(pools[label], target, "o", color=colour, markersize=6)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(FuncFormatter(_percent))
    ax.set_ylim(lowest, 1.5)
    ax.set_xlim(0, widest)
    ax.set_xlabel("standbys")
    ax.set_ylabel("chance of too few")
    ax.legend(
        title="standbys that meet the target", loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=2, frameon=False
    )
    return ax


@in_style
def gain_by_size(nodes, gains, job):
    """Draw how much longer a job runs between interruptions than if failures came one by one.

    Parameters
    ----------
    nodes : array [n]
        Sizes of the job.
    gains : mapping of label to array [n]
        Job MTBF over that of single failures.
    job : int
        The page's own job, marked.
    """
    ax = axes()
    ax.axvline(job, color=BLACK, linestyle=":", linewidth=1.2)
    for (label, gain), (colour, line) in zip(gains.items(), STYLES, strict=False):
        ax.plot(nodes, gain, color=colour, linestyle=line, marker="o", markersize=4, label=label)
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:g}"))
    top = max(max(gain) for gain in gains.values())
    ax.set_ylim(0.9, 1 + 1.15 * max(top - 1, 0.1))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g} x"))
    ax.annotate("this page's job", (job, 0.9), (-4, 4), textcoords="offset points", ha="right", va="bottom")
    ax.set_xlabel("nodes of the job")
    ax.set_ylabel("job MTBF, against single failures")
    ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=2, frameon=False)
    return ax
