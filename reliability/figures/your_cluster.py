"""Figures of a cluster's plan: how long jobs run by their size, the ETTR by checkpoint interval, and what each lever is worth."""

import numpy as np

from reliability.figures import BLACK, BLUE, VERMILION, axes, in_style, percent_axis, size_axis

TICKS_MIN = (0.01, 0.1, 1, 10, 60, 600, 6000, 60000)
LABELS = ("0.6 s", "6 s", "1 min", "10 min", "1 h", "10 h", "4 d", "42 d")


@in_style
def ettr_by_interval(minutes, now, planned, good_min, marks):
    """Draw the ETTR against the checkpoint interval, as the cluster is and under the plan, each with its 95 % band.

    Parameters
    ----------
    minutes : array [n]
        Rising.
    now, planned : (value, low, high), arrays [n]
    good_min : (low, high)
        The intervals that are as good as the plan's.
    marks : mapping of label to (minutes, share)
        Single points, at most two: the interval of today and the plan's.
    """
    ax = axes(height=3.9)
    ax.set_xscale("log")
    ax.set_xlim(minutes[0], minutes[-1])
    inside = [(m, text) for m, text in zip(TICKS_MIN, LABELS, strict=True) if minutes[0] <= m <= minutes[-1]]
    ax.set_xticks(*([list(part) for part in zip(*inside, strict=True)] if inside else [[], []]))
    ax.minorticks_off()
    ax.set_xlabel("time between two checkpoints")
    percent_axis(ax, "ETTR")
    ax.axvspan(*good_min, color=BLUE, alpha=0.08, linewidth=0)
    for (value, low, high), colour, style, name in ((now, VERMILION, "--", "now"), (planned, BLUE, "-", "plan")):
        ax.fill_between(minutes, low, high, color=colour, alpha=0.18, linewidth=0)
        ax.plot(minutes, value, color=colour, linestyle=style, label=name)
    for (label, (at, share)), marker in zip(marks.items(), "os", strict=False):
        if minutes[0] <= at <= minutes[-1]:
            ax.plot([at], [share], marker, color=BLACK, markersize=6, label=label)
    low = min(np.min(now[1]), np.min(planned[1]))
    ax.set_ylim(max(0.0, low), min(1.0, 1.02 * max(np.max(now[2]), np.max(planned[2])) + 1e-3))
    ax.legend(loc="lower center")
    return ax


@in_style
def levers(names, gains, offered):
    """Draw what each lever alone adds to the ETTR, in percentage points, with its 95 % interval; the greatest on top.

    Parameters
    ----------
    names : sequence of str
    gains : sequence of dict of value, low and high
        Shares.
    offered : sequence of bool
        A lever that can be had is filled, a yardstick hollow.
    """
    ax = axes(height=0.9 + 0.42 * len(names))
    places = np.arange(len(names))[::-1]
    for place, gain, had in zip(places, gains, offered, strict=True):
        ax.plot([100 * gain["low"], 100 * gain["high"]], [place, place], color=BLUE, linestyle="-", linewidth=2)
        ax.plot([100 * gain["value"]], [place], "o", color=BLUE, markersize=7, markerfacecolor=BLUE if had else "white")
    ax.axvline(0, color="#555555", linewidth=0.8)
    ax.set_yticks(places, names)
    ax.set_ylim(-0.6, len(names) - 0.4)
    ax.set_xlabel("ETTR gained alone, percentage points")
    return ax


@in_style
def mttf_by_size(rows):
    """Draw the mean time to failure of jobs against their size, each with its interval; without a failure its lower bound alone.

    Parameters
    ----------
    rows : list of dict
        ``by``, ``size``, ``mttf_h``, ``low_h`` and ``high_h``, rising by size; the last three None where they are not known.
    """
    ax = axes()
    size_axis(ax, "GPUs of the job" if rows[0]["by"] == "gpus" else "nodes of the job")
    ax.set_yscale("log")
    ax.set_ylabel("hours to a failure")
    for row in rows:
        if row["mttf_h"] is None:
            ax.plot([row["size"]], [row["low_h"]], marker="^", color=VERMILION, linestyle="", markerfacecolor="white")
            continue
        high = row["mttf_h"] if row["high_h"] is None else row["high_h"]
        ax.plot([row["size"], row["size"]], [row["low_h"], high], color=BLUE, linestyle="-", linewidth=2)
        ax.plot([row["size"]], [row["mttf_h"]], marker="o", color=BLUE, linestyle="", markersize=7)
    return ax
