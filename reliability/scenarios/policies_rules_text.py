"""What the page on policies prints of the rules that retire lemons."""

from reliability.text import table


def rule_name(failures, window_days):
    """Name a rule."""
    return f"{failures}" + ("" if window_days is None else f" in {window_days:g} d")


def diagnosis(wrong):
    """Name a kind of diagnosis."""
    return f"{100 * wrong:g}% wrong" if wrong else "right"


def signed(number):
    """Write a number with its sign and two decimals; what rounds to zero has none.

    >>> signed(0.314), signed(-0.001)
    ('+0.31', '0.00')
    """
    shown = f"{number:+.2f}"
    return shown[1:] if not float(shown) else shown


def gained(estimated):
    """Write a gain in ETTR as points with half the length of its interval."""
    return f"{signed(100 * estimated.mean)} ± {100 * estimated.half_width:.2f}"


def rules(found):
    """Lay the rules out: what each gains in time and in cost, whom it retires, and how long an exchange may take."""
    rows = []
    for r in found:
        change = r.cost[0]
        rows.append([
            rule_name(r.failures, r.window_days),
            diagnosis(r.wrong),
            gained(r.time),
            f"{signed(100 * change)}%" if abs(change) < float("inf") else "no work is done",
            f"{r.retired:,.0f}",
            f"{r.good:,.0f}",
            f"{r.break_even_days:,.1f} d" if r.time.low > 0 else "no gain shown",
        ])  # fmt: skip
    header = ["failures", "diagnosis", "ETTR, points", "cost", "retired", "good ones", "pays up to"]
    return table(header, rows, align="llrrrrr")


def rules_said(p, found):
    """Say, for each kind of diagnosis, with which rules a difference in time or in cost is shown."""
    exchanged = f"Until its exchange a retired node is paid for {p.exchange_days:g} d more."
    if not p.exchange_days:
        exchanged = "A retired node is exchanged at once."
    said = [
        f"Diagnosis {diagnosis(wrong)}: {_differences([r for r in found if r.wrong == wrong])}."
        for wrong in sorted({r.wrong for r in found})
    ]
    return " ".join([exchanged, "Rules by their number:", *said])


def _differences(mine):
    """Say with which rules a difference is shown, in time and in cost."""
    gain, loss = _numbers(r for r in mine if r.time.low > 0), _numbers(r for r in mine if r.time.high < 0)
    cheaper, dearer = _numbers(r for r in mine if r.money.low > 0), _numbers(r for r in mine if r.money.high < 0)
    time = [
        gain and f"a gain in time is shown for {gain}",
        loss and f"{'a loss' if gain else 'a loss of time is shown'} for {loss}",
    ]
    cost = [
        cheaper and f"useful work gets cheaper with {cheaper}",
        dearer and f"{'' if cheaper else 'useful work gets '}dearer with {dearer}",
    ]
    said = {"time": ", and ".join(filter(None, time)), "cost": ", and ".join(filter(None, cost))}
    return "; ".join(words or f"no difference in {what} is shown" for what, words in said.items())


def _numbers(found):
    """List rules by their number of failures: those in which all count, then those with a window."""
    by_window = {}
    for r in found:
        by_window.setdefault(r.window_days, []).append(f"{r.failures}")
    parts = [", ".join(n) + ("" if days is None else f" within {days:g} days") for days, n in by_window.items()]
    return " and ".join(parts)
