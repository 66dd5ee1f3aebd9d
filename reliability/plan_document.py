"""The plan as plain values: what ``plan.json`` holds. `reliability.plan_schema` documents every key, and a test holds the two together."""

import numpy as np

from reliability import plan_choices, quantities
from reliability.evidence import described
from reliability.lever_sets import rate_needed
from reliability.plan_inputs import inputs
from reliability.plan_schema import SCHEMA_NAME, VERSION
from reliability.quantities import interval


def document(made):
    """Return a plan as plain values, by the keys of `reliability.plan_schema.SCHEMA`.

    Parameters
    ----------
    made : reliability.plan.Plan

    Returns
    -------
    dict
        Numbers are not rounded yet; see :func:`reliability.page.rounded`.
    """
    job, now, planned = made.cluster.cluster, made.now, made.planned
    priced = job.price_per_gpu_hour is not None
    return {
        "schema": SCHEMA_NAME,
        "version": VERSION,
        "name": made.name,
        "draws": made.streams.draws,
        "seed": made.streams.seed,
        "level": quantities.LEVEL,
        "job": {
            "gpus": job.gpus,
            "nodes": now.state.nodes,
            "gpus_per_node": job.gpus_per_node,
            "horizon_h": made.horizon_h,
            "gpu_hours": made.gpu_hours,
            "currency": job.currency if priced else None,
            "price_per_gpu_hour": job.price_per_gpu_hour,
            "none_left": made.cluster.recovery.none_left,
        },
        "inputs": inputs(made),
        "failures": _failures(made),
        "simulation": {
            "runs": made.simulator.runs,
            "failures": now.failures,
            "error_now": now.error(),
            "error_planned": planned.error(),
            "error_gain": planned.error(now),
        },
        "ettr": {
            "now": interval(now.ettr),
            "planned": interval(planned.ettr),
            "gain": interval(made.gain(planned)),
            "now_in_horizon": interval(now.one_run),
            "planned_in_horizon": interval(planned.one_run),
            "formula": interval(now.state.ettr()),
            "formula_planned": interval(planned.state.ettr()),
            "first_order": interval(now.state.first_order()),
        },
        "hours": _hours(made),
        "interval": _interval(made),
        "standbys": _standbys(made),
        "levers": [_lever(made, lever, simulated) for lever, simulated in made.levers],
        "cost": cost(made),
        "target": _target(made),
        "unknown": [{"what": u.what, "instead": u.instead, "tells": u.tells} for u in made.evidence.unknown],
    }


def _failures(made):
    found = described(made.evidence, made.now.state.nodes)
    lost = made.now.lost_by_class()
    for i, row in enumerate(found["classes"]):
        row["lost"] = interval(lost[:, i])
        row["standby_helps"] = bool(made.now.state.on_node[i])
    return {"source": made.evidence.source, "citation": made.evidence.citation, **found, "logs": made.evidence.logs}


def _hours(made):
    now, planned = made.now.parts(), made.planned.parts()
    return [
        {
            "what": name,
            "now": interval(share),
            "planned": interval(planned[name]),
            "gpu_hours": interval(made.gpu_hours * share),
        }
        for name, share in now.items()
    ]


def _interval(made):
    found, step = plan_choices.intervals_compared(made), made.cluster.cluster.step_s
    return {
        "now_min": found["now"],
        "planned_min": found["planned"],
        "best_min": found["best"],
        "good_low_min": found["good"][0],
        "good_high_min": found["good"][1],
        "planned_steps": None if step is None else max(1, round(60 * found["planned"] / step)),
        **{f"{name}_min": found[name] for name in ("exact", "young", "daly", "saxena")},
    }


def _standbys(made):
    if made.pools is None:
        return None
    now, planned, shortage = made.now.state, made.planned.state, made.cluster.target.shortage
    spare, saved = plan_choices.giving_back(made)
    return {
        "now": now.standbys,
        "planned": planned.standbys,
        "pays_best": made.pools.best,
        "spare": spare,
        "spare_saves_gpu_hours": None if saved is None else interval(saved),
        "enough": made.pools.enough,
        "shortage": shortage,
        "none_left_now": interval(made.now.none_left),
        "none_left_planned": interval(made.planned.none_left),
        "runs_out_now": plan_choices.chance_runs_out(made, now),
        "runs_out_planned": plan_choices.chance_runs_out(made, planned),
        "load": interval(planned.load),
    }


def _lever(made, lever, simulated):
    gain = made.gain(simulated)
    hours = made.gpu_hours * gain
    money = made.money(hours)
    return {
        "name": lever.name,
        "what": lever.what,
        "offered": lever.offered,
        "gain": interval(gain),
        "error": simulated.error(made.now),
        "gpu_hours": interval(hours),
        "money": None if money is None else interval(money),
    }


def lost_gpu_hours(made, simulated):
    """GPU-hours of the run that do not become work, those of the standbys included [draws]: the one meaning of "lost" in a plan."""
    return made.gpu_hours * (1 - simulated.ettr) + standby_gpu_hours(made, simulated.state)


def standby_gpu_hours(made, state):
    """GPU-hours of a state's standbys over the run."""
    return state.standbys * made.cluster.cluster.gpus_per_node * made.horizon_h


def cost(made):
    """What is lost now and under the plan: GPU-hours, and money where there is a price."""
    now, planned = (lost_gpu_hours(made, simulated) for simulated in (made.now, made.planned))
    beside = [standby_gpu_hours(made, simulated.state) for simulated in (made.now, made.planned)]
    saved = now - planned

    def priced(hours):
        money = made.money(hours)
        return None if money is None else interval(money)

    return {
        "lost_gpu_hours": interval(now),
        "lost_gpu_hours_planned": interval(planned),
        "saved_gpu_hours": interval(saved),
        "standby_gpu_hours": beside[0],
        "standby_gpu_hours_planned": beside[1],
        "lost": priced(now),
        "lost_planned": priced(planned),
        "saved": priced(saved),
    }


def _target(made):
    wanted, ways = made.cluster.target.ettr, made.ways()
    return {
        "ettr": wanted,
        "chance_now": float(np.mean(made.now.ettr >= wanted)),
        "chance_planned": float(np.mean(made.planned.ettr >= wanted)),
        "chance_in_horizon": float(np.mean(made.planned.one_run >= wanted)),
        "likely": None if ways["likely"] is None else list(ways["likely"].names),
        "safe": None if ways["safe"] is None else list(ways["safe"].names),
        "rate_factor": rate_needed(made.planned, wanted),
    }


def frames(document):
    """Return the lists of a document as tables: inputs, hours, levers, classes and unknown.

    Parameters
    ----------
    document : dict

    Returns
    -------
    dict of str to pandas.DataFrame
        A range has three columns: its name, and its name with low and high.
    """
    import pandas as pd

    lists = {
        "inputs": document["inputs"],
        "hours": document["hours"],
        "levers": document["levers"],
        "classes": document["failures"]["classes"],
        "unknown": document["unknown"],
    }
    return {name: pd.DataFrame([_flat(row) for row in rows]) for name, rows in lists.items()}


def _flat(row):
    flat = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat |= {key: value["value"], f"{key}_low": value["low"], f"{key}_high": value["high"]}
        else:
            flat[key] = value
    return flat
