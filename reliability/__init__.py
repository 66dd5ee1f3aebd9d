"""The numbers behind keeping large AI training jobs alive.

The modules are imported by name, ``from reliability import availability``; importing the
package itself loads nothing, not even numpy.
"""

# A page compares this with the name it expects: PyPI has an unrelated package `reliability`.
DISTRIBUTION = "training-reliability"
__version__ = "0.1.0"
