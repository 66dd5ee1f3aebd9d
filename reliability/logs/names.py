"""Names of nodes and classes that differ only in case or blanks, brought to one spelling."""

import numpy as np

UNNAMED = "unknown"


def unified(texts):
    """Codes and spellings of names, compared without case and without blanks around or doubled.

    Parameters
    ----------
    texts : sequence of str
        Empty: no name.

    Returns
    -------
    (codes, spellings) : int array, list of str
        Code -1 where there is no name. A spelling is the most frequent one, of equals the first.

    Examples
    --------
    >>> codes, spellings = unified(["GPU", "gpu ", "Power", "", "GPU"])
    >>> codes.tolist(), spellings
    ([0, 0, 1, -1, 0], ['GPU', 'Power'])
    """
    import pandas as pd

    raw, distinct = pd.factorize(np.asarray(texts, dtype=object), use_na_sentinel=False)
    clean = [" ".join(str(text).split()) for text in distinct]
    keys = [text.casefold() for text in clean]
    order = {}
    for key in keys:
        if key:
            order.setdefault(key, len(order))
    counts = np.bincount(raw, minlength=len(distinct))
    best = {}
    for i, key in enumerate(keys):
        if key and (key not in best or counts[i] > counts[best[key]]):
            best[key] = i
    codes = np.array([order.get(key, -1) for key in keys], dtype=np.int64)
    return (codes[raw] if len(raw) else np.zeros(0, dtype=np.int64)), [clean[best[key]] for key in order]
