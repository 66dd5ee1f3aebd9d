"""Published results that the book is held against, and whether it agrees with them.

An anchor is *calibrated* where the published number is an input of the model, *emergent* where the
model comes out right by itself, *off* where it comes out wrong, with the reason, and *declined*
where it was not computed, with the reason. The status is declared by whoever adds the anchor and
checked against the computed number each time: an emergent anchor that drifts off is an error, and so
is an off one that comes right.
"""

import re
from dataclasses import dataclass

from reliability import text

STATUSES = ("calibrated", "emergent", "off", "declined")


class AnchorMoved(ValueError):
    """An anchor's declared status is not what the computed number says."""


@dataclass(frozen=True)
class Anchor:
    """One published result beside the book's own.

    Attributes
    ----------
    name : str
        Unique on its page.
    what : str
        The case, in a few words.
    published : str
        As printed, with its unit.
    computed : float or None
        What the book computes; None for a declined one.
    low, high : float or None
        What counts as agreement: the rounding of the printed number, its interval, or three
        standard errors of a simulation. `margin` says which.
    margin : str
        Where `low` and `high` come from.
    source : str
        Key of ``references.bib``.
    primary : bool
        False where the published number was read in a secondary source only.
    status : str
        One of `STATUSES`.
    reason : str
        Why it is off or declined; may say more for the others.
    digits : str
        Format of the computed number, such as ``".3f"``.
    model : str
        What was held against it, in a few words, where the same published result is held against another model, too.
    """

    name: str
    what: str
    published: str
    computed: float | None
    low: float | None
    high: float | None
    margin: str
    source: str
    primary: bool
    status: str
    reason: str = ""
    digits: str = ".3g"
    model: str = ""


def check(anchor):
    """Return the anchor, once its declared status is what the computed number says.

    Raises
    ------
    AnchorMoved
    """
    if anchor.status not in STATUSES:
        raise ValueError(f"status = {anchor.status!r}: must be one of {', '.join(STATUSES)}")
    if anchor.status == "declined":
        if anchor.computed is not None or not anchor.reason:
            raise ValueError(f"anchor {anchor.name}: a declined one has no computed number, and a reason")
        return anchor
    agrees = anchor.low <= anchor.computed <= anchor.high
    if agrees == (anchor.status == "off"):
        where = f"computed {anchor.computed:{anchor.digits}}, agreement from {anchor.low:g} to {anchor.high:g} ({anchor.margin})"
        raise AnchorMoved(f"anchor {anchor.name} is declared {anchor.status}: {where}")
    if anchor.status == "off" and not anchor.reason:
        raise ValueError(f"anchor {anchor.name}: is off and gives no reason")
    return anchor


def rounding(value, decimals):
    """Return the numbers that print as `value` with so many decimals: (low, high).

    Examples
    --------
    >>> rounding(0.96, 2)
    (0.955, 0.965)
    """
    half = 0.5 * 10.0**-decimals
    return round(value - half, decimals + 3), round(value + half, decimals + 3)


def table(anchors):
    """Lay out anchors as a Markdown table, each checked; behind the case stand the model, in brackets, and the reason, in italics."""
    rows = []
    for anchor in map(check, anchors):
        computed = "" if anchor.computed is None else f"{anchor.computed:{anchor.digits}}"
        published = anchor.published + ("" if anchor.primary else " *") + _agreement(anchor)
        case = anchor.what + (f" ({anchor.model})" if anchor.model else "")
        case += f": *{anchor.reason.rstrip('.')}*" if anchor.reason else ""
        rows.append([case, published, computed, anchor.status])
    return text.table(["case", "published (agrees)", "here", "status"], rows, align="lrrl")


def _agreement(anchor):
    """Write in brackets which numbers agree, with a digit more than the computed one, since an end is often half of its last."""
    if anchor.low is None:
        return ""
    digits = re.sub(r"\d+", lambda found: f"{int(found[0]) + 1}", anchor.digits)
    ends = (re.sub(r"(\.\d*?)0+(?=%?$)", r"\1", f"{end:{digits}}") for end in (anchor.low, anchor.high))
    low, high = (re.sub(r"\.(?=%?$)", "", end) for end in ends)
    return f" ({low})" if low == high else f" ({low} to {high})"


def summary(anchors):
    """Say in a sentence how many anchors have each status."""
    kinds = [check(anchor).status for anchor in anchors]
    listed = ", ".join(f"{kinds.count(status)} {status}" for status in STATUSES if kinds.count(status))
    return f"**{len(kinds)} published results: {listed or 'none'}.**"
