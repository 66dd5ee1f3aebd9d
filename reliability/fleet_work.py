"""How far the work of a job has come, compiled: intervals, verifications, writes, uploads, and what a failure undoes.

A cycle is an interval of work, slowed while the upload of the one before is open, and a write; before
every n-th write comes a verification. A checkpoint holds the work as it was when its write ended, and
counts when its upload has. A failure goes back to the last one that counts, a corruption that is
found to the last one that was verified.
"""

import numpy as np

from reliability.budget import CHECKPOINT, DEGRADED, REDONE, USEFUL, VERIFICATION
from reliability.fleet_compiled import compiled
from reliability.fleet_numbers import SILENT, take

COMPUTING, VERIFYING, WRITING = range(3)  # stages of a running job
ALL_DONE, INTERVAL_DONE, UPLOADED, STRUCK, STAGE_DONE = range(5)  # what comes next of itself
_ROUNDING = 1e-9  # of an interval: work that ends with one needs no write after it


@compiled
def until_next(r):
    """Return the running time to what comes next of itself, and what that is."""
    c, s = r.c, r.s
    if s.stage != COMPUTING:
        return s.stage_left, STAGE_DONE
    pace = s.speed * c.kept if s.uploading > 0 else s.speed
    rest, all_rest = c.interval - s.worked, c.work - r.s.bins[USEFUL]
    if all_rest <= rest + _ROUNDING * c.interval:
        time, following = all_rest / pace, ALL_DONE
    else:
        time, following = rest / pace, INTERVAL_DONE
    if s.uploading > 0 and s.uploading <= time:
        time, following = s.uploading, UPLOADED
    if c.corruption and not s.corrupt and s.silent / c.silent < time:
        time, following = s.silent / c.silent, STRUCK
    return max(time, 0.0), following


@compiled
def advance(r, time):
    """Let the job run for a time, no longer than to what comes next."""
    c, s, bins = r.c, r.s, r.s.bins
    if s.stage == COMPUTING:
        kept = c.kept if s.uploading > 0 else 1.0
        bins[USEFUL] += time * s.speed * kept
        bins[CHECKPOINT] += time * (1.0 - kept)
        bins[DEGRADED] += time * (1.0 - s.speed) * kept
        s.worked += time * s.speed * kept
        if s.uploading > 0:
            s.uploading -= time
        if not s.corrupt:  # nor can it become more so
            s.silent -= time * c.silent
    else:
        bins[VERIFICATION if s.stage == VERIFYING else CHECKPOINT] += time
        s.stage_left -= time


@compiled
def go_on(r, following):
    """Go on to the next stage; returns whether a corruption was found."""
    c, s = r.c, r.s
    if following == STRUCK:
        s.corrupt = True
        s.silent = take(r, SILENT)
    elif following == UPLOADED:
        _commit(r)
    elif following == INTERVAL_DONE:
        if s.uploading > 0:  # by rounding
            _commit(r)
        verified = c.corruption and s.place == c.every - 1
        s.stage, s.stage_left = (VERIFYING, c.verification) if verified else (WRITING, c.write)
    elif s.stage == WRITING:
        _written(r)
    elif s.corrupt:
        _back_to_verified(r)
        return True
    else:
        s.stage, s.stage_left = WRITING, c.write
    return False


@compiled
def roll_back(r):
    """Undo what no checkpoint holds that counts; without checkpoints no work is ever lost."""
    s, bins = r.s, r.s.bins
    if r.c.checkpoints:
        bins[REDONE] += bins[USEFUL] - s.committed
        bins[USEFUL] = s.committed
        s.corrupt, s.stage, s.worked, s.uploading = s.corrupt_committed, COMPUTING, 0.0, 0.0


@compiled
def leap(r, free):
    """Run whole patterns of cycles at once, as many as nothing can come into within a `free` running time; returns their time.

    One that could be run is left, so that rounding brings nothing into those that are.
    """
    c, s, bins = r.c, r.s, r.s.bins
    if s.stage != COMPUTING or s.worked > 0 or s.place > 0 or s.corrupt or s.uploading != c.upload:
        return 0.0
    free_of_upload = (c.interval - s.speed * c.kept * c.upload) / s.speed
    computing = c.every * (c.upload + free_of_upload)
    pattern = computing + c.every * c.write + c.verification
    number = min(free / pattern, (c.work - bins[USEFUL]) / (c.every * c.interval))
    if c.corruption:
        number = min(number, s.silent / (computing * c.silent))
    number = np.floor(number) - 1
    if number < 1:
        return 0.0
    cycles = number * c.every
    bins[USEFUL] += cycles * c.interval
    bins[CHECKPOINT] += cycles * (c.write + (1.0 - c.kept) * c.upload)
    bins[DEGRADED] += cycles * (1.0 - s.speed) * (c.kept * c.upload + free_of_upload)
    bins[VERIFICATION] += number * c.verification
    s.silent -= number * computing * c.silent
    _settle(r)
    return number * pattern


@compiled
def _settle(r):
    """Note the checkpoints of a job that has just ended a pattern, as a leap leaves it."""
    c, s, useful = r.c, r.s, r.s.bins[USEFUL]
    s.pending, s.corrupt_pending, s.verified_pending = useful, False, True
    s.committed = useful - c.interval if c.upload > 0 else useful
    s.verified = useful - c.every * c.interval if c.upload > 0 else useful
    s.corrupt_committed = False


@compiled
def _written(r):
    c, s = r.c, r.s
    s.place = (s.place + 1) % c.every
    s.pending, s.corrupt_pending, s.verified_pending = r.s.bins[USEFUL], s.corrupt, s.place == 0
    s.stage, s.worked, s.uploading = COMPUTING, 0.0, c.upload
    if c.upload == 0:
        _commit(r)


@compiled
def _commit(r):
    s = r.s
    s.uploading = 0.0
    s.committed, s.corrupt_committed = s.pending, s.corrupt_pending
    if s.verified_pending:
        s.verified = s.pending


@compiled
def _back_to_verified(r):
    s = r.s
    s.committed, s.corrupt_committed, s.place = s.verified, False, 0
    roll_back(r)
