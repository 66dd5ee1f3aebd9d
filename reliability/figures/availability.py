"""Figures of the availability page."""

import numpy as np

from reliability.figures import BLACK, BLUE, VERMILION, axes, in_style, label_line, percent_axis, size_axis


@in_style
def availability_by_size(sizes, curves, halves):
    """Draw availability against cluster size, with the size at which each path is down to one half.

    Parameters
    ----------
    sizes : array [n]
        GPUs.
    curves : mapping of label to array [n]
        Availability of each recovery path.
    halves : mapping of label to float
        The size at one half, by the same labels.
    """
    ax = axes()
    size_axis(ax)
    percent_axis(ax, "availability")
    ax.set_ylim(0, 1.02)
    ax.axhline(0.5, color="#777777", linewidth=1)
    for label, shares in curves.items():
        (line,) = ax.plot(sizes, shares)
        half = halves[label]
        label_line(ax, line, label, half / 4, dx=6, dy=4)  # where availability is 80 %: the curves lie apart
        if sizes[0] <= half <= sizes[-1]:
            ax.plot([half], [0.5], "o", color=line.get_color())
            ax.annotate(
                f"{half:,.0f}", (half, 0.5), (-6, -15), textcoords="offset points", ha="right", color=line.get_color()
            )
    if sizes[-1] > sizes[0]:  # one size alone has no width
        ax.set_xlim(sizes[0], sizes[-1])
    return ax


@in_style
def rates(labels, values, lows, highs, secondary):
    """Draw published failure rates on one axis, each with its interval where the source gives counts.

    Parameters
    ----------
    labels : sequence of str
    values, lows, highs : arrays
        Failures per 1,000 node-days; a bound may be NaN where none is known.
    secondary : sequence of bool
        Rates read in a secondary source only; drawn hollow.
    """
    order = np.argsort(values)
    ax = axes(height=0.42 * len(labels) + 0.9)
    ax.set_xscale("log")
    for row, i in enumerate(order):
        if np.isfinite(lows[i]):
            ax.plot([lows[i], highs[i]], [row, row], color=BLUE, linestyle="-", linewidth=2)
        ax.plot(
            [values[i]], [row], "o", color=BLUE, markerfacecolor="white" if secondary[i] else BLUE, linestyle="none"
        )
    ax.set_yticks(range(len(order)), [labels[i] for i in order])
    ticks = [1, 2, 5, 10, 20, 50]
    ax.set_xticks(ticks, [str(t) for t in ticks])
    ax.minorticks_off()
    ax.set_xlim(min(1.0, np.min(values) / 1.5), max(50.0, np.max(values) * 1.5))
    ax.set_xlabel("failures per 1,000 node-days")
    return ax


@in_style
def lines_of_job_mtbf(sizes, lines, points):
    """Draw job MTBF against size: a 1/N line for each rate, and the published points.

    Parameters
    ----------
    sizes : array [n]
        GPUs.
    lines : mapping of label to array [n]
        Job MTBF in hours.
    points : sequence of (label, GPUs, hours)
        Each label is written to the left of its point.
    """
    ax = axes(height=3.9)
    size_axis(ax)
    ax.set_yscale("log")
    ax.set_ylabel("hours between interruptions")
    ax.yaxis.set_major_formatter(lambda h, _: f"{h:g}")
    for colour, style, (label, hours) in zip((BLUE, VERMILION), ("-", "--"), lines.items(), strict=False):
        ax.plot(sizes, hours, color=colour, linestyle=style, label=label)
    for label, gpus, hours in points:
        ax.plot([gpus], [hours], "o", color=BLACK, markersize=5)
        ax.annotate(label, (gpus, hours), (-7, -4), textcoords="offset points", fontsize=9, ha="right")
    ax.legend(loc="lower left")
    return ax
