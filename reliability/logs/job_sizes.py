"""Mean time to failure of jobs by their size, as Kokolis et al. (2025) plot it."""

import numpy as np

from reliability import checks, rates
from reliability.logs.notes import LogError
from reliability.units import HOUR_S


def mttf_by_size(read, by=None, gpus_per_node=None, level=0.95):
    r"""Mean time to failure of jobs, by size rounded up to a power of two.

    .. math:: \text{MTTF} = T / k

    with T the run time of all attempts of that size and k the failures among their ends. All that ended
    otherwise, or still run, is censored: it adds to T only.

    Parameters
    ----------
    read : reliability.incidents.Incidents
        With ``jobs``.
    by : {"gpus", "nodes"}, optional
        None: GPUs where the jobs say them or `gpus_per_node` is given, else nodes.
    gpus_per_node : int, >= 1, optional
        For jobs that say no GPUs.
    level : float, in (0, 1)
        Coverage of the exact (Garwood) interval.

    Returns
    -------
    pandas.DataFrame
        by (gpus or nodes), above, size (a bucket holds sizes in (above, size]), runs, run_hours, failures,
        mttf_h (NaN with no failure: there is only the lower bound), low_h, high_h (NaN: unbounded).

    Raises
    ------
    LogError
        Where the source has no jobs, or none of them says its size.
    ValueError
        For a parameter out of range.

    Notes
    -----
    Assumes a constant rate within a size. A lower bound of a size without failures is that of a two-sided interval.
    """
    import pandas as pd

    if by not in (None, "gpus", "nodes"):
        raise ValueError(f"by = {by!r}: must be 'gpus', 'nodes' or None")
    level = checks.scalar("level", checks.inner_probability("level", level))
    if read.jobs is None:
        raise LogError(read.source, None, read.format, "records of jobs, such as those of sacct --parsable2")
    jobs = read.jobs[read.jobs["started"] & read.jobs["seconds"].notna()]
    gpus = jobs["gpus"].to_numpy(dtype=float)
    if gpus_per_node is not None:
        gpus = np.where(
            np.isfinite(gpus), gpus, jobs["nodes"].to_numpy(dtype=float) * checks.count("gpus_per_node", gpus_per_node)
        )
    by = by or ("gpus" if np.isfinite(gpus).any() else "nodes")
    size = gpus if by == "gpus" else jobs["nodes"].to_numpy(dtype=float)
    known = np.isfinite(size) & (size > 0)
    if len(jobs) and not known.any():
        raise LogError(
            read.source, None, f"no job with its number of {by}", "NNodes, NodeList or AllocTRES in the records"
        )
    power = np.ceil(np.log2(size[known])).astype(int)
    frame = pd.DataFrame(
        {"power": power, "hours": jobs["seconds"].to_numpy()[known] / HOUR_S, "failed": jobs["failure"].to_numpy()[known]}
    )
    rows = []
    for exponent, part in frame.groupby("power"):
        hours, failures = float(part["hours"].sum()), int(part["failed"].sum())
        if hours <= 0:
            continue
        low, high = rates.poisson_rate_interval(failures, hours, level)
        rows.append(
            {
                "by": by,
                "above": 2 ** (exponent - 1) if exponent else 0,
                "size": 2**exponent,
                "runs": len(part),
                "run_hours": hours,
                "failures": failures,
                "mttf_h": hours / failures if failures else np.nan,
                "low_h": 1 / high,
                "high_h": 1 / low if failures else np.nan,
            }
        )
    names = ["by", "above", "size", "runs", "run_hours", "failures", "mttf_h", "low_h", "high_h"]
    return pd.DataFrame(rows, columns=names)
