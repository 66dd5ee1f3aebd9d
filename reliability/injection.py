"""Faults injected into a step of data-parallel training: where they strike, and which defence sees them.

The step is a small one, two layers and a few replicas, in the operand format and the float32 sums of
a real one. A flip is a flip of one bit at one named place; each defence then looks at the same step.
"""

from dataclasses import dataclass

import numpy as np

from reliability import abft, checks
from reliability.sdc import bits, differs, dtype_of, fingerprint, fingerprints, flip

PLACES = (
    "HBM: weights",
    "HBM: activations",
    "SRAM: operand",
    "compute: product",
    "network: in the sum",
    "network: after it",
    "host: batch",
    "host: checkpoint",
)
DEFENCES = ("guards", "checksums", "fingerprints", "digests", "replay")
STRUCK = 0  # the replica that is struck
LEARNING_RATE = 0.1


@dataclass(frozen=True)
class Outcome:
    """What injected faults did.

    Attributes
    ----------
    seen : dict
        By defence of `DEFENCES`: bool array [flips], whether it saw the fault in this step.
    matters : bool array [flips]
        Whether the fault changed a weight of any replica, or of the checkpoint, at all.
    not_finite : bool array [flips]
        Whether it left a NaN or an infinity in the loss, the gradient or the weights.
    """

    seen: dict
    matters: np.ndarray
    not_finite: np.ndarray


class _Fault:
    """One flip that strikes at the n-th passage of a place; without a place, none."""

    def __init__(self, place=None, rng=None, passages=1):
        self.place = place
        self.left = int(rng.integers(passages)) if place else -1
        self.rng = rng

    def __call__(self, place, array):
        if place != self.place:
            return array
        self.left -= 1
        if self.left != -1:
            return array
        return flip(array, int(self.rng.integers(array.size)), int(self.rng.integers(bits(array.dtype))))


@dataclass(frozen=True)
class TrainingStep:
    """A step of data-parallel training on fixed data: two layers, a squared loss, gradient descent.

    Attributes
    ----------
    batches, targets : array [replicas, batch, width]
        In the operand format.
    weights : tuple
        Two float32 arrays [width, width], the master copy that every replica holds; products use it in
        the operand format.
    """

    batches: np.ndarray
    targets: np.ndarray
    weights: tuple

    def gradient(self, replica, fault, weights=None, batch=None):
        """One replica's loss and gradient, its products with their operands, and what it read."""
        kind, products = self.batches.dtype, []

        def product(a, b):
            result = fault("compute: product", abft.multiply(fault("SRAM: operand", a), b))
            products.append((a, b, result))
            return result

        weights = [fault("HBM: weights", w) for w in self.weights] if weights is None else weights
        batch = fault("host: batch", self.batches[replica]) if batch is None else batch
        first, second = (w.astype(kind) for w in weights)
        hidden = np.maximum(product(batch, first), 0).astype(kind)
        error = product(hidden, second) - self.targets[replica].astype(np.float32)
        kept = fault("HBM: activations", hidden)  # from the way forward to the way back
        error_sent = (error / error.size).astype(kind)
        of_second = product(kept.T, error_sent)
        of_first = product(batch.T, (product(error_sent, second.T) * (kept.astype(np.float32) > 0)).astype(kind))
        gradient = np.concatenate([of_first.ravel(), of_second.ravel()])
        return float((error**2).mean() / 2), gradient, products, (weights, batch)

    def loss(self, replica, flat):
        """The loss with the weights that a step left, flat."""
        width = self.weights[0].shape[0]
        weights = flat.reshape(2, width, width)
        first, second = (w.astype(self.batches.dtype) for w in weights)
        hidden = np.maximum(abft.multiply(self.batches[replica], first), 0).astype(first.dtype)
        return float(((abft.multiply(hidden, second) - self.targets[replica].astype(np.float32)) ** 2).mean() / 2)


def draw_step(rng, width, batch, replicas, float_format="bfloat16"):
    """Draw a training step: normal data, targets from weights of its own, weights of the usual scale.

    Parameters
    ----------
    rng : numpy.random.Generator
    width, batch : int, >= 2
        Of every layer; samples of a replica.
    replicas : int, >= 3
    float_format : str
        "float32" or "bfloat16", of the operands.

    Returns
    -------
    TrainingStep
    """
    checks.generator(rng)
    width, batch, replicas = (
        checks.count(n, v, low) for n, v, low in (("width", width, 2), ("batch", batch, 2), ("replicas", replicas, 3))
    )
    if not isinstance(float_format, str) or float_format not in abft.FORMATS:
        raise ValueError(f"float_format = {float_format!r}: must be one of {', '.join(abft.FORMATS)}")
    batches = rng.standard_normal((replicas, batch, width)).astype(dtype_of(float_format))
    weights = [rng.standard_normal((width, width)) * np.sqrt(2 / width) for _ in range(4)]
    targets = np.maximum(batches.astype(float) @ weights[2], 0) @ weights[3]
    return TrainingStep(batches, targets.astype(batches.dtype), tuple(w.astype(np.float32) for w in weights[:2]))


