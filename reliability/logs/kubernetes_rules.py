"""What Kubernetes' reasons and conditions mean for a node: a failure, none, or not known.

Kubernetes fixes no list of reasons; what is not here is shown, not counted.
"""

import re

from reliability.logs import xid_codes

DOWN, UP = "NodeNotReady", "NodeReady"
# Reasons of events on a node by which the node is out of service, with the class of this book.
FAILURES = {
    "FilesystemIsReadOnly": "host",
    "ReadonlyFilesystem": "host",
    "KernelDeadlock": "host",
    "DockerHung": "software",
    "ContainerdUnhealthy": "software",
    "ContainerRuntimeUnhealthy": "software",
    "KubeletUnhealthy": "software",
    "XfsHasShutDown": "host",
    "CperHardwareErrorFatal": "host",
}
# Conditions of a node, True when there is a problem, by which it is out of service.
CONDITIONS = {
    "KernelDeadlock": "host",
    "ReadonlyFilesystem": "host",
    "XfsShutdown": "host",
    "CperHardwareErrorFatal": "host",
    "KubeletUnhealthy": "software",
    "ContainerRuntimeUnhealthy": "software",
    "CorruptDockerOverlay2": "software",
    "NetworkUnavailable": "network",
}
STRAINED = re.compile(r"(?:Memory|Disk|PID)Pressure|Frequent\w+")
PLANNED = {
    "NodeNotSchedulable",
    "Shutdown",
    "NodeShutdown",
    "NodeMaintenance",
    "Drain",
    "Draining",
    "Drained",
    "Cordon",
}
HARMLESS = {
    "Starting", "RegisteredNode", "NodeAllocatableEnforced", "NodeHasSufficientMemory", "NodeHasNoDiskPressure",
    "NodeHasSufficientPID", "NodeSchedulable", "RemovingNode", "DeletingNode", "InvalidDiskCapacity", "Synced", "Uncordon",
    "NodeHasInsufficientMemory", "NodeHasDiskPressure", "NodeHasInsufficientPID", "EvictionThresholdMet", "SystemOOM",
    "OOMKilling", "ContainerGCFailed", "ImageGCFailed", "FreeDiskSpaceFailed", "Rebooted", "TaskHung", "KernelOops",
    *PLANNED,
}  # fmt: skip
_POSITIVE = re.compile(r"(?:Ready|Healthy|OK|Ok|(?<!Un)(?<!un)[Aa]vailable)$")
_GPU = re.compile(r"gpu|nvidia|nvlink|nvswitch|xid|dcgm|accelerat", re.IGNORECASE)
_GPU_LOST = re.compile(
    r"fallen off the bus|gpu[ _-]?(?:is)?[ _-]?(?:lost|missing)|gpus? (?:is |are )?(?:lost|missing)|uncorrectable ecc|double[ -]bit",
    re.IGNORECASE,
)
_MILD = re.compile(r"thermal|throttl|power|temperature|clock", re.IGNORECASE)
_XID = re.compile(
    r"\bXid\b(?: \([^()]{0,40}\))?(?:[ _-]?(?:error|code))?s?[\"']?\s{0,3}[:=]?\s{0,3}[\"']?(\d{1,6})\b", re.IGNORECASE
)
_SXID = re.compile(r"\bSXid\b", re.IGNORECASE)
_SOFTWARE = re.compile(r"container runtime|PLEG|kubelet|docker|containerd", re.IGNORECASE)
_NETWORK = re.compile(r"network plugin|\bcni\b|networkpluginnotready|network unavailable", re.IGNORECASE)


def xid_of(text):
    """The Xid code that a message names, or None. An SXid is none."""
    found = None if _SXID.search(text) else _XID.search(text)
    return int(found[1]) if found else None


def cause(reason, message):
    """The class of a node's outage, as far as reason and message tell: mostly unknown.

    Examples
    --------
    >>> cause("NodeStatusUnknown", "Kubelet stopped posting node status.")
    'unknown'
    >>> cause("KubeletNotReady", "PLEG is not healthy")
    'software'
    """
    text = f"{reason} {message}"
    if _NETWORK.search(text):
        return "network"
    if reason != "NodeStatusUnknown" and reason != DOWN and _SOFTWARE.search(message):
        return "software"
    return "unknown"


def event(reason, message, warning):
    """Judge an event on a node, NodeNotReady and NodeReady apart.

    Parameters
    ----------
    reason, message : str
    warning : bool
        Whether Kubernetes calls it a warning.

    Returns
    -------
    (verdict, cls, why)
        ``verdict``: failure, event or review.

    Examples
    --------
    >>> event("XidError", "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus", True)[:2]
    ('failure', 'gpu')
    >>> event("Starting", "Starting kubelet.", False)[0]
    'event'
    """
    if reason in HARMLESS:
        return "event", "other", "planned, or no outage of the node by itself"
    if (code := xid_of(f"{reason} {message}")) is not None:
        return _xid(code)
    if reason in FAILURES and warning:
        return "failure", FAILURES[reason], f"{reason}: the node is out of service"
    text = f"{reason} {message}"
    if warning and _GPU_LOST.search(text):
        return "failure", "gpu", "a GPU is lost"
    if warning and _GPU.search(text):
        return "review", "gpu", "a warning about GPUs that does not say whether one is lost"
    return "event", "other", "a reason that is not known as a failure"


def condition(kind, status, reason, message):
    """Judge a condition of a node.

    Parameters
    ----------
    kind, status, reason, message : str
        As in ``status.conditions`` of a Node.

    Returns
    -------
    (verdict, cls, why)
        ``verdict``: failure, event, review, or "" where there is no problem.

    Examples
    --------
    >>> condition("Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")[0]
    'failure'
    >>> condition("MemoryPressure", "True", "", "")[0], condition("KernelDeadlock", "False", "", "")[0]
    ('event', '')
    """
    if kind == "Ready":
        if status == "True":
            return "", "", ""
        return "failure", cause(reason, message), f"the node is not ready: {reason or 'no reason given'}"
    good = "True" if _POSITIVE.search(kind) else "False"
    if status == good:
        return "", "", ""
    if STRAINED.fullmatch(kind):
        return "event", "other", f"condition {kind}: strain, no outage by itself"
    if status not in ("True", "False"):
        return "review", "other", f"condition {kind} is {status}"
    if kind in CONDITIONS:
        return "failure", CONDITIONS[kind], f"condition {kind}"
    if (code := xid_of(f"{kind} {message}")) is not None:
        return _xid(code)
    if _GPU.search(kind):
        if _MILD.search(kind):
            return "review", "gpu", f"condition {kind}: strain or fault, it does not say"
        return "failure", "gpu", f"condition {kind}"
    return "review", "other", f"condition {kind} is not known"


def _xid(code):
    row = xid_codes.codes().get(code)
    if row is None:
        return "review", "gpu", f"Xid {code}: {xid_codes.unknown(code)}"
    if row.failure and not row.severity:
        return "failure", row.cls, f"Xid {code}: {row.meaning}"
    if row.failure or row.review:
        return "review", row.cls, f"Xid {code}: {row.meaning}; the message does not say whether it counts"
    return "event", row.cls, f"Xid {code}: {row.meaning}"
