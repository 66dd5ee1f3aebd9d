"""Lines of training logs: what each framework prints of a step, a validation, a checkpoint, a restart.

A format is a function of a line, cleaned of colours and prefixes. It returns an :class:`reliability.logs.training_lines.Event` or None. Numbers are
read by patterns; nothing of a line is evaluated.
"""

import math
import re

from reliability.logs.training_lines import NUMBER, Event, number

_NAMED = re.compile(rf"\s*([A-Za-z][\w /().-]*?)\s+({NUMBER})\s*", re.I)  # "lm loss 7.2E+00", as before 2021


def _fields(text):
    found = {}
    for part in text.split("|"):
        name, colon, value = part.rpartition(":")
        if not colon and (old := _NAMED.fullmatch(part)) is not None:
            name, colon, value = old[1], ":", old[2]
        if colon:
            found.setdefault(name.strip().lower(), value)
    return found


def _whole(text):
    value = number(text) if text is not None else None
    return int(value) if value is not None and math.isfinite(value) and value >= 0 else None


# Megatron-LM, Megatron-DeepSpeed ---------------------------------------------------------------------------------------

_MEGATRON = re.compile(r"(?:^|[\]|:\s])iteration\s+(\d+)\s*/\s*(\d+)\s*\|(.*)", re.I)
_MEGATRON_VALID = re.compile(
    rf"\bvalidation loss at (?:iteration|the end of training for val data)\s+(\d+)?.*?\|?\s*(?:lm[ _]loss|loss)\s*(?:value)?\s*:\s*({NUMBER})",
    re.I,
)
NOT_THE_LOSS = re.compile(r"scale|aux|balanc|mtp|z_loss|indexer|count|ppl")


def megatron(line):
    """``iteration 10/ 8000 | … | lm loss: 9.8E+00 | … | grad norm: 1.370 | number of skipped iterations: 0 | …``."""
    if "iteration" not in line.lower():
        return None
    if (found := _MEGATRON_VALID.search(line)) is not None:
        return Event("validation", _whole(found[1]), number(found[2]))
    if (found := _MEGATRON.search(line)) is None:
        return None
    fields = _fields(found[3])
    if not ({"consumed samples", "elapsed time per iteration (ms)", "elapsed time per iteration (s)"} & set(fields)):
        return None
    losses = {name: value for name, value in fields.items() if "loss" in name and not NOT_THE_LOSS.search(name)}
    named = next((losses[name] for name in ("lm loss", "lm_loss", "loss", *losses) if name in losses), None)
    milliseconds = _positive(fields.get("elapsed time per iteration (ms)"))
    seconds = _positive(fields.get("elapsed time per iteration (s)")) if milliseconds is None else milliseconds / 1000
    if not line.rstrip().endswith("|") and "number of nan iterations" not in fields:
        return Event("cut", int(found[1]))  # a field that is missing must not be taken for a loss that is not a number
    return Event(
        "point", int(found[1]), None if named is None else _or_nan(named), _or_none(fields, "grad norm", "grad_norm"),
        _whole(fields.get("number of skipped iterations")), seconds, int(found[2]), {"nan": _whole(fields.get("number of nan iterations"))},
    )  # fmt: skip


def _positive(text):
    value = number(text) if text is not None else None
    return value if value is not None and value > 0 and math.isfinite(value) else None


def _or_nan(text):
    value = number(text)
    return math.nan if value is None else value


def _or_none(fields, *names):
    return next((number(fields[name]) for name in names if name in fields), None)


# torchtitan ------------------------------------------------------------------------------------------------------------

_TITAN = re.compile(rf"(validate )?\bstep:\s*(\d+)\s+loss:\s*({NUMBER})(.*)", re.I)


def torchtitan(line):
    """``step: 11  loss:  6.69926  grad_norm:  1.4612  memory: …  tps: 10,024``; the colours are gone by then."""
    if (found := _TITAN.search(line)) is None:
        return None
    if found[1]:
        return Event("validation", int(found[2]), number(found[3]))
    grad = re.search(rf"\bgrad_norm:\s*({NUMBER})", found[4], re.I)
    return Event("point", int(found[2]), number(found[3]), number(grad[1]) if grad else None)


# NeMo ------------------------------------------------------------------------------------------------------------------

