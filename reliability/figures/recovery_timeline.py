"""Figures of the recovery timeline: a restart by size, and what each way back keeps."""

import numpy as np

from reliability.figures import BLACK, BLUE, PURPLE, SKY, VERMILION, axes, in_style, percent_axis, size_axis
from reliability.units import DAY_S, HOUR_S, MINUTE_S, WEEK_S

STYLES = ((BLACK, "-"), (BLUE, "-"), (VERMILION, "-"), (PURPLE, "--"))
FILLS = (BLACK, SKY, BLUE, VERMILION, PURPLE)
TICKS_S = {"1 min": MINUTE_S, "10 min": 10 * MINUTE_S, "1 h": HOUR_S, "6 h": 6 * HOUR_S, "1 d": DAY_S, "1 week": WEEK_S, "8 weeks": 8 * WEEK_S}
APART = 0.07  # of the height: a line of text


@in_style
def kept_by_away(away_s, kept, equal_s, chosen_s):
    """Draw the share of time that each way back keeps against how long a node is away.

    Parameters
    ----------
    away_s : array [n]
        Seconds, rising.
    kept : mapping of up to four labels to array [n] or number
        A number is a way that does not depend on the node's return.
    equal_s : mapping of label to seconds
        Where a way has fallen to the first one; it has a dot where that is on the axis.
    chosen_s : float
        The page's own time, a thin line.
    """
    ax = axes(height=3.9)
    ax.set_xscale("log")
    ax.set_xlim(away_s[0], away_s[-1])
    ticks = {name: s for name, s in TICKS_S.items() if away_s[0] <= s <= away_s[-1]}
    ax.set_xticks(list(ticks.values()), list(ticks))
    ax.minorticks_off()
    ax.set_xlabel("time until the node is back")
    percent_axis(ax, "time kept")
    ends = {}
    for (label, share), (colour, style) in zip(kept.items(), STYLES, strict=False):
        shares = np.broadcast_to(share, away_s.shape)
        ax.plot(away_s, shares, color=colour, linestyle=style)
        ends[label] = (float(shares[-1]), colour)
        if label in equal_s and away_s[0] <= equal_s[label] <= away_s[-1]:
            ax.plot([equal_s[label]], [np.interp(np.log(equal_s[label]), np.log(away_s), shares)], "o", color=colour)
    low = min(np.min(share) for share in kept.values())
    high = max(np.max(share) for share in kept.values())
    ax.set_ylim(max(0.0, low - 0.08 * (high - low) - 1e-3), min(1.0, high + 0.08 * (high - low) + 1e-3))
    if away_s[0] <= chosen_s <= away_s[-1]:
        ax.axvline(chosen_s, color="#555555", linewidth=0.8, linestyle=":")
    _label_ends(ax, ends)
    return ax


def _label_ends(ax, ends):
    """Write each label right of the axes at the height of its line, those that would overlap moved apart."""
    low, high = ax.get_ylim()
    names = sorted(ends, key=lambda name: ends[name][0])
    heights = np.array([(ends[name][0] - low) / (high - low) for name in names])
    for _ in range(100):
        short = np.maximum(0.0, APART - np.diff(heights))
        heights -= np.append(short, 0.0) / 2
        heights += np.append(0.0, short) / 2
        heights = np.clip(heights, 0.0, 1.0)
    for name, height in zip(names, heights, strict=True):
        place = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "center"}
        ax.annotate(name, (1, height), (4, 0), color=ends[name][1], **place)


@in_style
def restart_by_size(sizes, phases_s, published, points):
    """Draw a cold restart by size as its phases, one on the other, and published restarts beside it.

    Parameters
    ----------
    sizes : array [n]
        GPUs, rising.
    phases_s : mapping of phase to array [n]
        Seconds; drawn in minutes.
    published : (label, array of sizes, array of seconds)
        Points with a line through them, no further than they go.
    points : mapping of label to (size, seconds)
        Single published restarts.
    """
    ax = axes(height=4.0)
    size_axis(ax)
    minutes = np.array([np.asarray(times) / 60 for times in phases_s.values()])
    areas = ax.stackplot(sizes, minutes, colors=FILLS[: len(minutes)], alpha=0.45)
    top = np.cumsum(minutes, axis=0)
    highest = max(top[-1].max(), *(s / 60 for s in published[2]), *(s / 60 for _, s in points.values()))
    for i, (name, area) in enumerate(zip(phases_s, areas, strict=True)):
        area.set_label(name)
        ax.plot(sizes, top[i], color=FILLS[i], linestyle="-", linewidth=1)
    label, at, seconds = published
    line = np.geomspace(at[0], at[-1], 100)
    ax.plot(
        line,
        np.exp(np.interp(np.log(line), np.log(at), np.log(seconds))) / 60,
        color=BLACK,
        linestyle="--",
        linewidth=1.6,
    )
    ax.plot(at, np.asarray(seconds) / 60, "o", color=BLACK, markersize=5, label=label)
    for (name, (size, total)), marker in zip(points.items(), "sD^", strict=False):
        ax.plot([size], [total / 60], marker, color=BLACK, markersize=6, label=name)
    ax.set_xlim(sizes[0], sizes[-1])
    ax.set_ylim(0, 1.05 * highest)
    ax.set_ylabel("cold restart (min)")
    handles, labels = ax.get_legend_handles_labels()
    order = [
        *reversed(range(len(minutes))),
        *range(len(minutes), len(handles)),
    ]  # as they lie on each other, then the points
    ax.legend([handles[i] for i in order], [labels[i] for i in order], loc="upper left")
    return ax
