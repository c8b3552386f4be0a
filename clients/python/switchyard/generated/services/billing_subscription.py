# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence

from ...operation import Operation
from ...service import AsyncService, Service

if TYPE_CHECKING:
    from ...lists import AsyncPagedList, PagedList
    from ...operation import CallOptions
    from ...streams import AsyncEventStream, EventStream
    from ...transport import RawResponse
    from ..types.billing_subscription import BillingSubscription, Effective, PreviewSubscriptionResponse, SubscriptionOverridesInput

SET = Operation("PUT", "/api/v2/billing/subscription", body="*", keyed=True)
GET = Operation("GET", "/api/v2/billing/subscription")
PREVIEW = Operation("POST", "/api/v2/billing/subscription:preview", body="*")
CANCEL = Operation("POST", "/api/v2/billing/subscription:cancel", body="*", keyed=True)


class BillingSubscriptionService(Service):
    """Subscriptions: the plan that a tenant has. A tenant has one subscription."""

    def set(
        self,
        *,
        tenant_id: str | None = None,
        plan_key: str,
        plan_version: int | None = None,
        effective: Effective | None = None,
        overrides: SubscriptionOverridesInput | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> BillingSubscription:
        """
        Subscribes a tenant to a version of a plan, or changes its subscription. Tenants may do so themselves for plans with self_service.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        plan_key: The plan.
        plan_version: The version; the newest if 0.
        effective: When the change takes effect; immediately if unspecified.
        overrides: Replaces the exceptions from the plan; unchanged if absent. Only an operator may set them.
        record_version: Makes the change conditional on this version.
        """
        return self._call(SET, locals())

    def get(
        self,
        *,
        tenant_id: str | None = None,
        call: CallOptions | None = None,
    ) -> BillingSubscription:
        """
        Returns the subscription of a tenant.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        """
        return self._call(GET, locals())

    def preview(
        self,
        *,
        tenant_id: str | None = None,
        plan_key: str,
        plan_version: int | None = None,
        effective: Effective | None = None,
        call: CallOptions | None = None,
    ) -> PreviewSubscriptionResponse:
        """
        Shows what a change of the subscription would cost in the current period, without changing it.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        plan_key: The plan.
        plan_version: The version; the newest if 0.
        effective: When the change takes effect; immediately if unspecified.
        """
        return self._call(PREVIEW, locals())

    def cancel(
        self,
        *,
        tenant_id: str | None = None,
        effective: Effective | None = None,
        call: CallOptions | None = None,
    ) -> BillingSubscription:
        """
        Cancels the subscription of a tenant, now or at the end of the period.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        effective: When the change takes effect; immediately if unspecified.
        """
        return self._call(CANCEL, locals())


class AsyncBillingSubscriptionService(AsyncService):
    """Subscriptions: the plan that a tenant has. A tenant has one subscription."""

    async def set(
        self,
        *,
        tenant_id: str | None = None,
        plan_key: str,
        plan_version: int | None = None,
        effective: Effective | None = None,
        overrides: SubscriptionOverridesInput | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> BillingSubscription:
        """
        Subscribes a tenant to a version of a plan, or changes its subscription. Tenants may do so themselves for plans with self_service.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        plan_key: The plan.
        plan_version: The version; the newest if 0.
        effective: When the change takes effect; immediately if unspecified.
        overrides: Replaces the exceptions from the plan; unchanged if absent. Only an operator may set them.
        record_version: Makes the change conditional on this version.
        """
        return await self._call(SET, locals())

    async def get(
        self,
        *,
        tenant_id: str | None = None,
        call: CallOptions | None = None,
    ) -> BillingSubscription:
        """
        Returns the subscription of a tenant.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        """
        return await self._call(GET, locals())

    async def preview(
        self,
        *,
        tenant_id: str | None = None,
        plan_key: str,
        plan_version: int | None = None,
        effective: Effective | None = None,
        call: CallOptions | None = None,
    ) -> PreviewSubscriptionResponse:
        """
        Shows what a change of the subscription would cost in the current period, without changing it.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        plan_key: The plan.
        plan_version: The version; the newest if 0.
        effective: When the change takes effect; immediately if unspecified.
        """
        return await self._call(PREVIEW, locals())

    async def cancel(
        self,
        *,
        tenant_id: str | None = None,
        effective: Effective | None = None,
        call: CallOptions | None = None,
    ) -> BillingSubscription:
        """
        Cancels the subscription of a tenant, now or at the end of the period.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        effective: When the change takes effect; immediately if unspecified.
        """
        return await self._call(CANCEL, locals())