_NEMO2 = re.compile(r"\bTraining epoch (\d+), iteration (\d+)/(\d+) \|(.*)")
_NEMO1 = re.compile(r"Epoch\s+(\d+):?\s*.*?(\d+)/(\d+)\s*\[.*?\breduced_train_loss=(.*)")
_NEMO_RECIPE = re.compile(
    rf"\bstep[ =](\d+)\b.*?\bepoch[ =]\d+\b.*?\bloss[ =]({NUMBER})|\bepoch=\d+ step=(\d+) loss=({NUMBER})", re.I
)
_GRAD = re.compile(rf"\bgrad[_ ]norm[ =:]+({NUMBER})", re.I)


def nemo(line):
    """NeMo 2's ``Training epoch 0, iteration 5/99 | … | reduced_train_loss: 7.9``, NeMo 1's progress bars, AutoModel's."""
    if (found := _NEMO2.search(line)) is not None:
        fields = _fields(found[4])
        step = _whole(fields.get("global_step"))
    elif (found := _NEMO1.search(line)) is not None:
        fields = dict(re.findall(rf"([A-Za-z_][\w/ ]*?)=({NUMBER})", "reduced_train_loss=" + found[4], re.I))
        fields = {name.strip().lower(): value for name, value in fields.items()}
        step = _whole(fields.get("global_step"))
    elif "loss" in line and (found := _NEMO_RECIPE.search(line)) is not None:
        grad = _GRAD.search(line)
        return Event(
            "point", int(found[1] or found[3]), number(found[2] or found[4]), number(grad[1]) if grad else None
        )
    else:
        return None
    if "reduced_train_loss" not in fields:
        return None
    step = int(found[2]) if step is None else step
    seconds = _positive(fields.get("train_step_timing in s"))
    values = {"val_loss": number(fields["val_loss"])} if "val_loss" in fields else {}
    return Event(
        "point",
        step,
        _or_nan(fields["reduced_train_loss"]),
        _or_none(fields, "grad_norm", "grad norm"),
        None,
        seconds,
        values=values,
    )


# Hugging Face's Trainer ------------------------------------------------------------------------------------------------

_DICT = re.compile(r"\{\s*['\"](?:loss|eval_\w+|train_runtime|train_loss|grad_norm)['\"]\s*:.*?\}")
_PAIR = re.compile(r"['\"]([\w/. -]+)['\"]\s*:\s*(['\"]?)([^,'\"}]*)\2")
_BAR = re.compile(r"^\s*\d{1,3}%\|[^|]*\|\s*(\d+)/(\d+) \[(?:(\d+) days?, )?(?:(\d+):)?(\d+):(\d\d)<")


def huggingface(line):
    """``{'loss': 2.2, 'grad_norm': 0.8, …}``, numbers quoted or not, and the progress bar that tells the step."""
    if (found := _DICT.search(line)) is not None:
        values = {name: number(value) for name, _, value in _PAIR.findall(found[0])}
        step = values.get("step")
        step = int(step) if step is not None and math.isfinite(step) else None
        if "train_runtime" in values or "train_loss" in values:
            return Event("summary", step, values=values)
        if any(name.startswith("eval_") for name in values) and "loss" not in values:
            return Event("validation", step, values.get("eval_loss"), values=values) if "eval_loss" in values else None
        if "loss" not in values:
            return None
        loss = math.nan if values["loss"] is None else values["loss"]
        return Event("point", step, loss, values.get("grad_norm"), values=values)
    if "%|" in line and (found := _BAR.match(line)) is not None:
        days, hours, minutes, seconds = (int(g or 0) for g in found.groups()[2:])
        return Event(
            "bar",
            int(found[1]),
            total=int(found[2]),
            seconds=float(((days * 24 + hours) * 60 + minutes) * 60 + seconds),
        )
    return None


# llm.c, nanoGPT --------------------------------------------------------------------------------------------------------

_LLMC = re.compile(rf"s:(\d+)\s+(trl|tel|eval):({NUMBER})(.*)", re.I)
_LLMC_OUT = re.compile(rf"\bstep\s+(\d+)/(\d+)\s*\|\s*(?:train )?loss\s+({NUMBER})(.*)", re.I)
_LLMC_VAL = re.compile(rf"^val loss\s+({NUMBER})", re.I)
_NANO = re.compile(rf"\biter (\d+): loss ({NUMBER})(?:, time ({NUMBER})ms)?", re.I)
_NANO_SPEED = re.compile(rf"\bstep:(\d+)/(\d+) (train|val)_loss:({NUMBER})", re.I)
_NANO_VAL = re.compile(rf"\bstep (\d+): train loss {NUMBER}, val loss ({NUMBER})", re.I)


