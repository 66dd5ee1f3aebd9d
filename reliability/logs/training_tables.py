"""Training logs as tables: CSV, one JSON object a line, or the state that Hugging Face's Trainer saves."""

import json
import math

import numpy as np

from reliability.logs import columns, csv_rows, step_columns
from reliability.logs.notes import LogError, note
from reliability.logs.segments import Collector
from reliability.logs.training_lines import Event, number

STEP = [*step_columns.STEP, "s"]
LOSS = [
    "loss",
    "train_loss",
    "training_loss",
    "lm_loss",
    "reduced_train_loss",
    "trl",
    "loss_train",
    "avg_loss",
    "mean_loss",
]
LOSS += ["global_avg_loss", "ce_loss", "total_loss"]
GRAD = ["grad_norm", "gradient_norm", "gradnorm", "global_grad_norm", "grad_norm_total", "total_norm", "norm", "gnorm"]
VALIDATION = ["eval_loss", "val_loss", "validation_loss", "valid_loss", "test_loss", "loss_val", "tel"]
SECONDS = [
    name for name in step_columns.SECONDS if name not in ("total", "step", "compute", "iteration", "batch", "time")
]
SKIPPED = ["skipped", "skipped_iterations", "skipped_steps"]
EXPECTED = "a table with columns step and loss, or lines of JSON with those keys"
NOT_NUMBERS = ("nan", "inf", "infinity", "1.#ind", "1.#qnan")


def parts_of(names):
    """Which column is the step, the loss, the gradient norm and so on: {part: index}.

    Examples
    --------
    >>> parts_of(["train/global_step", "train/loss", "eval/loss"])
    {'step': 0, 'validation': 2, 'loss': 1}
    """
    plain = [columns.plain_name(str(name).replace("/", "_")) for name in names]
    short = [columns.plain_name(str(name).rsplit("/", 1)[-1]) for name in names]
    held_out = [name.startswith(("eval", "val", "test")) for name in plain]
    found = {}
    for part, known in (
        ("validation", VALIDATION),
        ("step", STEP),
        ("loss", LOSS),
        ("grad_norm", GRAD),
        ("skipped", SKIPPED),
    ):
        for names_of in (plain, short):
            free = [
                n if i not in found.values() and (part in ("validation", "step") or not held_out[i]) else None
                for i, n in enumerate(names_of)
            ]
            place = next((free.index(name) for name in known if name in free), None)
            if place is not None:
                found[part] = place
                break
    for i, name in enumerate(names):
        if "seconds" not in found and i not in found.values() and step_columns.without_unit(name)[0] in SECONDS:
            found["seconds"] = i
    return {
        part: found[part] for part in ("step", "validation", "loss", "grad_norm", "skipped", "seconds") if part in found
    }


def is_table(text):
    """Whether a text is CSV with a step and a loss, or JSON with those keys."""
    head = text.head(5)
    if not head:
        return False
    first = head[0][1].strip()
    if first.startswith(("{", "[")):
        return any(_json(line) is not None for _, line in head) or (first in ("{", "[") and '"' in text.head(2)[-1][1])
    if "|" in first and ":" in first:
        return False
    _, _, names = csv_rows.header_of(text)
    parts = parts_of(names)
    return len(names) > 1 and "step" in parts and ("loss" in parts or "grad_norm" in parts)


def _json(line):
    line = line.strip().rstrip(",")
    if not line.startswith("{"):
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def collect(text):
    """Return (Collector, notes, rows)."""
    first = text.head(1)[0][1].strip()
    if first.startswith(("{", "[")):
        return _records(text)
    return _csv(text)


