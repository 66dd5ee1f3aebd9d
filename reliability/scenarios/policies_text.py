"""What the page on policies prints: who wins where, the pools, the rules."""

from reliability.fleet_cost import cost_of_useful_hour
from reliability.fleet_result import estimate
from reliability.scenarios.base import duration
from reliability.scenarios.policies_fleets import MEANING, WAYS
from reliability.scenarios.policies_maps import CURRENCIES
from reliability.text import counted, percent, table

KINDS = {False: "single", True: "bursts"}


def sections(p, values):
    """Return the page's tables and sentences."""
    return {
        "answer": _answer(p, values),
        "ways": table(["way back", "what it is"], [[way, MEANING[way]] for way in WAYS], align="ll"),
        "own": _own(p, values["own"]),
        "by_rate": _wins(values["by_rate"]),
        "by_repair": _wins(values["by_repair"]),
        "curves": _curves(p, values["curves"]),
        "together": _together(p, values["curves"]),
        "rules": _rules(p, values["rules"]),
        "rules_said": _rules_said(p, values["rules"]),
    }


def cost(p, share):
    """Write what a useful GPU-hour costs at a useful share of what is paid."""
    return money(cost_of_useful_hour(p.price_per_gpu_hour, share)) if share > 0 else "no work is done"


def money(amount):
    """Write an amount to two decimals, or to three digits where it is small.

    >>> money(2.5), money(0.00123)
    ('2.50', '0.00123')
    """
    return f"{amount:,.2f}" if amount >= 0.1 else f"{amount:.3g}"


def named(way, standbys):
    """Name a way back, with its number of standbys."""
    return f"{way}, {counted(standbys, 'node')}" if way == "standby" else way


def lead(verdict, currency):
    """Say by how much a way is ahead of the next."""
    if not verdict.shown:
        return f"no difference to {verdict.second} shown"
    if currency == "time":
        return f"{100 * verdict.gain.mean:.1f} points ahead of {verdict.second}"
    return f"{percent(verdict.cheaper, 1)} cheaper than {verdict.second}"


def _answer(p, values):
    time, cheap = (values["own"][False][currency] for currency in CURRENCIES)
    every = duration(86400 / (time.case.job_nodes * p.rate))
    maps = [verdict for name in ("by_rate", "by_repair") for row in values[name] for verdict in row]
    apart = sum(v["time"].best != v["money"].best and v["time"].shown and v["money"].shown for v in maps)
    return (
        f"In numbers: {p.gpus:,} GPUs, a node's failure every {every}, a repair of {p.repair_h:g} h. In **time** the best is "
        f"**{named(time.best, time.standbys)}**: ETTR {percent(time.value, 1)}, {lead(time, 'time')}. In **money** it is "
        f"**{named(cheap.best, cheap.standbys)}**: {cost(p, cheap.value)} for a useful GPU-hour at a price of "
        f"{money(p.price_per_gpu_hour)}, {lead(cheap, 'money')}. Over the jobs of both maps the two currencies choose "
        f"another way in {apart} of {len(maps)}, both leads shown."
    )


def _own(p, own):
    rows = []
    for bursts, verdicts in own.items():
        chosen = {c: verdicts[c].standbys for c in CURRENCIES}
        for (way, k), kept in verdicts["time"].both.items():
            best = [
                f"best in {c}" + (" (no difference shown)" if not verdicts[c].shown else "")
                for c in CURRENCIES
                if verdicts[c].best == way and (way != "standby" or chosen[c] == k)
            ]
            name = named(way, k) + (f": **{' and '.join(best)}**" if best else "")
            rows.append(
                [KINDS[bursts], name, percent(kept["time"], 1), percent(kept["money"], 1), cost(p, kept["money"])]
            )
    header = ["failures", "way back", "ETTR", "useful share of what is paid", "cost of a useful GPU-hour"]
    return table(header, rows, align="llrrr")


def _wins(grid):
    said, cells = [], [verdict for row in grid for verdict in row]
    for currency in CURRENCIES:
        best = [cell[currency].best for cell in cells]
        found = ", ".join(f"{way} {best.count(way)}" for way in WAYS if best.count(way))
        open_ = sum(not cell[currency].shown for cell in cells)
        said.append(f"in {currency} {found}" + (f", with no difference to the next shown in {open_}" if open_ else ""))
    return f"Of {counted(len(cells), 'job')} the best is, {'; '.join(said)}."


