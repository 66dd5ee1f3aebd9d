"""Figures of the budget of time: hours by cause and size, what each lever buys, and what three buy together."""

import numpy as np
from matplotlib.ticker import FuncFormatter

from reliability.budget import BINS
from reliability.figures import BLACK, BLUE, PURPLE, SKY, VERMILION, axes, in_style, percent_axis
from reliability.text import in_thousands

GREY, PALE, YELLOW = "#8a8a8a", "#dfe9df", "#F0E442"
# A hatch as a second channel where two neighbours are close in brightness.
FILLS = {
    "useful": (PALE, ""),
    "checkpoint": (SKY, ""),
    "redone": (BLUE, "..."),
    "detection": (YELLOW, ""),
    "restart": (VERMILION, "///"),
    "waiting": (BLACK, ""),
    "degraded": (GREY, ""),
    "verification": (PURPLE, "xxx"),
}
STYLES = ((VERMILION, "^"), (PURPLE, "D"), (SKY, "s"), (BLACK, "o"))
ABREAST = 2  # panels of a tornado beside each other, as many as a phone shows
LEAST = 0.5  # percentage points to which an axis of gains reaches at least
SHORT = 1.2  # times a single size, to which its line reaches on either side


@in_style
def hours_by_size(panels):
    """Draw where the time goes at each size: a stack of the bins, one panel below the other.

    Parameters
    ----------
    panels : mapping of title to {size: {bin: hours}}
        Each size's hours become shares of their sum.
    """
    every = axes(height=0.9 + 2.7 * len(panels), nrows=len(panels), squeeze=False, sharex=True)[:, 0]
    for ax, (title, by_size) in zip(every, panels.items(), strict=True):
        places, bottom = np.arange(len(by_size)), np.zeros(len(by_size))
        hours = np.array([[one[name] for one in by_size.values()] for name in BINS])
        for name, shares in zip(BINS, hours / hours.sum(axis=0), strict=True):
            colour, hatch = FILLS[name]
            ax.bar(
                places, shares, 0.82, bottom, color=colour, hatch=hatch, edgecolor="#fbfaf7", linewidth=0.4, label=name
            )
            bottom += shares
        ax.set_title(title)
        ax.set_ylim(0, 1)
        percent_axis(ax, "share of the time")
        ax.grid(axis="x", visible=False)
        ax.set_xticks(places, [in_thousands(size) for size in by_size])
    every[-1].set_xlabel("GPUs")
    handles, names = every[0].get_legend_handles_labels()
    every[0].figure.legend(handles, names, loc="outside lower center", ncols=3)
    return every


@in_style
def tornado(names, gains, best):
    """Draw what each lever adds alone, with its interval: a panel for each size, on one axis; the first lever on top.

    Parameters
    ----------
    names : mapping of lever to its name
        In the order from the top.
    gains : mapping of size to {lever: Estimate}
    best : mapping of size to lever
        It has another colour there; None where none is to have one.

    Returns
    -------
    list of axes
        One for each size.
    """
    columns = min(ABREAST, len(gains))
    rows = -(-len(gains) // columns)
    height = 0.4 + rows * (0.3 + 0.19 * len(names))
    grid = axes(height=height, nrows=rows, ncols=columns, squeeze=False, sharex=True, sharey=True)
    places, every = np.arange(len(names))[::-1], list(grid.flat[: len(gains)])
    for ax, (size, found) in zip(every, gains.items(), strict=True):
        means, half = (100 * np.array([getattr(found[lever], what) for lever in names]) for what in ("mean", "half_width"))
        colours = [VERMILION if lever == best[size] else BLUE for lever in names]
        ax.barh(places, means, 0.7, color=colours, alpha=0.45, linewidth=0)
        ax.errorbar(means, places, xerr=half, fmt="none", ecolor=colours, elinewidth=2)
        ax.axvline(0, color="#555555", linewidth=0.8)
        ax.set_title(f"{in_thousands(size)} GPUs")
        ax.grid(axis="y", visible=False)
    every[0].set_yticks(places, list(names.values()))
    every[0].set_ylim(-0.6, len(names) - 0.4)
    every[0].set_xlim(_not_nothing(*every[0].get_xlim()))
    every[0].figure.supxlabel("gained alone, percentage points")
    for ax in every[-columns:]:
        ax.tick_params(labelbottom=True)
    for ax in grid.flat[len(gains) :]:
        ax.remove()
    return every


def _not_nothing(low, high):
    """Widen an axis of gains that would magnify what prints as 0.0 points."""
    return (low, high) if max(abs(low), abs(high)) > LEAST else (-LEAST, LEAST)


@in_style
def three_by_size(sizes, first, summed, together):
    """Draw what three levers add by size: each alone, the sum of that, and all three together, with their intervals.

    A single size is drawn as short level lines, for a line of one point could not be seen.

    Parameters
    ----------
    sizes : array [n]
    first : mapping of name to list of Estimate [n]
        At most three.
    summed, together : list of Estimate [n]
    """
    ax = axes(height=4.2)
    ax.set_xscale("log", base=2)
    ax.set_xticks(list(sizes))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda n, _: in_thousands(n)))
    ax.minorticks_off()
    ax.set_xlabel("GPUs")
    lines = [
        (name, found, colour, ":", marker)
        for (name, found), (colour, marker) in zip(first.items(), STYLES, strict=False)
    ]
    lines += [("their sum", summed, BLACK, "--", ""), ("together", together, BLUE, "-", "o")]
    across = np.array(sizes, dtype=float) if len(sizes) > 1 else sizes[0] * np.array([1 / SHORT, 1.0, SHORT])
    marked = None if len(sizes) > 1 else [1]
    for name, found, colour, style, marker in lines:
        low, mean, high = (
            np.resize([100 * getattr(one, end) for one in found], across.shape) for end in ("low", "mean", "high")
        )
        ax.fill_between(across, low, high, color=colour, alpha=0.18, linewidth=0)
        ax.plot(across, mean, color=colour, linestyle=style, marker=marker, markersize=5, markevery=marked, label=name)
    ax.axhline(0, color="#555555", linewidth=0.8)
    if len(sizes) == 1:  # room for the legend beside the lines
        ax.set_xlim(across[0] / 2, 1.1 * across[-1])
    ax.set_ylim(_not_nothing(*ax.get_ylim()))
    ax.set_ylabel("gained, percentage points")
    ax.legend(loc="upper left")
    return ax
