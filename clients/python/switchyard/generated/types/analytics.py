# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _AnalyticsResultRequired(TypedDict):
    #: The query that was executed, with the tenant's restriction.
    executed_query: str
    #: Seconds between two points.
    step_s: int
    #: The series, 1,000 at most.
    series: List[AnalyticsSeries]


class AnalyticsResult(_AnalyticsResultRequired, total=False):
    """Series over a time range."""

    #: The start of the range.
    start: str
    #: The end of the range.
    end: str


class AnalyticsSeries(TypedDict):
    """The values of one combination of labels."""

    #: The name of the metric; empty for a computed series.
    metric: str
    #: The labels. Labels that identify a node are replaced by the label node, a number that is valid within this response.
    labels: Dict[str, str]
    #: The points, in the order of time.
    points: List[AnalyticsPoint]


class _AnalyticsPointRequired(TypedDict):
    #: The value.
    value: float


class AnalyticsPoint(_AnalyticsPointRequired, total=False):
    """A value at a time."""

    #: The time.
    at: str


class _AnalyticsCatalogRequired(TypedDict):
    #: The metrics, ordered by name.
    metrics: List[AnalyticsMetric]
    #: The functions that a query may call.
    functions: List[str]
    #: The aggregations that a query may use.
    aggregations: List[str]


class AnalyticsCatalog(_AnalyticsCatalogRequired, total=False):
    """What can be queried."""

    #: The limits of a query.
    limits: AnalyticsLimits


class AnalyticsMetric(TypedDict):
    """A metric."""

    #: The name.
    name: str
    #: counter, gauge, histogram or summary.
    type: str
    #: What it measures.
    description: str
    #: The labels that queries may use.
    labels: List[str]
    #: The names of its series in a query, such as the buckets of a histogram.
    series: List[str]
    #: tenant: the series are those of the caller's tenant. deployment: they are those of the whole deployment.
    scope: str


class AnalyticsLimits(TypedDict):
    """The limits of a query."""

    #: The size of the query, in bytes.
    query_bytes_max: int
    #: The number of selectors.
    selectors_max: int
    #: The nesting of expressions.
    depth_max: int
    #: The longest window of a range selector such as [5m], in seconds.
    window_s_max: int
    #: The longest time range, in seconds.
    range_s_max: int
    #: The number of points of a series.
    points_max: int
    #: The number of series of a result.
    series_max: int
    #: The number of points of a result.
    result_points_max: int
    #: The time that a query may take, in seconds.
    timeout_s: int
