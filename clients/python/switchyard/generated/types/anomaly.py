# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _AnomalyRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The pool.
    pool_id: str
    #: The recipient; empty for the pool as a whole.
    recipient_id: str
    #: The detection method: zscore, iqr, rate_change or pattern.
    method: str
    #: The metric: latency_ms, success_rate, cost, throughput, failure_run or alternation.
    metric: str
    #: The value in the last window.
    value: float
    #: The value in the windows before.
    baseline: float
    #: The value beyond which it is an anomaly.
    threshold: float
    #: The actions taken: alert, auto-pause, deprioritize, log.
    actions: List[str]


class Anomaly(_AnomalyRequired, total=False):
    """An unusual outcome pattern, and the action taken."""

    #: When it was detected.
    detected_at: str
