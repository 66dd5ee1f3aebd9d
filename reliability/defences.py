"""Layers of defence against silent corruption: what they see together, and what gets through."""

from collections.abc import Mapping

import numpy as np

from reliability import checks

HOURS_PER_WEEK = 168.0


def seen_share(seen, matters, running):
    r"""Share of the corruptions that at least one layer sees.

    .. math:: 1 - \frac{1}{n} \sum_i \prod_d \left(1 - f_d \, s_{id}\right)

    Over the n corruptions that matter, each with what every defence saw of it: defences that see the
    same ones do not count twice.

    Parameters
    ----------
    seen : mapping of defence to bool array [flips]
        s.
    matters : bool array [flips]
    running : mapping of defence to float in [0, 1]
        The layers, and the share f of the work that each looks at.

    Returns
    -------
    float
        1 where nothing matters.

    Examples
    --------
    >>> seen = {"checksums": np.array([True, False]), "replay": np.array([True, True])}
    >>> seen_share(seen, np.array([True, True]), {"checksums": 1.0, "replay": 0.5})
    0.75
    """
    matters = np.asarray(matters)
    if not isinstance(seen, Mapping):
        raise ValueError(f"seen = {seen!r}: must map each defence to what it saw")
    if not isinstance(running, Mapping) or not set(running) <= set(seen):
        raise ValueError(f"running = {running!r}: must map some of {', '.join(map(str, seen))} to shares")
    if matters.ndim != 1 or matters.dtype != bool or any(np.shape(s) != matters.shape for s in seen.values()):
        raise ValueError(
            f"matters has shape {matters.shape} and dtype {matters.dtype}: must be [flips] of bools, like each of seen"
        )
    missed = np.ones(matters.sum())
    for defence, share in running.items():
        share = checks.scalar(f"running {defence}", checks.probability(f"running {defence}", share))
        missed = missed * (1 - share * np.asarray(seen[defence])[matters])
    return float(1 - missed.mean()) if missed.size else 1.0


def per_week(rate, gpus, share=1.0):
    r"""Corruptions of a job in a week: rate x GPUs x 168 h x share.

    Parameters
    ----------
    rate : float or array, >= 0
        Per GPU-hour.
    gpus : int or array, >= 1
    share : float or array in [0, 1]
        Of them that are meant, such as those that get through.

    Returns
    -------
    float or array

    Examples
    --------
    >>> round(per_week(2.8e-7, 16384), 2)
    0.77
    """
    rate, gpus, share = (
        checks.non_negative("rate", rate),
        checks.whole("gpus", gpus, low=1),
        checks.probability("share", share),
    )
    checks.broadcast(rate=rate, gpus=gpus, share=share)
    with np.errstate(over="ignore", under="ignore"):
        return checks.plain(HOURS_PER_WEEK * rate * share * gpus)


def passes_to_trust(shows, risk):
    r"""How many tests in a row a unit must pass, so that it is defective with so small a chance only.

    .. math:: n = \left\lceil \frac{\ln \varepsilon}{\ln (1 - p)} \right\rceil

    Parameters
    ----------
    shows : float or array, in (0, 1]
        Chance p that a defective unit fails a test.
    risk : float or array, in (0, 1)
        Chance :math:`\varepsilon` that a defective unit passes all n.

    Returns
    -------
    int or array
        At least 1. A checkpoint is to be trusted once n tests have passed since it was written; so
        many tests back the job has to go when one fails.

    Examples
    --------
    >>> passes_to_trust(0.5, 0.01), passes_to_trust(1.0, 0.01)
    (7, 1)
    """
    shows = checks.probability("shows", checks.positive("shows", shows))
    risk = checks.inner_probability("risk", risk)
    checks.broadcast(shows=shows, risk=risk)
    with np.errstate(divide="ignore"):
        tests = np.log(risk) / np.log1p(-shows)
    # A hair less, so that rounding does not add a test where the quotient is whole.
    tests = np.maximum(np.ceil(tests * (1 - 1e-12)), 1)
    if tests.max() > checks.LARGEST:
        raise ValueError(f"shows = {shows.min():g}: so rarely does a test fail that more than 2^53 of them are needed")
    return checks.plain(tests.astype(np.int64))
