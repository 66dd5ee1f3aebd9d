"""Which rows of a table of incidents are used, and what they name: node, class, system."""

import numpy as np

from reliability.logs import csv_rows, hostlist, names
from reliability.logs.notes import LogError, note, quoted

BRACKETS = frozenset("[],")
MOST_ROWS = 20_000_000


def texts_of(source, part):
    """One column as texts; None where the table has none."""
    return csv_rows.objects(source.parts[part]) if part in source.parts else None


def texts_column(values):
    """A column of Python's texts; left alone, pandas copies them into another form and back."""
    import pandas as pd

    return pd.Series(values, dtype=object)


def kept(source, start, end_us, ended, negative, system):
    """Rows that can be used, and notes on the others; a row is dropped for one reason."""
    import pyarrow as pa
    import pyarrow.compute as compute

    keep, notes = np.ones(len(source.lines), dtype=bool), []
    reasons = []
    if system is not None:
        chosen = of_system(source, system)
        notes += note("excluded", f"rows of a system other than {quoted(system)}", source.lines[~chosen].tolist())
        keep &= chosen
    reasons += [("start is no date", start.bad), ("no start", start.missing)]
    if "node" in source.parts:
        lower = compute.utf8_lower(source.parts["node"])
        nameless = compute.is_in(lower, pa.array(sorted(hostlist.NONE))).to_numpy(zero_copy_only=False)
        reasons.append(("no node", nameless))
    reasons += [("end before start", ended & (end_us < start.us) & ~negative), ("negative duration", negative)]
    for reason, mask in reasons:
        notes += note("dropped", reason, source.lines[mask & keep].tolist())
        keep &= ~mask
    return keep, notes


def counts(source):
    """Rows of each system."""
    if "system" not in source.parts:
        return {}
    codes, spelt = names.unified(texts_of(source, "system"))
    return dict(zip(spelt, np.bincount(codes[codes >= 0], minlength=len(spelt)).tolist(), strict=True))


def of_system(source, system):
    if "system" not in source.parts:
        raise LogError(source.name, None, None, f"a column for the system, as system={str(system)!r} is told")
    texts = texts_of(source, "system")
    chosen = np.array([text.casefold() == str(system).strip().casefold() for text in texts], dtype=bool)
    if not chosen.any():
        known = sorted(set(texts.tolist()))
        raise LogError(source.name, None, None, f"system {str(system)!r} among {', '.join(known[:20])}")
    return chosen


def named(frame, source):
    """Add node, key, cls, detail, system and group; a row for each host of an expression."""
    rows, notes = frame["row"].to_numpy(), []
    frame = frame.assign(group=-1)
    nodes = texts_of(source, "node")
    if nodes is None:
        frame = frame.assign(node=None)
        notes += note("unknown", "node: the table has no column for it", frame["line"].tolist())
    else:
        frame["node"] = texts_column(nodes[rows])
        frame, notes = _expanded(frame, source.name)
    rows = frame["row"].to_numpy()
    systems = texts_of(source, "system")
    if systems is not None:
        codes, spelt = names.unified(systems[rows])
        frame["system"] = texts_column(np.array([*spelt, names.UNNAMED], dtype=object)[codes])
    system_codes = np.zeros(len(frame), dtype=np.int64) if systems is None else codes
    if nodes is None:
        frame["key"] = -1
    else:
        codes, spelt = names.unified(frame["node"].to_numpy())
        frame["node"] = texts_column(np.array([*spelt, None], dtype=object)[codes])
        frame["key"] = np.where(codes < 0, -1, codes * (system_codes.max(initial=0) + 2) + system_codes + 1)
    classes = texts_of(source, "cls")
    codes, spelt = names.unified([""] * len(frame) if classes is None else classes[rows])
    frame["cls"] = texts_column(np.array([*spelt, names.UNNAMED], dtype=object)[codes])
    where = "" if classes is not None else ": the table has no column for it"
    notes += note("unknown", f"class{where}", frame["line"].to_numpy()[codes < 0].tolist())
    details = texts_of(source, "detail")
    frame["detail"] = texts_column(np.full(len(frame), "", dtype=object) if details is None else details[rows])
    return frame, notes


def _expanded(frame, source):
    """A row for each host of a host expression; expressions that are broken are dropped."""
    texts = frame["node"].to_numpy(dtype=object)
    wide = {text for text in set(texts) if not BRACKETS.isdisjoint(text)}
    several = [i for i, text in enumerate(texts) if text in wide] if wide else []
    if not len(several):
        return frame, []
    hosts, broken, backwards, known = {}, [], [], {}
    for i in several:
        try:
            if texts[i] not in known:
                known[texts[i]] = hostlist.expand(texts[i])
            hosts[i] = known[texts[i]]
        except hostlist.ReversedRange:
            backwards.append(i)
        except ValueError:
            broken.append(i)
    repeats = np.ones(len(frame), dtype=np.int64)
    repeats[broken + backwards] = 0
    for i, found in hosts.items():
        repeats[i] = len(found)
    lines = frame["line"].to_numpy()
    notes = note("dropped", "host expression cut or broken", lines[broken].tolist())
    notes += note("dropped", "host expression with a range that runs backwards", lines[backwards].tolist())
    wide = [i for i, found in hosts.items() if len(found) > 1]
    notes += note("assumed", "several nodes in one row: an incident of each, of one cause", lines[wide].tolist())
    if repeats.sum() > MOST_ROWS:
        raise LogError(source, None, f"{repeats.sum():,} hosts", f"at most {MOST_ROWS:,} in all rows together")
    out = frame.loc[np.repeat(frame.index.to_numpy(), repeats)].reset_index(drop=True)
    starts = np.concatenate([[0], np.cumsum(repeats)[:-1]])
    column, group = out["node"].to_numpy(dtype=object).copy(), np.full(len(out), -1)
    for number, (i, found) in enumerate(hosts.items()):
        place = slice(starts[i], starts[i] + len(found))
        column[place] = found
        if len(found) > 1:
            group[place] = number
    return out.assign(node=texts_column(column), group=group), notes
