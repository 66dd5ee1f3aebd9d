"""The page of a cluster's own plan, and the published results that its model is held against."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from reliability import checkpoint, facts, plan, plan_document, plan_text, renewal
from reliability.anchors import Anchor, rounding
from reliability.cluster import read
from reliability.errors import BadInput
from reliability.plan_draws import FEWEST_DRAWS, MOST_DRAWS
from reliability.rates import gpu_mtbf_h
from reliability.scenarios.base import PageParameters, Result

TITLE = "what your cluster delivers, and what would make it better"


class Parameters(PageParameters):
    """A cluster file, and how many draws carry its uncertainty."""

    SETTINGS_FILE: ClassVar = "cluster_file"

    cluster_file: str = Field(min_length=1, max_length=4096, description="cluster file, or example:NAME")
    draws: int = Field(ge=FEWEST_DRAWS, le=MOST_DRAWS, description="draws of what is not known exactly")
    seed: int = Field(ge=0, le=2**63 - 1, description="seed of the draws")
    names: str = Field(
        pattern="^(shown|alias)$", description="whether hosts, users, jobs and files are shown or called by aliases"
    )

    def model_post_init(self, _):
        """Refuse a cluster file that cannot be read."""
        try:
            read(self.cluster_file)
        except BadInput as error:
            raise ValueError(f"cluster_file: {error}") from None


def compute(p):
    """Make the plan; `values` holds it and its document."""
    made = plan.make(p.cluster_file, p.draws, p.seed, anonymise=p.names == "alias")
    document = plan_document.document(made)
    return Result({}, plan_text.sections(document), {"plan": made, "document": document})


PLAN = "the plan's model"  # said where other models are held against the same result


def anchors():
    """Compute the published results that the plan's model is held against, each from its own inputs."""
    return [*_scr(), *_kokolis()]


def _scr():
    """SCR's machines with the parallel file system alone: two kinds of failure, and a restart costs as much as a write."""
    rates, costs, found = facts.value("scr_rates"), facts.value("scr_costs_s"), []
    for machine in ("atlas", "coastal"):
        kinds = np.array([rates[f"{machine}_local"], rates[f"{machine}_global"]])
        cost, every = costs[f"{machine}_global"], facts.value("scr_intervals_s")[f"{machine}_global_only"]
        printed = facts.value("scr_efficiencies")[f"{machine}_global_only"]
        kept = renewal.budget(
            float(every), float(cost), kinds / kinds.sum(), np.zeros(2), np.full(2, float(cost)), 1 / kinds.sum()
        ).useful
        found.append(Anchor(f"scr_{machine}", f"SCR's model of {machine}, one level, both kinds of failure", f"{printed}", float(kept), *rounding(printed, 5), "as printed",
                            "scr_model", True, "emergent", "", ".5f", PLAN))  # fmt: skip
    return found


def _kokolis():
    gpus, rate, restart = map(facts.value, ("kokolis_ettr_gpus", "kokolis_ettr_rate", "kokolis_ettr_restart_min"))
    mtbf = 60 * gpu_mtbf_h(rate["simple"], facts.value("gpus_per_node")) / gpus["simple"]
    exact = float(
        checkpoint.renewal_efficiency(
            restart["simple"], 0.0, renewal.effective_restart([1.0], [restart["simple"]], mtbf), mtbf
        )
    )
    printed = facts.value("kokolis_ettr_published")["simple"]
    what = f"Kokolis et al., {gpus['simple']:,} GPUs at RSC-1's rate, interval and restart {restart['simple']:g} min"
    return [Anchor("kokolis_simple", what, f"{printed}", exact, *rounding(printed, 2), "as printed",
                   "kokolis2025", True, "emergent", "", ".3f", PLAN)]  # fmt: skip
