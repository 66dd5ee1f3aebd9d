"""The figure of one simulated fleet: where its lost time goes."""

import numpy as np

from reliability.figures import BLACK, VERMILION, axes, in_style


@in_style
def lost_time(names, shares):
    """Draw the share of the time that each bin takes, with the interval of its mean; the first on top.

    Parameters
    ----------
    names : sequence of str
    shares : sequence of (mean, low, high)
        Of the whole time, from 0 to 1.
    """
    ax = axes(height=1.0 + 0.42 * max(1, len(names)))
    places = np.arange(len(names))[::-1]
    for place, (mean, low, high) in zip(places, shares, strict=True):
        ax.barh(place, 100 * mean, height=0.6, color=VERMILION, alpha=0.8)
        ax.plot([100 * low, 100 * high], [place, place], color=BLACK, linewidth=1.5)
    ax.set_yticks(places, names)
    ax.set_ylim(-0.6, len(names) - 0.4 if len(names) else 0.6)
    ax.set_xlim(left=0.0)
    ax.set_xlabel("share of the time, %")
    return ax
