"""The figure of a sweep: the effective training ratio over the settings that vary."""

import math
from pathlib import Path
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from reliability.figures import axes, in_style
from reliability.staging import whole
from reliability.text import counted, escaped

RATIO, LABEL = "effective_training_ratio", "effective training ratio"
MARKERS = "osD^v"
MOST_LINES = 5  # as many as the style has colours and dashes
MOST_TICKS = 6  # so that numbers of seven digits do not touch
SHORT = 8  # points of an axis that each have a tick
LINES, LETTERS = 18, 40  # of labels along an axis: upright ones, and letters of those that are not
MOST_LETTERS = 32
MOST_ROWS = 40
NOTE_LETTERS = 52  # in a line


def are_numbers(values):
    """Whether all values have a place on a scale.

    >>> are_numbers([1, 2.5]), are_numbers([1, "wait"]), are_numbers([True, False])
    (True, False, False)
    """
    return all(isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v) for v in values)


def are_multiples(values):
    """Whether numbers lie at least twice as evenly by their ratios as by their differences.

    >>> are_multiples([1, 2, 3]), are_multiples([10, 20, 40]), are_multiples([0, 1, 10])
    (False, True, False)
    """
    values = np.sort(np.asarray(values, dtype=float))
    if len(values) < 3 or values[0] <= 0:
        return False
    by_ratio, by_difference = (gaps.std() / gaps.mean() for gaps in (np.diff(np.log(values)), np.diff(values)))
    return bool(2 * by_ratio < by_difference)


def spread(count, most):
    """Return the places of at most so many of `count` things, evenly spread, with the first and the last.

    >>> spread(3, 5), spread(9, 5)
    ([0, 1, 2], [0, 2, 4, 6, 8])
    """
    return [round(place) for place in np.linspace(0, count - 1, min(count, most))]


def word(value):
    """Write a value on the picture: one line, not long, and never a formula.

    >>> word(862.2666560054664), word(131072), word(1e6), word("path/" * 9 + "a.csv")
    ('862.267', '131,072', '1,000,000', 'path/path/…/path/path/path/a.csv')
    """
    if are_numbers([value]):
        return f"{value:,}" if isinstance(value, int) else f"{float(f'{value:.6g}'):,.12g}"
    text = f"[{', '.join(map(word, value))}]" if isinstance(value, list) else escaped(value)
    text = text if len(text) <= MOST_LETTERS else f"{text[:10]}…{text[11 - MOST_LETTERS :]}"  # paths end differently
    return text.replace("$", r"\$")


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
    order = sorted(values, key=lambda name: (not are_numbers(values[name]), -len(values[name])))
    across = order[1] if len(order) > 1 and len(values[order[1]]) > 1 else None
    return order[0], across, [name for name in order[1:] if name != across]


@in_style
def curves(along, names, found, note=()):
    """Draw a curve for each value of one setting over the numbers of another, with the interval of each mean.

    Parameters
    ----------
    along : sequence of numbers
        Values of the setting along the axis; the scale is logarithmic where :func:`are_multiples`.
    names : (str, str or None)
        Names of the setting along the axis, and of the one that tells the curves apart.
    found : sequence of (value, (mean, low, high)), arrays [n]
    note : sequence of str, optional
        What stays the same; a line breaks between them.
    """
    ax = axes(**_size(names))
    order = np.argsort(along)
    for value, estimate in found:
        x, mean, low, high = (np.asarray(part, dtype=float)[order] for part in (along, *estimate))
        (line,) = ax.plot(x, mean, marker="o", markersize=3, label=word(value))
        ax.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    _scale_axis(ax, along)
    ax.set_xlabel(names[0])
    ax.set_ylabel(LABEL)
    ax.set_ylim(top=min(1.0, ax.get_ylim()[1]))
    return _explained(ax, names, note)


