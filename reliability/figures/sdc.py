"""Figures of the page on silent data corruption."""

import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter

from reliability.figures import BLACK, BLUE, PURPLE, SKY, VERMILION, axes, in_style, percent_axis

FIELD_COLOURS = {"sign": PURPLE, "exponent": SKY, "fraction": "#999999"}


@in_style
def loss_and_guard(losses, guard_line, alarms):
    """Draw a loss curve, the line above which the spike guard alarms, and its alarms.

    Parameters
    ----------
    losses : array [steps]
    guard_line : array [steps]
        NaN during the warm-up.
    alarms : sequence of int
        Steps.
    """
    ax = axes()
    steps = np.arange(len(losses))
    ax.set_yscale("log")
    (line,) = ax.plot(steps, guard_line, color=VERMILION, linestyle="--", linewidth=1.6)
    (curve,) = ax.plot(steps, losses, color=BLUE, linewidth=1.2)
    for step in alarms:
        ax.plot([step], [losses[step]], "o", color=BLACK, markersize=9, markerfacecolor="none", markeredgewidth=1.5)
    if len(alarms):
        text = (
            f"alarm at step {alarms[0]}" if len(alarms) == 1 else f"{len(alarms)} alarms, the first at step {alarms[0]}"
        )
        ax.annotate(text, (alarms[0], losses[alarms[0]]), (9, 0), textcoords="offset points", va="center")
    last = len(losses) - 1
    for artist, values, text, dy in ((line, guard_line, "the guard's line", 7), (curve, losses, "loss", -16)):
        ax.annotate(text, (last, values[-1]), (0, dy), textcoords="offset points", ha="right", color=artist.get_color())
    ax.set_xlim(0, last)
    top = max(np.nanmax(losses), np.nanmax(guard_line))
    ax.set_ylim(np.nanmin(losses) / 1.4, top * 1.3)
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if top < 1e3 else (1,)))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_xlabel("step")
    ax.set_ylabel("loss")
    return ax


@in_style
def flips_seen(formats):
    """Draw, for each float format, the share of single flips that a norm guard sees, by bit.

    The formats stand under each other with their signs at the left, so that a shorter one is a shorter strip.

    Parameters
    ----------
    formats : mapping of label to (fields, shares)
        How many bits are sign, exponent and fraction; the share seen, from the lowest bit to the sign.

    Returns
    -------
    array of axes
    """
    panels = axes(height=1.4 * len(formats) + 0.4, nrows=len(formats), squeeze=False)[:, 0]
    widest = max(len(shares) for _, shares in formats.values())
    for ax, (label, (fields, shares)) in zip(panels, formats.items(), strict=True):
        width = len(shares)
        percent_axis(ax, "seen")
        ax.set_title(label)
        _shade_fields(ax, fields)
        ax.bar(np.arange(width) + 0.5, shares[::-1], width=0.9, color=VERMILION)
        ax.plot([0, width], [1, 1], color=BLUE, linestyle="-")
        ax.set_ylim(0, 1.3)
        ax.set_yticks([0, 0.5, 1])
        ax.set_xlim(0, widest)
        ax.grid(False)
        ax.spines["bottom"].set_bounds(0, width)
    for text, height, colour in (("dual run and fingerprint", 1.06, BLUE), ("norm guard", 0.08, VERMILION)):
        panels[0].text(widest, height, text, ha="right", color=colour)
    panels[-1].set_xlabel("bit, from the sign on the left to the lowest of the fraction", loc="left")
    return panels


def _shade_fields(ax, fields):
    """Shade and name the fields of a format, and number the first bit of each and the last of all."""
    width, start, places = sum(fields.values()), 0, []
    for name, count in fields.items():
        ax.axvspan(start, start + count, color=FIELD_COLOURS[name], alpha=0.16, linewidth=0, zorder=0)
        if name != "sign":  # which is too narrow for its name; the others' stand at two heights, or they would meet
            ax.text(start + 0.4, 1.08 if name == "exponent" else 0.6, name, color="#444444", fontsize=9)
        places.append(start)
        start += count
    # Not the exponent's first bit: its number would run into the sign's.
    places = [places[0], places[2], width - 1]
    ax.set_xticks([place + 0.5 for place in places], [str(width - 1 - place) for place in places])
