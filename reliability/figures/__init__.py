"""One function a figure: data in, axes out. Only this package imports matplotlib.

Each function draws on new axes in the book's style and returns them; a test looks at their data.
"""

from functools import wraps
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, PercentFormatter

from reliability.text import in_thousands

STYLE = Path(__file__).with_name("book.mplstyle")
BLUE, VERMILION, PURPLE, BLACK, SKY = "#0072B2", "#D55E00", "#7B3F98", "#000000", "#56B4E9"


def in_style(draw):
    """Make a function draw in the book's style, whatever the reader's own is."""

    @wraps(draw)
    def styled(*args, **kwargs):
        # A notebook's backend turns interactive mode on when it is first loaded. Loaded inside the
        # context it would be turned off again at its end, and all figures but the first be lost.
        plt.switch_backend(plt.get_backend())
        with plt.style.context(STYLE):
            return draw(*args, **kwargs)

    return styled


def axes(width=5.6, height=3.6, **options):
    """Return new axes (or an array of them); `options` go to ``plt.subplots``."""
    return plt.subplots(figsize=(width, height), **options)[1]


def size_axis(ax, label="GPUs"):
    """Make the x axis one of cluster sizes: logarithmic, with the powers of two spelt out in thousands."""
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda n, _: in_thousands(n)))
    ax.set_xlabel(label)


def percent_axis(ax, label):
    """Make the y axis one of shares from 0 to 1, in percent."""
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.set_ylabel(label)


def label_line(ax, line, text, x, dx=0, dy=0, **options):
    """Write `text` beside a line at the data point nearest to `x`, in the line's colour."""
    xs, ys = line.get_data()
    i = min(range(len(xs)), key=lambda k: abs(xs[k] - x))
    ax.annotate(text, (xs[i], ys[i]), (dx, dy), textcoords="offset points", color=line.get_color(), **options)
