"""Checkpoints of a state that is verified before it is written."""

import numpy as np

from reliability import checks


def verified_interval(write, verification, silent_mtbf, failure_mtbf):
    r"""Best checkpoint interval with a verification before each write, to first order (Benoit et al. 2016).

    .. math:: T = \sqrt{\frac{V + C}{1 / M_s + 1 / (2 M_f)}}

    A failure costs half an interval, being noticed at once; a silent corruption costs a whole one,
    being noticed at its end.

    Parameters
    ----------
    write : float or array, > 0
        Time of writing, C.
    verification : float or array, >= 0
        Time of verifying, V.
    silent_mtbf, failure_mtbf : float or array, > 0
        Mean time between silent corruptions and between failures of the job, :math:`M_s` and
        :math:`M_f`, in the unit of the others.

    Returns
    -------
    float or array
        In the same unit.

    Notes
    -----
    Assumes that the verification finds every corruption and that the interval is short against
    both mean times. Without silent corruptions and verification it is Young's interval.

    Examples
    --------
    >>> round(verified_interval(write=240, verification=0, silent_mtbf=9 * 86400, failure_mtbf=3.093 * 3600))
    2279
    """
    write = checks.positive("write", write)
    verification = checks.non_negative("verification", verification)
    silent_mtbf = checks.positive("silent_mtbf", silent_mtbf)
    failure_mtbf = checks.positive("failure_mtbf", failure_mtbf)
    checks.broadcast(write=write, verification=verification, silent_mtbf=silent_mtbf, failure_mtbf=failure_mtbf)
    return checks.plain(np.sqrt((verification + write) / (1 / silent_mtbf + 1 / (2 * failure_mtbf))))
