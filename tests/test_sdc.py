"""Silent data corruption: bits, fingerprints, majorities and the spike guard."""

import math
import struct
import tracemalloc
from collections import Counter

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import (
    CASTAGNOLI,
    INF,
    NAN,
    NOT_COUNT,
    assert_refused,
    chi_square_p,
    crc32c,
    crc32c_syndromes,
    modest,
    refusals,
    spikes,
    strict,
)

from reliability import guards, sdc

pytestmark = pytest.mark.filterwarnings("error")

BF16 = np.dtype(ml_dtypes.bfloat16)
# Width, bits of the fraction, and an unsigned integer of the same width.
LAYOUT = {
    np.dtype(np.float64): (64, 52, np.uint64),
    np.dtype(np.float32): (32, 23, np.uint32),
    BF16: (16, 7, np.uint16),
}
FORMATS = pytest.mark.parametrize("dtype", LAYOUT, ids=str)


def as_integers(values):
    return np.ascontiguousarray(values).view(LAYOUT[values.dtype][2])


def from_integers(integers, dtype):
    return np.array(integers, dtype=LAYOUT[dtype][2]).view(dtype)


def as_floats(values):
    """Python floats, read bit by bit: a cast of a signalling NaN is an invalid operation."""
    width = LAYOUT[values.dtype][0]
    integer, real = {64: ("<Q", "<d"), 32: ("<I", "<f"), 16: ("<I", "<f")}[width]
    words = [word << 16 if width == 16 else word for word in as_integers(values).ravel().tolist()]
    return [struct.unpack(real, struct.pack(integer, word))[0] for word in words]


def sample(dtype, size, seed=0):
    return np.random.default_rng(seed).standard_normal(size).astype(dtype)


