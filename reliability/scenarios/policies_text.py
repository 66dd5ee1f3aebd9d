"""What the page on policies prints: who wins where, and the pools."""

from reliability.fleet_cost import cost_of_useful_hour
from reliability.fleet_result import estimate
from reliability.scenarios.base import duration
from reliability.scenarios.policies_fleets import MEANING, SHORT, WAYS
from reliability.scenarios.policies_maps import CURRENCIES, SLACK
from reliability.scenarios.policies_rules_text import rules, rules_said
from reliability.text import counted, percent, table
from reliability.units import DAY_S

KINDS = {False: "single", True: "bursts"}
NO_WORK = "No way back gets any work done that lasts."


def sections(p, values):
    """Return the page's tables and sentences."""
    return {
        "answer": _answer(p, values),
        "ways": table(["way back", "what it is"], [[way, MEANING[way]] for way in WAYS], align="ll"),
        "own": _own(p, values["own"]),
        "by_rate": _wins(values["by_rate"]),
        "by_repair": _wins(values["by_repair"]),
        "curves": _curves(p, values["curves"]),
        "numbers": _numbers(values["curves"]),
        "together": _together(p, values["curves"]),
        "rules": rules(values["rules"]),
        "rules_said": rules_said(p, values["rules"]),
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
        return f"{_at_least(100 * verdict.gain.mean)} points ahead of {verdict.second}"
    return f"{_at_least(100 * verdict.cheaper)}% cheaper than {verdict.second}"


def _at_least(number):
    """Write a number above 0 to a decimal, and never as 0.0."""
    return f"{number:.1f}" if round(number, 1) > 0 else "less than 0.1"


def _answer(p, values):
    time, cheap = (values["own"][False][currency] for currency in CURRENCIES)
    every = duration(DAY_S / (time.case.job_nodes * p.rate))
    cells = [verdict for name in ("by_rate", "by_repair") for row in values[name] for verdict in row]
    maps = {verdict["time"].case: verdict for verdict in cells}.values()  # a job may be in both
    apart = sum(v["time"].best != v["money"].best and v["time"].shown and v["money"].shown for v in maps)
    best = (
        f"In **time** the best is **{named(time.best, time.standbys)}**: ETTR {percent(time.value, 1)}, {lead(time, 'time')}. "
        f"In **money** it is **{named(cheap.best, cheap.standbys)}**: {cost(p, cheap.value)} for a useful GPU-hour at a price "
        f"of {money(p.price_per_gpu_hour)}, {lead(cheap, 'money')}."
    )
    return (
        f"In numbers: {p.gpus:,} GPUs, a node's failure every {every}, a repair of {p.repair_h:g} h. "
        f"{best if time.value > 0 else NO_WORK} Over the jobs of both maps the two currencies choose "
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
    one = len(cells) == 1
    for currency in CURRENCIES:
        best = [cell[currency].best for cell in cells]
        found = best[0] if one else ", ".join(f"{way} {best.count(way)}" for way in WAYS if best.count(way))
        open_ = sum(not cell[currency].shown for cell in cells)
        where = "" if one else f" in {open_}"
        said.append(f"in {currency} {found}" + (f", with no difference to the next shown{where}" if open_ else ""))
    return f"{'For the one job' if one else f'Of {len(cells)} jobs'} the best is, {'; '.join(said)}."


def curve_name(bursts, way):
    """Name a curve over the number of standbys."""
    return KINDS[bursts] + (", shrinks" if way == "elastic" else "")


def _curves(p, curves):
    rows = []
    for (bursts, way), one in _each(curves):
        time, money = ({k: e.mean for k, e in zip(one.numbers, one.estimates[c], strict=True)} for c in CURRENCIES)
        k, (low, high) = one.best["money"], one.flat
        others = [_about(one.numbers, factor * k, k) for factor in (0.5, 2)]
        rows.append([
            curve_name(bursts, way),
            f"{one.best['time']:,} ({percent(time[one.best['time']], 1)})",
            f"{k:,} ({cost(p, money[k])})",
            f"{low:,}" if low == high else f"{low:,} to {high:,}",
            *("" if other is None else f"{other:,} ({cost(p, money[other])})" for other in others),
        ])  # fmt: skip
    header = ["failures", "fewest as good as any (ETTR)", "cheapest (cost of a useful GPU-hour)", "as cheap"]
    return table([*header, "about half as many", "about twice as many"], rows)


def _numbers(curves):
    numbers = curves[False]["standby"].numbers
    return (
        f"Tried are {counted(len(numbers), 'number')} of standbys up to {numbers[-1]:,}; for another job of the maps at most {len(SHORT) + 1}. "
        f"In time the best number is the fewest with an ETTR within {100 * SLACK:g} points of the greatest, and no fewer than "
        "the cheapest where those are as good."
    )


def _each(curves):
    return [((bursts, way), one) for bursts, ways in curves.items() for way, one in ways.items()]


def _together(p, curves):
    said = []
    for bursts, ways in curves.items():
        alone, both = (ways[way].cheapest for way in ("standby", "elastic"))
        pool = counted(ways["elastic"].best["money"], "standby", "standbys")
        said.append(f"{KINDS[bursts]} with {pool}, {_beside(estimate(both - alone), both.mean())}")
    return f"The cheapest pool of a job that shrinks, beside the cheapest of one that waits: {'; '.join(said)}."


def _beside(gain, share):
    """Say how much cheaper or dearer useful work is, from the gain in the useful share of what is paid, and that share."""
    if gain.low > 0:
        return f"{_at_least(100 * gain.mean / share)}% cheaper"
    return f"{_at_least(-100 * gain.mean / share)}% dearer" if gain.high < 0 < share else "no difference shown"


def _about(numbers, wanted, k):
    """Return the number nearest to a wanted one, unless it is k again, none at all, or far from it."""
    nearest = min(numbers, key=lambda n: abs(n - wanted))
    return nearest if nearest not in (0, k) and abs(nearest - wanted) <= max(1, wanted / 4) else None
