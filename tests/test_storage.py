"""From the size of a model to seconds, and what an upload takes from the training."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import NOT_FINITE, NOT_NUMBERS, NOT_POSITIVE, assert_refused, modest, refusals, strict

from reliability import storage

pytestmark = pytest.mark.filterwarnings("error")

shares = st.floats(0, 1)


def test_a_state_is_written_byte_by_byte():
    assert storage.write_time(1e9, 14, 2e9) == 7.0
    assert storage.write_time(1e9, 14, 2e9, quota=0.25) == 28.0


@modest
@given(st.floats(1e6, 1e13), st.floats(1, 20), st.floats(1e6, 1e14), st.floats(0.01, 1))
def test_write_time_grows_with_the_size_and_falls_with_the_bandwidth(parameters, size, bandwidth, quota):
    once = storage.write_time(parameters, size, bandwidth, quota)
    assert storage.write_time(2 * parameters, size, bandwidth, quota) == pytest.approx(2 * once)
    assert storage.write_time(parameters, 3 * size, 3 * bandwidth, quota) == pytest.approx(once)
    assert storage.write_time(parameters, size, bandwidth, 1) == pytest.approx(quota * once)


def step_beside_upload(quota, exposed, slices=100_000):
    """Length of a unit step whose traffic moves, slice by slice, through what the upload leaves."""
    moved = wall = 0.0
    while moved < exposed * (1 - 1e-9):
        moved += (1 - quota) / slices
        wall += 1 / slices
    return 1 - exposed + wall


@pytest.mark.parametrize("quota, exposed", [(0.5, 0.1), (0.9, 0.3), (0.25, 1.0), (0.0, 0.4), (0.7, 0.0)])
def test_drag_is_what_a_step_loses_that_shares_the_network(quota, exposed):
    assert storage.upload_drag(quota, exposed) == pytest.approx(1 - 1 / step_beside_upload(quota, exposed), abs=1e-4)


@modest
@given(shares, shares)
def test_drag_is_a_share_that_grows_with_both(quota, exposed):
    drag = storage.upload_drag(quota, exposed)
    assert 0 <= drag <= 1
    assert storage.upload_drag(quota, exposed / 2) <= drag
    assert storage.upload_drag(quota / 2, exposed) <= drag


def test_the_ends_of_the_drag():
    with strict():
        assert storage.upload_drag(1, 0.2) == 1.0
        assert storage.upload_drag(1, 0) == 0.0
        assert storage.upload_drag(0, 1) == 0.0
        assert storage.upload_drag(0.3, 1) == pytest.approx(0.3)
        assert storage.upload_drag(1e-300, 1e-300) == 0.0


BAD_SHARE = (*NOT_FINITE, *NOT_NUMBERS, -3.25, 1.75)
REFUSALS = [
    *refusals(
        storage.write_time,
        {"parameters": 1e9, "bytes_per_parameter": 14.0, "bandwidth": 1e9, "quota": 0.5},
        parameters=NOT_POSITIVE,
        bytes_per_parameter=NOT_POSITIVE,
        bandwidth=NOT_POSITIVE,
        quota=(*BAD_SHARE, 0.0),
    ),
    *refusals(storage.upload_drag, {"quota": 0.5, "exposed": 0.1}, quota=BAD_SHARE, exposed=BAD_SHARE),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)


def test_shapes_that_do_not_fit_are_refused_by_name():
    with pytest.raises(ValueError, match="quota|exposed"):
        storage.upload_drag([0.1, 0.2], [0.1, 0.2, 0.3])
