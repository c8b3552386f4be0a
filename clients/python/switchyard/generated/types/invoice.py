# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _InvoiceDraftRequired(TypedDict):
    #: The ISO 4217 code of the currency of all amounts.
    currency: str
    #: The lines.
    lines: List[InvoiceLine]
    #: The sum of the lines, in the smallest unit of the currency.
    total: int


class InvoiceDraft(_InvoiceDraftRequired, total=False):
    """A calculation that is not stored."""

    #: The time of the calculation.
    as_of: str
    #: The time up to which the service had counted its own meters.
    watermark: str


class _InvoiceLineRequired(TypedDict):
    #: The plan.
    plan_key: str
    #: The version of the plan.
    plan_version: int
    #: The price.
    price_key: str
    #: The description of the price.
    description: str
    #: The meter; empty for a flat price.
    meter_key: str
    #: The usage; 1 for a flat price.
    quantity: int
    #: Units that cost nothing.
    included: int
    #: The amount, in the smallest unit of the currency.
    amount: int


class InvoiceLine(_InvoiceLineRequired, total=False):
    """A line of an invoice: a price of a version of a plan, for the part of the period in which the tenant had it."""

    #: The start of the part of the period.
    since: str
    #: The end of the part of the period.
    until: str


class _InvoiceRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The tenant.
    tenant_id: str
    #: Whether it is a preview, issued or void.
    status: InvoiceStatus
    #: The number among the issued invoices of the tenant, from 1; 0 for a preview.
    number: int
    #: The ISO 4217 code of the currency of all amounts.
    currency: str
    #: The lines.
    lines: List[InvoiceLine]
    #: The sum of the lines, in the smallest unit of the currency.
    total: int
    #: Why it was voided.
    void_reason: str


class Invoice(_InvoiceRequired, total=False):
    """What a tenant owes for a billing period."""

    #: The start of the period.
    period_start: str
    #: The end of the period.
    period_end: str
    #: The time of the calculation.
    as_of: str
    #: The time up to which the service had counted its own meters.
    watermark: str
    #: When it was voided, if it was.
    voided_at: str
    #: When it was created.
    created_at: str


#: The status of an invoice.
InvoiceStatus = Literal["STATUS_UNSPECIFIED", "STATUS_PREVIEW", "STATUS_ISSUED", "STATUS_VOID"]
