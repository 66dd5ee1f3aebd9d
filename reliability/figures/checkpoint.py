"""Figures of the checkpoint page: two kinds of checkpoint by colour, two models by line style."""

import numpy as np

from reliability.figures import BLUE, VERMILION, axes, in_style, percent_axis, size_axis

COLOURS = (BLUE, VERMILION)
# The first kind is labelled below its curve, the second above, so that even curves that coincide can be told.
SIDES = ({"va": "top", "dy": -2}, {"va": "bottom", "dy": 2})


def _label(ax, text, x, y, colour, side, ha, dx=0.0, lift=1):
    at = (dx, lift * side["dy"])
    ax.annotate(text, (x, y), at, textcoords="offset points", color=colour, va=side["va"], ha=ha)


def _draw_models(ax, x, first_order, exact, colour):
    ax.plot(x, first_order, color=colour, linestyle="--", linewidth=1.5)
    ax.plot(x, exact, color=colour, linestyle="-")


def _name_models(ax):
    for label, style, width in (("exact", "-", 2), ("first order", "--", 1.5)):
        ax.plot([], [], color="#555555", linestyle=style, linewidth=width, label=label)
    ax.legend(loc="best", handlelength=2.6)


@in_style
def efficiency_by_interval(steps, kinds, first_order, exact, best, kept, good):
    """Draw efficiency against the interval in both models, with the best interval and those as good as it.

    Parameters
    ----------
    steps : array [n]
        Intervals in training steps, rising.
    kinds : two str
        Names of the two kinds of checkpoint.
    first_order, exact : array [2, n]
        Efficiency of each kind.
    best, kept : array [2]
        The exact model's best interval, in steps, and its efficiency there.
    good : array [2, 2]
        Shortest and longest interval, in steps, as good as the best one: [end, kind].
    """
    ax = axes(height=4.0)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda n, _: f"{n:,g}")
    ax.set_xlabel("interval (steps)")
    percent_axis(ax, "time kept")
    ax.set_xlim(steps[0], steps[-1])
    ax.set_ylim(0, 1.02)
    for k, (kind, colour, side) in enumerate(zip(kinds, COLOURS, SIDES, strict=True)):
        _draw_models(ax, steps, first_order[k], exact[k], colour)
        band = (steps >= good[0][k]) & (steps <= good[1][k])
        ax.plot(steps[band], exact[k][band], color=colour, linestyle="-", linewidth=9, alpha=0.3, solid_capstyle="butt")
        ax.plot([best[k]], [kept[k]], "o", color=colour, markersize=6)
        _label(
            ax,
            "1 step" if round(best[k]) == 1 else f"{best[k]:,.0f} steps",
            best[k],
            kept[k],
            colour,
            side,
            "center",
            lift=4,
        )
        early = np.searchsorted(
            steps, best[k] / 3
        )  # the curve rises: to the right below it, to the left above it is room
        _label(ax, kind, steps[early], exact[k][early], colour, side, ("left", "right")[k], dx=(7, -7)[k])
    _name_models(ax)
    return ax


@in_style
def efficiency_by_size(sizes, kinds, first_order, exact, ends):
    """Draw what first order promises and what the exact model keeps, against the size of the job.

    Parameters
    ----------
    sizes : array [n]
        GPUs, rising.
    kinds : two str
        Names of the two kinds of checkpoint.
    first_order, exact : array [2, n]
        Efficiency of each kind.
    ends : array [2]
        The size from which on first order promises too much; it has a dot where it is on the axis.
    """
    ax = axes(height=3.9)
    size_axis(ax)
    percent_axis(ax, "time kept")
    ax.set_xlim(sizes[0], sizes[-1])
    ax.set_ylim(0, 1.02)
    middle = len(sizes) // 2
    for k, (kind, colour, side) in enumerate(zip(kinds, COLOURS, SIDES, strict=True)):
        _draw_models(ax, sizes, first_order[k], exact[k], colour)
        if sizes[0] <= ends[k] <= sizes[-1]:
            ax.plot([ends[k]], [np.interp(ends[k], sizes, first_order[k])], "o", color=colour)
        outer = (exact, first_order)[
            k
        ]  # the curves fall: to the left below the lowest, to the right above the highest is room
        _label(ax, kind, sizes[middle], outer[k][middle], colour, side, ("right", "left")[k], dx=(-5, 5)[k])
    _name_models(ax)
    return ax