def curve_name(bursts, way):
    """Name a curve over the number of standbys."""
    return KINDS[bursts] + (", shrinks" if way == "elastic" else "")


def _curves(p, curves):
    rows = []
    for (bursts, way), one in _each(curves):
        time, money = ({k: e.mean for k, e in zip(one.numbers, one.estimates[c], strict=True)} for c in CURRENCIES)
        k, (low, high) = one.best["money"], one.flat
        others = [_nearest(one.numbers, factor * k) for factor in (0.5, 2)]
        rows.append([
            curve_name(bursts, way),
            f"{one.best['time']:,} ({percent(time[one.best['time']], 1)})",
            f"{k:,} ({cost(p, money[k])})",
            f"{low:,}" if low == high else f"{low:,} to {high:,}",
            *(f"{other:,} ({cost(p, money[other])})" for other in others),
        ])  # fmt: skip
    header = ["failures", "fewest as good as the most (ETTR)", "cheapest (cost of a useful GPU-hour)", "as cheap"]
    return table([*header, "about half as many", "about twice as many"], rows)


def _each(curves):
    return [((bursts, way), one) for bursts, ways in curves.items() for way, one in ways.items()]


def _together(p, curves):
    said = []
    for bursts, ways in curves.items():
        alone, both = (ways[way] for way in ("standby", "elastic"))
        gain = estimate((both.cheapest - alone.cheapest) / both.cheapest.mean())
        shown = f"{percent(gain.mean, 1)} cheaper" if gain.low > 0 else "no difference shown"
        said.append(f"{KINDS[bursts]} with {counted(both.best['money'], 'standby', 'standbys')}, {shown}")
    return f"The cheapest pool of a job that shrinks, beside the cheapest of one that waits: {'; '.join(said)}."


def _nearest(numbers, wanted):
    return min(numbers, key=lambda k: abs(k - wanted))


def rule_name(failures, window_days):
    """Name a rule."""
    return f"{failures}" + ("" if window_days is None else f" in {window_days:g} d")


def diagnosis(wrong):
    """Name a kind of diagnosis."""
    return f"{percent(wrong, 0)} wrong" if wrong else "right"


def signed(number):
    """Write a number with its sign and two decimals; what rounds to zero has none.

    >>> signed(0.314), signed(-0.001)
    ('+0.31', '0.00')
    """
    shown = f"{number:+.2f}"
    return shown[1:] if not float(shown) else shown


def _rules(p, rules):
    rows = []
    for r in rules:
        change = -r.money.mean / (1 + r.money.mean)
        rows.append([
            rule_name(r.failures, r.window_days),
            diagnosis(r.wrong),
            f"{signed(100 * r.time.mean)} ± {100 * r.time.half_width:.2f}",
            f"{signed(100 * change)}%",
            f"{r.retired:,.0f}",
            f"{r.good:,.0f}",
            f"{r.break_even_days:,.1f} d" if r.time.low > 0 else "no gain",
        ])  # fmt: skip
    header = [
        "failures",
        "diagnosis",
        "ETTR, points",
        "cost",
        "retired",
        "good ones",
        "pays up to",
    ]
    return table(header, rows, align="llrrrrr")


def _rules_said(p, rules):
    said = []
    for wrong in sorted({r.wrong for r in rules}):
        mine = [r for r in rules if r.wrong == wrong]
        said.append(
            f"Diagnosis {diagnosis(wrong)}: a gain in time is shown for {_numbers(r for r in mine if r.time.low > 0)}; useful work gets "
            f"cheaper with {_numbers(r for r in mine if r.money.low > 0)}, and dearer with {_numbers(r for r in mine if r.money.high < 0)}."
        )
    return " ".join(
        [f"Until its exchange a retired node is paid for {p.exchange_days:g} d more. Rules by their number:", *said]
    )


def _numbers(rules):
    """List rules by their number of failures: those in which all count, then those with a window."""
    by_window = {}
    for r in rules:
        by_window.setdefault(r.window_days, []).append(f"{r.failures}")
    parts = [", ".join(n) + ("" if days is None else f" within {days:g} days") for days, n in by_window.items()]
    return " and ".join(parts) or "none"
