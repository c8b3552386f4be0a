# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _HistoryRequired(TypedDict):
    #: pool, workflow or channel.
    source: str
    #: The record; empty for the sums of all.
    source_id: str
    #: Seconds between two points.
    step_s: int
    #: The points, in the order of time. A part of the range that the service has not counted has none.
    points: List[HistoryCounts]
    #: What happened in the range, in the order of time; the newest 200 marks of events.
    marks: List[HistoryMark]


class History(_HistoryRequired, total=False):
    """Counts over a time range."""

    #: The start of the range.
    start: str


class _HistoryCountsRequired(TypedDict):
    #: How many seconds of the part have been counted: fewer than its length while it is going on, or if the service was away.
    covered_s: int
    #: Pools: the highest number of waiting items.
    waiting: int
    #: Pools: the highest number of items in progress.
    in_progress: int
    #: Pools: the highest age of the oldest waiting item, in seconds.
    oldest_age_s: int
    #: Pools: items accepted. Workflows: runs started. Channels: messages sent.
    started: int
    #: Pools: items completed. Workflows: runs that succeeded. Channels: messages that their provider reported as delivered.
    completed: int
    #: Pools: attempts that failed. Workflows: runs that failed or timed out. Channels: messages that failed.
    failed: int
    #: Pools: items that became dead letters.
    dead_lettered: int


class HistoryCounts(_HistoryCountsRequired, total=False):
    """The counts of a part of a time range."""

    #: The start of the part.
    at: str


class _HistoryMarkRequired(TypedDict):
    #: version.started, promotion.promoted or promotion.rolled_back; for pools also queue.paused or queue.resumed.
    kind: str
    #: The version, or the name of the promotion or the pool.
    name: str
    #: The promotion or the pool; empty for a version.
    subject_id: str


class HistoryMark(_HistoryMarkRequired, total=False):
    """Something that happened at a time of a chart."""

    #: When it happened.
    at: str
