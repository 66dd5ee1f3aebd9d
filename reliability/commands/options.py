"""Options that several commands have."""

import argparse


def folder(text):
    """Return the folder that an argument names."""
    if not text:
        raise argparse.ArgumentTypeError("must be a folder, and is empty")
    return text


def add_out(parser, what, required=True):
    """Add the option for the folder of the results."""
    parser.add_argument("--out", type=folder, metavar="DIR", required=required, help=f"folder for {what}")


def add_place(parser):
    """Add the options that say where the work is done; :func:`reliability.commands.place.place` takes them."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, metavar="N", help="compute in N worker processes of this machine")
    where.add_argument("--scheduler", metavar="ADDRESS", help="compute on the Dask cluster of this scheduler")
