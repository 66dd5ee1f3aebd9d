"""The fit of a log as a person reads it: text, HTML for a notebook, and DataFrames."""

import textwrap

from reliability.text import counted, escaped, table

WIDTH, SHOWN, CLASS_WIDTH = 80, 12, 20
HEADER = ("class", "incidents", "rate", "95 % interval", "repair h", "p90")


def text(fit):
    """Return tables and sentences in 80 columns."""
    return "\n\n".join(part if part.startswith("|") else textwrap.fill(part, WIDTH) for part in parts(fit))


def html(fit):
    """Return the rates as a table and the tests as another; what stands in the log is escaped."""
    rates = [_class_row("total", fit.incidents, fit.total, fit.repairs)] + _class_rows(fit)
    tests = [[_mark(one.holds), one.name, one.sentence] for one in fit.findings]
    sentences = [f"Rates are per 1,000 node-days; repair h is the median. Exposure: {fit.exposure}.", _mtbf_text(fit)]
    sentences += [f"Assumed: {note}." for note in fit.notes]
    told = [f"<p>{_plain(sentence)}</p>" for sentence in sentences]
    return "\n".join([_table(HEADER, rates), *told, _table(["", "assumption", "what the log says"], tests)])


def frames(fit):
    """Return the fit as a dict of DataFrames.

    Returns
    -------
    dict
        ``rates``: a row the total and each class, with `incidents`, `value`, `low`, `high` per 1,000
        node-days, and `share` of the incidents. ``repairs``: the same rows, in hours. ``tests``: a row
        an assumption, with `holds` (None: too few incidents, or unknown) and `sentence`. ``lemons``: a row
        a node with more incidents than chance allows.
    """
    import pandas as pd

    rows = [("total", fit.incidents, fit.total, fit.repairs)]
    rows += [(cls, n, rate, fit.repairs_by_class[cls]) for cls, (n, rate) in fit.by_class.items()]
    lengths = ("closed", "still_open", "unknown", "median_h", "mean_h", "p90_h", "total_h")
    lemons = fit.node_rates.lemons if fit.node_rates else ()
    fields = ("node", "incidents", "expected", "p_value", "predicted_ratio")
    return {
        "rates": pd.DataFrame(
            [
                [cls, n, n / fit.incidents if fit.incidents else None]
                + [getattr(rate, end, None) for end in ("value", "low", "high")]
                for cls, n, rate, _ in rows
            ],
            columns=["class", "incidents", "share", "value", "low", "high"],
        ),
        "repairs": pd.DataFrame(
            [[cls, *(getattr(repairs, name) for name in lengths)] for cls, _, _, repairs in rows],
            columns=["class", *lengths],
        ),
        "tests": pd.DataFrame(
            [[one.name, one.holds, one.sentence] for one in fit.findings], columns=["assumption", "holds", "sentence"]
        ).astype({"holds": object}),
        "lemons": pd.DataFrame([[getattr(one, name) for name in fields] for one in lemons], columns=fields),
    }


def _plain(cell):
    from html import escape

    return escape(escaped(cell))


def _table(header, rows):
    head = "".join(f"<th>{_plain(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{_plain(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def parts(fit):
    """Return the tables and sentences on a fit that a person reads, in their order."""
    rows = [_class_row("total", fit.incidents, fit.total, fit.repairs)] + _class_rows(fit)[:SHOWN]
    found = [table(HEADER, rows)]
    if len(fit.by_class) > SHOWN:
        found.append(counted(len(fit.by_class) - SHOWN, "more class is", "more classes are") + " in the JSON.")
    found.append("Rates are per 1,000 node-days; repair h is the median. Exposure: " + fit.exposure + ".")
    found.append(_mtbf_text(fit))
    untested = [finding.name for finding in fit.findings if finding.sentence.startswith("Too few")]
    tested = [finding for finding in fit.findings if finding.name not in untested]
    found += [f"[{_mark(finding.holds)}] {finding.name}: {finding.sentence}" for finding in tested]
    if untested:
        found.append(f"[?] Too few incidents, gaps or nodes to test: {', '.join(untested)}.")
    if fit.node_rates and fit.node_rates.lemons:
        worst = [
            [
                escaped(x.node)[:CLASS_WIDTH],
                f"{x.incidents:,}",
                f"{x.expected:.3g}",
                _p(x.p_value),
                f"{x.predicted_ratio:.3g}",
            ]
            for x in fit.node_rates.lemons
        ]
        found.append(table(["lemon", "incidents", "expected", "p", "future rate / mean"], worst[:SHOWN]))
        if len(worst) > SHOWN:
            found.append(counted(len(worst) - SHOWN, "more lemon is", "more lemons are") + " in the JSON.")
    found += [f"Assumed: {note}." for note in fit.notes]
    return found


def _class_rows(fit):
    return [
        _class_row(escaped(cls)[:CLASS_WIDTH], n, rate, fit.repairs_by_class[cls])
        for cls, (n, rate) in fit.by_class.items()
    ]


def _class_row(name, count, rate, repairs):
    def shown(value):
        return "-" if value is None else f"{value:.3g}"

    value = "unknown" if rate is None else "none seen" if rate.value is None else f"{rate.value:.3g}"
    interval = "unknown" if rate is None else f"{rate.low:.3g} to {rate.high:.3g}"
    return [name, f"{count:,}", value, interval, shown(repairs.median_h), shown(repairs.p90_h)]


def _mtbf_text(fit):
    if fit.mtbf_h is None:
        return "The mean time between incidents is unknown."
    value, low, high = fit.mtbf_h
    if value is None:
        return f"No incident was seen: the mean time between incidents is above {low:.4g} h (one-sided 95 %)."
    text = f"One incident in {value:.4g} h in the whole system (exact 95 % interval {low:.4g} to {high:.4g} h)"
    if fit.total:
        value, low, high = fit.total.node_mtbf_h
        text += f"; of a node one in {value:,.0f} h ({low:,.0f} to {high:,.0f} h)" if value else ""
    return text + "."


def _mark(holds):
    return "?" if holds is None else "ok" if holds else "no"


def _p(p):
    return f"{p:.2g}" if p >= 1e-4 else "< 0.0001"
