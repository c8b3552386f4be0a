# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _PlanRequired(TypedDict):
    #: The key, unique in the instance.
    key: str
    #: The display name.
    name: str
    #: A description.
    description: str
    #: Whether tenants can subscribe to it.
    status: PlanStatus
    #: Whether tenants can subscribe to it themselves. Otherwise only an operator can.
    self_service: bool
    #: The newest version.
    latest_version: int
    #: The version of the record.
    record_version: int


class Plan(_PlanRequired, total=False):
    """A plan: what tenants can subscribe to."""

    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


#: The status of a plan.
PlanStatus = Literal["STATUS_UNSPECIFIED", "STATUS_ACTIVE", "STATUS_ARCHIVED"]


class _PlanTermsInputRequired(TypedDict):
    #: The ISO 4217 code of the currency of all amounts.
    currency: str
    #: The length of a billing period.
    interval: PlanTermsInterval


class PlanTermsInput(_PlanTermsInputRequired, total=False):
    """What a version of a plan costs and grants."""

    #: The prices. Each becomes a line of an invoice.
    prices: Sequence[PriceInput]
    #: The entitlements that subscribers have.
    entitlements: Sequence[str]
    #: Daily quotas of subscribers, by operation. A quota that is set for the tenant itself takes precedence.
    limits: Mapping[str, int]


#: How long a billing period is.
PlanTermsInterval = Literal["INTERVAL_UNSPECIFIED", "INTERVAL_MONTH", "INTERVAL_YEAR"]


class _PriceInputRequired(TypedDict):
    #: The key, unique in the version.
    key: str
    #: How the amount follows from the usage.
    model: PriceModel


class PriceInput(_PriceInputRequired, total=False):
    """A price of a plan. All amounts are integers in the smallest unit of the currency, such as cents."""

    #: The description on invoices.
    name: str
    #: The meter whose usage is priced; empty for a flat price.
    meter_key: str
    #: The amount per period, or per per_units units.
    amount: int
    #: The number of units that the amount is for; 0 counts as 1.
    per_units: int
    #: Units per period that cost nothing.
    included: int
    #: The tiers of a graduated or volume price, in the order of up_to.
    tiers: Sequence[PriceTierInput]


#: How the amount of a line follows from the usage.
PriceModel = Literal["MODEL_UNSPECIFIED", "MODEL_FLAT", "MODEL_PER_UNIT", "MODEL_PACKAGE", "MODEL_GRADUATED", "MODEL_VOLUME"]


class PriceTierInput(TypedDict, total=False):
    """A tier of a price."""

    #: The last unit of the tier; 0 for no bound, in the last tier only.
    up_to: int
    #: The amount for each per_units units.
    amount: int
    #: The number of units that the amount is for; 0 counts as 1.
    per_units: int
    #: An amount that is added once if the tier applies.
    flat_amount: int


class _PlanVersionRequired(TypedDict):
    #: The plan.
    plan_key: str
    #: The number of the version, from 1.
    version: int
    #: The SHA-256 of the terms.
    digest: str


class PlanVersion(_PlanVersionRequired, total=False):
    """A version of a plan. It never changes."""

    #: What it costs and grants.
    terms: PlanTerms
    #: When it was created.
    created_at: str


class PlanTerms(TypedDict):
    """What a version of a plan costs and grants."""

    #: The ISO 4217 code of the currency of all amounts.
    currency: str
    #: The length of a billing period.
    interval: PlanTermsInterval
    #: The prices. Each becomes a line of an invoice.
    prices: List[Price]
    #: The entitlements that subscribers have.
    entitlements: List[str]
    #: Daily quotas of subscribers, by operation. A quota that is set for the tenant itself takes precedence.
    limits: Dict[str, int]


class Price(TypedDict):
    """A price of a plan. All amounts are integers in the smallest unit of the currency, such as cents."""

    #: The key, unique in the version.
    key: str
    #: The description on invoices.
    name: str
    #: How the amount follows from the usage.
    model: PriceModel
    #: The meter whose usage is priced; empty for a flat price.
    meter_key: str
    #: The amount per period, or per per_units units.
    amount: int
    #: The number of units that the amount is for; 0 counts as 1.
    per_units: int
    #: Units per period that cost nothing.
    included: int
    #: The tiers of a graduated or volume price, in the order of up_to.
    tiers: List[PriceTier]


class PriceTier(TypedDict):
    """A tier of a price."""

    #: The last unit of the tier; 0 for no bound, in the last tier only.
    up_to: int
    #: The amount for each per_units units.
    amount: int
    #: The number of units that the amount is for; 0 counts as 1.
    per_units: int
    #: An amount that is added once if the tier applies.
    flat_amount: int