def all_single_flips(shard):
    """A copy of the shard for each of its bits, that bit flipped, made without the package."""
    width, _, unsigned = LAYOUT[shard.dtype]
    copies = np.tile(as_integers(shard), (shard.size * width, 1))
    rows = np.arange(shard.size * width)
    copies[rows, rows // width] ^= (np.ones(rows.size, unsigned) << (rows % width).astype(unsigned)).astype(unsigned)
    return copies.view(shard.dtype)


# --- formats and flips ----------------------------------------------------------------------------


def test_a_format_is_known_by_its_name_its_dtype_and_its_type():
    assert [sdc.bits(name) for name in ("float64", "float32", "bfloat16")] == [64, 32, 16]
    assert [sdc.bits(kind) for kind in (np.float64, np.float32, ml_dtypes.bfloat16)] == [64, 32, 16]
    assert [sdc.dtype_of(name) for name in ("float64", "float32", "bfloat16")] == list(LAYOUT)


@FORMATS
def test_width_of_each_format(dtype):
    assert sdc.bits(dtype) == LAYOUT[dtype][0]


@FORMATS
def test_flipping_each_bit_of_one(dtype):
    width, fraction, _ = LAYOUT[dtype]
    one = np.array([1.0]).astype(dtype)
    flipped = {bit: float(sdc.flip(one, 0, bit)[0]) for bit in range(width)}
    assert flipped[width - 1] == -1.0  # the sign
    assert flipped[width - 2] == INF  # the exponent of one is all ones but its highest bit
    assert flipped[fraction] == 0.5  # the exponent's lowest bit
    assert flipped[fraction - 1] == 1.5  # the fraction's highest bit
    assert flipped[0] == 1.0 + 2.0**-fraction
    assert len(set(flipped.values())) == width


@FORMATS
@pytest.mark.parametrize("seed", range(5))
def test_a_flip_changes_one_bit_and_again_brings_it_back(dtype, seed):
    rng = np.random.default_rng(seed)
    values = sample(dtype, 9, seed)
    kept = as_integers(values).copy()
    index, bit = int(rng.integers(9)), int(rng.integers(LAYOUT[dtype][0]))
    flipped = sdc.flip(values, index, bit)
    changed = as_integers(flipped) ^ kept
    assert flipped.dtype == dtype
    assert changed.tolist() == [1 << bit if i == index else 0 for i in range(9)]
    assert as_integers(sdc.flip(flipped, index, bit)).tolist() == kept.tolist()
    assert as_integers(values).tolist() == kept.tolist()


@FORMATS
def test_flips_of_a_special_value_keep_every_other_bit(dtype):
    # A signalling NaN with a payload: arithmetic or a cast would quieten it.
    width, fraction, _ = LAYOUT[dtype]
    signalling = ((1 << (width - 1 - fraction)) - 1 << fraction) | 1
    values = from_integers([signalling, 1 << (width - 1), 0], dtype)  # NaN, -0.0, 0.0
    flipped = sdc.flip(values, 2, 0)
    assert as_integers(flipped).tolist() == [signalling, 1 << (width - 1), 1]
    assert as_integers(sdc.flip(values, 0, 1)).tolist() == [signalling ^ 2, 1 << (width - 1), 0]


def test_many_flips_at_once_are_flips_one_by_one():
    values = sample(np.dtype(np.float64), 20, 3)
    index, bit = [0, 0, 19, 7, 7, 7], [0, 63, 52, 1, 2, 3]
    together = sdc.flip(values, np.array(index), np.array(bit))
    one_by_one = values
    for i, b in zip(index, bit, strict=True):
        one_by_one = sdc.flip(one_by_one, i, b)
    assert as_integers(together).tolist() == as_integers(one_by_one).tolist()
    assert sum(int(x).bit_count() for x in as_integers(together) ^ as_integers(values)) == 6


def test_the_index_counts_the_flattened_array_whatever_its_strides():
    table = np.arange(1.0, 7.0).reshape(2, 3)
    assert sdc.flip(table, 4, 63).tolist() == [[1, 2, 3], [4, -5, 6]]
    assert sdc.flip(table.T, 1, 63).tolist() == [[1, -4], [2, 5], [3, 6]]
    assert sdc.flip(np.arange(1.0, 9.0)[::2], 3, 63).tolist() == [1, 3, 5, -7]
    assert table.tolist() == [[1, 2, 3], [4, 5, 6]]


@FORMATS
def test_bytes_in_the_other_order_are_refused(dtype):
    # The sign of a float in the other order lies in another byte: read in the machine's order it is another bit.
    swapped = np.array([1.0, 2.0]).astype(dtype.newbyteorder("S"))
    with pytest.raises(ValueError, match="values has dtype .*in this machine's byte order"):
        sdc.flip(swapped, 0, 7)


@FORMATS
def test_flipped_values_are_what_single_flips_leave(dtype):
    values = sample(dtype, 3, 17)
    width = LAYOUT[dtype][0]
    index, bit = (part.ravel() for part in np.indices((3, width)))
    with strict():
        left = sdc.flipped_values(values, index, bit)
    for i, flipped, value in zip(index.tolist(), all_single_flips(values), left.tolist(), strict=True):
        expected = as_floats(flipped)[i]
        assert value == expected or (math.isnan(value) and math.isnan(expected))


@pytest.mark.parametrize("size, width, count", [(1, 16, 16), (4, 64, 9), (3, 32, 96), (10**6, 64, 8)])
def test_drawn_flips_are_distinct_and_inside(size, width, count):
    for seed in range(20):
        index, bit = sdc.draw_flips(np.random.default_rng(seed), size, width, count)
        assert len(index) == len(bit) == count
        assert len(set(zip(np.asarray(index).tolist(), np.asarray(bit).tolist(), strict=True))) == count
        assert 0 <= min(index) <= max(index) < size
        assert 0 <= min(bit) <= max(bit) < width


def test_drawn_flips_fall_on_every_bit_alike():
    rng = np.random.default_rng(4)
    hits = np.zeros((5, 16))
    for _ in range(3000):
        hits[sdc.draw_flips(rng, 5, 16, 4)] += 1
    # Four of 80 places each time: nearly multinomial. That no place is drawn twice at a time makes the
    # statistic smaller by 1/20, which leaves it well within these bounds.
    assert 1e-3 < chi_square_p(hits, np.full(80, 150.0)) < 1 - 1e-3
    assert hits.sum() == 12_000


def test_draws_repeat_with_their_seed_and_leave_the_global_generator_alone():
    before = np.random.get_state()[1].tolist(), np.random.get_state()[2]

    def draw(seed):
        return [np.asarray(part).tolist() for part in sdc.draw_flips(np.random.default_rng(seed), 4096, 64, 8)]

    assert draw(5) == draw(5)
    assert draw(5) != draw(6)
    assert (np.random.get_state()[1].tolist(), np.random.get_state()[2]) == before


# --- the dual run ---------------------------------------------------------------------------------


@FORMATS
def test_the_dual_run_sees_every_single_flip(dtype):
    shard = sample(dtype, 4, 6)
    flipped = all_single_flips(shard)
    assert len(flipped) == 4 * LAYOUT[dtype][0]
    assert [bool(sdc.differs(shard, copy)) for copy in flipped] == [True] * len(flipped)
    assert sdc.differs(np.broadcast_to(shard, flipped.shape), flipped).tolist() == [True] * len(flipped)


@FORMATS
def test_equal_bits_do_not_differ_even_as_nan(dtype):
    shard = np.array([NAN, -0.0, INF, 1.0]).astype(dtype)
    assert not sdc.differs(shard, shard.copy())
    assert isinstance(bool(sdc.differs(shard, shard)), bool)


@FORMATS
def test_other_bits_differ_where_the_numbers_do_not(dtype):
    width, fraction, _ = LAYOUT[dtype]
    quiet = (1 << (width - 1)) - (1 << (fraction - 1))
    assert sdc.differs(np.array([0.0]).astype(dtype), np.array([-0.0]).astype(dtype))
    assert sdc.differs(from_integers([quiet], dtype), from_integers([quiet | 1], dtype))
    assert sdc.differs(from_integers([quiet], dtype), from_integers([quiet | 1 << (width - 1)], dtype))


def test_many_shards_are_compared_row_by_row():
    shards = sample(np.dtype(np.float32), (6, 3), 7)
    other = shards.copy()
    other[2, 0] = np.nextafter(other[2, 0], 9, dtype=np.float32)
    other[5, 2] = -other[5, 2]
    result = sdc.differs(shards, other)
    assert result.dtype == bool
    assert result.tolist() == [False, False, True, False, False, True]
    # The same bits behind other strides are the same shard.
    assert sdc.differs(np.asfortranarray(shards), shards).tolist() == [False] * 6


@pytest.mark.parametrize(
    "other",
    [np.zeros(3), np.zeros((1, 4)), np.zeros(4, np.float32), np.zeros(8, BF16)],
    ids=["shape", "axes", "dtype", "bytes"],
)
def test_shards_that_cannot_be_compared_are_refused(other):
    with pytest.raises(ValueError, match=r"\b[ab]\b"):
        sdc.differs(np.zeros(4), other)
    with pytest.raises(ValueError, match=r"\b[ab]\b"):
        sdc.differs(other, np.zeros(4))


# --- the fingerprint ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data, crc",
    [
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
    ],
)
@FORMATS
def test_fingerprint_gives_the_examples_of_rfc_3720(dtype, data, crc):
    assert sdc.fingerprint(np.frombuffer(data, dtype)) == crc


