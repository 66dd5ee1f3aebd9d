"""Silent data corruption: flipped bits, and what finds them.

Floats are compared as bits throughout: a NaN equals the same NaN, and -0.0 differs from 0.0.
"""

import numpy as np

from reliability import checks

# CRC-32C finds every error of one, two or three bits in data of up to 2^31 - 1 bits, its own
# 32 included (Castagnoli et al. 1993: the polynomial is (x + 1) times a primitive one of
# degree 31). Beyond that length two flips may cancel.
FINGERPRINT_LIMIT_BYTES = (2**31 - 1 - 32) // 8
FORMATS = ("float64", "float32", "bfloat16")


class NoMajority(ValueError):
    """No value is held by more than half of the replicas: the odd ones cannot be told."""


def dtype_of(float_format):
    """Return the numpy dtype of a float format.

    Parameters
    ----------
    float_format : str
        "float64", "float32" or "bfloat16".
    """
    if float_format not in FORMATS:
        raise ValueError(f"float_format = {float_format!r}: must be one of {', '.join(FORMATS)}")
    if float_format == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(float_format)


def bits(dtype):
    """Width in bits of a float format: 64, 32 or 16.

    Parameters
    ----------
    dtype : str, numpy dtype or its type
        float64, float32 or bfloat16.

    Returns
    -------
    int
    """
    try:  # numpy takes None for float64
        name = dtype if dtype is None or isinstance(dtype, str) else np.dtype(dtype).name
    except TypeError:
        name = dtype
    if name not in FORMATS:
        raise ValueError(f"dtype = {name!r}: must be one of {', '.join(FORMATS)}")
    return 8 * dtype_of(name).itemsize


def _shards(name, values):
    """A non-empty float array in a known format, contiguous, and its bits as unsigned integers."""
    array = np.asarray(values)
    if array.dtype.name not in FORMATS or not array.dtype.isnative:
        raise ValueError(
            f"{name} has dtype {array.dtype}: must be one of {', '.join(FORMATS)}, in this machine's byte order"
        )
    if array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}: must not be empty")
    array = np.ascontiguousarray(array).reshape(array.shape)  # which a scalar would lose
    return array, array.view(f"u{array.dtype.itemsize}")


def _within_guarantee(name, shard_bytes):
    """Refuse a shard in which two flips might cancel, before anything is copied."""
    if shard_bytes > FINGERPRINT_LIMIT_BYTES:
        raise ValueError(
            f"{name} has {shard_bytes:,} bytes a shard: must be at most {FINGERPRINT_LIMIT_BYTES:,}, where CRC-32C still "
            "finds every double flip; split it"
        )


def _mask(bit, dtype):
    """A word with only that bit set."""
    return np.left_shift(np.uint64(1), bit.astype(np.uint64)).astype(dtype)


def _positions(array, index, bit):
    """Check that each index and bit lies within the array and its format."""
    index, bit = checks.whole("index", index), checks.whole("bit", bit)
    checks.broadcast(index=index, bit=bit)
    for name, value, limit in (("index", index, array.size), ("bit", bit, 8 * array.dtype.itemsize)):
        if (value >= limit).any():
            raise ValueError(f"{name} = {value}: must be from 0 to {limit - 1}")
    return index, bit


def flip(values, index, bit):
    """Flip chosen bits; a copy.

    Parameters
    ----------
    values : float array
        float64, float32 or bfloat16.
    index : int or array
        Position in the flattened array, from 0.
    bit : int or array
        0 is the lowest bit of the fraction; the highest is the sign.

    Returns
    -------
    array like `values`

    Raises
    ------
    ValueError
        Also where one bit is named twice: two flips of one bit are none.

    Examples
    --------
    >>> flip(np.array([1.0, 2.0]), 1, 63).tolist()
    [1.0, -2.0]
    """
    array, words = _shards("values", values)
    index, bit = _positions(array, index, bit)
    width = 8 * array.dtype.itemsize
    index, bit = (np.ravel(a) for a in np.broadcast_arrays(index, bit))
    if np.unique(index * width + bit).size < index.size:
        raise ValueError(f"index = {index}, bit = {bit}: name one bit twice, and two flips of it are none")
    flipped = words.ravel().copy()
    np.bitwise_xor.at(flipped, index, _mask(bit, flipped.dtype))
    return flipped.view(array.dtype).reshape(array.shape)


