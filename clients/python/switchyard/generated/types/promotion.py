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

    #: success (the share of keys whose first outcome is a success), latency_ms (their mean latency), queue_depth (waiting items of a pool) or dead_letters (dead letters of a pool). Of a simulation with the items of the last week: simulated_changes (the share of items that change), simulated_refusals (the share that is not accepted), simulated_wait_ms (the wait for a worker, 95th percentile) or simulated_cost (per item).
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
    #: The steps, which follow each other without a call; empty for a canary that somebody stops.
    steps: List[CanaryStep]
    #: The number of the current step, from 1; 0 without steps. Only outcomes since it started count.
    step: int


class CandidateCanary(_CandidateCanaryRequired, total=False):
    """The canary of a candidate."""

    #: When it was started first.
    started_at: str
    #: When it was stopped last.
    stopped_at: str
    #: When the current step started.
    step_started_at: str


class CanaryStep(TypedDict):
    """A step of a canary. It passes when the canary has passed with its share, its guardrails hold, and its time is over."""

    #: The percentage of the keys, larger than that of the step before.
    percent: float
    #: The shortest time of the step, in seconds.
    min_duration_s: int
    #: What must hold of the keys on the side of the canary, and of the target. A simulated metric is not allowed. A violation stops the canary, and is final.
    guardrails: List[CandidateGuardrail]


class _CandidateApprovalRequired(TypedDict):
    #: Who approved last.
    approved_by: str
    #: What the last approver wrote.
    note: str
    #: The SHA-256 of everything that the approval is bound to.
    sha256: str
    #: Why it is void; empty while it is valid.
    void_reasons: List[str]
    #: The people whose approvals count, in their order.
    approvers: List[CandidateApprovalApprover]
    #: How many people must approve, by the policy of the environment.
    approvals_needed: int


class CandidateApproval(_CandidateApprovalRequired, total=False):
    """An approval. It is bound to the artifacts, to what the targets had, to the evidence pack and to its gate."""

    #: When.
    approved_at: str


class _CandidateApprovalApproverRequired(TypedDict):
    #: Who approved.
    approved_by: str
    #: What the approver wrote.
    note: str


class CandidateApprovalApprover(_CandidateApprovalApproverRequired, total=False):
    """The approval of one person."""

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
    #: success (the share of keys whose first outcome is a success), latency_ms (their mean latency), queue_depth (waiting items of a pool) or dead_letters (dead letters of a pool). Of a simulation with the items of the last week: simulated_changes (the share of items that change), simulated_refusals (the share that is not accepted), simulated_wait_ms (the wait for a worker, 95th percentile) or simulated_cost (per item).
    metric: Literal["success", "latency_ms", "queue_depth", "dead_letters", "simulated_changes", "simulated_refusals", "simulated_wait_ms", "simulated_cost"]


class CandidateGuardrailInput(_CandidateGuardrailInputRequired, total=False):
    """A limit on a metric."""

    #: The least success, or the most of the other metrics.
    limit: float


class _CanaryStepInputRequired(TypedDict):
    #: The percentage of the keys, larger than that of the step before.
    percent: float


class CanaryStepInput(_CanaryStepInputRequired, total=False):
    """A step of a canary. It passes when the canary has passed with its share, its guardrails hold, and its time is over."""

    #: The shortest time of the step, in seconds.
    min_duration_s: int
    #: What must hold of the keys on the side of the canary, and of the target. A simulated metric is not allowed. A violation stops the canary, and is final.
    guardrails: Sequence[CandidateGuardrailInput]


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


#: What a candidate would have changed about recorded work.
Simulation = TypedDict(
    "Simulation",
    {
        #: The targets of the candidate. Connectors decide nothing.
        "targets": "List[SimulationTarget]",
        #: The oldest time of an item.
        "from": "str",
        #: Items are before this time.
        "until": "str",
    },
    total=False,
)