@FORMATS
def test_fingerprint_is_crc32c_bit_by_bit(dtype):
    for size in (1, 2, 13, 200):
        shard = sample(dtype, size, size)
        assert sdc.fingerprint(shard) == crc32c(shard.tobytes())


def test_the_fingerprint_is_of_the_bits_and_not_of_the_numbers():
    assert sdc.fingerprint(np.array([0.0])) != sdc.fingerprint(np.array([-0.0]))
    payloads = [0x7FF8000000000000, 0x7FF8000000000001, 0x7FF0000000000001, 0xFFF8000000000000]
    nans = [from_integers([payload], np.dtype(np.float64)) for payload in payloads]
    assert [sdc.fingerprint(nan) for nan in nans] == [crc32c(struct.pack("<Q", payload)) for payload in payloads]
    assert len({sdc.fingerprint(nan) for nan in nans}) == 4
    assert sdc.fingerprint(nans[2]) == sdc.fingerprint(nans[2].copy())


@FORMATS
def test_fingerprints_are_the_fingerprint_of_each_row(dtype):
    shards = sample(dtype, (5, 33), 8)
    marks = sdc.fingerprints(shards)
    assert marks.dtype == np.uint32
    assert marks.tolist() == [crc32c(row.tobytes()) for row in shards]
    assert marks.tolist() == [sdc.fingerprint(row) for row in shards]


