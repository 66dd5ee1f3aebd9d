"""Scenario 2: how often should the job checkpoint?"""

import numpy as np
from pydantic import Field

from reliability.checkpoint import efficiency, grid_optimum, incremental_write, young_interval
from reliability.scenarios.base import PageParameters, Result
from reliability.text import percent, table
from reliability.units import HOUR_S, MINUTE_S

TITLE = "the checkpoint interval"


class Parameters(PageParameters):
    """The job, its failures and the cost of a checkpoint."""

    step_s: float = Field(gt=0, le=1e5, description="length of a training step (s)")
    write_s: float = Field(gt=0, le=1e6, description="time a full checkpoint blocks the job (s)")
    job_mtbf_h: float = Field(gt=0, le=1e9, description="mean time between failures of the job (h)")
    incremental_factor: float = Field(
        gt=0, le=1, description="cost of an incremental checkpoint over that of a full one"
    )
    restart_min: float = Field(ge=0, le=1e6, description="cold restart (min)")
    no_checkpoint_steps: int = Field(
        ge=1, le=10**6, description="interval that stands for 'no checkpoint', and the end of the grid (steps)"
    )
    curve_every_steps: int = Field(ge=1, le=10**5, description="distance between the rows of the table (steps)")
    curve_points: int = Field(ge=1, le=100, description="rows of the table")


def compute(p):
    """Compute the published figures of scenario 2 from parameters `p`."""
    mtbf, restart = p.job_mtbf_h * HOUR_S, p.restart_min * MINUTE_S
    increment = incremental_write(p.write_s, p.incremental_factor)
    young_steps = young_interval(p.write_s, mtbf) / p.step_s
    full, incremental = (
        grid_optimum(p.step_s, write, restart, mtbf, p.no_checkpoint_steps) for write in (p.write_s, increment)
    )
    steps = p.curve_every_steps * np.arange(1, p.curve_points + 1)
    curves = [efficiency(steps * p.step_s, write, restart, mtbf) for write in (p.write_s, increment)]
    texts = {
        "no_checkpoint_efficiency": percent(efficiency(p.no_checkpoint_steps * p.step_s, p.write_s, restart, mtbf)),
        "daly_interval_steps": f"{young_steps:.0f}",
        "grid_interval_steps": str(full.steps),
        "grid_efficiency": percent(full.efficiency),
        "incremental_interval_steps": str(incremental.steps),
        "incremental_efficiency": percent(incremental.efficiency),
    }
    rows = []
    for row in zip(map(str, steps), map(percent, curves[0]), map(percent, curves[1]), strict=True):
        texts |= {
            f"curve.{row[0]}.{column}": cell for column, cell in zip(("steps", "full", "incremental"), row, strict=True)
        }
        rows.append(list(row))
    sections = {
        "optimum": f"Steps of {p.step_s:g} s, a full checkpoint of {p.write_s:g} s, one failure in {p.job_mtbf_h:g} h, a restart of "
        f"{restart:g} s. Without checkpoints (one in {p.no_checkpoint_steps:,} steps) the job keeps "
        f"{texts['no_checkpoint_efficiency']}. Young's interval is **{texts['daly_interval_steps']} steps**, the best on the grid "
        f"{texts['grid_interval_steps']} steps at **{texts['grid_efficiency']}**. An incremental checkpoint at "
        f"{p.incremental_factor:g} of the cost moves it to {texts['incremental_interval_steps']} steps at "
        f"**{texts['incremental_efficiency']}**.",
        "curve": table(["interval (steps)", "full", "incremental"], rows),
    }
    values = {
        "young_interval_s": young_steps * p.step_s,
        "full": full,
        "incremental": incremental,
        "curve_steps": steps,
        "curve_full": curves[0],
        "curve_incremental": curves[1],
    }
    return Result(texts, sections, values)
