"""Errors whose message is one line that a person can act on; the command line prints it and exits 2."""

from reliability.text import escaped


class BadInput(ValueError):
    """What was given or asked for cannot be used; the message says what was given and what is allowed.

    It is one line that no terminal obeys, whatever was given.
    """

    def __str__(self):
        return escaped(super().__str__())


class ClusterError(BadInput):
    """A settings file that cannot be used; the message is one line with file, line, key, value and what is allowed."""


class WorkLost(RuntimeError):
    """A piece of work could not be finished; the message is one line."""

    done = None  # what was finished until then, of whoever can use a part