def test_strides_do_not_change_a_fingerprint():
    wide = sample(np.dtype(np.float64), (6, 10), 9)
    assert sdc.fingerprint(wide[2, ::3]) == crc32c(wide[2, ::3].tobytes())
    assert sdc.fingerprints(wide[::2, 1::2]).tolist() == [crc32c(row[1::2].tobytes()) for row in wide[::2]]
    assert sdc.fingerprints(wide.T).tolist() == [crc32c(column.tobytes()) for column in wide.T]


@FORMATS
def test_every_single_and_every_double_flip_of_a_small_shard_is_caught(dtype):
    # Every pair of bits, so also the same bit of two words, which cancels in an XOR of words.
    shard = sample(dtype, 3 * 64 // LAYOUT[dtype][0], 10)
    singles = all_single_flips(shard)
    bits = len(singles)
    assert bits == 192
    original = sdc.fingerprint(shard)
    assert (sdc.fingerprints(singles) != original).all()
    first, second = np.triu_indices(bits, 1)
    unsigned = LAYOUT[dtype][2]
    doubles = singles.view(unsigned)[first] ^ singles.view(unsigned)[second] ^ as_integers(shard)
    assert len(doubles) == 192 * 191 // 2
    assert (sdc.fingerprints(doubles.view(dtype)) != original).all()


def test_every_single_and_every_double_flip_of_a_large_shard_is_caught():
    # A CRC is linear: a flip of bit k changes it by a syndrome of k alone. If no syndrome is zero no single
    # flip is missed, and if no two are equal no double flip is, of all 3.4e10. The package's own changes are
    # held against the syndromes on a sample of bits: the first and last word, one bit of each word, and others.
    size, width = 4096, 64
    syndromes = crc32c_syndromes(size * width)
    assert 0 not in syndromes
    assert len(set(syndromes)) == size * width

    shard = sample(np.dtype(np.float64), size, 11)
    original = sdc.fingerprint(shard)
    rng = np.random.default_rng(11)
    positions = [*range(64), *range(262_080, 262_144), *range(37, 262_144, 64 * 16), *rng.integers(262_144, size=300)]
    copy = shard.copy()
    words = copy.view(np.uint64)
    for position in positions:
        mask = np.uint64(1 << (position % 64))
        words[position // 64] ^= mask
        assert sdc.fingerprint(copy) ^ original == syndromes[position]
        words[position // 64] ^= mask


def test_the_same_bit_of_two_words_of_a_large_shard_does_not_cancel():
    shard = sample(np.dtype(np.float64), 4096, 12)
    original = sdc.fingerprint(shard)
    for bit in range(64):
        assert sdc.fingerprint(sdc.flip(shard, [5, 4000], [bit, bit])) != original
    # An XOR of all words, the fold that was meant above, misses them.
    flipped = sdc.flip(shard, [5, 4000], [62, 62])
    assert np.bitwise_xor.reduce(as_integers(flipped)) == np.bitwise_xor.reduce(as_integers(shard))


@pytest.mark.parametrize("count", [3, 4, 5])
def test_up_to_five_flips_of_a_short_shard_are_caught(count):
    # CRC-32C has a Hamming distance of 6 up to 5,243 bits (Castagnoli 1993, Koopman 2002).
    shard = sample(np.dtype(np.float64), 80, 13)
    rng = np.random.default_rng(count)
    flipped = np.array([sdc.flip(shard, *sdc.draw_flips(rng, 80, 64, count)) for _ in range(400)])
    assert (sdc.fingerprints(flipped) != sdc.fingerprint(shard)).all()


@pytest.mark.parametrize("shape", [(2**25,), (2, 2**25)])
def test_a_shard_that_the_guarantee_does_not_cover_is_refused_before_it_is_copied(shape):
    # 2^31 bits, one element repeated without memory; the polynomial's order is 2^31 - 1.
    huge = np.broadcast_to(np.float64(1.0), shape)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"\bshards?\b"):
            (sdc.fingerprint if huge.ndim == 1 else sdc.fingerprints)(huge)
        assert tracemalloc.get_traced_memory()[1] < 10**7
    finally:
        tracemalloc.stop()


def test_the_guarantee_ends_where_the_limit_says():
    # Two flips n bits apart cancel when x^n = 1 modulo the polynomial. CRC-32C's is (x + 1) times a primitive
    # one of degree 31, so that the smallest such n is 2^31 - 1. Checked by squaring.
    def times(a, b):  # reflected: the highest bit is the constant term
        product = 0
        for k in range(32):
            if b >> (31 - k) & 1:
                product ^= a
            a = (a >> 1) ^ (CASTAGNOLI if a & 1 else 0)
        return product

    def power(n):
        result, square = 1 << 31, 1 << 30
        while n:
            if n & 1:
                result = times(result, square)
            square, n = times(square, square), n >> 1
        return result

    assert power(2**31 - 1) == 1 << 31  # 2^31 - 1 is prime and x itself is not one: the order is no less


# --- the odd ones out -----------------------------------------------------------------------------

CORRUPTED = [125, 382, 534, 571, 638, 762, 763, 950]


def test_the_published_case_from_flip_to_location():
    rng = np.random.default_rng(14)
    gradient = rng.standard_normal(4096)
    clean = np.tile(gradient, (1024, 1))
    shards = clean.copy()
    for rank in CORRUPTED:
        shards[rank] = sdc.flip(gradient, *sdc.draw_flips(rng, 4096, 64, int(rng.integers(1, 9))))
    assert sdc.odd_ones_out(sdc.fingerprints(shards)).tolist() == CORRUPTED
    assert np.flatnonzero(sdc.differs(shards, clean)).tolist() == CORRUPTED
    assert sdc.odd_ones_out(sdc.fingerprints(clean)).tolist() == []
    assert sdc.differs(clean, clean.copy()).sum() == 0


@modest
@given(st.lists(st.sampled_from([0, 1, 2, 2**32 - 1]), min_size=1, max_size=24))
def test_the_odd_ones_differ_from_what_more_than_half_hold(marks):
    common, held = Counter(marks).most_common(1)[0]
    if 2 * held > len(marks):
        odd = sdc.odd_ones_out(np.array(marks, dtype=np.uint32))
        assert odd.tolist() == [i for i, mark in enumerate(marks) if mark != common]
        assert np.issubdtype(odd.dtype, np.integer)
    else:
        with pytest.raises(sdc.NoMajority):
            sdc.odd_ones_out(np.array(marks, dtype=np.uint32))


def test_exactly_half_is_no_majority_and_one_more_is():
    with pytest.raises(sdc.NoMajority):
        sdc.odd_ones_out([7, 7, 8, 8])
    with pytest.raises(sdc.NoMajority):
        sdc.odd_ones_out([7, 7, 8, 9])  # most hold 7, but not more than half
    assert sdc.odd_ones_out([7, 8, 7, 7, 8]).tolist() == [1, 4]


def test_no_majority_is_a_value_error():
    assert issubclass(sdc.NoMajority, ValueError)


def test_a_corrupted_majority_accuses_the_sound():
    # What no comparison can see: where most are wrong alike, the right one is the odd one.
    assert sdc.odd_ones_out([9, 9, 1, 9]).tolist() == [2]


# --- the spike guard ------------------------------------------------------------------------------


def test_the_published_spike_and_the_clean_curve():
    rng = np.random.default_rng(15)
    clean = 2.0 + 3.0 * np.exp(-np.arange(1000) / 300) + 0.02 * rng.standard_normal(1000)
    spiked = clean.copy()
    spiked[500] *= 5.0
    assert guards.spike_guard(spiked, 4.0).tolist() == [500]
    assert guards.spike_guard(clean, 4.0).tolist() == []


losses_and_gaps = st.lists(
    st.one_of(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.1, 10), st.sampled_from([NAN, INF, -INF])),
    min_size=1,
    max_size=40,
)


@settings(modest, max_examples=100)
@given(losses_and_gaps, st.floats(1.1, 5), st.integers(1, 8))
def test_the_guard_is_a_loop_over_the_previous_finite_losses(losses, threshold, window):
    assert guards.spike_guard(np.array(losses), threshold, window=window).tolist() == spikes(losses, threshold, window)


def test_the_guard_has_a_window_of_fifty_unless_told():
    flat = np.ones(120)
    flat[49], flat[50], flat[110] = 100.0, 100.0, 100.0
    assert guards.spike_guard(flat, 4.0).tolist() == [50, 110]  # step 49 is still warm-up
    assert guards.spike_guard(flat, 4.0, window=50).tolist() == [50, 110]
    assert guards.spike_guard(flat, 4.0, window=49).tolist() == [49, 50, 110]


def test_a_loss_that_is_not_finite_is_an_alarm_even_in_the_warm_up():
    losses = np.ones(30)
    losses[[0, 3, 20]] = NAN, INF, -INF
    assert guards.spike_guard(losses, 4.0, window=10).tolist() == [0, 3, 20]


def test_gaps_of_nan_neither_blind_the_guard_nor_lower_it():
    # The gap is longer than the window, and the first loss after it is a spike.
    losses = np.ones(60)
    losses[20:40] = NAN
    losses[[40, 45]] = 9.0
    assert guards.spike_guard(losses, 4.0, window=10).tolist() == [*range(20, 41), 45]


def test_a_loss_exactly_at_the_threshold_is_not_a_spike():
    losses = np.ones(12)
    losses[11] = 4.0
    assert guards.spike_guard(losses, 4.0, window=5).tolist() == []
    losses[11] = np.nextafter(4.0, 5.0)
    assert guards.spike_guard(losses, 4.0, window=5).tolist() == [11]


def test_the_guard_looks_back_and_never_at_the_step_itself_or_ahead():
    # With a window of 3 the medians before steps 3 and 4 are 1; with the step itself they would be 1 and 9.
    assert guards.spike_guard([1.0, 1.0, 1.0, 9.0, 9.0, 9.0, 9.0], 4.0, window=3).tolist() == [3, 4]


@modest
@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=40), st.integers(-30, 30))
def test_the_guard_knows_no_unit_of_loss(losses, exponent):
    # A power of two scales without rounding.
    scaled = np.array(losses) * 2.0**exponent
    assert guards.spike_guard(scaled, 2.0, window=4).tolist() == guards.spike_guard(losses, 2.0, window=4).tolist()


