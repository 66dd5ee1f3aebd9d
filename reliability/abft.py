"""Checksummed matrix products: algorithm-based fault tolerance (Huang and Abraham 1984).

The sum of each row and each column of a product C = A B is known beforehand, since C e = A (B e)
and e' C = (e' A) B. How far rounding alone may part the two decides what an alarm means, so the
tolerances here follow from the float format. Checksums themselves are taken in float64.
"""

from dataclasses import dataclass

import numpy as np

from reliability import checks
from reliability.rounding import rounding_growth, unit_roundoff

FORMATS = ("float32", "bfloat16")
ACCUMULATOR = np.float32  # in which matrix units add the products of either format
CHECKSUM_ROUNDOFF = 2.0**-53


def multiply(a, b, rounded=False):
    """Multiply as a matrix unit does: products of either format, added in float32, one after the other.

    Parameters
    ----------
    a : float32 or bfloat16 array [m, k]
    b : array [k, n] of the same format
    rounded : bool
        Whether the sums are rounded to the format of the operands, or stay in float32.

    Returns
    -------
    array [m, n]

    Notes
    -----
    The same to the last bit on every machine, which a library's product is not: libraries add in an order
    that depends on the processor. The tolerances of :func:`check_product` hold for any order.
    """
    a, b = _operands(a, b)
    if not isinstance(rounded, (bool, np.bool_)):
        raise ValueError(f"rounded = {rounded!r}: must be True or False")
    with np.errstate(all="ignore"):
        left, right = a.astype(ACCUMULATOR).T, b.astype(ACCUMULATOR)
        product = np.zeros((left.shape[1], right.shape[1]), dtype=ACCUMULATOR)
        for column, row in zip(left, right, strict=True):
            product += column[:, None] * row
        return product.astype(a.dtype) if rounded else product


@dataclass(frozen=True)
class ProductCheck:
    """What the checksums of a product say.

    Attributes
    ----------
    row_sum : float array [m]
        Sum of each row that the operands foretell.
    row_error, column_error : float array [m], [n]
        Sum of the product less the sum foretold; NaN or infinite where an element is.
    row_tolerance, column_tolerance : float array [m], [n]
        What rounding may do to it.
    visible : float
        Smallest visible error: a single element that is wrong by more is found, wherever it is.
    """

    row_sum: np.ndarray
    row_error: np.ndarray
    column_error: np.ndarray
    row_tolerance: np.ndarray
    column_tolerance: np.ndarray
    visible: float

    @property
    def rows(self):
        """Rows whose sum is wrong."""
        return np.flatnonzero(~(np.abs(self.row_error) <= self.row_tolerance))

    @property
    def columns(self):
        """Columns whose sum is wrong."""
        return np.flatnonzero(~(np.abs(self.column_error) <= self.column_tolerance))

    @property
    def alarm(self):
        """Whether any sum is wrong."""
        return bool(self.rows.size or self.columns.size)

    @property
    def place(self):
        """Row and column of the one wrong element; None without one, or with more than one."""
        return (int(self.rows[0]), int(self.columns[0])) if self.rows.size == self.columns.size == 1 else None


def check_product(a, b, product, factor=None):
    r"""Compare the row and column sums of a product with those that its operands foretell.

    A clean product of inner length k stays within the tolerance. In the worst case, whatever the data
    and the order of summation,

    .. math:: \tau_i = \left[(1 + \gamma_k(u))(1 + u_o) - 1\right] \sum_j (|A||B|)_{ij}

    With a `factor` :math:`\lambda`, where rounding errors have mean zero, each whatever came before,
    and the products come in no particular order,

    .. math:: \tau_i = \lambda \left[ u \sqrt{\tfrac{k}{3} \sum_j c_{ij}^2 +
              \left(\tfrac{k}{6} + 1\right) \sum_{jl} a_{il}^2 b_{lj}^2} + u_o \sqrt{\sum_j c_{ij}^2} \right]

    u belongs to float32, in which the products are added; u_o to the rounding of the result, and is 0
    where that stays in float32. Columns likewise. Both have what float64 does to the checksums added,
    and what may underflow.

    Parameters
    ----------
    a : float32 or bfloat16 array [m, k]
    b : array [k, n] of the same format
    product : array [m, n], float32 or the format of the operands
    factor : float, > 0, optional
        :math:`\lambda` of :func:`reliability.rounding.tail_factor`; without it, the worst case.

    Returns
    -------
    ProductCheck

    Notes
    -----
    A sum of l of k products that come in no order has the mean square l/k q + l(l-1)/(k(k-1)) (c^2 - q),
    with q the sum of their squares; over all l that is k (c^2 / 3 + q / 6). See Higham and Mary (2019)
    for what mean zero asks of rounding: data that round alike everywhere, such as a constant matrix,
    do not have it. An operand that was wrong before the sums were taken passes unseen.

    Examples
    --------
    >>> a, b = np.eye(2, dtype=np.float32), np.ones((2, 2), dtype=np.float32)
    >>> product = multiply(a, b)
    >>> check_product(a, b, product).alarm
    False
    >>> product[1, 0] = 7
    >>> check_product(a, b, product).place
    (1, 0)
    """
    a, b = _operands(a, b)
    array = _matrix("product", product)
    if array.shape != (len(a), b.shape[1]) or array.dtype not in (a.dtype, ACCUMULATOR):
        raise ValueError(
            f"product is {array.dtype} {array.shape}: must be float32 or {a.dtype}, and {(len(a), b.shape[1])}"
        )
    if factor is not None:
        factor = checks.scalar("factor", checks.positive("factor", factor))
    output = 0.0 if array.dtype == ACCUMULATOR else unit_roundoff(array.dtype.name)
    with np.errstate(invalid="ignore", over="ignore"):
        a, b, c = a.astype(float), b.astype(float), array.astype(float)
        row_sum = a @ b.sum(axis=1)
        errors = c.sum(axis=1) - row_sum, c.sum(axis=0) - a.sum(axis=0) @ b
        c = np.where(np.isfinite(c), c, 0.0)  # or one infinite element would loosen its own tolerance
        tolerances = _tolerance(a, b, c, factor, output), _tolerance(b.T, a.T, c.T, factor, output)
        loosened = 0.0 if factor is None else factor * (output + unit_roundoff("float32") * np.sqrt(a.shape[1] / 3))
        largest = 2 * max(t.max() for t in tolerances)
        return ProductCheck(row_sum, *errors, *tolerances, float(largest / (1 - loosened)) if loosened < 1 else np.inf)


