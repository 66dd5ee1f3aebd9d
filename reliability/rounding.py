"""How far rounding may part two computations of the same sum."""

import numpy as np

from reliability import checks
from reliability.coverage import fields
from reliability.sdc import dtype_of


def unit_roundoff(float_format):
    """Largest relative error of rounding to the nearest number of a format: half of its last bit.

    Parameters
    ----------
    float_format : str
        "float64", "float32" or "bfloat16".

    Examples
    --------
    >>> unit_roundoff("bfloat16") == 2**-8, unit_roundoff("float32") == 2**-24
    (True, True)
    """
    if not isinstance(float_format, str):
        raise ValueError(f"float_format = {float_format!r}: must be the name of a format")
    return 2.0 ** -(fields(dtype_of(float_format))["fraction"] + 1)


def rounding_growth(terms, roundoff):
    r"""Largest relative error of a sum of products, whatever the order (Higham 2002).

    .. math:: \gamma_n = \frac{n u}{1 - n u}

    Parameters
    ----------
    terms : int or array, >= 0
        n.
    roundoff : float or array, > 0
        u.

    Returns
    -------
    float or array
        Relative to the sum of the absolute values. Infinite from n u = 1 on, where nothing is promised.

    Examples
    --------
    >>> round(rounding_growth(4096, 2**-24), 6)
    0.000244
    """
    terms, roundoff = checks.whole("terms", terms), checks.positive("roundoff", roundoff)
    checks.broadcast(terms=terms, roundoff=roundoff)
    with np.errstate(divide="ignore", over="ignore"):
        share = terms * roundoff
        return checks.plain(np.where(share < 1, share / np.maximum(1 - share, 0), np.inf))


def tail_factor(sums, alarms=1.0):
    r"""How many root-mean-square bounds a tolerance must be, so that rounding raises so few alarms.

    .. math:: \lambda = \sqrt{2 \ln (2 n / a)}

    Azuma's inequality: a sum of errors that are bounded and of mean zero, each whatever came before,
    exceeds lambda of them with a chance of at most 2 exp(-lambda^2 / 2).

    Parameters
    ----------
    sums : float or array, >= 1
        Row and column sums that are compared in all, n.
    alarms : float or array, > 0
        False alarms expected among them at most, a.

    Returns
    -------
    float or array, >= 1

    Examples
    --------
    >>> round(tail_factor(1e19), 2)
    9.43
    """
    sums, alarms = checks.at_least("sums", sums, 1), checks.positive("alarms", alarms)
    checks.broadcast(sums=sums, alarms=alarms)
    chance = np.log(2.0) + np.log(sums) - np.log(alarms)
    return checks.plain(np.sqrt(2 * np.maximum(chance, 0.5)))


def visible_error(inner, columns, factor):
    r"""Smallest visible error in a product of normal numbers, in units of a typical element.

    .. math:: 2 \lambda u \sqrt{k n / 2}

    Twice the probable tolerance of :func:`reliability.abft.check_product` over :math:`\sqrt{k}`, with each of its sums at
    its mean, and n the longer of the product's sides.

    Parameters
    ----------
    inner, columns : int or array, >= 1
        k and n.
    factor : float or array, > 0
        :math:`\lambda`.

    Returns
    -------
    float or array
        Relative to the root mean square of the elements; the product is kept in float32.

    Examples
    --------
    >>> round(visible_error(4096, 4096, 9.43), 4)
    0.0033
    """
    inner, columns = (checks.whole(n, v, low=1) for n, v in (("inner", inner), ("columns", columns)))
    factor = checks.positive("factor", factor)
    checks.broadcast(inner=inner, columns=columns, factor=factor)
    with np.errstate(over="ignore"):
        return checks.plain(2 * factor * unit_roundoff("float32") * np.sqrt(inner / 2) * np.sqrt(columns))
