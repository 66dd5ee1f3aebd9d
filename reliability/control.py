"""A formula as the control variate of a simulation: what the simulation adds to it, fitted to single runs.

The difference of a run from the formula is a function of what the run's parameters are, and chance. The function is a polynomial of
two features, as high as the runs ask for: each next degree is taken where it makes the runs that are left out one by one fit better.
All columns of the differences are fitted on the same terms, so that columns that add up to nothing still do.
"""

from dataclasses import dataclass

import numpy as np

# Powers of the two features in each polynomial that is tried, from a constant to a cubic.
POLYNOMIALS = (
    ((0, 0),),
    ((0, 0), (1, 0)),
    ((0, 0), (1, 0), (0, 1)),
    ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)),
    ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3)),
)
# A next one is taken where it lowers the mean squared error by this, over the number of runs: one term that fits nothing but
# chance lowers it by a chi-squared number less 2, which is above 10 once in 2,000 times.
STRICT = 10.0
RUNS_A_TERM = 10  # without so many, no polynomial is tried


@dataclass(frozen=True)
class Correction:
    """What a simulation adds to a formula: a polynomial of features, which are scaled, and kept in the range of the runs."""

    powers: tuple[tuple[int, int], ...]
    low: np.ndarray
    high: np.ndarray
    centre: np.ndarray
    scale: np.ndarray
    beta: np.ndarray

    @property
    def terms(self):
        """Number of terms of the polynomial."""
        return len(self.powers)

    def at(self, features):
        """Return the correction [n, columns] at features [n, 2]; beyond the runs it is that of the nearest one in range."""
        scaled = (np.clip(features, self.low, self.high) - self.centre) / self.scale
        return _terms(self.powers, scaled) @ self.beta


def fit(features, differences, judged=0):
    """Fit what a simulation adds to the formula, by least squares.

    Parameters
    ----------
    features : array [runs, 2]
    differences : array [runs, columns]
        Simulated less formula.
    judged : int
        The column by which the polynomial is chosen.

    Returns
    -------
    Correction
    """
    centre, spread = features.mean(axis=0), features.std(axis=0)
    varies = spread > 1e-12 * np.maximum(np.abs(centre), 1.0)
    scaled = np.where(varies, (features - centre) / np.where(varies, spread, 1.0), 0.0)
    best, least = None, np.inf
    for powers in POLYNOMIALS:
        used = tuple(p for p in powers if all(varies[k] or not p[k] for k in range(2)))
        if best is not None and (used == best or len(used) * RUNS_A_TERM > len(features)):
            continue
        error = _left_out(_terms(used, scaled), differences[:, judged])
        if best is None or error < (1 - STRICT / len(features)) * least:
            best, least = used, error
    beta = np.linalg.lstsq(_terms(best, scaled), differences, rcond=None)[0]
    return Correction(best, features.min(axis=0), features.max(axis=0), centre, np.where(varies, spread, np.inf), beta)


def _terms(powers, scaled):
    return np.stack([scaled[:, 0] ** a * scaled[:, 1] ** b for a, b in powers], axis=1)


def _left_out(terms, values):
    """Mean squared error of each value by a fit to all others: the residual over 1 - h, h the diagonal of the hat matrix."""
    basis, singular, _ = np.linalg.svd(terms, full_matrices=False)
    basis = basis[:, singular > 1e-10 * singular[0]]
    hat = (basis**2).sum(axis=1)
    residual = values - basis @ (basis.T @ values)
    return float(np.mean((residual / np.maximum(1 - hat, 1e-9)) ** 2))
