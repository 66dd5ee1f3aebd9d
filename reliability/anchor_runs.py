"""What the published results that the fleet model is held against have in common: their runs, and how they are written."""

from reliability import facts, fleet, fleet_config
from reliability.anchors import Anchor

KEY = 20260307  # of all simulations here
RUNS = 100  # of a case, unless it says otherwise
MODEL = "simulated fleet"  # said where other models are held against the same result


def run(settings, replications=RUNS):
    """Simulate a case from its settings, those of :func:`reliability.fleet_config.build`."""
    return fleet.simulate_key(fleet_config.build(settings), KEY, replications)


def held(name, what, published, computed, low, high, margin, source, off="", *, status="emergent", note="", digits=".3f", model=""):
    """Return an anchor that was read in its source; with `off`, the reason, it is one that comes out wrong."""
    status = "off" if off else status
    return Anchor(name, what, published, float(computed), low, high, margin, source, True, status, off or note, digits, model)


def declined(name, what, published, source, why, *, primary=True, model=""):
    """Return an anchor that the model cannot give, with the reason."""
    return Anchor(name, what, published, None, None, None, "", source, primary, "declined", why, model=model)


def economics_case(name, burst=False):
    """Name a case of reliability-economics by the key of its number in the facts."""
    policy, _, standbys = name.partition("_")
    words = {
        "manual": "restart by hand",
        "restart": "restart, no standbys",
        "standbys": f"{standbys} standbys",
        "overlapped": f"{standbys} standbys, overlapped checkpoints",
        "elastic": "elastic",
    }
    failures = f"half in bursts of {facts.value('reliability_economics_burst_nodes')}" if burst else "single failures"
    return f"reliability-economics, ETTR, {failures}: {words[policy]}"