class _SimulationTargetRequired(TypedDict):
    #: The kind of the artifact.
    kind: str
    #: The target.
    target_id: str
    #: Its name.
    target_name: str
    #: The items that were decided again, or the runs that were planned again.
    items: int
    #: Those that change.
    changed: int
    #: Those for which what the target has now gives the recorded result. The rest changed since then, or depends on chance.
    reproduced: int
    #: Whether more was recorded in the time range: earlier items are left out.
    is_cut: bool
    #: Why items change, most frequent first.
    causes: List[SimulationCause]
    #: The rules that match items, at most 50.
    rules: List[SimulationRuleShift]
    #: The recipients whose number of items changes most, at most 50.
    recipients: List[SimulationRecipientShift]
    #: The outcomes that change, at most 50.
    outcomes: List[SimulationShift]
    #: The reasons that change, at most 50.
    reasons: List[SimulationShift]
    #: The items that constraints do not admit.
    constraints: List[SimulationConstraintShift]
    #: Some items that change, at most 20.
    examples: List[SimulationExample]
    #: The steps at which runs of a workflow differ first, at most 50.
    steps: List[SimulationStepShift]


class SimulationTarget(_SimulationTargetRequired, total=False):
    """The changes of one target."""

    #: The time of the first item.
    first_at: str
    #: The time of the last item.
    last_at: str
    #: How long items wait.
    waits: SimulationWaits
    #: What the items cost; absent if none has a cost.
    cost: SimulationCost
    #: The items that are not accepted: rejected, duplicates, not chosen, or without a recipient in a pool that does not queue.
    refused: SimulationRefusals


class SimulationCause(TypedDict):
    """Why items change."""

    #: Of decisions: rule (other rules match, or one that matches has changed), strategy (the strategy chooses another way), constraint (only one side admits the item) or load (a consequence of the other changes). Of runs: what the first difference is, as in the field `change` of a step.
    cause: str
    #: The number of items.
    items: int


class SimulationRuleShift(TypedDict):
    """What a rule matches."""

    #: The rule.
    rule_id: str
    #: Its name. Rules of both sides with the same name are one rule.
    name: str
    #: The items that it matches with what the target has now.
    before: int
    #: The items that it matches with the candidate.
    after: int
    #: The items that change because of the rules that match them, this one included.
    changed: int


class SimulationRecipientShift(TypedDict):
    """A recipient's items and load."""

    #: The recipient.
    recipient_id: str
    #: The items that it really had.
    recorded: int
    #: The items that it gets with what the target has now.
    before: int
    #: The items that it gets with the candidate.
    after: int
    #: How many items it works on at once on average, with what the target has now.
    load_before: float
    #: The same with the candidate.
    load_after: float


class SimulationShift(TypedDict):
    """Items whose outcome or reason changes."""

    #: The outcome or reason with what the target has now.
    before: str
    #: The outcome or reason with the candidate.
    after: str
    #: The number of items.
    items: int


class SimulationConstraintShift(TypedDict):
    """Items that a constraint does not admit."""

    #: singleton, debounce or throttle.
    constraint: str
    #: rejected, deduplicated or debounced.
    result: str
    #: The items with what the target has now.
    before: int
    #: The items with the candidate.
    after: int


class SimulationWaits(TypedDict, total=False):
    """The waits for a worker."""

    #: What was recorded.
    recorded: SimulationWait
    #: With what the target has now.
    before: SimulationWait
    #: With the candidate.
    after: SimulationWait


class SimulationWait(TypedDict):
    """How long items wait for a worker."""

    #: The items that a worker got.
    items: int
    #: The mean.
    mean_ms: float
    #: What half of the items do not exceed.
    p50_ms: float
    #: What 95 % of the items do not exceed.
    p95_ms: float
    #: The maximum.
    max_ms: float
    #: The items that still wait at the end.
    waiting: int


class SimulationCost(TypedDict):
    """The cost of the items: what was reported of each, or what its recipient declares."""

    #: What was reported.
    recorded: float
    #: With what the target has now.
    before: float
    #: With the candidate.
    after: float


class SimulationExample(TypedDict):
    """An item that changes."""

    #: The decision or the run.
    id: str
    #: The recipient or the outcome with what the target has now.
    before: str
    #: The recipient or the outcome with the candidate.
    after: str
    #: Why.
    cause: str


class SimulationRefusals(TypedDict):
    """Items that are not accepted."""

    #: The items with what the target has now.
    before: int
    #: The items with the candidate.
    after: int


class SimulationStepShift(TypedDict):
    """A step at which runs differ first."""

    #: The id of the step; empty for the run itself.
    step: str
    #: added or removed (only one version executes it), order (another step starts), kind, input, arm (it takes another arm), outcome (it ends in another way) or end (the run ends in another way).
    change: str
    #: The number of runs.
    items: int
