"""Rounding bounds and checksummed products: no false alarm, what is visible, location and correction."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import INF, NAN, NOT_COUNT, NOT_POSITIVE, assert_refused, modest, refusals, strict

from reliability import abft, rounding, sdc

FORMATS = pytest.mark.parametrize("name", abft.FORMATS)
FACTOR = rounding.tail_factor(1e12)


def draw(rng, kind, shape):
    """Matrices of many sorts: of mean zero and not, of a long tail, sorted, over many magnitudes, sparse."""
    return {
        "normal": lambda: rng.standard_normal(shape),
        "positive": lambda: rng.random(shape),
        "long tail": lambda: rng.standard_t(1.5, shape),
        "log-normal": lambda: np.exp(2 * rng.standard_normal(shape)),
        "sorted": lambda: np.sort(rng.standard_normal(shape), axis=1),
        "magnitudes": lambda: rng.standard_normal(shape) * 10.0 ** rng.uniform(-12, 12, shape),
        "tiny": lambda: rng.standard_normal(shape) * 1e-25,  # products underflow
        "sparse": lambda: rng.standard_normal(shape) * (rng.random(shape) < 0.05),
    }[kind]()


KINDS = ("normal", "positive", "long tail", "log-normal", "sorted", "magnitudes", "tiny", "sparse")


def pair(name, kind, m, k, n, seed=0):
    rng, dtype = np.random.default_rng(seed), sdc.dtype_of(name)
    with np.errstate(under="ignore"):
        return draw(rng, kind, (m, k)).astype(dtype), draw(rng, kind, (n, k)).T.astype(dtype)


def exact(a, b):
    """The product in exact fractions, as floats."""
    rows = [[Fraction(float(x)) for x in row] for row in a]
    columns = [[Fraction(float(x)) for x in column] for column in b.T]
    return np.array([[float(sum(x * y for x, y in zip(r, c, strict=True))) for c in columns] for r in rows])


# --- rounding -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, limits",
    [("float64", np.finfo("f8")), ("float32", np.finfo("f4")), ("bfloat16", ml_dtypes.finfo("bfloat16"))],
)
def test_unit_roundoff_is_half_the_gap_above_one(name, limits):
    assert rounding.unit_roundoff(name) == float(limits.eps) / 2


def test_rounding_growth_is_nearly_proportional_and_ends_at_one():
    u = 2.0**-24
    assert rounding.rounding_growth(1000, u) == pytest.approx(1000 * u / (1 - 1000 * u), rel=1e-14)
    assert rounding.rounding_growth(0, u) == 0.0
    assert rounding.rounding_growth(2**24, u) == rounding.rounding_growth(10**12, u) == INF
    with strict():
        assert rounding.rounding_growth(np.array([1, 2**24]), u).tolist() == pytest.approx([u, INF], rel=1e-6)


@modest
@given(st.floats(1, 1e300), st.floats(1e-3, 1.0))
def test_tail_factor_keeps_azumas_bound(sums, alarms):
    factor = rounding.tail_factor(sums, alarms)
    # The logarithm of 2 n exp(-factor^2 / 2), the alarms expected.
    assert math.log(2) + math.log(sums) - factor**2 / 2 == pytest.approx(math.log(alarms), abs=1e-9) or factor == 1.0


def test_a_sum_of_bounded_errors_of_mean_zero_keeps_the_tail_factor():
    errors = np.random.default_rng(1).choice([-1.0, 1.0], size=(20_000, 100)).sum(axis=1) / math.sqrt(100)
    assert (np.abs(errors) > rounding.tail_factor(20_000, 20.0)).sum() <= 20


@pytest.mark.parametrize("side", [64, 128])
def test_visible_error_is_that_of_normal_products(side):
    a, b = pair("float32", "normal", side, side, side, 4)
    product = abft.multiply(a, b)
    got = abft.check_product(a, b, product, 9.0).visible / np.sqrt((product.astype(float) ** 2).mean())
    # The check takes the largest of all sums' tolerances, the formula their mean.
    assert 0.97 < got / rounding.visible_error(side, side, 9.0) < 1.6


# --- products and their checksums -----------------------------------------------------------------


@FORMATS
def test_multiply_adds_in_float32_one_after_the_other(name):
    a, b = pair(name, "normal", 5, 7, 6, 2)
    total = np.zeros((5, 6), dtype=np.float32)
    for i in range(5):
        for j in range(6):
            for term in range(7):
                total[i, j] = np.float32(total[i, j] + np.float32(np.float32(a[i, term]) * np.float32(b[term, j])))
    assert abft.multiply(a, b).tobytes() == total.tobytes()
    assert abft.multiply(a, b, rounded=True).tobytes() == total.astype(a.dtype).tobytes()


@FORMATS
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("factor", [None, FACTOR], ids=["worst", "probable"])
def test_no_false_alarm_on_clean_products_in_any_order_of_summation(name, kind, factor):
    for m, k, n in ((40, 60, 50), (3, 200, 7), (64, 1, 64), (1, 9, 1)):
        a, b = pair(name, kind, m, k, n, k)
        with np.errstate(under="ignore"):
            library = a.astype(np.float32) @ b.astype(np.float32)
            ours = abft.multiply(a, b)
        for product in (ours, library, ours.astype(a.dtype), library.astype(a.dtype)):
            check = abft.check_product(a, b, product, factor)
            assert not check.alarm, (m, k, n, np.abs(check.row_error / check.row_tolerance).max())


@FORMATS
def test_the_worst_case_holds_for_data_made_to_round_alike(name):
    for value in (0.1, 1 / 3, 0.7):
        a = np.full((80, 80), value).astype(sdc.dtype_of(name))
        assert not abft.check_product(a, a, abft.multiply(a, a)).alarm
        assert not abft.check_product(a, a, abft.multiply(a, a, rounded=True)).alarm
    same = np.full((80, 80), 0.1, dtype=np.float32)
    assert (
        abft.check_product(same, same, abft.multiply(same, same), 4.0).rows.size == 80
    )  # its errors have no mean zero


@FORMATS
def test_row_and_column_errors_are_those_of_exact_fractions(name):
    a, b = pair(name, "normal", 4, 5, 3, 6)
    product = abft.multiply(a, b)
    check = abft.check_product(a, b, product)
    difference = product.astype(float) - exact(a, b)
    np.testing.assert_allclose(check.row_error, difference.sum(axis=1), atol=1e-14)
    np.testing.assert_allclose(check.column_error, difference.sum(axis=0), atol=1e-14)
    np.testing.assert_allclose(check.row_sum, exact(a, b).sum(axis=1), atol=1e-14)


def test_tolerances_are_their_formulas_as_loops():
    a, b = (x.astype(float) for x in pair("bfloat16", "normal", 3, 5, 4, 8))
    c, u, uo = (a @ b).astype(np.float32).astype(float), 2.0**-24, 2.0**-8
    bf = ml_dtypes.bfloat16
    rounded = c.astype(bf)
    worst = abft.check_product(a.astype(bf), b.astype(bf), rounded).row_tolerance
    probable = abft.check_product(a.astype(bf), b.astype(bf), rounded, 3.0).row_tolerance
    for i in range(3):
        absolute = sum(abs(a[i, x] * b[x, j]) for x in range(5) for j in range(4))
        squares = sum((a[i, x] * b[x, j]) ** 2 for x in range(5) for j in range(4))
        size = sum(float(rounded[i, j]) ** 2 for j in range(4))
        growth = 5 * u / (1 - 5 * u)
        assert worst[i] == pytest.approx(((1 + growth) * (1 + uo) - 1) * absolute, rel=1e-9)
        assert probable[i] == pytest.approx(
            3 * (u * math.sqrt(5 / 3 * size + (5 / 6 + 1) * squares) + uo * math.sqrt(size)), rel=1e-9
        )


def test_mean_square_of_partial_sums_is_that_of_all_orders():
    # What the probable tolerance takes for sums of products that come in no particular order.
    from itertools import permutations

    terms = [0.5, -1.25, 2.0, 0.75, -0.3]
    k, total, squares = len(terms), sum(terms), sum(x * x for x in terms)
    orders = list(permutations(terms))
    mean = sum(sum(math.fsum(order[:n]) ** 2 for n in range(1, k + 1)) for order in orders) / len(orders)
    by_formula = sum(n / k * squares + n * (n - 1) / (k * (k - 1)) * (total**2 - squares) for n in range(1, k + 1))
    assert mean == pytest.approx(by_formula)
    # The first of them is no sum; the roundings of the products have the squares' size.
    assert by_formula - squares / k + squares <= k / 3 * total**2 + (k / 6 + 1) * squares + total**2 / 2 + 1e-12


@modest
@given(st.sampled_from(abft.FORMATS), st.booleans(), st.sampled_from([None, FACTOR]), st.integers(0, 10**6))
def test_an_error_larger_than_what_is_visible_is_found_located_and_mended(name, rounded, factor, seed):
    a, b = pair(name, "normal", 12, 20, 15, seed)
    product = abft.multiply(a, b, rounded)
    check = abft.check_product(a, b, product, factor)
    rng = np.random.default_rng(seed)
    place = int(rng.integers(12)), int(rng.integers(15))
    wrong = product.copy()
    error = rng.choice([-1, 1]) * check.visible * 10 ** rng.uniform(0.01, 6)
    wrong[place] = float(product[place]) + error
    if abs(float(wrong[place]) - float(product[place])) <= check.visible:
        return  # rounded back to less
    found = abft.check_product(a, b, wrong, factor)
    assert found.place == place
    mended = abft.correct_product(wrong, found)
    off = abs(float(mended[place]) - float(product[place]))
    assert off <= check.row_tolerance[place[0]] * 2 + 2 * rounding.unit_roundoff(product.dtype.name) * abs(
        float(product[place])
    )
    mended[place] = product[place]
    assert mended.tobytes() == product.tobytes()


@FORMATS
@pytest.mark.parametrize("value", [NAN, INF, -INF, 1e38, -3e38])
@pytest.mark.parametrize("factor", [None, FACTOR])
def test_what_is_no_number_or_enormous_is_found_and_mended(name, value, factor):
    a, b = pair(name, "normal", 6, 8, 7, 3)
    product = abft.multiply(a, b, rounded=True)
    wrong = product.copy()
    wrong[2, 5] = value
    with strict():
        check = abft.check_product(a, b, wrong, factor)
        mended = abft.correct_product(wrong, check)
    assert check.place == (2, 5)
    assert float(mended[2, 5]) == pytest.approx(float(product[2, 5]), abs=check.row_tolerance[2] + 0.02)


def test_wrong_operands_leave_rows_columns_or_nothing():
    a, b = pair("float32", "normal", 6, 8, 7, 5)
    wrong = sdc.flip(a, 3 * 8 + 2, 25)
    check = abft.check_product(a, b, abft.multiply(wrong, b), FACTOR)  # after the sums were taken
    assert check.rows.tolist() == [3] and check.columns.tolist() == list(range(7)) and check.place is None
    assert not abft.check_product(wrong, b, abft.multiply(wrong, b), FACTOR).alarm  # before
    with pytest.raises(ValueError, match="1 rows and 7 columns"):
        abft.correct_product(a @ b, check)


@modest
@given(st.integers(-20, 20), st.integers(0, 1000))
def test_checks_know_no_unit(power, seed):
    a, b = pair("float32", "normal", 5, 6, 7, seed)
    scaled = a * np.float32(2.0**power)
    one, other = (abft.check_product(x, b, abft.multiply(x, b), FACTOR) for x in (a, scaled))
    np.testing.assert_allclose(other.row_error, one.row_error * 2.0**power, rtol=1e-12)
    np.testing.assert_allclose(other.row_tolerance, one.row_tolerance * 2.0**power, rtol=1e-9)
    assert other.visible == pytest.approx(one.visible * 2.0**power, rel=1e-9)


def test_rows_are_the_columns_of_the_transpose():
    a, b = pair("float32", "normal", 5, 6, 7, 9)
    product = abft.multiply(a, b)
    one, other = abft.check_product(a, b, product, 5.0), abft.check_product(b.T, a.T, product.T, 5.0)
    np.testing.assert_allclose(one.row_error, other.column_error, atol=1e-14)
    np.testing.assert_allclose(one.row_tolerance, other.column_tolerance, rtol=1e-12)


def test_checksum_cost_counts_what_the_check_does():
    m, k, n = 30, 40, 50
    row_sums = k * n + 2 * m * k + m * n  # B e, A (B e), C e
    column_sums = m * k + 2 * k * n + m * n  # e' A, (e' A) B, e' C
    squares = m * k + k * n + m * n  # of A, B and C
    row_tolerance, column_tolerance = (
        k * n + 2 * m * k + m * n,
        m * k + 2 * k * n + m * n,
    )  # as the sums, of the squares
    rows_of_squares = squares + row_tolerance + column_tolerance
    assert abft.checksum_cost(m, k, n) == pytest.approx((row_sums + column_sums + rows_of_squares) / (2 * m * k * n))


# --- bad input ------------------------------------------------------------------------------------

ONE = np.ones((2, 2), dtype=np.float32)
REFUSALS = [
    *refusals(
        rounding.rounding_growth, {"terms": 3, "roundoff": 1e-7}, terms=(NAN, -3, 2.5, "seven"), roundoff=NOT_POSITIVE
    ),
    *refusals(rounding.tail_factor, {"sums": 1e6, "alarms": 1.0}, sums=(NAN, INF, 0.25, "seven"), alarms=NOT_POSITIVE),
    *refusals(
        rounding.visible_error,
        {"inner": 3, "columns": 4, "factor": 9.0},
        inner=NOT_COUNT,
        columns=NOT_COUNT,
        factor=NOT_POSITIVE,
    ),
    *refusals(
        abft.checksum_cost, {"rows": 3, "inner": 3, "columns": 3}, rows=NOT_COUNT, inner=NOT_COUNT, columns=NOT_COUNT
    ),
    *refusals(
        abft.check_product,
        {"a": ONE, "b": ONE, "product": 2 * ONE, "factor": 3.0},
        factor=(NAN, INF, -3.25, 0.0, "seven"),
    ),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)


@pytest.mark.parametrize(
    "a, b, message",
    [
        (np.ones((2, 2)), ONE, "a has dtype float64"),
        (ONE, np.ones((2, 2), dtype=int), "b has dtype int"),
        (np.ones(2, dtype=np.float32), ONE, r"a has shape \(2,\)"),
        (ONE, np.ones((0, 2), dtype=np.float32), r"b has shape \(0, 2\)"),
        (ONE, np.ones((3, 2), dtype=np.float32), r"b is float32 \(3, 2\)"),
        (ONE, ONE.astype(ml_dtypes.bfloat16), "b is bfloat16"),
    ],
)
def test_operands_that_do_not_go_together_are_refused(a, b, message):
    with pytest.raises(ValueError, match=message):
        abft.multiply(a, b)
    with pytest.raises(ValueError, match=message):
        abft.check_product(a, b, ONE)


@pytest.mark.parametrize(
    "product", [np.ones((3, 2), dtype=np.float32), np.ones((2, 2)), ONE.astype(ml_dtypes.bfloat16)]
)
def test_a_product_of_another_shape_or_format_is_refused(product):
    with pytest.raises(ValueError, match=r"\bproduct\b"):
        abft.check_product(ONE, ONE, product)


def test_nothing_to_mend_is_refused():
    check = abft.check_product(ONE, ONE, 2 * ONE)
    with pytest.raises(ValueError, match="0 rows and 0 columns"):
        abft.correct_product(2 * ONE, check)


def test_what_is_no_matrix_and_no_truth_is_refused_by_name():
    good = np.eye(2, dtype=np.float32)
    for name, call in (("a", lambda x: abft.multiply(x, good)), ("b", lambda x: abft.multiply(good, x))):
        with pytest.raises(ValueError, match=rf"^{name} = "):
            call([[1.0, 2.0], [3.0]])
    with pytest.raises(ValueError, match="^product = "):
        abft.check_product(good, good, [[1.0, 2.0], [3.0]])
    for bad in (None, 1, "no", NAN):
        with pytest.raises(ValueError, match="^rounded = "):
            abft.multiply(good, good, rounded=bad)
    for bad in ("float16", None, 1, ["float32"]):
        with pytest.raises(ValueError, match="float_format = "):
            rounding.unit_roundoff(bad)
