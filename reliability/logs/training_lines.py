"""Lines of training logs, whoever prints them: what a line can say, colours and labels, checkpoints and restarts."""

import re
from dataclasses import dataclass, field

NUMBER = r"[+-]?(?:\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|nan|inf(?:inity)?)"
ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
LABEL = re.compile(r"\s*(?:\[(?:default|rank) ?(\d{1,6})\]:?|(\d{1,6}):(?=\s)|rank ?(\d{1,6}):)\s*", re.I)
STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?")
THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
GLOG = re.compile(r"\[[EWIF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d+))?")


@dataclass
class Event:
    """What a line says. `kind`: point, validation, save, load, start, skip (of that step), bar, summary."""

    kind: str
    step: int | None = None
    loss: float | None = None  # None: the line names no loss
    grad_norm: float | None = None
    skipped: int | None = None
    seconds: float | None = None
    total: int | None = None
    values: dict = field(default_factory=dict)


def number(text):
    """A number as a log prints it, quoted or with thousands set apart by commas; None where it is none.

    Examples
    --------
    >>> number("'1.5e-3'"), number("10,050"), number("nan"), number("abc")
    (0.0015, 10050.0, nan, None)
    """
    text = str(text).strip().strip("'\"").strip()
    if THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None


def cleaned(line):
    """A line without colours and without the label of the rank that printed it: (rank or None, text).

    Examples
    --------
    >>> cleaned("[rank8]:[titan] - \\x1b[31mstep:  1\\x1b[39m")
    (8, '[titan] - step:  1')
    """
    if "\x1b" in line:
        line = ANSI.sub("", line)
    if (found := LABEL.match(line)) is None:
        return None, line
    return int(next(g for g in found.groups() if g)), line[found.end() :]


# Checkpoints and restarts, whoever prints them -------------------------------------------------------------------------

_SAVE = re.compile(
    r"(?:successfully saved|saving|saved) (?:the )?(?:model )?checkpoint(?:s)? (?:at|from|for) (?:iteration|step)\s+(\d+)"
    r"|saving model checkpoint to \S*checkpoint-(\d+)"
    r"|saving (?:model )?(?:checkpoint )?to '?\S*?(?:step[=-]|global_step|checkpoint-|iter_)(\d+)"
    r"|writing (?:model|state) to \S*?_0*(\d+)\.bin|\[torch\] saving \S*global_step(\d+)/",
    re.I,
)
_SAVE_HERE = re.compile(
    r"saving the checkpoint\b|finished saving the checkpoint|saving a full checkpoint at last step", re.I
)
_LOAD = re.compile(
    r"load(?:ing|ed)\b.*checkpoint.*?(?:iteration|step|iter)[ =_/-]+(\d+)"
    r"|(?:resuming|resumed|continuing)\b.*?(?:iteration|step|checkpoint|iter)[ =_-]+(\d+)"
    r"|load(?:ing|ed)\b.*checkpoint.*?(?:checkpoint-|global_step|iter_)(\d+)",
    re.I,
)
_START = re.compile(r"before the start of training step|\bstarting training\b|\btraining starts at step\b", re.I)


def landmark(line):
    """A checkpoint that is written or read, or the start of training, in any of the frameworks' words."""
    low = line.lower()
    if "sav" in low or "writing" in low:
        if (found := _SAVE.search(line)) is not None:
            return Event("save", int(next(g for g in found.groups() if g)))
        if _SAVE_HERE.search(line):
            return Event("save")
    if ("load" in low or "resum" in low or "continuing" in low) and (found := _LOAD.search(line)) is not None:
        return Event("load", int(next(g for g in found.groups() if g)))
    if "start" in low and _START.search(line):
        return Event("start")
    return None