@in_style
def rows(along, names, found, note=()):
    """Draw what has no scale, such as texts: a row for each value, the first on top; the parameters are those of `curves`."""
    ax = axes(**_size(names), height=1.2 + len(along) * (0.16 + 0.12 * len(found)))
    for i, (value, (mean, low, high)) in enumerate(found):
        y = np.arange(len(along)) + (i - (len(found) - 1) / 2) * 0.6 / len(found)  # beside each other
        (dots,) = ax.plot(mean, y, MARKERS[i], markersize=5, label=word(value))
        ax.hlines(y, low, high, color=dots.get_color())
    ax.set_yticks(range(len(along)), [word(value) for value in along], fontsize=8)
    ax.set_ylim(len(along) - 0.5, -0.5)
    ax.set_xlabel(f"{LABEL}\nby {names[0]}")
    ax.set_xlim(right=min(1.0, ax.get_xlim()[1]))
    ax.xaxis.set_major_locator(MaxNLocator(MOST_TICKS))
    return _explained(ax, names, note)


def _size(names):
    """Leave room for a legend beside the picture, where no curve runs through it."""
    return {"width": 7.2 if names[1] else 5.6}


def _explained(ax, names, note):
    """Say what tells the curves apart and what stays the same."""
    if names[1]:
        title = names[1].replace(".", ".\n")
        ax.figure.legend(loc="outside right upper", title=title, fontsize=8, title_fontsize=8, alignment="left")
    said = ", ".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in note)
    ax.set_title(fill(said, NOTE_LETTERS), fontsize=8, fontweight="normal")
    return ax


def _scale_axis(ax, along):
    """Give numbers their scale: a tick at each value where they are few or multiples, with a label if there is room for all."""
    values = sorted(along)
    multiples = are_multiples(values)
    if multiples:
        ax.set_xscale("log")
        ax.minorticks_off()
    if multiples or len(values) <= SHORT:
        ticks = values if len(values) <= SHORT else [values[place] for place in spread(len(values), MOST_TICKS)]
        at = np.log(ticks) if multiples else np.asarray(ticks, dtype=float)
        words, gap = [word(value) for value in ticks], np.diff(at).min() / (at[-1] - at[0])
        if gap < 1 / LINES:
            words[1:-1] = [""] * len(words[1:-1])
        upright = 1 / LINES <= gap < max(map(len, words)) / LETTERS
        ax.set_xticks(ticks, words, rotation=90 if upright else 0)
    else:
        whole = all(isinstance(value, int) for value in values)
        ax.xaxis.set_major_locator(MaxNLocator(MOST_TICKS, integer=whole))
        ax.xaxis.set_major_formatter(lambda value, _: word(value))


def draw(results, values, folder):
    """Draw a sweep's table and write it as SVG, whole or not at all; return the file.

    Parameters
    ----------
    results : DataFrame
        Of :func:`reliability.sweep_table.table`: a row for each combination of the values, the last setting varying fastest.
    values : dict of name to sequence
        The values of each setting.
    folder : path
    """
    along, across, others = chosen_axes(values)
    scale = are_numbers(values[along]) and len(values[along]) > 1
    most = dict.fromkeys(others, 1) | {across: MOST_LINES, along: len(values[along]) if scale else MOST_ROWS}
    places = {name: spread(len(of), most[name]) for name, of in values.items()}
    note = [f"{name} = {word(values[name][0])}" for name in others]
    for name in filter(None, (along, across)):
        if len(places[name]) < len(values[name]):
            note.append(f"{len(places[name])} of the {len(values[name]):,} values of {name}")
    numbers = np.arange(len(results)).reshape([len(of) for of in values.values()])
    found = []
    for line in places[across] if across else [0]:
        # By place and not by value: a list is not equal to itself in a table.
        at = numbers[np.ix_(*([line] if name == across else of for name, of in places.items()))].ravel()
        estimate = [results[f"{RATIO}.{part}"].to_numpy(float)[at] for part in ("mean", "low", "high")]
        found.append((values[across][line] if across else "", estimate))
    if gaps := sum(int(np.isnan(mean).sum()) for _, (mean, _, _) in found):
        note.append(f"without {counted(gaps, 'point')} that could not be simulated")
    shown = [values[along][place] for place in places[along]]
    ax = (curves if scale else rows)(shown, (along, across), found, note)
    file = Path(folder) / "sweep.svg"
    with whole(file) as half, plt.rc_context({"svg.hashsalt": "sweep"}):  # the same picture in the same bytes
        ax.figure.savefig(half, format="svg", metadata={"Date": None})
    plt.close(ax.figure)
    return file
