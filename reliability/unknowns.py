"""What a plan does not know, and what would tell."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Unknown:
    """Something that is not known: `what`, what the plan does instead (`instead`), and what would tell (`tells`)."""

    what: str
    instead: str
    tells: str
