"""Figures of the page on policies: which way back wins where, the pool of standbys, rules that retire lemons."""

from matplotlib.patches import Rectangle

from reliability.figures import BLACK, BLUE, PURPLE, VERMILION, axes, in_style, percent_axis

FILLS = {"W": "#e4e1da", "C": "#d9c8e3", "S": "#b9d8ec", "E": "#f6cfae"}  # pale: the text in them is black
HATCH = "////"
TALL = 4  # rows beside which a map has room for a label of its own; lower ones share it
STYLES = ((BLUE, "-", "o"), (VERMILION, "--", "s"), (PURPLE, "-.", "D"), (BLACK, ":", "^"))


@in_style
def best_ways(columns, rows, row_label, panels, key):
    """Draw maps of the best way back, one above the other: a cell for each job, with its letter and its lead.

    Parameters
    ----------
    columns : sequence of str
        Sizes of the job, from left to right.
    rows : sequence of str
        From bottom to top.
    row_label : str
    panels : mapping of title to list [rows] of lists [columns] of (letter, lines, shown)
        `lines` are written in the cell; it is hatched unless the lead is shown.
    key : str
        What the letters mean, below the maps.
    """
    every = axes(height=0.75 * len(rows) * len(panels) + 0.55 * len(panels) + 0.9, nrows=len(panels), squeeze=False)
    for ax, (title, cells) in zip(every[:, 0], panels.items(), strict=True):
        ax.set_title(title)
        ax.grid(False)
        for y, row in enumerate(cells):
            for x, (letter, lines, shown) in enumerate(row):
                ax.add_patch(Rectangle((x, y), 1, 1, facecolor=FILLS[letter], edgecolor="#fbfaf7", linewidth=2))
                if not shown:
                    ax.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor="#8a8a8a", linewidth=0, hatch=HATCH))
                _write(ax, x, y, lines, shown)
        ax.set_xlim(0, len(columns))
        ax.set_ylim(0, len(rows))
        ax.set_xticks([i + 0.5 for i in range(len(columns))], columns)
        ax.set_yticks([i + 0.5 for i in range(len(rows))], rows)
        ax.tick_params(length=0)
        if len(rows) >= TALL:
            ax.set_ylabel(row_label)
    if len(rows) < TALL:
        label = every[0, 0].yaxis.label
        every[0, 0].figure.supylabel(row_label, fontsize=label.get_size(), color=label.get_color())
    every[-1, 0].set_xlabel(f"GPUs\n{key}")
    return every[:, 0]


def _write(ax, x, y, lines, shown):
    """Write the lines of a cell, the first one large; on a hatched cell they stand on a plain ground."""
    ground = None if shown else {"facecolor": "#fbfaf7", "edgecolor": "none", "pad": 1.2, "alpha": 0.9}
    heights = (0.76, 0.45, 0.18) if len(lines) > 2 else (0.68, 0.28)
    for i, (line, height) in enumerate(zip(lines, heights, strict=False)):
        ax.text(
            x + 0.5,
            y + height,
            line,
            ha="center",
            va="center",
            color=BLACK,
            fontsize=12 if i == 0 else 9.5,
            fontweight="bold" if i == 0 else "normal",
            bbox=ground,
        )


@in_style
def by_standbys(numbers, curves, best, money_label):
    """Draw ETTR and the cost of useful work against the number of standbys, one above the other.

    Parameters
    ----------
    numbers : list of int, rising
    curves : mapping of label to (ettr, cost), each (mean, low, high) of arrays [n]
        Up to four. Costs may be infinite.
    best : mapping of label to (number in time, number in money)
        Each has a dot.
    money_label : str
    """
    top, bottom = axes(height=5.6, nrows=2, sharex=True)
    for (label, both), (colour, style, marker) in zip(curves.items(), STYLES, strict=False):
        for ax, (mean, low, high), number in zip((top, bottom), both, best[label], strict=True):
            ax.plot(numbers, mean, color=colour, linestyle=style, label=label)
            ax.fill_between(numbers, low, high, color=colour, alpha=0.18, linewidth=0)
            ax.plot([number], [mean[list(numbers).index(number)]], marker, color=colour, markersize=8)
    percent_axis(top, "ETTR")
    top.legend(loc="lower right")
    bottom.set_ylabel(money_label)
    bottom.set_xlabel("standbys")
    cheapest = min(min(cost[0]) for _, cost in curves.values())
    if cheapest < float("inf"):  # few standbys cost many times as much; the choice lies near the cheapest
        bottom.set_ylim(0.98 * cheapest, 1.25 * cheapest)
    return top, bottom


@in_style
def by_rule(rules, series):
    """Draw what each rule gains in ETTR and what it changes in cost, one above the other, with intervals.

    Parameters
    ----------
    rules : sequence of str
        Along the axis.
    series : mapping of label to (time, cost), each a list of (value, low, high) in percentage points and percent
        Up to four.
    """
    top, bottom = axes(height=5.6, nrows=2, sharex=True)
    apart = 0.6 / max(1, len(series))
    for j, ((label, both), (colour, _, marker)) in enumerate(zip(series.items(), STYLES, strict=False)):
        at = [i + apart * (j - (len(series) - 1) / 2) for i in range(len(rules))]
        for ax, values in zip((top, bottom), both, strict=True):
            mean = [value for value, _, _ in values]
            error = [[v - low for v, low, _ in values], [high - v for v, _, high in values]]
            ax.errorbar(at, mean, error, fmt=marker, color=colour, ecolor=colour, markersize=7, capsize=4, label=label)
    for ax in (top, bottom):
        ax.axhline(0, color="#555555", linewidth=0.8)
    top.set_ylabel("ETTR gained (points)")
    bottom.set_ylabel("cost of useful work (%)")
    bottom.set_xticks(range(len(rules)), rules)
    bottom.set_xlabel("retired at so many blamed failures")
    low, high = top.get_ylim()
    top.set_ylim(low, high + 0.13 * len(series) * (high - low))  # room for the legend
    top.legend(loc="upper right")
    return top, bottom
