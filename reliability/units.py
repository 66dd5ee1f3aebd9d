"""Lengths of time in seconds, the unit of every time whose name does not say another."""

MINUTE_S, HOUR_S, DAY_S, WEEK_S = 60.0, 3600.0, 86_400.0, 604_800.0
