"""Errors whose message is one line that a person can act on; the command line prints it and exits 2."""


class BadInput(ValueError):
    """What was given or asked for cannot be used; the message says what was given and what is allowed."""


class ClusterError(BadInput):
    """A settings file that cannot be used; the message is one line with file, line, key, value and what is allowed."""
