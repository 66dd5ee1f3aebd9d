"""Figures of the page on defences against silent corruption."""

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from reliability.figures import BLUE, PURPLE, SKY, VERMILION, axes, in_style, percent_axis


@in_style
def layers(costs, through, low, high):
    """Draw what each plan lets through in a week, a layer more in each row, with its cost beside it.

    Parameters
    ----------
    costs : mapping of plan to float
        Share of the job's time.
    through, low, high : array [plans]
        Corruptions a week that get through, and the ends of their interval; all above 0.
    """
    ax = axes(height=0.55 * len(costs) + 1.0)
    rows = np.arange(len(costs))
    ax.set_xscale("log")
    ax.hlines(rows, low, high, color=SKY, linewidth=5)
    ax.plot(through, rows, "o", color=BLUE, markersize=8)
    for row, cost in enumerate(costs.values()):
        ax.annotate(
            f"{100 * cost:.2f}%", (1.02, row), xycoords=("axes fraction", "data"), va="center", annotation_clip=False
        )
    ax.annotate("cost", (1.02, 1.02), xycoords="axes fraction", va="bottom", annotation_clip=False)
    ax.set_yticks(rows, list(costs))
    ax.set_ylim(len(costs) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("corruptions that get through in a week")
    return ax


@in_style
def time_kept(intervals_min, curves, marks):
    """Draw the time kept against the interval, one curve for each number of writes to a verification.

    Parameters
    ----------
    intervals_min : array [n]
        Rising.
    curves : mapping of label to array [n]
        Exact share of time kept.
    marks : mapping of label to dict
        "first" and "drawn": each an interval in minutes and a share, by first order and as simulated.
    """
    ax = axes()
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    top = max(curve.max() for curve in curves.values())
    styles = zip((BLUE, VERMILION, PURPLE), ("-", "--", "-."), (-26, 8, 20), strict=True)
    for (label, curve), (colour, line, dy) in zip(curves.items(), styles, strict=False):
        ax.plot(intervals_min, curve, color=colour, linestyle=line)
        ax.plot(*marks[label]["first"], "s", color=colour, markerfacecolor="none", markersize=8)
        ax.plot(*marks[label]["drawn"], "o", color=colour, markersize=6)
        peak = int(np.argmax(curve))
        ax.annotate(
            label, (intervals_min[peak], curve[peak]), (0, dy), textcoords="offset points", ha="center", color=colour
        )
    for marker, text in (("s", "best to first order"), ("o", "best, as simulated")):
        ax.plot([], [], marker, color="#555555", markerfacecolor="none" if marker == "s" else None, label=text)
    ax.legend(loc="lower center")
    percent_axis(ax, "time kept")
    ax.yaxis.set_major_locator(MaxNLocator(6, steps=(1, 2, 5, 10)))
    ax.set_xlim(intervals_min[0], intervals_min[-1])
    lowest = min(curve[len(curve) // 5 : -len(curve) // 5].min() for curve in curves.values())
    ax.set_ylim(max(0.0, lowest - 0.1 * top), min(1.0, top + 0.35 * (top - lowest) + 0.01))
    ax.set_xlabel("interval between writes (min)")
    return ax