def inject(rng, step, place, flips, threshold, factor):
    """Strike one place with single flips, each in a fresh copy of the step, and ask every defence.

    Parameters
    ----------
    rng : numpy.random.Generator
    step : TrainingStep
    place : str
        One of `PLACES`.
    flips : int, >= 1
    threshold : float, > 1
        Of the guards on the loss, before and after the step, and on the norm of the gradient: so many
        times the clean value.
    factor : float, > 0
        Of the checksums' tolerance, as for :func:`reliability.abft.check_product`; they look at the
        float32 sums of the products and of the all-reduce.

    Returns
    -------
    Outcome

    Notes
    -----
    *Fingerprints* are those of the replicas' weights after the step; *digests* go with the batch and
    with the checkpoint, and are compared where these are read; *replay* computes the struck
    replica's gradient once more, on a unit that is sound, from what that replica had in its memory.
    """
    checks.generator(rng)
    if not isinstance(step, TrainingStep):
        raise ValueError(f"step = {step!r}: must be a TrainingStep, such as draw_step returns")
    if not isinstance(place, str) or place not in PLACES:
        raise ValueError(f"place = {place!r}: must be one of {', '.join(PLACES)}")
    flips, threshold = (
        checks.count("flips", flips),
        checks.scalar("threshold", checks.at_least("threshold", threshold, 1.0)),
    )
    clean = _Clean(step, factor)
    struck = [
        _strike(
            _Fault(place, rng, {"SRAM: operand": 5, "compute: product": 5, "HBM: weights": 2}.get(place, 1)),
            step,
            clean,
            threshold,
        )
        for _ in range(flips)
    ]
    seen = {name: np.array([one[0][name] for one in struck]) for name in DEFENCES}
    return Outcome(seen, *(np.array([one[i] for one in struck]) for i in (1, 2)))


class _Clean:
    """The step without a fault, and what the guards compare with."""

    def __init__(self, step, factor):
        sound, self.factor = _Fault(), factor
        runs = [step.gradient(r, sound) for r in range(len(step.batches))]
        self.losses, self.gradients = [run[0] for run in runs], np.stack([run[1] for run in runs])
        self.weights = np.concatenate([w.ravel() for w in step.weights])
        self.mean = _mean(self.gradients, sound)
        self.after = self.weights - np.float32(LEARNING_RATE) * self.mean
        self.next_loss = step.loss(STRUCK, self.after)
        self.digest = fingerprint(step.batches[STRUCK])


def _mean(gradients, fault):
    return fault("network: in the sum", gradients.sum(axis=0)) / np.float32(len(gradients))


def _strike(fault, step, clean, threshold):
    """Run the step with one fault; say who saw it, whether it matters, whether it left no number."""
    with np.errstate(all="ignore"):
        loss, gradient, products, (weights, batch) = step.gradient(STRUCK, fault)
        gradients = np.concatenate([gradient[None], clean.gradients[1:]])
        mean = _mean(gradients, fault)
        received = fault("network: after it", mean)
        held = np.concatenate([w.ravel() for w in weights])
        after = np.stack(
            [held - np.float32(LEARNING_RATE) * received]
            + [clean.weights - np.float32(LEARNING_RATE) * mean] * (len(gradients) - 1)
        )
        saved = fault("host: checkpoint", after[1])
        numbers = {"loss": (loss, clean.losses[STRUCK]), "next": (step.loss(STRUCK, after[0]), clean.next_loss)}
        numbers["norm"] = (
            float(np.linalg.norm(received.astype(float))),
            float(np.linalg.norm(clean.mean.astype(float))),
        )
        not_finite = not all(np.isfinite(a).all() for a in (loss, received, after))
        replayed = step.gradient(STRUCK, _Fault(), weights, batch)[1]
        seen = {
            "guards": not_finite or any(not now <= threshold * before for now, before in numbers.values()),
            "checksums": any(abft.check_product(*p, clean.factor).alarm for p in products)
            or _sum_alarm(gradients, mean, clean.factor),
            "fingerprints": np.unique(fingerprints(after)).size > 1,
            "digests": fingerprint(batch) != clean.digest or fingerprint(saved) != fingerprint(after[1]),
            "replay": bool(differs(gradient, replayed)),
        }
    changed = bool(differs(after, np.broadcast_to(clean.after, after.shape)).any()) or bool(differs(saved, after[1]))
    return seen, changed, not_finite


def _sum_alarm(gradients, mean, factor):
    """The all-reduce as a product with a row of ones: its one row sum is compared, not each of its columns."""
    total = mean * np.float32(len(gradients))
    check = abft.check_product(np.ones((1, len(gradients)), dtype=np.float32), gradients, total[None], factor)
    return bool(check.rows.size)
