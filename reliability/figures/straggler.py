"""Figures of the straggler page."""

import numpy as np
from matplotlib.ticker import MaxNLocator, PercentFormatter

from reliability.figures import BLACK, BLUE, PURPLE, VERMILION, axes, in_style, percent_axis, size_axis

DOTS = 4096  # more would be one dark band, and slow to draw


def _note(ax, text, place, colour, side, dx=0, dy=0):
    """Write beside a point, over whatever is drawn there."""
    behind = {"boxstyle": "square,pad=0.1", "facecolor": ax.get_facecolor(), "edgecolor": "none", "alpha": 0.8}
    ax.annotate(text, place, (dx, dy), textcoords="offset points", color=colour, ha=side, bbox=behind)


@in_style
def rank_times(times, slow_rank, limit, baseline):
    """Draw the time of each rank in one step, the detector's limit, and the slowest other rank.

    Parameters
    ----------
    times : array [ranks]
        Seconds, the slow rank's among them. Of many healthy ranks some thousands are drawn.
    slow_rank : int
    limit : float
        Seconds above which the detector flags a rank.
    baseline : float
        Seconds of a rank without jitter.
    """
    times = np.asarray(times)
    healthy = np.delete(np.arange(times.size), slow_rank)
    slowest = healthy[times[healthy].argmax()]
    shown = np.union1d(healthy[:: -(-healthy.size // DOTS)], [slowest])
    ax = axes()
    ax.plot(shown, times[shown], ".", color=BLUE, markersize=2.5)
    ax.plot([slow_rank], [times[slow_rank]], "D", color=VERMILION, markersize=6)
    ax.plot([slowest], [times[slowest]], "o", color=BLUE, markersize=6, markerfacecolor="none")
    ax.axhline(limit, color=VERMILION, linestyle="--", linewidth=1.5)
    ax.axhline(baseline, color=BLACK, linestyle=":", linewidth=1.5)
    marked = [(slow_rank, f"rank {slow_rank}", VERMILION, -13), (slowest, "slowest other", BLUE, 7)]
    for rank, name, colour, dy in marked:
        side, dx = ("left", 9) if rank < times.size / 2 else ("right", -9)
        _note(ax, f"{name}: {times[rank]:.2f} s", (rank, times[rank]), colour, side, dx, dy)
    end, side = (times.size - 1, "right") if slow_rank < times.size / 2 else (0, "left")  # away from the slow rank
    _note(ax, "the detector's limit", (end, limit), VERMILION, side, dy=5)
    ax.set_xlabel("rank")
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_ylabel("time before the collective (s)")
    ax.margins(y=0.12)
    return ax


@in_style
def step_by_ranks(sizes, expected, slow, simulated, baseline):
    """Draw the step of a healthy job against its ranks, and the step with one slow rank.

    Parameters
    ----------
    sizes : array [n]
        Ranks.
    expected, slow : array [n]
        Seconds: of a step without and with the slow rank.
    simulated : tuple of array [m]
        Ranks, mean seconds of simulated fault-free steps, and two standard errors of each.
    baseline : float
        Seconds of a rank without jitter.
    """
    ax = axes()
    size_axis(ax, "ranks")
    ax.plot(sizes, slow, color=VERMILION, linestyle="--")
    ax.plot(sizes, expected, color=BLUE, linestyle="-")
    ranks, means, errors = simulated
    ax.errorbar(ranks, means, yerr=errors, fmt="o", color=BLACK, markersize=5, linewidth=1.5, zorder=3)
    ax.axhline(baseline, color=PURPLE, linestyle=":")
    # Rising curves: above its right end and below its left end a label is clear of its own curve.
    _note(ax, "with one slow rank", (sizes[-1], slow[-1]), VERMILION, "right", dy=7)
    _note(ax, "all healthy (dots: simulated)", (sizes[0], expected[0]), BLUE, "left", dx=4, dy=-17)
    _note(ax, "a rank without jitter", (sizes[-1], baseline), PURPLE, "right", dy=-14)
    ax.set_ylabel("step (s)")
    ax.margins(x=0.03, y=0.14)
    return ax


@in_style
def threshold_by_ranks(sizes, thresholds, found, page_threshold, slowdown, recall):
    """Draw the threshold that one false alarm a week allows, and the slowdown it can find, against the ranks.

    Parameters
    ----------
    sizes : array [n]
        Ranks.
    thresholds, found : array [n]
        Shares above the median: the threshold, and the slowdown that one round finds with `recall`.
    page_threshold, slowdown : float
        The page's own threshold and the slow rank's share. One that lies far above the curves is not
        drawn, since the curves would be flat beside it.
    recall : float
    """
    ax = axes()
    size_axis(ax, "ranks")
    percent_axis(ax, "above the median")
    ax.plot(sizes, thresholds, color=BLUE, linestyle="-")
    ax.plot(sizes, found, color=VERMILION, linestyle="--")
    top = 2.5 * np.max(found) or np.inf
    levels = [(page_threshold, "this page's threshold", BLACK), (slowdown, "the slow rank", PURPLE)]
    near = [level for level in levels if level[0] <= top]
    highest = max([np.max(found), *(level[0] for level in near)])
    if highest < 0.05:
        ax.yaxis.set_major_formatter(PercentFormatter(1))  # as many decimals as the ticks need
    for level, text, colour in near:
        ax.axhline(level, color=colour, linestyle=":", linewidth=1.5)
        right = colour == PURPLE and abs(slowdown - found[-1]) > 0.15 * highest  # there the curve has its label
        _note(ax, text, (sizes[-1 if right else 0], level), colour, "right" if right else "left", 0 if right else 4, 5)
    _note(ax, f"found in one round, {100 * recall:g} % recall", (sizes[-1], found[-1]), VERMILION, "right", dy=7)
    room = thresholds[0] > 0.15 * highest
    _note(ax, "threshold: one false alarm a week", (sizes[0], thresholds[0]), BLUE, "left", dx=4, dy=-19 if room else 7)
    ax.set_ylim(0, 1.15 * highest)
    return ax