def test_a_curve_no_longer_than_the_window_is_all_warm_up():
    assert guards.spike_guard([1.0, 50.0, 1.0], 4.0, window=3).tolist() == []
    assert guards.spike_guard([1.0, 50.0, NAN], 4.0, window=300).tolist() == [2]


# --- the norm after a flip ------------------------------------------------------------------------


@FORMATS
def test_norm_ratio_is_that_of_the_norms_computed_apart(dtype):
    values = sample(dtype, 5, 16)
    width = LAYOUT[dtype][0]
    index, bit = (part.ravel() for part in np.indices((5, width)))
    with strict():
        ratios = guards.norm_ratio_after_flip(values, index, bit)
    assert ratios.shape == (5 * width,)
    before = math.hypot(*as_floats(values))
    for ratio, flipped in zip(ratios, all_single_flips(values), strict=True):
        after = math.hypot(*as_floats(flipped))
        # hypot scales, and is right to a rounding; a difference of two squares would not be.
        expected = after / before if math.isfinite(after) else INF
        assert ratio == pytest.approx(expected, rel=1e-12)


def test_a_flip_of_the_sign_leaves_the_norm_and_no_other_flip_of_one_value_does():
    values = np.array([0.75])
    ratios = guards.norm_ratio_after_flip(values, np.zeros(64, int), np.arange(64))
    assert ratios[63] == 1.0
    assert (ratios[:63] != 1.0).all()


