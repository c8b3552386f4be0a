# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _MeterRequired(TypedDict):
    #: The key, unique in the instance.
    key: str
    #: The display name.
    name: str
    #: How the usage of a time range follows from its records.
    aggregation: MeterAggregation
    #: The property that holds the value; empty if records hold it as their quantity.
    value_path: str
    #: Properties by which usage is broken down.
    group_by: List[str]
    #: Whether the service itself counts it. Callers cannot report usage of it.
    service_fed: bool
    #: Whether it accepts usage.
    status: MeterStatus
    #: The version of the record.
    record_version: int


class Meter(_MeterRequired, total=False):
    """A meter: what is counted, and how."""

    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


#: How the usage of a time range follows from its records.
MeterAggregation = Literal["AGGREGATION_UNSPECIFIED", "AGGREGATION_SUM", "AGGREGATION_COUNT", "AGGREGATION_MAX", "AGGREGATION_LAST", "AGGREGATION_UNIQUE_COUNT"]


#: The status of a meter.
MeterStatus = Literal["STATUS_UNSPECIFIED", "STATUS_ACTIVE", "STATUS_ARCHIVED"]


class RecordUsageResponse(TypedDict):
    """What was recorded."""

    #: The number of events that were recorded.
    recorded: int
    #: The number of events that had been recorded before.
    duplicates: int
    #: Events that were not recorded.
    rejected: List[RejectedUsage]


class RejectedUsage(TypedDict):
    """An event that was not recorded, and why."""

    #: The meter.
    meter_key: str
    #: The event.
    transaction_id: str
    #: Why: `period_invoiced`, `too_old` or `in_future`.
    reason: str


class _UsageEventRequired(TypedDict):
    #: The meter.
    meter_key: str
    #: Identifies the usage among all usage of the tenant and the meter: an event with the same id has the same content.
    transaction_id: str


class UsageEvent(_UsageEventRequired, total=False):
    """Usage of a meter."""

    #: The value, for meters without a value_path; absent counts as 1.
    quantity: int
    #: Properties, of which the meter's value_path and group_by are used.
    properties: Mapping[str, str]
    #: When it was used; the time of the call if absent.
    at: str | datetime


class _GetUsageResponseRequired(TypedDict):
    #: The usage of each meter that was used, by key.
    usage: List[MeterUsage]


class GetUsageResponse(_GetUsageResponseRequired, total=False):
    """Usage in a time range."""

    #: The start of the range.
    since: str
    #: The end of the range, exclusive.
    until: str
    #: The time up to which the service has counted its own meters.
    watermark: str


class MeterUsage(TypedDict):
    """The usage of a meter."""

    #: The meter.
    meter_key: str
    #: The aggregated usage.
    quantity: int
    #: The number of records.
    events: int
    #: The breakdown by the properties in group_by; at most 1,000 groups.
    groups: List[UsageGroup]


class UsageGroup(TypedDict):
    """The usage of one combination of properties."""

    #: The properties.
    properties: Dict[str, str]
    #: The aggregated usage.
    quantity: int
