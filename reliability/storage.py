"""From the size of a model to the time of a write, and what an upload takes from the training beside it."""

import numpy as np

from reliability import checks


def write_time(parameters, bytes_per_parameter, bandwidth, quota=1.0):
    r"""Time to write a model's state to shared storage.

    .. math:: \frac{P \, b}{q \, B}

    Parameters
    ----------
    parameters : float or array, > 0
        Parameters of the model, P.
    bytes_per_parameter : float or array, > 0
        Bytes that the state needs a parameter, b: 14 for weights in 16 bits, and master weights and
        Adam's two moments in 32.
    bandwidth : float or array, > 0
        Bytes that the storage takes a second from all writers together, B.
    quota : float or array, in (0, 1]
        Share of it that a checkpoint may use, q; the rest is left to the training's own traffic.

    Returns
    -------
    float or array
        Seconds.

    Notes
    -----
    Assumes that the state is sharded evenly, each part is written once, and that the storage, not
    the writers, is the bottleneck.

    Examples
    --------
    >>> round(write_time(176e9, 14, 10e9), 1)
    246.4
    """
    parameters = checks.positive("parameters", parameters)
    bytes_per_parameter = checks.positive("bytes_per_parameter", bytes_per_parameter)
    bandwidth = checks.positive("bandwidth", bandwidth)
    quota = checks.probability("quota", checks.positive("quota", quota))
    checks.broadcast(parameters=parameters, bytes_per_parameter=bytes_per_parameter, bandwidth=bandwidth, quota=quota)
    with np.errstate(over="ignore", under="ignore"):
        return checks.plain(parameters / bandwidth * bytes_per_parameter / quota)


def upload_drag(quota, exposed):
    r"""Share of its speed that a job loses while an upload takes a quota of its network.

    .. math:: \sigma = 1 - \frac{1}{(1 - e) + \frac{e}{1 - q}} = \frac{e q}{1 - q + e q}

    Of a step, the share e waits for traffic that has the rest of the bandwidth, and so takes
    1/(1 - q) times as long.

    Parameters
    ----------
    quota : float or array, in [0, 1]
        Share of the bandwidth that the upload takes, q. At 1 the job stands still, if it waits for any traffic at all.
    exposed : float or array, in [0, 1]
        Share of a step that waits for such traffic when there is no upload, e.

    Returns
    -------
    float or array in [0, 1]

    Examples
    --------
    >>> round(upload_drag(0.5, 0.1), 4), upload_drag(1, 0.1), upload_drag(1, 0)
    (0.0909, 1.0, 0.0)
    """
    quota = checks.probability("quota", quota)
    exposed = checks.probability("exposed", exposed)
    checks.broadcast(quota=quota, exposed=exposed)
    taken = exposed * quota
    with np.errstate(invalid="ignore", divide="ignore"):
        return checks.plain(np.where(taken > 0, taken / (1.0 - quota + taken), 0.0))
