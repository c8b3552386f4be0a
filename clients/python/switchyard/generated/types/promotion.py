# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _CandidateRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The environment.
    environment_id: str
    #: The display name.
    name: str
    #: The description.
    description: str
    #: created, preflight_passed, preflight_blocked, guardrails_passed, guardrails_failed, canary_running, canary_stopped, canary_failed, approved, promoted, rolled_back or aborted.
    state: str
    #: The calls that are possible now.
    possible_calls: List[str]
    #: The versions.
    artifacts: List[CandidateArtifact]
    #: The evidence pack; empty for none.
    pack_id: str
    #: What must hold of the targets before the canary.
    guardrails: List[CandidateGuardrail]
    #: Who created it.
    created_by: str
    #: The version of the record.
    record_version: int
    #: Why guardrails and canary pass without any traffic; empty if they do not.
    waiver_reason: str


class Candidate(_CandidateRequired, total=False):
    """A set of versions on its way to production."""

    #: The result of the last preflight.
    preflight: CandidatePreflight
    #: The results of the guardrails.
    guardrail_report: CandidateGuardrailReport
    #: The canary. While it is running, its results are computed anew.
    canary: CandidateCanary
    #: The approval.
    approval: CandidateApproval
    #: The promotion, and the rollback if there was one.
    promotion: CandidatePromotion
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


class CandidateArtifact(TypedDict):
    """A version of a target."""

    #: routing (strategy, config and rules of a pool), strategy (strategy and selection of a pool), workflow or connector (a provider config).
    kind: str
    #: The id of the pool, workflow definition or provider config.
    target_id: str
    #: Its name.
    target_name: str
    #: The number of the version.
    version: int
    #: The SHA-256 of what the version activates.
    sha256: str
    #: What the target had at the last preflight. A promotion replaces exactly this, and a rollback restores it.
    base_version: int
    #: Its digest.
    base_sha256: str


class CandidateGuardrail(TypedDict):
    """A limit on a metric."""

    #: success (the share of keys whose first outcome is a success), latency_ms (their mean latency), queue_depth (waiting items of a pool) or dead_letters (dead letters of a pool).
    metric: str
    #: The least success, or the most of the other metrics.
    limit: float


class _CandidatePreflightRequired(TypedDict):
    #: Whether nothing blocks the candidate.
    passed: bool
    #: What would change.
    impacts: List[CandidatePreflightFinding]
    #: What blocks the candidate.
    blocking: List[CandidatePreflightFinding]


class CandidatePreflight(_CandidatePreflightRequired, total=False):
    """The result of a preflight."""

    #: When it was checked.
    checked_at: str


class CandidatePreflightFinding(TypedDict):
    """A finding about an artifact."""

    #: The kind of the artifact; empty if it is about the candidate.
    kind: str
    #: The target; empty if it is about the candidate.
    target_id: str
    #: A stable code.
    code: str
    #: What it means.
    message: str


class _CandidateGuardrailReportRequired(TypedDict):
    #: Whether all passed.
    passed: bool
    #: The results.
    scores: List[CandidateScore]


class CandidateGuardrailReport(_CandidateGuardrailReportRequired, total=False):
    """The results of the guardrails."""

    #: When they were evaluated.
    evaluated_at: str


class _CandidateScoreRequired(TypedDict):
    #: The kind of the artifact.
    kind: str
    #: The target.
    target_id: str
    #: The metric.
    metric: str
    #: passed, failed, inconclusive, or waived: there is no outcome, and the candidate has a waiver.
    verdict: str
    #: The number of keys, or of keys on the side of the canary.
    keys: int
    #: The number of keys on the other side of a canary.
    baseline_keys: int
    #: Why, in one sentence.
    reason: str


class CandidateScore(_CandidateScoreRequired, total=False):
    """A metric of a target against its limit, or of the sides of a canary against each other."""

    #: The limit; absent for a canary.
    limit: float
    #: The value of the target, or of the side of the canary.
    value: float
    #: The value of the other side of a canary.
    baseline: float
    #: The always-valid p-value of the difference; absent without one.
    p: float


class _CandidateCanaryRequired(TypedDict):
    #: Whether it is running.
    running: bool
    #: The percentage of the keys.
    percent: float
    #: The keys that the canary needs before it can pass.
    keys_min: int
    #: passed, failed or inconclusive. Only a canary that passed can be approved, and a failed one can never pass.
    verdict: str
    #: The sides against each other.
    scores: List[CandidateScore]
    #: The largest loss of the success rate that the canary must exclude before it can pass.
    margin: float


