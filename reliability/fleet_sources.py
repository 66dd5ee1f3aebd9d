"""Which modules the results of the fleet model depend on, and a digest of them."""

import hashlib
from pathlib import Path

FOLDER = Path(__file__).parent
# All modules whose code or constants are compiled.
COMPILED = (
    "budget", "fleet_compiled", "fleet_engine", "fleet_heap", "fleet_nodes", "fleet_numbers", "fleet_result",
    "fleet_state", "fleet_stops", "fleet_tree", "fleet_work",
)  # fmt: skip
# With them all that a result depends on: those that Python alone runs.
MODEL = (*COMPILED, "elastic", "fleet", "fleet_config", "fleet_parts", "lives", "units")


def sources(modules, folder=FOLDER):
    """Return a digest of the sources of some modules.

    Parameters
    ----------
    modules : sequence of str
        `COMPILED` or `MODEL`.
    folder : path, optional

    Returns
    -------
    str
    """
    digest = hashlib.blake2b(digest_size=8)
    for module in modules:
        digest.update((folder / f"{module}.py").read_bytes())
    return digest.hexdigest()
