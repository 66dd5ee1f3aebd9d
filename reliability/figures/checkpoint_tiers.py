"""Figures of the page of checkpoint tiers: one colour and line style for each plan."""

import numpy as np

from reliability.figures import BLACK, BLUE, PURPLE, VERMILION, axes, in_style, percent_axis, size_axis

STYLES = ((BLUE, "-"), (VERMILION, "--"), (PURPLE, "-."), (BLACK, ":"))
CLEAR = 0.075  # of the axis: closer labels would overlap


def _name_lines(ax, ends, names, styles=STYLES):
    """Write each line's name to the right of its end, moved apart where ends are close."""
    (low, high), right = ax.get_ylim(), ax.get_xlim()[1]
    apart, order, last = CLEAR * (high - low), np.argsort(ends), -np.inf
    places = [last := max(ends[k], last + apart) for k in order]
    roof = high
    for n in reversed(range(len(places))):  # none above the axis
        roof = places[n] = min(places[n], roof)
        roof -= apart
    for k, place in zip(order, places, strict=True):
        ax.annotate(f" {names[k]}", (right, place), color=styles[k][0], va="center", annotation_clip=False)


@in_style
def kept_by_size(sizes, kept):
    """Draw what each plan keeps against the size of the job.

    Parameters
    ----------
    sizes : array [n]
        GPUs, rising.
    kept : mapping of name to array [n]
        At most four plans.
    """
    ax = axes(height=3.9)
    size_axis(ax)
    percent_axis(ax, "time kept")
    for (colour, style), shares in zip(STYLES, kept.values(), strict=False):
        ax.plot(sizes, shares, color=colour, linestyle=style)
    ax.set_xlim(sizes[0], sizes[-1])
    ax.set_ylim(0, 1.02)
    _name_lines(ax, [shares[-1] for shares in kept.values()], list(kept))
    return ax


@in_style
def kept_by_quota(quotas, kept):
    """Draw what each plan keeps against the share of the network that uploads may use, a dot at its best.

    Parameters
    ----------
    quotas : array [n]
        Rising, between 0 and 1.
    kept : mapping of name to array [n]
        At most three plans, in the colours that the second and later ones have by size.
    """
    ax = axes(height=3.6)
    ax.xaxis.set_major_formatter(lambda q, _: f"{100 * q:.0f}%")
    ax.set_xlabel("network for uploads")
    percent_axis(ax, "time kept")
    for (colour, style), shares in zip(STYLES[1:], kept.values(), strict=False):
        ax.plot(quotas, shares, color=colour, linestyle=style)
        best = int(np.argmax(shares))
        ax.plot([quotas[best]], [shares[best]], "o", color=colour)
        label = {"textcoords": "offset points", "ha": "center", "va": "bottom", "color": colour}
        ax.annotate(f"{100 * quotas[best]:.0f}%", (quotas[best], shares[best]), (0, 6), **label)
    low = min(float(np.min(shares)) for shares in kept.values())
    ax.set_xlim(0, 1)
    ax.set_ylim(max(0.0, min(0.8, 1.02 - 1.25 * (1.02 - low))), 1.02)
    _name_lines(ax, [shares[-1] for shares in kept.values()], list(kept), STYLES[1:])
    return ax
