"""The figure of a sweep: the effective training ratio over the settings that vary."""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from reliability.figures import axes, in_style

RATIO = "effective_training_ratio"
MOST_LINES = 8


def _is_number(values):
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def chosen_axes(values):
    """Choose which settings a picture shows: the one with most numbers along, the next as lines.

    Parameters
    ----------
    values : dict of name to sequence
        The values of each setting.

    Returns
    -------
    along, across : str, str or None
    others : list of str
        Settings that stay at their first value.
    """
    order = sorted(values, key=lambda name: (not _is_number(values[name]), -len(values[name])))
    across = order[1] if len(order) > 1 and len(values[order[1]]) > 1 else None
    return order[0], across, [name for name in order[1:] if name != across]


@in_style
def sweep(along, names, curves, note=""):
    """Draw a curve for each value of one setting, with the interval of each mean.

    Parameters
    ----------
    along : sequence
        Values of the setting along the axis; texts are spread evenly.
    names : (str, str or None)
        Names of the setting along the axis, and of the one that tells the curves apart.
    curves : dict of label to (mean, low, high), arrays [n]
    note : str, optional
        What stays the same.
    """
    ax = axes()
    numbers = _is_number(along)
    x = np.asarray(along, dtype=float) if numbers else np.arange(len(along))
    for label, (mean, low, high) in curves.items():
        (line,) = ax.plot(x, mean, marker="o", markersize=3, label=f"{label}")
        ax.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    if not numbers:
        ax.set_xticks(x, [str(value) for value in along])
    elif len(x) > 2 and x.min() > 0 and x.max() / x.min() >= 50:
        ax.set_xscale("log")
    ax.set_xlabel(names[0])
    ax.set_ylabel("effective training ratio")
    ax.set_ylim(top=min(1.0, ax.get_ylim()[1]))
    if names[1]:
        ax.legend(title=names[1], fontsize=8, title_fontsize=8)
    if note:
        ax.set_title(note, fontsize=8)
    return ax


def draw(results, values, folder):
    """Draw a sweep's table and write it as SVG, whole or not at all; return the file.

    Parameters
    ----------
    results : DataFrame
        Of :func:`reliability.sweep.table`.
    values : dict of name to sequence
        The values of each setting.
    folder : path
    """
    along, across, others = chosen_axes(values)
    shown = results
    for name in others:
        shown = shown[shown[name] == values[name][0]]
    curves = {}
    for value in (values[across] if across else [""])[:MOST_LINES]:
        rows = shown[shown[across] == value] if across else shown
        curves[value] = [rows[f"{RATIO}.{part}"].to_numpy(float) for part in ("mean", "low", "high")]
    note = ", ".join(f"{name} = {values[name][0]}" for name in others)
    if across and len(values[across]) > MOST_LINES:
        note += f"; the first {MOST_LINES} of {len(values[across])} values of {across}"
    ax = sweep(values[along], (along, across), curves, note.removeprefix("; "))
    half, whole = Path(folder) / ".sweep.svg", Path(folder) / "sweep.svg"
    with plt.rc_context({"svg.hashsalt": "sweep"}):  # the same picture in the same bytes
        ax.figure.savefig(half, format="svg", metadata={"Date": None})
    plt.close(ax.figure)
    os.replace(half, whole)
    return whole
