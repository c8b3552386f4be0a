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
    from ..types.invoice import Invoice, InvoiceStatus

PREVIEW = Operation("POST", "/api/v2/billing/invoices:preview", body="*", keyed=True)
GET = Operation("GET", "/api/v2/billing/invoices/{invoice_id}")
LIST = Operation("GET", "/api/v2/billing/invoices", result="cursor")
VOID = Operation("POST", "/api/v2/billing/invoices/{invoice_id}:void", body="*", keyed=True)


class InvoiceService(Service):
    """Invoices: what a tenant owes for a billing period. They are records; the service collects no payments."""

    def preview(
        self,
        *,
        tenant_id: str | None = None,
        period_start: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> Invoice:
        """
        Stores a preview of the invoice of a period, with the usage so far. With the same usage, the invoice is equal to it.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        period_start: The start of the period; of the current one if absent.
        """
        return self._call(PREVIEW, locals())

    def get(
        self,
        *,
        invoice_id: str,
        tenant_id: str | None = None,
        call: CallOptions | None = None,
    ) -> Invoice:
        """
        Returns an invoice or a preview.

        invoice_id: The id.
        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        tenant_id: str | None = None,
        status: InvoiceStatus | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Invoice]:
        """
        Lists invoices and previews, newest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        status: Only invoices with this status.
        """
        return self._call(LIST, locals())

    def void(
        self,
        *,
        invoice_id: str,
        tenant_id: str | None = None,
        reason: str,
        call: CallOptions | None = None,
    ) -> Invoice:
        """
        Voids an invoice that was issued in error. Only an operator may do so.

        invoice_id: The id.
        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        reason: Why.
        """
        return self._call(VOID, locals())


class AsyncInvoiceService(AsyncService):
    """Invoices: what a tenant owes for a billing period. They are records; the service collects no payments."""

    async def preview(
        self,
        *,
        tenant_id: str | None = None,
        period_start: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> Invoice:
        """
        Stores a preview of the invoice of a period, with the usage so far. With the same usage, the invoice is equal to it.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        period_start: The start of the period; of the current one if absent.
        """
        return await self._call(PREVIEW, locals())

    async def get(
        self,
        *,
        invoice_id: str,
        tenant_id: str | None = None,
        call: CallOptions | None = None,
    ) -> Invoice:
        """
        Returns an invoice or a preview.

        invoice_id: The id.
        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        tenant_id: str | None = None,
        status: InvoiceStatus | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Invoice]:
        """
        Lists invoices and previews, newest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        status: Only invoices with this status.
        """
        return self._list(LIST, locals())

    async def void(
        self,
        *,
        invoice_id: str,
        tenant_id: str | None = None,
        reason: str,
        call: CallOptions | None = None,
    ) -> Invoice:
        """
        Voids an invoice that was issued in error. Only an operator may do so.

        invoice_id: The id.
        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        reason: Why.
        """
        return await self._call(VOID, locals())