def test_norm_ratio_survives_the_loss_of_the_value_that_made_the_norm():
    # Bit 62 of 2.0 is its only one: the flip leaves 0.0, and the norm is that of the rest.
    assert guards.norm_ratio_after_flip([2.0, 1e-9], 0, 62) == pytest.approx(5e-10, rel=1e-9)
    assert guards.norm_ratio_after_flip([1e-9, 2.0, 1e-9], 1, 62) == pytest.approx(math.sqrt(2) * 5e-10, rel=1e-9)


def test_norm_ratio_needs_a_norm():
    with pytest.raises(ValueError, match=r"\bvalues\b"):
        guards.norm_ratio_after_flip(np.zeros(3), 0, 62)


def test_norm_ratio_leaves_its_input_and_takes_one_flip():
    values = np.array([3.0, 4.0])
    assert guards.norm_ratio_after_flip(values, 1, 52) == pytest.approx(math.hypot(3, 2) / 5, rel=1e-14)
    assert values.tolist() == [3.0, 4.0]


# --- bad input ------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
SHARD = np.arange(1.0, 5.0)
INTEGERS = np.arange(4)
BAD_INDEX = (-3, 4, NAN, 1.5, "seven", None, [0, 4])
BAD_BIT = (-3, 64, NAN, 1.5, "seven", None, [0, 64])
REFUSALS = [
    *refusals(sdc.bits, {"dtype": "float64"}, dtype=("int32", "float16", "complex128", "seven", None, 3)),
    *refusals(sdc.flip, {"values": SHARD, "index": 3, "bit": 63}, values=([],), index=BAD_INDEX, bit=BAD_BIT),
    *refusals(
        guards.norm_ratio_after_flip,
        {"values": SHARD, "index": 3, "bit": 63},
        values=([],),
        index=BAD_INDEX,
        bit=BAD_BIT,
    ),
    *refusals(
        sdc.draw_flips,
        {"rng": RNG, "size": 2, "width": 64, "count": 3},
        rng=(None, 5),
        size=(*NOT_COUNT, 2.5),
        width=(*NOT_COUNT, 2.5),
        count=(NAN, INF, -3, 129, 2.5, "seven", None),
    ),
    *refusals(sdc.fingerprint, {"shard": SHARD}, shard=(np.array([]),)),
    *refusals(sdc.fingerprints, {"shards": SHARD.reshape(2, 2)}, shards=(np.zeros((0, 4)), np.zeros((4, 0)))),
    *refusals(sdc.odd_ones_out, {"fingerprints": [1, 1]}, fingerprints=([],)),
    *refusals(
        guards.spike_guard,
        {"losses": [1.0, NAN, 2.0], "threshold": 4.0, "window": 2},
        losses=([],),
        threshold=(NAN, INF, -3.25, 0.0, "seven", None),
        window=(*NOT_COUNT, 2.5),
    ),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)


