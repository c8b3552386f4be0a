# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict

if TYPE_CHECKING:
    from .invoice import InvoiceDraft


class _BillingSubscriptionRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The tenant.
    tenant_id: str
    #: The plan.
    plan_key: str
    #: The version of the plan.
    plan_version: int
    #: Whether the tenant has what the plan grants.
    status: BillingSubscriptionStatus
    #: The version of the record.
    record_version: int


class BillingSubscription(_BillingSubscriptionRequired, total=False):
    """The subscription of a tenant to a plan."""

    #: The start of the current billing period.
    period_start: str
    #: The end of the current billing period.
    period_end: str
    #: Exceptions from the plan.
    overrides: SubscriptionOverrides
    #: A change at the end of the period, if there is one.
    scheduled: ScheduledChange
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


#: The status of a subscription.
BillingSubscriptionStatus = Literal["STATUS_UNSPECIFIED", "STATUS_ACTIVE", "STATUS_CANCELED"]


class SubscriptionOverrides(TypedDict):
    """Exceptions from a plan for one tenant."""

    #: Entitlements in addition to those of the plan.
    allow: List[str]
    #: Entitlements that the tenant must not have. They must not be in allow.
    deny: List[str]
    #: Daily quotas that replace those of the plan.
    limits: Dict[str, int]


class ScheduledChange(TypedDict):
    """A change that takes effect at the end of the period."""

    #: The new plan; empty for a cancellation.
    plan_key: str
    #: The version of the new plan.
    plan_version: int


#: When a change of a subscription takes effect.
Effective = Literal["EFFECTIVE_UNSPECIFIED", "EFFECTIVE_NOW", "EFFECTIVE_PERIOD_END"]


class SubscriptionOverridesInput(TypedDict, total=False):
    """Exceptions from a plan for one tenant."""

    #: Entitlements in addition to those of the plan.
    allow: Sequence[str]
    #: Entitlements that the tenant must not have. They must not be in allow.
    deny: Sequence[str]
    #: Daily quotas that replace those of the plan.
    limits: Mapping[str, int]


class _PreviewSubscriptionResponseRequired(TypedDict):
    #: The difference of the totals, in the smallest unit of the currency.
    difference: int


class PreviewSubscriptionResponse(_PreviewSubscriptionResponseRequired, total=False):
    """What the current period would cost without and with the change, given the usage so far."""

    #: When the change would take effect.
    effective_at: str
    #: The period without the change.
    unchanged: InvoiceDraft
    #: The period with the change.
    changed: InvoiceDraft