class CandidateCanary(_CandidateCanaryRequired, total=False):
    """The canary of a candidate."""

    #: When it was started first.
    started_at: str
    #: When it was stopped last.
    stopped_at: str


class _CandidateApprovalRequired(TypedDict):
    #: Who approved.
    approved_by: str
    #: What the approver wrote.
    note: str
    #: The SHA-256 of everything that the approval is bound to.
    sha256: str
    #: Why it is void; empty while it is valid.
    void_reasons: List[str]


class CandidateApproval(_CandidateApprovalRequired, total=False):
    """An approval. It is bound to the artifacts, to what the targets had, to the evidence pack and to its gate."""

    #: When.
    approved_at: str


class _CandidatePromotionRequired(TypedDict):
    #: Who promoted.
    promoted_by: str
    #: What a rollback restores.
    handles: List[CandidatePromotionHandle]
    #: Who rolled back; empty if nobody did.
    rolled_back_by: str
    #: Why.
    rollback_reason: str


class CandidatePromotion(_CandidatePromotionRequired, total=False):
    """A promotion."""

    #: When.
    promoted_at: str
    #: When.
    rolled_back_at: str


class CandidatePromotionHandle(TypedDict):
    """What restores a target."""

    #: The kind of the artifact.
    kind: str
    #: The target.
    target_id: str
    #: The version that the target had before.
    version: int
    #: Its digest.
    sha256: str


class _NewCandidateArtifactRequired(TypedDict):
    #: routing, strategy, workflow or connector.
    kind: Literal["routing", "strategy", "workflow", "connector"]
    #: The id or the name of the pool, the id or the key of the workflow definition, or the id of the provider config.
    ref: str
    #: The number of the version.
    version: int


class NewCandidateArtifact(_NewCandidateArtifactRequired, total=False):
    """An artifact of a new candidate."""

    #: Accepts the version only with this digest.
    sha256: str


class _CandidateGuardrailInputRequired(TypedDict):
    #: success (the share of keys whose first outcome is a success), latency_ms (their mean latency), queue_depth (waiting items of a pool) or dead_letters (dead letters of a pool).
    metric: Literal["success", "latency_ms", "queue_depth", "dead_letters"]


class CandidateGuardrailInput(_CandidateGuardrailInputRequired, total=False):
    """A limit on a metric."""

    #: The least success, or the most of the other metrics.
    limit: float


class _CandidateHistoryEntryRequired(TypedDict):
    #: The call, such as preflight.
    call: str
    #: The state after it.
    state: str
    #: Who called.
    actor: str
    #: What came of it.
    summary: str


class CandidateHistoryEntry(_CandidateHistoryEntryRequired, total=False):
    """Something that happened to a candidate."""

    #: When.
    at: str


class _WhatIfRequired(TypedDict):
    #: The pools of the candidate. Workflows and connectors decide nothing.
    targets: List[WhatIfTarget]


class WhatIf(_WhatIfRequired, total=False):
    """What a candidate would have decided differently."""

    #: The oldest time of an item.
    since: str


class WhatIfTarget(TypedDict):
    """The changes of one target."""

    #: The kind of the artifact.
    kind: str
    #: The target.
    target_id: str
    #: The items that were decided again.
    items: int
    #: Those that change.
    changed: int
    #: The recipients whose number of items changes most, at most 50.
    recipients: List[WhatIfRecipientShift]
    #: The outcomes.
    outcomes: List[WhatIfOutcomeShift]
    #: Some items that change, at most 20.
    examples: List[WhatIfExample]


class WhatIfRecipientShift(TypedDict):
    """A recipient's items."""

    #: The recipient; empty for items without one.
    recipient_id: str
    #: The items it gets with what the target has now.
    before: int
    #: The items it gets with the candidate.
    after: int


class WhatIfOutcomeShift(TypedDict):
    """Items whose outcome changes."""

    #: The outcome with what the target has now.
    before: str
    #: The outcome with the candidate.
    after: str
    #: The number of items.
    items: int


class WhatIfExample(TypedDict):
    """An item that changes."""

    #: The decision.
    decision_id: str
    #: The recipient or the outcome with what the target has now.
    before: str
    #: The recipient or the outcome with the candidate.
    after: str