def correct_product(product, check):
    """Put right the one wrong element of a product, from its row's checksum and the others of the row.

    Parameters
    ----------
    product : array [m, n]
    check : ProductCheck
        Of this product, with one wrong element.

    Returns
    -------
    array [m, n]
        A copy. The element is right to within the row's tolerance, and to the format's rounding.

    Raises
    ------
    ValueError
        Where the check names no single element.
    """
    if check.place is None:
        raise ValueError(
            f"check: {check.rows.size} rows and {check.columns.size} columns are wrong; one of each is one wrong element"
        )
    row, column = check.place
    mended = np.array(product)
    # The row's error would do for a small one; out of a huge one, or a NaN, no difference brings it back.
    others = np.delete(mended[row], column).astype(float).sum()
    mended[row, column] = check.row_sum[row] - others
    return mended


def checksum_cost(rows, inner, columns):
    r"""Additions and multiplications of the check over those of the product.

    .. math:: \frac{1}{2} \left( \frac{7}{m} + \frac{7}{n} + \frac{5}{k} \right)

    Parameters
    ----------
    rows, inner, columns : int or array, >= 1
        m, k and n of a product [m, k] x [k, n].

    Returns
    -------
    float or array

    Notes
    -----
    The sums, 3 m k + 3 k n + 2 m n: those of both operands, their products with the other operand,
    and those of the result. The probable tolerance, 4 m k + 4 k n + 3 m n: the squares, once for rows
    and columns together, and their sums. What it costs to read the operands once more depends on the
    machine.

    Examples
    --------
    >>> round(checksum_cost(4096, 4096, 4096), 4)
    0.0023
    """
    rows, inner, columns = (
        checks.whole(n, v, low=1) for n, v in (("rows", rows), ("inner", inner), ("columns", columns))
    )
    checks.broadcast(rows=rows, inner=inner, columns=columns)
    return checks.plain((7 / rows + 7 / columns + 5 / inner) / 2)


def _operands(a, b):
    """Two matrices of one format that go together."""
    a, b = _matrix("a", a), _matrix("b", b)
    for name, value in (("a", a), ("b", b)):
        if value.dtype.name not in FORMATS:
            raise ValueError(f"{name} has dtype {value.dtype}: must be one of {', '.join(FORMATS)}")
        if value.ndim != 2 or value.size == 0:
            raise ValueError(f"{name} has shape {value.shape}: must be a matrix, and not empty")
    if a.dtype != b.dtype or a.shape[1] != b.shape[0]:
        raise ValueError(
            f"a is {a.dtype} {a.shape} and b is {b.dtype} {b.shape}: must be [m, k] and [k, n] of one format"
        )
    return a, b


def _matrix(name, rows):
    try:
        return np.asarray(rows)
    except ValueError:
        raise ValueError(f"{name} = {rows!r}: must have rows of one length") from None


def _tolerance(a, b, c, factor, output):
    """Tolerance of the row sums of C = A B, all float64."""
    inner, roundoff = a.shape[1], unit_roundoff("float32")
    largest = np.abs(a) @ np.abs(b).sum(axis=1)
    # Any sum of `inner` products and then of a row of them, in float64, on either side of the comparison.
    own = 2 * rounding_growth(inner + c.shape[1], CHECKSUM_ROUNDOFF) * largest
    own += c.shape[1] * (inner + 1) * float(np.finfo(ACCUMULATOR).tiny)
    if factor is None:
        return own + ((1 + rounding_growth(inner, roundoff)) * (1 + output) - 1) * largest
    squares = (c**2).sum(axis=1)
    spread = inner / 3 * squares + (inner / 6 + 1) * (a**2 @ (b**2).sum(axis=1))
    return own + factor * (roundoff * np.sqrt(spread) + output * np.sqrt(squares))