def test_the_same_flip_twice_is_refused_since_it_is_no_flip():
    with pytest.raises(ValueError, match=r"\b(index|bit)\b"):
        sdc.flip(SHARD, [1, 2, 1], [5, 5, 5])
    assert sdc.flip(SHARD, [1, 2, 1], [5, 5, 6]).tolist() != SHARD.tolist()


def test_an_index_and_a_bit_that_do_not_pair_are_refused():
    for function in (sdc.flip, guards.norm_ratio_after_flip):
        with pytest.raises(ValueError, match=r"\b(index|bit)\b"):
            function(SHARD, [0, 1, 2], [0, 1])


@pytest.mark.parametrize("dtype", ["int64", "float16", "complex128", "bool"])
def test_what_is_no_float_of_a_known_format_is_refused_by_its_name(dtype):
    wrong = INTEGERS.astype(dtype)
    for name, call in [
        ("values", lambda: sdc.flip(wrong, 0, 0)),
        ("shard", lambda: sdc.fingerprint(wrong)),
        ("shards", lambda: sdc.fingerprints(wrong.reshape(2, 2))),
        ("a", lambda: sdc.differs(wrong, wrong)),
        ("values", lambda: guards.norm_ratio_after_flip(wrong, 0, 0)),
    ]:
        with pytest.raises(ValueError, match=rf"\b{name}\b") as caught:
            call()
        caught.match(dtype)


@pytest.mark.parametrize("shape", [(4,), (2, 2, 1)])
def test_fingerprints_want_one_shard_a_row(shape):
    with pytest.raises(ValueError, match=r"\bshards\b"):
        sdc.fingerprints(np.ones(shape))


def test_losses_and_fingerprints_are_one_dimensional():
    with pytest.raises(ValueError, match=r"\blosses\b"):
        guards.spike_guard(np.ones((3, 3)), 4.0, window=2)
    with pytest.raises(ValueError, match=r"\bfingerprints\b"):
        sdc.odd_ones_out([[1, 1], [1, 2]])
