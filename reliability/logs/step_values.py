"""The cells of a table of step times: numbers, names of ranks and hosts, doubles and holes, each counted."""

import numpy as np

from reliability.logs.notes import LogError, Note, note


def numbers_of(values, separator, decimal, name):
    from reliability.logs import numbers

    try:
        return numbers.parse(values, separator, decimal)
    except ValueError as error:  # an open decimal sign, or a text that is almost a number
        raise LogError(name, None, None, f"numbers with a clear decimal sign; but {error}") from None


def positive(values, bad, good, lines, notes):
    """Drop times that are none, each kind counted."""
    for wrong, why in (
        (bad, "a time that is no number"),
        (np.isnan(values) & ~bad, "no time"),
        (values < 0, "a time below 0"),
        (values == 0, "a time of 0"),
        (np.isinf(values), "an infinite time"),
    ):
        wrong = wrong & good
        notes += note("dropped", why, lines[wrong].tolist())
        good = good & ~wrong
    return values, good


def note_doubles(place, values, lines, notes):
    """Count rows of the same step and rank: the same again, and others that the last one replaces."""
    order = np.lexsort((np.arange(place.size), place))
    again = np.flatnonzero(place[order][1:] == place[order][:-1])
    if not again.size:
        return
    before, after = order[again], order[again + 1]
    same = values[before] == values[after]
    notes += note("merged", "the same step, rank and time again", np.sort(lines[after[same]]).tolist())
    notes += note(
        "merged", "another time of the same step and rank: the last counts", np.sort(lines[before[~same]]).tolist()
    )


def filled(shape, place, values):
    matrix = np.full(shape[0] * shape[1], np.nan)
    matrix[place] = values  # of several, the last
    return matrix.reshape(shape)


def labels(values):
    """Index of each row's label and the labels in order, as whole numbers where all are; -1 for an empty one."""
    encoded = values.dictionary_encode()
    found = [str(v).strip() for v in encoded.dictionary.to_pylist()]
    index = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    unknown = {"", "nan", "none", "null", "n/a", "na", "-"}
    labels = []
    for text in found:
        try:
            number = float(text.lower().removeprefix("rank").strip(" _:-"))
            labels.append(int(number) if number == int(number) and abs(number) < 2**53 else text)
        except (ValueError, OverflowError):
            labels.append(text)
    if not all(isinstance(v, int) for v, t in zip(labels, found, strict=True) if t.lower() not in unknown):
        labels = found
    names = sorted({v for v, t in zip(labels, found, strict=True) if t.lower() not in unknown})
    place = {name: i for i, name in enumerate(names)}
    table = np.array([-1 if t.lower() in unknown else place[v] for v, t in zip(labels, found, strict=True)] or [-1])
    return table[index] if index.size else index, names


def named(index, texts, good, rank_at, ranks, notes, what):
    """What each rank's rows say of its host or stage: the last of them; None where there is no such column."""
    if index is None:
        return None
    code, names = labels(texts(index))
    code = code[good]
    known = code >= 0
    last = np.full(len(ranks), -1)
    last[rank_at[known]] = code[known]
    moved = np.unique(rank_at[known][code[known] != last[rank_at[known]]])
    if moved.size:
        notes.append(Note("warning", f"ranks that change their {what}: the last one is shown", moved.size))
    found = {rank: names[at] for rank, at in zip(ranks, last, strict=True) if at >= 0}
    return ({rank: str(v) for rank, v in found.items()} if what == "host" else found) or None


def whole(steps):
    return steps.astype(np.int64).tolist()
