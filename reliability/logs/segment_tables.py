"""Tables of what a :class:`reliability.logs.segments.Collector` took: points, segments, checkpoints."""

from collections import Counter

import numpy as np


def points_table(collector):
    """The points with their interval, status, and whether they count in the end."""
    import pandas as pd

    names = ["step", "loss", "grad_norm", "skipped", "seconds", "segment", "stamp_s", "before_s", "line"]
    table = pd.DataFrame(collector.points, columns=names)
    absent = table.loss.isna() & np.array([row[1] is None for row in collector.points])
    for name in names[1:5] + names[6:8]:
        table[name] = pd.to_numeric(table[name]).astype(float)
    _add_skips(table, collector)
    table["interval"] = _intervals(table, collector)
    loss, grad = table.loss.to_numpy(), table.grad_norm.to_numpy()
    has_grad = np.array([row[2] is not None for row in collector.points])
    all_skipped = table.skipped.to_numpy() >= table.interval.to_numpy()
    partly = table.skipped.to_numpy() > 0
    bad_loss, bad_grad = ~np.isfinite(loss) & ~absent, has_grad & ~np.isfinite(grad)
    skipped = all_skipped & (absent | (loss == 0)) | (partly & bad_grad & np.isfinite(loss) & (loss != 0))
    missing = absent & ~skipped & collector.averages & ~absent.all()  # where none is printed, nothing is known of it
    table["nan_field"] = np.select(
        [skipped, bad_loss, missing, bad_grad], ["", "loss", "loss missing", "grad_norm"], default=""
    )
    table["grad_nan"] = bad_grad & ~skipped
    dead = ~skipped & (loss == 0)
    table["status"] = np.select([skipped, dead, table.nan_field != ""], ["skipped", "dead", "nan"], default="ok")
    table["kept"] = _kept(table, collector)
    return table


def _add_skips(table, collector):
    """DeepSpeed counts skipped steps from the start: a point's are what was added since the one before."""
    if collector._skipped and table.skipped.isna().all():
        counted = [collector._skipped.get((seg, step)) for seg, step in zip(table.segment, table.step, strict=True)]
        total = np.array([np.nan if c is None else float(c) for c in counted])
        table["skipped"] = np.diff(total, prepend=0.0)
        table.loc[~(table.skipped >= 0), "skipped"] = np.nan


def _intervals(table, collector):
    """Steps that each point stands for: since the point before it in its segment."""
    usual = usual_interval(table) or 1
    gap = table.groupby("segment").step.diff()
    first = gap.isna()
    base = np.array([_base(start, usual) for start in collector.starts])
    since = table.step - base[table.segment.to_numpy() - 1]
    gap = gap.where(~first, np.minimum(since.clip(lower=1), max(usual, 1)))
    return gap.clip(lower=1).fillna(1).astype(int)


def _base(start, usual):
    """The last step before a segment's first."""
    if start["resumed_from"] is not None and start["resumed_from"] < start["first"]:
        return start["resumed_from"]
    return max(start["first"] - usual, -1)


def usual_interval(points):
    """The commonest gap between the steps of a segment; None where no segment has two."""
    gaps = points.groupby("segment").step.diff().dropna()
    gaps = gaps[gaps > 0]
    return int(Counter(gaps.tolist()).most_common(1)[0][0]) if len(gaps) else None


def _kept(table, collector):
    """Whether no later segment starts before a point: what comes after it was then done again, or given up."""
    usual = usual_interval(table) or 1
    base = np.array([_base(start, usual) for start in collector.starts], dtype=float)
    later = np.minimum.accumulate(np.append(base[1:], np.inf)[::-1])[::-1]
    return table.step.to_numpy() <= later[table.segment.to_numpy() - 1]


def segment_list(collector):
    """First and last step of each segment, and the checkpoint that it went on from."""
    last = {}
    for row in collector.points:
        last[row[5]] = max(last.get(row[5], -1), row[0])
    return [
        {"first": s["first"], "last": last[i], "resumed_from": s["resumed_from"], "line": s["line"],
         "crash_s": s["crash_s"] if i > 1 else None, "restart_s": s["restart_s"]}
        for i, s in enumerate(collector.starts, 1)
    ]  # fmt: skip


def checkpoint_table(collector, points):
    """The checkpoints, each good, poisoned by a NaN before it, unknown where an average hides when it came, or dropped."""
    import pandas as pd

    rows = []
    for step, segment, line in {(s, g): (s, g, n) for s, g, n in reversed(collector.saves)}.values():
        own = points[points.segment == max(segment, 1)]
        rows.append((step, max(segment, 1), line, _verdict(step, own)))
    table = pd.DataFrame(rows, columns=["step", "segment", "line", "verdict"])
    return table.sort_values(["segment", "step"]).reset_index(drop=True)


def _verdict(step, own):
    """What the point that covers a checkpoint says of it."""
    steps, status = own.step.to_numpy(), own.status.to_numpy()
    state = np.array([{"ok": 1, "skipped": 0}.get(s, -1) for s in status])
    before, after = np.flatnonzero(steps <= step), np.flatnonzero(steps >= step)
    judged = before[state[before] != 0] if before.size else before
    last = state[judged[-1]] if judged.size else 0
    if last < 0:
        return "poisoned"
    if judged.size and steps[judged[-1]] == step:
        return "good"
    following = after[state[after] != 0] if after.size else after
    return "good" if last > 0 and following.size and state[following[0]] > 0 else "unknown"
