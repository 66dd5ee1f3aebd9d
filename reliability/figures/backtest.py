"""The figure of the backtest: what each window was forecast to bring, and what it brought."""

import numpy as np

from reliability.figures import BLACK, BLUE, VERMILION, axes, in_style


@in_style
def forecasts(records, ylabel="incidents in the week"):
    """Draw the intervals that were forecast, the naive ones, and the outcomes; one panel a record.

    Parameters
    ----------
    records : mapping of label to (x, reliability.backtest_scores.Scores)
        x, array [windows]: where each window is drawn, such as the week of the record.

    Returns
    -------
    array of axes [records]
    """
    panels = axes(width=6.4, height=0.6 + 2.2 * len(records), nrows=len(records), squeeze=False)[:, 0]
    for ax, (label, (x, found)) in zip(panels, records.items(), strict=True):
        x = np.asarray(x, dtype=float)
        ax.fill_between(
            x, found.low, found.high, step="mid", color=BLUE, alpha=0.25, linewidth=0, label="forecast, 90 %"
        )
        for ends, name in ((found.naive_low, "Poisson, 90 %"), (found.naive_high, None)):
            ax.plot(x, ends, color=VERMILION, linestyle="--", drawstyle="steps-mid", linewidth=1.2, label=name)
        inside = (found.low <= found.seen) & (found.seen <= found.high)
        for shown, face, name in ((inside, BLACK, "seen"), (~inside, "white", "seen, outside the forecast")):
            ax.plot(
                x[shown],
                found.seen[shown],
                "o",
                color=BLACK,
                markerfacecolor=face,
                markersize=3.5,
                clip_on=False,
                label=name,
            )
        ax.set_title(label, loc="left")
        ax.set_ylabel(ylabel)
        highest = max(np.max(found.high), np.max(found.naive_high), np.max(found.seen), 1e-9)
        ax.set_ylim(0, (1.5 if ax is panels[0] else 1.05) * highest)  # the legend has its room in the first
    panels[0].legend(loc="upper right", ncols=2)
    panels[-1].set_xlabel("week of the record")
    return panels
