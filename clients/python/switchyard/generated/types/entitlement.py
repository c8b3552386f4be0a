# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _GetEntitlementsResponseRequired(TypedDict):
    #: How they are enforced.
    mode: EntitlementMode
    #: Whether a tenant that never had a snapshot is admitted.
    grace_unprovisioned: bool
    #: Whether the snapshot is stale.
    stale: bool


class GetEntitlementsResponse(_GetEntitlementsResponseRequired, total=False):
    """The entitlements of a tenant."""

    #: The current snapshot; absent if the tenant never had one.
    snapshot: EntitlementSnapshot


#: How entitlements are enforced, set by entitlement.enforcement.
EntitlementMode = Literal["ENTITLEMENT_MODE_UNSPECIFIED", "ENTITLEMENT_MODE_OFF", "ENTITLEMENT_MODE_REPORT", "ENTITLEMENT_MODE_STRICT"]


class _EntitlementSnapshotRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The tenant.
    tenant_id: str
    #: The number of the snapshot, from 1.
    version: int
    #: Entitlements that the tenant has.
    allow: List[str]
    #: Entitlements that the tenant must not have. None of them is in allow.
    deny: List[str]
    #: Daily quotas, by operation.
    limits: Dict[str, int]


class EntitlementSnapshot(_EntitlementSnapshotRequired, total=False):
    """The entitlements of a tenant from one point in time on. It never changes."""

    #: Where it comes from.
    source: EntitlementSource
    #: When it was issued.
    issued_at: str
    #: From then on it is stale.
    fresh_until: str


class EntitlementSource(TypedDict):
    """Where a snapshot comes from."""

    #: What issued it.
    kind: EntitlementSourceKind
    #: The plan and its version, or a reference of the issuer.
    ref: str


#: What issued a snapshot.
EntitlementSourceKind = Literal["KIND_UNSPECIFIED", "KIND_PLAN", "KIND_OPERATOR", "KIND_EXTERNAL"]


class CheckEntitlementsResponse(TypedDict):
    """The results."""

    #: How entitlements are enforced.
    mode: EntitlementMode
    #: A result for each item, in the order of the request.
    checks: List[EntitlementCheck]


class EntitlementCheck(TypedDict):
    """The result for one entitlement."""

    #: The entitlement.
    item: str
    #: The result.
    verdict: EntitlementVerdict
    #: Why: `allowed`, `explicit_deny`, `missing`, `stale`, `unprovisioned` or `not_evaluated`.
    reason: str


#: The result of an evaluation.
EntitlementVerdict = Literal["ENTITLEMENT_VERDICT_UNSPECIFIED", "ENTITLEMENT_VERDICT_PASS", "ENTITLEMENT_VERDICT_GRACE", "ENTITLEMENT_VERDICT_DENY"]


class _EntitlementSourceInputRequired(TypedDict):
    #: What issued it.
    kind: EntitlementSourceKind


class EntitlementSourceInput(_EntitlementSourceInputRequired, total=False):
    """Where a snapshot comes from."""

    #: The plan and its version, or a reference of the issuer.
    ref: str


class _EntitlementEvidenceRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The tenant.
    tenant_id: str
    #: The entitlement.
    item: str
    #: The operation that needs it.
    operation: str
    #: How entitlements were enforced.
    mode: EntitlementMode
    #: The result.
    verdict: EntitlementVerdict
    #: Why: `explicit_deny`, `missing`, `stale` or `unprovisioned`.
    reason: str
    #: The snapshot that was evaluated; 0 without one.
    snapshot_version: int
    #: The number of calls.
    count: int


class EntitlementEvidence(_EntitlementEvidenceRequired, total=False):
    """Calls of one minute that were admitted without an entitlement, or denied."""

    #: The minute in which the calls were made.
    minute: str
