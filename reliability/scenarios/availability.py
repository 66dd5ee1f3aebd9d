"""Scenario 1: how much of the time does a job run, at each size?"""

from pydantic import Field

from reliability.availability import job_mtbf, node_mtbf, scale_table
from reliability.scenarios.base import PageParameters, Result
from reliability.text import percent, table

TITLE = "availability by cluster size"
HOURS_PER_YEAR = 8760
MINUTES_PER_HOUR = 60


class Parameters(PageParameters):
    """Two calibrations, two ways of repair, the sizes of the table."""

    anchor_job_mttf_h: float = Field(
        gt=0, le=1e9, description="mean time to failure of the job that calibrates the model (h)"
    )
    anchor_job_gpus: int = Field(ge=1, le=10**8, description="GPUs of that job")
    interruption_interval_h: float = Field(
        gt=0, le=1e9, description="mean interval between interruptions of a second job (h)"
    )
    interruption_gpus: int = Field(ge=1, le=10**8, description="GPUs of the second job")
    cold_mttr_min: float = Field(gt=0, le=1e7, description="time to repair by a cold restart (min)")
    standby_mttr_min: float = Field(gt=0, le=1e7, description="time to repair by a standby swap (min)")
    sizes: list[int] = Field(min_length=1, max_length=100, description="cluster sizes of the table (GPUs)")
    gpus_per_node: int = Field(ge=1, le=1024, description="GPUs in a node, for rates per node")

    def model_post_init(self, _):
        """Refuse sizes below one GPU, and one size twice."""
        if any(not 1 <= size <= 10**8 for size in self.sizes) or len(set(self.sizes)) < len(self.sizes):
            raise ValueError(f"sizes = {self.sizes}: must be different whole numbers from 1 to 100000000")


def compute(p):
    """Compute the published figures of scenario 1 from parameters `p`."""
    gpu_mtbf_h = node_mtbf(p.anchor_job_mttf_h, p.anchor_job_gpus)
    anchor_mtbf_h = job_mtbf(gpu_mtbf_h, p.anchor_job_gpus)
    second_gpu_mtbf_h = node_mtbf(p.interruption_interval_h, p.interruption_gpus)
    scale = scale_table(
        gpu_mtbf_h, p.sizes, [p.cold_mttr_min / MINUTES_PER_HOUR, p.standby_mttr_min / MINUTES_PER_HOUR]
    )
    texts = {
        "node_mtbf_h": f"{gpu_mtbf_h:.1f}",
        "anchor_model_mtbf_h": f"{anchor_mtbf_h:.2f}",
        "llama3_node_mtbf_years": f"{second_gpu_mtbf_h / HOURS_PER_YEAR:.2f}",
    }
    rows = []
    for size, mtbf_h, shares in zip(p.sizes, scale.job_mtbf, scale.availability, strict=True):
        row = dict(
            zip(
                ("nodes", "job_mtbf_h", "cold", "standby"),
                (str(size), f"{mtbf_h:.3f}", *map(percent, shares)),
                strict=True,
            )
        )
        texts |= {f"table.{size}.{column}": cell for column, cell in row.items()}
        rows.append(list(row.values()))
    texts |= _reading(p, scale)
    sections = {
        "calibration": f"A {p.anchor_job_gpus:,}-GPU job that fails every {p.anchor_job_mttf_h:g} h gives each GPU an MTBF of "
        f"**{texts['node_mtbf_h']} h**; from that the model gives the job back its {texts['anchor_model_mtbf_h']} h. "
        f"A {p.interruption_gpus:,}-GPU job interrupted every {p.interruption_interval_h:g} h implies "
        f"{texts['llama3_node_mtbf_years']} years a GPU.",
        "table": table(
            [
                "GPUs",
                "job MTBF (h)",
                f"cold restart, {p.cold_mttr_min:g} min",
                f"standby swap, {p.standby_mttr_min:g} min",
            ],
            rows,
        ),
        "reading": f"In the publication's words, whose nodes are single GPUs: {texts['reading.cold']}; {texts['reading.standby']}.",
    }
    values = {
        "gpu_mtbf_h": gpu_mtbf_h,
        "second_gpu_mtbf_h": second_gpu_mtbf_h,
        "sizes": scale.nodes,
        "job_mtbf_h": scale.job_mtbf,
        "availability": scale.availability,
    }
    return Result(texts, sections, values)


def _reading(p, scale):
    """The two readings of the table: where the cold path falls below one half, what a swap leaves."""
    below = [size for size, shares in sorted(zip(p.sizes, scale.availability[:, 0], strict=True)) if shares < 0.5]
    largest = max(p.sizes)
    left = percent(scale.availability[p.sizes.index(largest), 1])
    cold = (
        f"{below[0]} nodes: the cold-repair path falls below 50%"
        if below
        else f"{largest} nodes: the cold-repair path still holds 50%"
    )
    return {
        "reading.cold": cold,
        "reading.standby": f"{largest} nodes: even a {p.standby_mttr_min:g} min swap leaves {left}",
    }