def flipped_values(values, index, bit):
    """Values that single flips would leave, each flip by itself.

    Parameters
    ----------
    values : float array
    index, bit : int or array
        As for :func:`flip`.

    Returns
    -------
    float or array
        The flipped value as float64; NaN and infinities where the bits say so.
    """
    array, words = _shards("values", values)
    index, bit = _positions(array, index, bit)
    word = words.ravel()[index]
    with np.errstate(invalid="ignore"):  # a signalling NaN, which widening makes a quiet one
        return checks.plain((word ^ _mask(bit, word.dtype)).view(array.dtype).astype(float))


def draw_flips(rng, size, width, count):
    """Draw distinct bits of an array, each equally likely.

    Parameters
    ----------
    rng : numpy.random.Generator
    size : int, >= 1
        Elements of the array.
    width : int, >= 1
        Bits of an element.
    count : int, from 1 to size * width

    Returns
    -------
    (index, bit) : int arrays [count]
        For :func:`flip`.
    """
    checks.generator(rng)
    size, width = checks.count("size", size), checks.count("width", width)
    count = checks.count("count", count)
    if count > size * width:
        raise ValueError(f"count = {count}: must be at most size x width = {size * width}")
    drawn = rng.choice(size * width, size=count, replace=False)
    return drawn // width, drawn % width


def differs(a, b):
    """Compare two runs of the same work bit by bit.

    Parameters
    ----------
    a, b : float array [dim] or [shards, dim]
        Same shape, same format.

    Returns
    -------
    bool, or bool array [shards]

    Notes
    -----
    Finds every difference, at the price of computing everything twice; says nothing where both
    runs are wrong alike. The work must be deterministic.
    """
    (a, a_words), (b, b_words) = _shards("a", a), _shards("b", b)
    if a.shape != b.shape or a.dtype != b.dtype:
        raise ValueError(
            f"a is {a.dtype} {a.shape} and b is {b.dtype} {b.shape}: both runs must have one shape and format"
        )
    if a.ndim not in (1, 2):
        raise ValueError(f"a has shape {a.shape}: must be one shard [dim] or several [shards, dim]")
    return checks.plain((a_words != b_words).any(axis=-1))


def fingerprint(shard):
    """CRC-32C of a shard's bytes.

    Parameters
    ----------
    shard : float array, at most `FINGERPRINT_LIMIT_BYTES` (about 256 MiB)

    Returns
    -------
    int
        Below 2^32.

    Notes
    -----
    Differs for certain when one, two or three bits differ, wherever they lie, and when any odd
    number does; of larger even numbers, taken at random, it misses one in 2^31 (Castagnoli et al.
    1993).

    Examples
    --------
    >>> fingerprint(np.zeros(4)) != fingerprint(np.array([0.0, -0.0, 0.0, 0.0]))
    True
    """
    import google_crc32c

    _within_guarantee("shard", np.asarray(shard).nbytes)
    _, words = _shards("shard", shard)
    return google_crc32c.value(words)


def fingerprints(shards):
    """Fingerprint of each row.

    Parameters
    ----------
    shards : float array [shards, dim]

    Returns
    -------
    uint32 array [shards]
    """
    if np.ndim(shards) != 2:
        raise ValueError(f"shards has shape {np.shape(shards)}: must be [shards, dim]")
    _within_guarantee("shards", np.asarray(shards[:1]).nbytes)
    array, _ = _shards("shards", shards)
    return np.fromiter((fingerprint(row) for row in array), dtype=np.uint32, count=len(array))


def odd_ones_out(fingerprints):
    """Replicas whose fingerprint is not that of the majority.

    Parameters
    ----------
    fingerprints : int array [replicas]

    Returns
    -------
    int array
        Indices, ascending; empty when all agree.

    Raises
    ------
    NoMajority
        Unless more than half hold one value: who is wrong is then unknown.

    Examples
    --------
    >>> odd_ones_out([7, 7, 9, 7]).tolist()
    [2]
    """
    values = np.asarray(fingerprints)
    if values.ndim != 1 or values.size == 0 or values.dtype.kind not in "iu":
        raise ValueError(
            f"fingerprints has shape {values.shape} and dtype {values.dtype}: must be a list of whole numbers"
        )
    kinds, counts = np.unique(values, return_counts=True)
    if 2 * counts.max() <= values.size:
        raise NoMajority(
            f"fingerprints: the commonest is held by {counts.max()} of {values.size} replicas; more than half must agree to tell which are wrong"
        )
    return np.flatnonzero(values != kinds[counts.argmax()])
