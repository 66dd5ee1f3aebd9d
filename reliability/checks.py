"""Checks of arguments: each names the parameter, repeats the value and says what is allowed."""

import numpy as np

LARGEST = 2**53  # beyond it a float skips whole numbers


def _refuse(name, value, allowed, bad=None):
    """Raise, showing the value; of an array with one `bad` element among many, that element and its place."""
    array = np.asarray(value)
    if bad is not None and array.ndim and np.any(bad):
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        where = place[0] if len(place) == 1 else place
        raise ValueError(f"{name}[{where}] = {array[place]}: {allowed}")
    shown = value if array.ndim == 0 else np.array2string(array, threshold=6, edgeitems=2)
    raise ValueError(f"{name} = {shown}: {allowed}")


def real(name, value):
    """Return `value` as a float array (0-d for a scalar) of finite numbers."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} = {value!r}: must be a number or an array of numbers") from None
    if np.asarray(value).dtype.kind not in "iuf":
        _refuse(name, value, "must be a number or an array of numbers")
    if array.size == 0:
        _refuse(name, value, "must not be empty")
    # The ends tell: NaN carries through to both, and no temporary array is made.
    if not (np.isfinite(array.min()) and np.isfinite(array.max())):
        _refuse(name, value, "must be finite, neither NaN nor infinite", ~np.isfinite(array))
    return array


def positive(name, value):
    """Finite and above 0."""
    array = real(name, value)
    if array.min() <= 0:
        _refuse(name, value, "must be above 0", array <= 0)
    return array


def non_negative(name, value):
    """Finite and at least 0."""
    array = real(name, value)
    if array.min() < 0:
        _refuse(name, value, "must be at least 0", array < 0)
    return array


def at_least(name, value, low):
    """Finite and at least `low`."""
    array = real(name, value)
    if array.min() < low:
        _refuse(name, value, f"must be at least {low:g}", array < low)
    return array


def probability(name, value):
    """Within [0, 1]."""
    array = real(name, value)
    if array.min() < 0 or array.max() > 1:
        _refuse(name, value, "must lie within [0, 1]", (array < 0) | (array > 1))
    return array


def inner_probability(name, value):
    """Strictly between 0 and 1."""
    array = real(name, value)
    if array.min() <= 0 or array.max() >= 1:
        _refuse(name, value, "must lie strictly between 0 and 1", (array <= 0) | (array >= 1))
    return array


def whole(name, value, low=0):
    """Whole numbers from `low` to `LARGEST`, as int64."""
    array = real(name, value)
    if array.min() < low or array.max() > LARGEST or (array != np.floor(array)).any():
        bad = (array < low) | (array > LARGEST) | (array != np.floor(array))
        _refuse(name, value, f"must be a whole number from {low} to 2^53", bad)
    return array.astype(np.int64)


def count(name, value, low=1):
    """One whole number of at least `low`, as int."""
    array = whole(name, value, low)
    if array.ndim:
        _refuse(name, value, f"must be one whole number from {low} to 2^53, not an array")
    return int(array)


def scalar(name, array):
    """Refuse more than one number."""
    if np.ndim(array):
        _refuse(name, array, "must be one number, not an array")
    return float(array)


def broadcast(**arrays):
    """Refuse shapes that do not go together, naming each."""
    try:
        np.broadcast_shapes(*(np.shape(a) for a in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {np.shape(a)}" for name, a in arrays.items())
        raise ValueError(
            f"shapes do not go together: {shapes}; each must be a scalar or broadcast with the others"
        ) from None


def generator(rng):
    """Refuse anything but a numpy Generator: no hidden global state."""
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng = {rng!r}: must be a numpy.random.Generator, such as numpy.random.default_rng(7)")
    return rng


def plain(array):
    """A 0-d array as the Python number it holds, any other array as it is."""
    array = np.asarray(array)
    return array if array.ndim else array.item()