def _csv(text):
    from reliability.logs import numbers

    line, separator, names = csv_rows.header_of(text)
    parts = parts_of(names)
    if "step" not in parts or not {"loss", "grad_norm"} & set(parts):
        raise LogError(text.name, line, ", ".join(names), EXPECTED)
    rows = csv_rows.read_rows(text, line, separator, names)
    values, written = {}, {}
    for part, index in parts.items():
        own = rows.texts(index)
        try:
            values[part], bad = numbers.parse(own, separator)
        except ValueError as error:  # an open decimal sign, or a text that is almost a number
            raise LogError(text.name, None, None, f"numbers with a clear decimal sign; but {error}") from None
        written[part] = np.isfinite(values[part])
        places = np.flatnonzero(~written[part])
        words = [str(word).lower().lstrip("+-") for word in own.take(places).to_pylist()]
        written[part][places] = [word in NOT_NUMBERS for word in words]
        values[part] = np.where(bad & ~written[part], np.nan, values[part])
    unit = (
        step_columns.UNITS.get(step_columns.without_unit(names[parts["seconds"]])[1], 1.0)
        if "seconds" in parts
        else 1.0
    )
    step = values["step"]
    good = np.isfinite(step) & (step == np.floor(step)) & (step >= 0)
    notes = [*rows.notes, *note("dropped", "no whole number as the step", rows.lines[~good].tolist())]
    collector, empty = Collector(), []
    get = {part: (values[part].tolist(), written[part].tolist()) for part in parts}

    def read(part, i):
        return get[part][0][i] if part in get and get[part][1][i] else None

    plain = _plain(step, values, written, good)
    if plain is not None:
        collector.take_in_order(*(column.tolist() for column in plain), rows.lines.tolist(), unit)
        return collector, notes, rows.read

    for i in np.flatnonzero(good).tolist():
        at, number_of = int(step[i]), int(rows.lines[i])
        if (held_out := read("validation", i)) is not None:
            collector.add(Event("validation", at, held_out), number_of)
        loss, grad = read("loss", i), read("grad_norm", i)
        if loss is None and grad is None:
            empty += [] if held_out is not None else [number_of]
            continue
        skipped, seconds = read("skipped", i), read("seconds", i)
        collector.add(Event("point", at, loss, grad, skipped, None if seconds is None else seconds * unit), number_of)
    notes += note("excluded", "rows without a loss or a gradient norm", empty)
    return collector, notes, rows.read


def _plain(step, values, written, good):
    """Columns of a table that needs no sorting out: a loss in each row, steps that only rise. Else None."""
    if "validation" in values or "loss" not in values or not good.all() or not good.size:
        return None
    if not written["loss"].all() or (np.diff(step) <= 0).any() or step[-1] > 2**53:
        return None

    def cells(part):
        if part not in values:
            return np.full(step.size, None, dtype=object)
        return np.where(written[part], values[part].astype(object), None)

    return step.astype(np.int64), *(cells(part) for part in ("loss", "grad_norm", "skipped", "seconds"))


def _records(text):
    """Objects of JSON, one a line, or those of a list `log_history`."""
    collector, bad, empty, count = Collector(), [], [], 0
    history = _history(text)
    lines = ((n, record) for n, record in enumerate(history, 1)) if history is not None else (
        (n, _json(line)) for n, line in text.lines() if line.strip()
    )  # fmt: skip
    parts_by_keys = {}
    for at, record in lines:
        count += 1
        if not isinstance(record, dict):
            bad.append(at)
            continue
        keys = tuple(map(str, record))
        if keys not in parts_by_keys and len(parts_by_keys) < 1000:
            parts_by_keys[keys] = parts_of(keys) if keys else {}
        parts, cells = parts_by_keys.get(keys) or (parts_of(keys) if keys else {}), list(record.values())
        found = {part: _value(cells[index]) for part, index in parts.items()}
        step = found.get("step")
        step = int(step) if step is not None and math.isfinite(step) and step >= 0 else None
        if found.get("validation") is not None and step is not None:
            collector.add(Event("validation", step, found["validation"]), at)
        if step is None or "train_runtime" in record or (found.get("loss") is None and found.get("grad_norm") is None):
            empty += [] if found.get("validation") is not None else [at]
            continue
        event = Event(
            "point", step, found.get("loss"), found.get("grad_norm"), found.get("skipped"), found.get("seconds")
        )
        collector.add(event, at)
    notes = note("dropped", "a line that is no JSON object", bad)
    return collector, [*notes, *note("excluded", "records without a step and a loss", empty)], count


def _history(text):
    """The log_history of a trainer's state, or a list of records; None where the text is one object a line."""
    head = text.head(2)
    if (
        _json(head[0][1]) is not None
        and (len(head) == 1 or _json(head[1][1]) is not None)
        and "log_history" not in head[0][1][:2000]
    ):
        return None
    try:
        whole = json.loads(text.read())
    except (ValueError, RecursionError):
        return None
    if isinstance(whole, dict):
        whole = whole.get("log_history", [whole])
    return whole if isinstance(whole, list) else None


def _value(cell):
    if isinstance(cell, bool) or cell is None:
        return None
    return float(cell) if isinstance(cell, int | float) else number(cell) if isinstance(cell, str) else None
