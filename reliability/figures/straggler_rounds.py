"""Figures of the page on stragglers over many rounds."""

import numpy as np

from reliability.figures import BLACK, BLUE, PURPLE, SKY, VERMILION, axes, in_style

COLOURS = {"one round": BLUE, "votes": PURPLE, "cumulative sum": VERMILION}
STYLES = {
    "ignore": (BLUE, "-"),
    "rebalance": (PURPLE, "-."),
    "swap at the next checkpoint": (VERMILION, "--"),
    "swap now": (BLACK, ":"),
}


def _note(ax, text, place, colour, side, dx=0, dy=0):
    """Write beside a point, over whatever is drawn there."""
    behind = {"boxstyle": "square,pad=0.1", "facecolor": ax.get_facecolor(), "edgecolor": "none", "alpha": 0.8}
    ax.annotate(text, place, (dx, dy), textcoords="offset points", color=colour, ha=side, bbox=behind)


@in_style
def detection_curves(alarms_h, curves, allowed_h):
    """Draw the time to detect against the false alarms an hour, on logarithmic axes.

    Parameters
    ----------
    alarms_h : array [n]
        Rising.
    curves : mapping of ranks to mapping of detector to array [n] of minutes
        Of one or two job sizes: the first is drawn solid, the second dashed.
    allowed_h : float
        The page's own false alarms an hour, marked.
    """
    ax = axes(height=4.2)
    ax.set_xscale("log")
    ax.set_yscale("log")
    for style, (ranks, by_detector) in zip(("-", "--"), curves.items(), strict=False):
        for name, minutes in by_detector.items():
            ax.plot(alarms_h, minutes, color=COLOURS[name], linestyle=style, label=f"{name}, {ranks:,}")
    first, last = next(iter(curves.values())), list(curves.values())[-1]
    for name, colour in COLOURS.items():
        curve, dy = (first, -15) if name == "cumulative sum" else (last, 6)  # below the lowest, above the others
        _note(ax, name, (alarms_h[0], curve[name][0]), colour, "left", dx=3, dy=dy)
    sizes = [f"{style}: {ranks:,} ranks" for style, ranks in zip(("solid", "dashed"), curves, strict=False)]
    ax.text(0.97, 0.96, "\n".join(sizes), transform=ax.transAxes, ha="right", va="top")
    ax.axvline(allowed_h, color=BLACK, linestyle=":", linewidth=1.2)
    ax.set_xlabel("false alarms an hour, in the whole job")
    ax.set_ylabel("mean time to detect (min)")
    ax.margins(y=0.12)
    return ax


@in_style
def answers(lengths_min, costs, break_evens):
    """Draw what each answer costs against how long the slow phase would last, and mark where the best one changes.

    Parameters
    ----------
    lengths_min : array [n]
        Minutes from now on, rising.
    costs : mapping of answer to array [n] of minutes
    break_evens : sequence of float
        Lengths at which another answer becomes the best.
    """
    ax = axes(height=4.2)
    ax.set_xscale("log")
    best = np.min(list(costs.values()), axis=0)
    ax.plot(lengths_min, best, color=SKY, linewidth=7, alpha=0.6, solid_capstyle="butt", label="the best answer")
    for name, cost in costs.items():
        colour, style = STYLES[name]
        ax.plot(lengths_min, cost, color=colour, linestyle=style, label=name)
    for length in break_evens:
        ax.axvline(length, color=BLACK, linestyle=":", linewidth=1.2)
    if (best > 0).any():  # a slow rank that costs nothing leaves nothing for a logarithmic axis
        ax.set_yscale("log")
        ax.set_ylim(bottom=max(best[best > 0].min(), 1e-3))
    ax.legend(loc="upper left", fontsize="small")
    ax.set_xlabel("the slow rank would stay for (min)")
    ax.set_ylabel("lost to it from now on (min)")
    return ax
