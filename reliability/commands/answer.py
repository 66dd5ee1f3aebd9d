"""What the commands that look at one log have in common: work, then JSON or tables on stdout."""

import json

from reliability.errors import BadInput


def answer(options, work, as_json, as_text, hint=None):
    """Do the work, print what was found, return the exit status.

    Parameters
    ----------
    options : argparse.Namespace
        With `json`.
    work : function of no argument
        Its results, a tuple, are given to `as_json` or to `as_text`.
    hint : function of no argument, optional
        What is added to the message of a refusal, and is costly to find.

    Raises
    ------
    BadInput
        In place of any ValueError of the work.
    """
    try:
        found = work()
    except ValueError as error:
        raise BadInput(str(error) + (hint() if hint else "")) from None
    print(json.dumps(as_json(*found), indent=1, allow_nan=False) if options.json else as_text(*found))
    return 0
