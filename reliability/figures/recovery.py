"""Figures of the recovery page."""

import numpy as np
from matplotlib.ticker import PercentFormatter

from reliability.figures import BLACK, BLUE, SKY, VERMILION, axes, in_style

FILLS = {"rollback": (BLUE, "white"), "restart": (SKY, BLACK), "detection": (BLACK, "white")}
WIDE_ENOUGH = 0.14  # of the longest bar: a narrower segment has no room for its label
MOST_BARS = 60


@in_style
def hours_by_part(bars):
    """Draw what faults cost as bars, each split into its parts.

    Parameters
    ----------
    bars : mapping of label to mapping of part to hours
        The parts are those of `FILLS`. A part too narrow for a label is named behind its bar.
    """
    ax = axes(height=0.8 * len(bars) + 0.8)
    longest = max(sum(parts.values()) for parts in bars.values()) or 1.0
    for row, parts in enumerate(bars.values()):
        left, beside = 0.0, []
        for part, (colour, ink) in FILLS.items():
            ax.barh(row, parts[part], 0.62, left, color=colour, label=part)
            if parts[part] >= WIDE_ENOUGH * longest:
                text = f"{part}\n{parts[part]:.2f}"
                ax.text(left + parts[part] / 2, row, text, ha="center", va="center", color=ink)
            else:
                beside.append(f"{part} {parts[part]:.2f}")
            left += parts[part]
        text = "\n".join([f"{left:.2f} h", *beside])
        ax.annotate(text, (left, row), (5, 0), textcoords="offset points", va="center")
    ax.set_yticks(range(len(bars)), list(bars))
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set_xlim(0, 1.34 * longest)
    ax.set_xlabel("hours lost")
    return ax


@in_style
def drawn_periods(samples, recorded, widths):
    """Draw how the hours lost of drawn periods are spread, and where the recorded period lies.

    Parameters
    ----------
    samples : mapping of label to array [n]
        Hours lost in each drawn period; one panel each, on one axis of hours.
    recorded : mapping of label to float
    widths : mapping of label to float
        Hours that one fault costs: bars that wide, each centred on a whole number of faults, do not
        split what belongs together. Where they would be too many, each is several faults wide.

    Returns
    -------
    array of axes
    """
    rows = axes(height=4.4, nrows=len(samples), sharex=True, squeeze=False)[:, 0]
    ends = [end for label in samples for end in (samples[label].min(), samples[label].max(), recorded[label])]
    shown = [end for label in samples for end in (*np.quantile(samples[label], [0.0005, 0.9995]), recorded[label])]
    low, high = min(shown) - 2 * max(widths.values()), max(shown) + 2 * max(widths.values())
    for ax, colour, (label, hours) in zip(rows, (BLUE, VERMILION), samples.items(), strict=False):
        step = widths[label] * max(1, int(np.ceil((high - low) / widths[label] / MOST_BARS)))
        edges = step * (np.arange(np.floor(min(ends) / step), np.ceil(max(ends) / step) + 2) - 0.5)
        shares = np.histogram(hours, edges)[0] / len(hours)
        ax.bar(edges[:-1], shares, step, align="edge", color=colour, edgecolor=ax.get_facecolor(), linewidth=0.5)
        _mark(ax, recorded[label], f"recorded: {recorded[label]:.2f} h", to_the_left=recorded[label] > (low + high) / 2)
        ax.set_ylim(0, 1.3 * shares.max())
        ax.set_title(label, color=colour)
        ax.yaxis.set_major_formatter(PercentFormatter(1))
        ax.set_ylabel("share of periods")
    rows[-1].set_xlim(max(-max(widths.values()) / 2, low), high)  # no hours below none
    rows[-1].set_xlabel("hours lost")
    return rows


def _mark(ax, x, text, to_the_left):
    """A dashed line at `x`, and beside its top what it is."""
    ax.axvline(x, color=BLACK, linestyle="--", linewidth=1.6)
    place = {"xytext": (-5 if to_the_left else 5, -2), "ha": "right" if to_the_left else "left", "va": "top"}
    ax.annotate(text, (x, 1), xycoords=("data", "axes fraction"), textcoords="offset points", **place)
