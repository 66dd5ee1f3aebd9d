"""Scenario 3: what does a week of faults cost, cold and with a warm standby?"""

from pydantic import Field

from reliability import facts
from reliability.faults import CLASSES, counts_from, expected_faults
from reliability.recovery import STANDBY_HELPS, cold_path, ettr, hours_lost_h, standby_path, timeline_total
from reliability.scenarios.base import PageParameters, Result
from reliability.text import percent, table
from reliability.units import HOUR_S

TITLE = "fault injection and elastic recovery"
PHASES = ("stop", "reschedule", "load", "nccl", "warmup")


def _minutes(what):
    return Field(ge=0, le=1e6, description=f"{what} (min)")


def _share(what):
    return Field(ge=0, le=1, description=f"share of faults: {what}")


class Parameters(PageParameters):
    """The week, the two ways back, the mix of faults, the recorded week."""

    days: float = Field(gt=0, le=36500, description="length of the period (days)")
    job_mtbf_h: float = Field(gt=0, le=1e9, description="mean time between failures of the job (h)")
    checkpoint_interval_h: float = Field(
        gt=0, le=1e5, description="checkpoint interval; half of it is lost with each fault (h)"
    )
    stop_min: float = _minutes("cold restart: stop")
    reschedule_min: float = _minutes("cold restart: reschedule")
    load_min: float = _minutes("cold restart: load the checkpoint")
    nccl_min: float = _minutes("cold restart: set up communication")
    warmup_min: float = _minutes("cold restart: warm-up")
    standby_s: float = Field(ge=0, le=1e7, description="swap to a warm standby (s)")
    detect_gpu_s: float = Field(ge=0, le=1e7, description="detection of a GPU fault (s)")
    detect_network_s: float = Field(ge=0, le=1e7, description="detection of a network fault (s)")
    detect_other_s: float = Field(ge=0, le=1e7, description="detection of any other fault (s)")
    mix_gpu: float = _share("GPU")
    mix_network: float = _share("network")
    mix_host: float = _share("host")
    mix_software: float = _share("software")
    mix_other: float = _share("other")
    recorded_faults: dict[str, int] = Field(description="the week that is replayed: faults by class")
    weeks: int = Field(ge=1, le=10**7, description="periods drawn beside the recorded one")
    seed: int = Field(ge=0, le=2**63 - 1, description="seed of the drawn periods")

    def model_post_init(self, _):
        """Refuse a mix that does not sum to 1, and a recorded week of other classes."""
        total = sum(self.mix.values())
        if abs(total - 1) > 1e-9:
            raise ValueError(
                f"mix_gpu + mix_network + mix_host + mix_software + mix_other = {total:.12g}: must sum to 1"
            )
        if set(self.recorded_faults) != set(CLASSES) or any(not 0 <= n <= 10**9 for n in self.recorded_faults.values()):
            raise ValueError(
                f"recorded_faults = {self.recorded_faults}: must give a count of 0 or more for each of {', '.join(CLASSES)}"
            )

    @property
    def mix(self):
        """Shares by class."""
        return {name: getattr(self, f"mix_{name}") for name in CLASSES}

    @property
    def detection(self):
        """Seconds of detection by class."""
        return {name: getattr(self, f"detect_{name}_s", self.detect_other_s) for name in CLASSES}

    @property
    def horizon_h(self):
        """Length of the period in hours."""
        return self.days * 24


def compute(p):
    """Compute the published figures of scenario 3 from parameters `p`."""
    phases_min = {name: getattr(p, f"{name}_min") for name in PHASES}
    cold_min = timeline_total(phases_min)
    paths = {
        "cold": cold_path(p.detection, cold_min * 60),
        "warm": standby_path(p.detection, cold_min * 60, p.standby_s),
    }
    counts = counts_from(p.recorded_faults)
    rollback = p.checkpoint_interval_h * HOUR_S / 2
    lost_h = {name: hours_lost_h(counts, path, rollback) for name, path in paths.items()}
    standby = facts.fact("byterobust_standby_s")
    texts = {"cold_restart_min": f"{cold_min:.2f}"}
    texts |= {f"phase.{name}": f"{minutes:.2f}" for name, minutes in phases_min.items()}
    texts |= {"warm_standby_s": f"{p.standby_s:g}", "warm_standby_range_s": f"{standby.low:g}-{standby.high:g}"}
    texts |= {f"detection.{name}": f"{p.detection[name]:g}" for name in ("gpu", "network", "other")}
    texts |= {"faults": str(counts.sum())}
    for name, n in p.recorded_faults.items():
        texts |= {f"class.{name}.name": name, f"class.{name}.faults": str(n)}
    for name, hours in lost_h.items():
        texts |= {f"{name}.hours_lost": f"{hours:.3f}", f"{name}.ettr": percent(ettr(hours, p.horizon_h))}
    expected = expected_faults(p.horizon_h, p.job_mtbf_h)
    texts |= {"expected_faults": f"{expected:.1f}", "hours_saved": f"{lost_h['cold'] - lost_h['warm']:.2f}"}
    values = {
        "cold_restart_min": cold_min,
        "paths": paths,
        "counts": counts,
        "rollback_s": rollback,
        "hours_lost": lost_h,
        "expected_faults": expected,
    }
    return Result(texts, _sections(p, texts, counts, phases_min), values)


def _sections(p, texts, counts, phases_min):
    named = ", ".join(f"{name} {texts[f'phase.{name}']}" for name in phases_min)
    helped = ", ".join(name for name in CLASSES if name not in STANDBY_HELPS)
    week = ", ".join(f"{name} {n}" for name, n in p.recorded_faults.items())
    return {
        "timeline": f"A cold restart takes **{texts['cold_restart_min']} min**: {named}. A warm standby swaps in within "
        f"{texts['warm_standby_s']} s (the published range of measurements: {texts['warm_standby_range_s']} s). Detection takes {texts['detection.gpu']} s for a GPU, "
        f"{texts['detection.network']} s for the network and {texts['detection.other']} s for anything else.",
        "week": f"The recorded {p.days:g} {'day has' if p.days == 1 else 'days have'} **{texts['faults']} {'fault' if texts['faults'] == '1' else 'faults'}** ({week}); the model expects {texts['expected_faults']}.",
        "table": table(
            ["recovery", "hours lost", "ETTR"],
            [
                [label, texts[f"{name}.hours_lost"], texts[f"{name}.ettr"]]
                for name, label in (("cold", "cold restart"), ("warm", "warm standby"))
            ],
        ),
        "saving": f"The standby saves **{texts['hours_saved']} h**: it does not help faults of class {helped}, and every fault still rolls back "
        f"{p.checkpoint_interval_h / 2:g} h, {counts.sum() * p.checkpoint_interval_h / 2:g} h in all.",
    }
