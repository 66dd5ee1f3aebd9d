"""Readers of logs: each turns one format into the tables that the rest of the package works on.

They look at text as data only: nothing in a log is executed, and what a message shows of one has its
control characters escaped.
"""