def llmc(line):
    """``s:0 trl:11.0 lr:… norm:15.37``, or on the terminal ``step 1/19560 | loss 11.0 (+nanz)| norm 15.1 (+nanz)| …``."""
    if (found := _LLMC.match(line.strip())) is not None:
        if found[2].lower() == "tel":
            return Event("validation", int(found[1]), number(found[3]))
        if found[2].lower() == "eval":
            return Event("other", int(found[1]))
        norm = re.search(rf"\bnorm:({NUMBER})", found[4], re.I)
        return Event("point", int(found[1]), number(found[3]), number(norm[1]) if norm else None)
    if (found := _LLMC_OUT.search(line)) is not None:
        norm = re.search(rf"\bnorm\s+({NUMBER})", found[4], re.I)
        time = re.search(rf"\|\s*({NUMBER}) ms\b", found[4])
        seconds = _positive(time[1]) if time else None
        return Event(
            "point", int(found[1]), number(found[3]), number(norm[1]) if norm else None, None,
            None if seconds is None else seconds / 1000, int(found[2]),
        )  # fmt: skip
    if (found := _LLMC_VAL.match(line.strip())) is not None:
        return Event("validation", None, number(found[1]))
    return None


def nanogpt(line):
    """``iter 10: loss 5.2, time 234.1ms, mfu 12%``, ``step 1000: train loss 3.1, val loss 3.2``, and its kin's ``step:5/99 train_loss:5.2``."""
    if (found := _NANO.search(line)) is not None:
        seconds = _positive(found[3])
        return Event("point", int(found[1]), number(found[2]), None, None, None if seconds is None else seconds / 1000)
    if (found := _NANO_SPEED.search(line)) is not None:
        if found[3].lower() == "val":
            return Event("validation", int(found[1]), number(found[4]))
        return Event("point", int(found[1]), number(found[4]), total=int(found[2]))
    if (found := _NANO_VAL.search(line)) is not None:
        return Event("validation", int(found[1]), number(found[2]))
    return None


# DeepSpeed -------------------------------------------------------------------------------------------------------------

_DS = re.compile(rf"\bsteps:\s*(\d+)\s+loss:\s*({NUMBER})(?:\s+iter time \(s\):\s*({NUMBER}))?", re.I)
_DS_LOSS = re.compile(
    rf"\b(?:global[_ ]?step|step)[ =:]+(\d+)\b.*?(?<![a-z_])(?:lm_|train_?)?loss[ =:]+({NUMBER})", re.I
)
_DS_STEP = re.compile(r"\[Rank \d+\] step=(\d+), skipped=(\d+)")


def deepspeed(line):
    """``steps: 10 loss: 5.2 iter time (s): 1.2``, ``[Rank 0] step=10, skipped=2, …`` and ``OVERFLOW! … Skipping step``."""
    if (found := _DS.search(line)) is not None:
        return Event("point", int(found[1]), number(found[2]), None, None, _positive(found[3]))
    if (found := _DS_STEP.search(line)) is not None:
        return Event("skip", int(found[1]), skipped=int(found[2]))
    if "loss" in line and (found := _DS_LOSS.search(line)) is not None:
        grad = _GRAD.search(line)
        return Event("point", int(found[1]), number(found[2]), number(grad[1]) if grad else None)
    return None


# In this order: what a later one would read too, an earlier one reads better.
FORMATS = {
    "megatron": megatron,
    "torchtitan": torchtitan,
    "nemo": nemo,
    "huggingface": huggingface,
    "llmc": llmc,
    "nanogpt": nanogpt,
    "deepspeed": deepspeed,
}
NAMES = {
    "megatron": "Megatron-LM",
    "torchtitan": "torchtitan",
    "nemo": "NeMo",
    "huggingface": "Hugging Face Trainer",
    "llmc": "llm.c",
    "nanogpt": "nanoGPT",
    "deepspeed": "DeepSpeed",
    "table": "a table of steps",
}
