// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Promotions: activates versions of pools, workflows and connectors step by step, with checks, a canary and an approval. */
export interface PromotionService {
  /** Creates a candidate. It names exact versions; another version needs another candidate. A target can have one open candidate. */
  createCandidate(request: CreateCandidateRequest, options?: CallOptions): Promise<Candidate>;

  /** Returns one candidate, with the state of its canary, its checks and its approval. */
  getCandidate(request: GetCandidateRequest, options?: CallOptions): Promise<Candidate>;

  /** Lists the candidates of the caller's tenant, newest first. */
  listCandidates(request?: ListCandidatesRequest, options?: CallOptions): List<Candidate>;

  /** Checks the artifacts against their targets. Blocking reasons stop the candidate until they are resolved. Nothing outside of the service is called. Repeating it discards the results of later stages. */
  preflightCandidate(request: PreflightCandidateRequest, options?: CallOptions): Promise<Candidate>;

  /** Scores the guardrails on the outcomes that are stored of the targets. A guardrail without enough outcomes is inconclusive, and does not pass. */
  evaluateGuardrails(request: EvaluateGuardrailsRequest, options?: CallOptions): Promise<Candidate>;

  /** Starts the canary: a share of the keys gets the artifacts of the candidate, always the same ones, on every node. */
  startCanary(request: StartCanaryRequest, options?: CallOptions): Promise<Candidate>;

  /** Moves a canary with steps to its next step, if the current one has passed for as long as it must. The service does this by itself, within seconds. */
  advanceCanary(request: AdvanceCanaryRequest, options?: CallOptions): Promise<Candidate>;

  /** Stops the canary and stores what it has shown. */
  stopCanary(request: StopCanaryRequest, options?: CallOptions): Promise<Candidate>;

  /** Approves a candidate. The caller must be a person, and must not be the one who created the candidate. The candidate is approved when as many people as the policy of its environment asks for have approved it. */
  approveCandidate(request: ApproveCandidateRequest, options?: CallOptions): Promise<Candidate>;

  /** Activates all artifacts in one transaction. It changes nothing if a target is not what it was at the preflight. */
  promoteCandidate(request: PromoteCandidateRequest, options?: CallOptions): Promise<Candidate>;

  /** Activates what the targets had before the promotion, in one transaction. */
  rollBackCandidate(request: RollBackCandidateRequest, options?: CallOptions): Promise<Candidate>;

  /** Ends a candidate without a promotion, and stops its canary. */
  abortCandidate(request: AbortCandidateRequest, options?: CallOptions): Promise<Candidate>;

  /** Lists what happened to a candidate, oldest first. */
  listCandidateHistory(request: ListCandidateHistoryRequest, options?: CallOptions): List<CandidateHistoryEntry>;

  /** Decides the routed items of the last days again with the candidate's pools, and shows what would have changed. Nothing is stored. SimulateCandidate tells more. */
  replayCandidate(request: ReplayCandidateRequest, options?: CallOptions): Promise<WhatIf>;

  /** Replays recorded work with the candidate, and shows what would have changed and why. Items are decided again at their times, by what each target has now and by the candidate, with recipients that work as long as was recorded. Ended runs of workflows are planned again with the recorded results of their steps, up to the first difference. Nothing is stored, sent or metered. The current recipients decide; items that a pool redirected belong to the pool that took them. */
  simulateCandidate(request: SimulateCandidateRequest, options?: CallOptions): Promise<Simulation>;
}

const promotionServiceOperations = {
  createCandidate: { verb: "POST", path: "/api/promotions/candidates", body: "*", keyed: true },
  getCandidate: { verb: "GET", path: "/api/promotions/candidates/{candidate_id}" },
  listCandidates: { verb: "GET", path: "/api/promotions/candidates", result: "cursor" },
  preflightCandidate: { verb: "POST", path: "/api/promotions/candidates/{candidate_id}/preflight", body: "*", keyed: true },
  evaluateGuardrails: { verb: "POST", path: "/api/promotions/candidates/{candidate_id}/guardrails/evaluate", body: "*", keyed: true },
  startCanary: { verb: "POST", path: "/api/promotions/candidates/{candidate_id}/canary/start", body: "*", keyed: true },
  advanceCanary: { verb: "POST", path: "/api/promotions/candidates/{candidate_id}/canary/advance", body: "*", keyed: true },
  stopCanary: { verb: "POST", path: "/api/promotions/candidates/{candidate_id}/canary/stop", body: "*", keyed: true },
  approveCandidate: { verb: "POST", path: "/api/promotions/candidates/{candidate_id}/approve", body: "*", keyed: true },
  promoteCandidate: { verb: "POST", path: "/api/promotions/candidates/{candidate_id}/promote", body: "*", keyed: true },
  rollBackCandidate: { verb: "POST", path: "/api/promotions/candidates/{candidate_id}/rollback", body: "*", keyed: true },
  abortCandidate: { verb: "POST", path: "/api/promotions/candidates/{candidate_id}/abort", body: "*", keyed: true },
  listCandidateHistory: { verb: "GET", path: "/api/promotions/candidates/{candidate_id}/timeline", result: "cursor" },
  replayCandidate: { verb: "POST", path: "/api/promotions/candidates/{candidate_id}/what-if", body: "*" },
  simulateCandidate: { verb: "POST", path: "/api/promotions/candidates/{candidate_id}:simulate", body: "*" },
} as const satisfies Record<keyof PromotionService, Operation>;

/** Creates the service over a transport. */
export function createPromotionService(transport: Transport): PromotionService {
  return bindOperations<PromotionService>(transport, promotionServiceOperations);
}

/** An artifact of a new candidate. */
export type NewCandidateArtifact = {
  /** routing, strategy, workflow or connector. */
  readonly kind: "routing" | "strategy" | "workflow" | "connector";
  /** The id or the name of the pool, the id or the key of the workflow definition, or the id of the provider config. */
  readonly ref: string;
  /** The number of the version. */
  readonly version: number;
  /** Accepts the version only with this digest. */
  readonly sha256?: string;
};

/** A limit on a metric. */
export type CandidateGuardrailInput = {
  /** success (the share of keys whose first outcome is a success), latency_ms (their mean latency), queue_depth (waiting items of a pool) or dead_letters (dead letters of a pool). Of a simulation with the items of the last week: simulated_changes (the share of items that change), simulated_refusals (the share that is not accepted), simulated_wait_ms (the wait for a worker, 95th percentile) or simulated_cost (per item). */
  readonly metric: "success" | "latency_ms" | "queue_depth" | "dead_letters" | "simulated_changes" | "simulated_refusals" | "simulated_wait_ms" | "simulated_cost";
  /** The least success, or the most of the other metrics. */
  readonly limit?: number;
};

/** Request to create a candidate. */
export type CreateCandidateRequest = {
  /** The id or the key of the environment; production when empty. */
  readonly environment_id?: string;
  /** The versions, at most one per target. */
  readonly artifacts: readonly NewCandidateArtifact[];
  /** The display name; by default the names of the targets. */
  readonly name?: string;
  /** The description. */
  readonly description?: string;
  /** The evidence pack. It is attached to the candidate. */
  readonly pack_id?: string;
  /** What must hold of the targets before the canary; a success of at least 0.9 when empty. */
  readonly guardrails?: readonly CandidateGuardrailInput[];
  /** For targets without traffic: why guardrails and canary pass where there is no outcome at all. Needs the scope promotion:waive. */
  readonly waiver_reason?: string;
};

/** A set of versions on its way to production. */
export type Candidate = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The environment. */
  readonly environment_id: string;
  /** The display name. */
  readonly name: string;
  /** The description. */
  readonly description: string;
  /** created, preflight_passed, preflight_blocked, guardrails_passed, guardrails_failed, canary_running, canary_stopped, canary_failed, approved, promoted, rolled_back or aborted. */
  readonly state: string;
  /** The calls that are possible now. */
  readonly possible_calls: readonly string[];
  /** The versions. */
  readonly artifacts: readonly CandidateArtifact[];
  /** The evidence pack; empty for none. */
  readonly pack_id: string;
  /** What must hold of the targets before the canary. */
  readonly guardrails: readonly CandidateGuardrail[];
  /** The result of the last preflight. */
  readonly preflight?: CandidatePreflight;
  /** The results of the guardrails. */
  readonly guardrail_report?: CandidateGuardrailReport;
  /** The canary. While it is running, its results are computed anew. */
  readonly canary?: CandidateCanary;
  /** The approval. */
  readonly approval?: CandidateApproval;
  /** The promotion, and the rollback if there was one. */
  readonly promotion?: CandidatePromotion;
  /** Who created it. */
  readonly created_by: string;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record. */
  readonly record_version: number;
  /** Why guardrails and canary pass without any traffic; empty if they do not. */
  readonly waiver_reason: string;
};

/** A version of a target. */
export type CandidateArtifact = {
  /** routing (strategy, config and rules of a pool), strategy (strategy and selection of a pool), workflow or connector (a provider config). */
  readonly kind: string;
  /** The id of the pool, workflow definition or provider config. */
  readonly target_id: string;
  /** Its name. */
  readonly target_name: string;
  /** The number of the version. */
  readonly version: number;
  /** The SHA-256 of what the version activates. */
  readonly sha256: string;
  /** What the target had at the last preflight. A promotion replaces exactly this, and a rollback restores it. */
  readonly base_version: number;
  /** Its digest. */
  readonly base_sha256: string;
};

/** A limit on a metric. */
export type CandidateGuardrail = {
  /** success (the share of keys whose first outcome is a success), latency_ms (their mean latency), queue_depth (waiting items of a pool) or dead_letters (dead letters of a pool). Of a simulation with the items of the last week: simulated_changes (the share of items that change), simulated_refusals (the share that is not accepted), simulated_wait_ms (the wait for a worker, 95th percentile) or simulated_cost (per item). */
  readonly metric: string;
  /** The least success, or the most of the other metrics. */
  readonly limit: number;
};

/** The result of a preflight. */
export type CandidatePreflight = {
  /** Whether nothing blocks the candidate. */
  readonly passed: boolean;
  /** What would change. */
  readonly impacts: readonly CandidatePreflightFinding[];
  /** What blocks the candidate. */
  readonly blocking: readonly CandidatePreflightFinding[];
  /** When it was checked. */
  readonly checked_at?: string;
};

/** A finding about an artifact. */
export type CandidatePreflightFinding = {
  /** The kind of the artifact; empty if it is about the candidate. */
  readonly kind: string;
  /** The target; empty if it is about the candidate. */
  readonly target_id: string;
  /** A stable code. */
  readonly code: string;
  /** What it means. */
  readonly message: string;
};

/** The results of the guardrails. */
export type CandidateGuardrailReport = {
  /** Whether all passed. */
  readonly passed: boolean;
  /** The results. */
  readonly scores: readonly CandidateScore[];
  /** When they were evaluated. */
  readonly evaluated_at?: string;
};

/** A metric of a target against its limit, or of the sides of a canary against each other. */
export type CandidateScore = {
  /** The kind of the artifact. */
  readonly kind: string;
  /** The target. */
  readonly target_id: string;
  /** The metric. */
  readonly metric: string;
  /** passed, failed, inconclusive, or waived: there is no outcome, and the candidate has a waiver. */
  readonly verdict: string;
  /** The limit; absent for a canary. */
  readonly limit?: number;
  /** The value of the target, or of the side of the canary. */
  readonly value?: number;
  /** The value of the other side of a canary. */
  readonly baseline?: number;
  /** The number of keys, or of keys on the side of the canary. */
  readonly keys: number;
  /** The number of keys on the other side of a canary. */
  readonly baseline_keys: number;
  /** The always-valid p-value of the difference; absent without one. */
  readonly p?: number;
  /** Why, in one sentence. */
  readonly reason: string;
};

/** The canary of a candidate. */
export type CandidateCanary = {
  /** Whether it is running. */
  readonly running: boolean;
  /** The percentage of the keys. */
  readonly percent: number;
  /** The keys that the canary needs before it can pass. */
  readonly keys_min: number;
  /** passed, failed or inconclusive. Only a canary that passed can be approved, and a failed one can never pass. */
  readonly verdict: string;
  /** The sides against each other. */
  readonly scores: readonly CandidateScore[];
  /** When it was started first. */
  readonly started_at?: string;
  /** When it was stopped last. */
  readonly stopped_at?: string;
  /** The largest loss of the success rate that the canary must exclude before it can pass. */
  readonly margin: number;
  /** The steps, which follow each other without a call; empty for a canary that somebody stops. */
  readonly steps: readonly CanaryStep[];
  /** The number of the current step, from 1; 0 without steps. Only outcomes since it started count. */
  readonly step: number;
  /** When the current step started. */
  readonly step_started_at?: string;
};

/** A step of a canary. It passes when the canary has passed with its share, its guardrails hold, and its time is over. */
export type CanaryStep = {
  /** The percentage of the keys, larger than that of the step before. */
  readonly percent: number;
  /** The shortest time of the step, in seconds. */
  readonly min_duration_s: number;
  /** What must hold of the keys on the side of the canary, and of the target. A simulated metric is not allowed. A violation stops the canary, and is final. */
  readonly guardrails: readonly CandidateGuardrail[];
};

/** An approval. It is bound to the artifacts, to what the targets had, to the evidence pack and to its gate. */
export type CandidateApproval = {
  /** Who approved last. */
  readonly approved_by: string;
  /** When. */
  readonly approved_at?: string;
  /** What the last approver wrote. */
  readonly note: string;
  /** The SHA-256 of everything that the approval is bound to. */
  readonly sha256: string;
  /** Why it is void; empty while it is valid. */
  readonly void_reasons: readonly string[];
  /** The people whose approvals count, in their order. */
  readonly approvers: readonly CandidateApprovalApprover[];
  /** How many people must approve, by the policy of the environment. */
  readonly approvals_needed: number;
};

/** The approval of one person. */
export type CandidateApprovalApprover = {
  /** Who approved. */
  readonly approved_by: string;
  /** When. */
  readonly approved_at?: string;
  /** What the approver wrote. */
  readonly note: string;
};

/** A promotion. */
export type CandidatePromotion = {
  /** Who promoted. */
  readonly promoted_by: string;
  /** When. */
  readonly promoted_at?: string;
  /** What a rollback restores. */
  readonly handles: readonly CandidatePromotionHandle[];
  /** Who rolled back; empty if nobody did. */
  readonly rolled_back_by: string;
  /** When. */
  readonly rolled_back_at?: string;
  /** Why. */
  readonly rollback_reason: string;
};

/** What restores a target. */
export type CandidatePromotionHandle = {
  /** The kind of the artifact. */
  readonly kind: string;
  /** The target. */
  readonly target_id: string;
  /** The version that the target had before. */
  readonly version: number;
  /** Its digest. */
  readonly sha256: string;
};

/** Identifies a candidate. */
export type GetCandidateRequest = {
  /** The candidate's id. */
  readonly candidate_id: string;
};

/** Request for a page of candidates. */
export type ListCandidatesRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only those in this state. */
  readonly state?: "created" | "preflight_passed" | "preflight_blocked" | "guardrails_passed" | "guardrails_failed" | "canary_running" | "canary_stopped" | "canary_failed" | "approved" | "promoted" | "rolled_back" | "aborted";
  /** Only those of this environment: its id or its key. */
  readonly environment_id?: string;
};

/** Request to check a candidate. */
export type PreflightCandidateRequest = {
  /** The candidate's id. */
  readonly candidate_id: string;
};

/** Request to evaluate the guardrails of a candidate. */
export type EvaluateGuardrailsRequest = {
  /** The candidate's id. */
  readonly candidate_id: string;
};

/** A step of a canary. It passes when the canary has passed with its share, its guardrails hold, and its time is over. */
export type CanaryStepInput = {
  /** The percentage of the keys, larger than that of the step before. */
  readonly percent: number;
  /** The shortest time of the step, in seconds. */
  readonly min_duration_s?: number;
  /** What must hold of the keys on the side of the canary, and of the target. A simulated metric is not allowed. A violation stops the canary, and is final. */
  readonly guardrails?: readonly CandidateGuardrailInput[];
};

/** Request to start a canary. */
export type StartCanaryRequest = {
  /** The candidate's id. */
  readonly candidate_id: string;
  /** The percentage of the keys, from 0.0001 to 50; default 5. A canary that is started again keeps its terms. */
  readonly percent?: number;
  /** The keys that the canary needs before it can pass; default 100. */
  readonly keys_min?: number;
  /** The largest loss of the success rate that the canary must exclude before it can pass; default 0.05. */
  readonly margin?: number;
  /** Steps that follow each other by themselves, instead of percent. After the last one, the canary stops and has passed. */
  readonly steps?: readonly CanaryStepInput[];
};

/** Selects the candidate whose canary goes on. */
export type AdvanceCanaryRequest = {
  /** The candidate's id. */
  readonly candidate_id: string;
};

/** Request to stop a canary. */
export type StopCanaryRequest = {
  /** The candidate's id. */
  readonly candidate_id: string;
};

/** Request to approve a candidate. */
export type ApproveCandidateRequest = {
  /** The candidate's id. */
  readonly candidate_id: string;
  /** Why, for people. */
  readonly note?: string;
};

/** Request to promote a candidate. */
export type PromoteCandidateRequest = {
  /** The candidate's id. */
  readonly candidate_id: string;
};

/** Request to roll a promotion back. */
export type RollBackCandidateRequest = {
  /** The candidate's id. */
  readonly candidate_id: string;
  /** Why, for people. */
  readonly reason?: string;
  /** Rolls back although a target is not what was promoted any more. It needs a reason. */
  readonly force?: boolean;
};

/** Request to abort a candidate. */
export type AbortCandidateRequest = {
  /** The candidate's id. */
  readonly candidate_id: string;
  /** Why, for people. */
  readonly reason?: string;
};

/** Request for a page of a candidate's history. */
export type ListCandidateHistoryRequest = {
  /** The candidate's id. */
  readonly candidate_id: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Something that happened to a candidate. */
export type CandidateHistoryEntry = {
  /** When. */
  readonly at?: string;
  /** The call, such as preflight. */
  readonly call: string;
  /** The state after it. */
  readonly state: string;
  /** Who called. */
  readonly actor: string;
  /** What came of it. */
  readonly summary: string;
};

/** Request to decide earlier items again. */
export type ReplayCandidateRequest = {
  /** The candidate's id. */
  readonly candidate_id: string;
  /** How many days back, from 1 to 7; default 7. */
  readonly days?: number;
  /** How many items at most, the newest ones; default 1,000. */
  readonly items_max?: number;
};

/** What a candidate would have decided differently. */
export type WhatIf = {
  /** The pools of the candidate. Workflows and connectors decide nothing. */
  readonly targets: readonly WhatIfTarget[];
  /** The oldest time of an item. */
  readonly since?: string;
};

/** The changes of one target. */
export type WhatIfTarget = {
  /** The kind of the artifact. */
  readonly kind: string;
  /** The target. */
  readonly target_id: string;
  /** The items that were decided again. */
  readonly items: number;
  /** Those that change. */
  readonly changed: number;
  /** The recipients whose number of items changes most, at most 50. */
  readonly recipients: readonly WhatIfRecipientShift[];
  /** The outcomes. */
  readonly outcomes: readonly WhatIfOutcomeShift[];
  /** Some items that change, at most 20. */
  readonly examples: readonly WhatIfExample[];
};

/** A recipient's items. */
export type WhatIfRecipientShift = {
  /** The recipient; empty for items without one. */
  readonly recipient_id: string;
  /** The items it gets with what the target has now. */
  readonly before: number;
  /** The items it gets with the candidate. */
  readonly after: number;
};

/** Items whose outcome changes. */
export type WhatIfOutcomeShift = {
  /** The outcome with what the target has now. */
  readonly before: string;
  /** The outcome with the candidate. */
  readonly after: string;
  /** The number of items. */
  readonly items: number;
};

/** An item that changes. */
export type WhatIfExample = {
  /** The decision. */
  readonly decision_id: string;
  /** The recipient or the outcome with what the target has now. */
  readonly before: string;
  /** The recipient or the outcome with the candidate. */
  readonly after: string;
};

/** Request to replay recorded work. */
export type SimulateCandidateRequest = {
  /** The candidate's id. */
  readonly candidate_id: string;
  /** The oldest time of an item; by default seven days before `until`. */
  readonly from?: string | Date;
  /** Items before this time; by default now. */
  readonly until?: string | Date;
  /** How many items at most for each target, the newest ones; default 10,000. */
  readonly items_max?: number;
};

/** What a candidate would have changed about recorded work. */
export type Simulation = {
  /** The targets of the candidate. Connectors decide nothing. */
  readonly targets: readonly SimulationTarget[];
  /** The oldest time of an item. */
  readonly from?: string;
  /** Items are before this time. */
  readonly until?: string;
};

/** The changes of one target. */
export type SimulationTarget = {
  /** The kind of the artifact. */
  readonly kind: string;
  /** The target. */
  readonly target_id: string;
  /** Its name. */
  readonly target_name: string;
  /** The items that were decided again, or the runs that were planned again. */
  readonly items: number;
  /** Those that change. */
  readonly changed: number;
  /** Those for which what the target has now gives the recorded result. The rest changed since then, or depends on chance. */
  readonly reproduced: number;
  /** The time of the first item. */
  readonly first_at?: string;
  /** The time of the last item. */
  readonly last_at?: string;
  /** Whether more was recorded in the time range: earlier items are left out. */
  readonly is_cut: boolean;
  /** Why items change, most frequent first. */
  readonly causes: readonly SimulationCause[];
  /** The rules that match items, at most 50. */
  readonly rules: readonly SimulationRuleShift[];
  /** The recipients whose number of items changes most, at most 50. */
  readonly recipients: readonly SimulationRecipientShift[];
  /** The outcomes that change, at most 50. */
  readonly outcomes: readonly SimulationShift[];
  /** The reasons that change, at most 50. */
  readonly reasons: readonly SimulationShift[];
  /** The items that constraints do not admit. */
  readonly constraints: readonly SimulationConstraintShift[];
  /** How long items wait. */
  readonly waits?: SimulationWaits;
  /** What the items cost; absent if none has a cost. */
  readonly cost?: SimulationCost;
  /** Some items that change, at most 20. */
  readonly examples: readonly SimulationExample[];
  /** The items that are not accepted: rejected, duplicates, not chosen, or without a recipient in a pool that does not queue. */
  readonly refused?: SimulationRefusals;
  /** The steps at which runs of a workflow differ first, at most 50. */
  readonly steps: readonly SimulationStepShift[];
};

/** Why items change. */
export type SimulationCause = {
  /** Of decisions: rule (other rules match, or one that matches has changed), strategy (the strategy chooses another way), constraint (only one side admits the item) or load (a consequence of the other changes). Of runs: what the first difference is, as in the field `change` of a step. */
  readonly cause: string;
  /** The number of items. */
  readonly items: number;
};

/** What a rule matches. */
export type SimulationRuleShift = {
  /** The rule. */
  readonly rule_id: string;
  /** Its name. Rules of both sides with the same name are one rule. */
  readonly name: string;
  /** The items that it matches with what the target has now. */
  readonly before: number;
  /** The items that it matches with the candidate. */
  readonly after: number;
  /** The items that change because of the rules that match them, this one included. */
  readonly changed: number;
};

/** A recipient's items and load. */
export type SimulationRecipientShift = {
  /** The recipient. */
  readonly recipient_id: string;
  /** The items that it really had. */
  readonly recorded: number;
  /** The items that it gets with what the target has now. */
  readonly before: number;
  /** The items that it gets with the candidate. */
  readonly after: number;
  /** How many items it works on at once on average, with what the target has now. */
  readonly load_before: number;
  /** The same with the candidate. */
  readonly load_after: number;
};

/** Items whose outcome or reason changes. */
export type SimulationShift = {
  /** The outcome or reason with what the target has now. */
  readonly before: string;
  /** The outcome or reason with the candidate. */
  readonly after: string;
  /** The number of items. */
  readonly items: number;
};

/** Items that a constraint does not admit. */
export type SimulationConstraintShift = {
  /** singleton, debounce or throttle. */
  readonly constraint: string;
  /** rejected, deduplicated or debounced. */
  readonly result: string;
  /** The items with what the target has now. */
  readonly before: number;
  /** The items with the candidate. */
  readonly after: number;
};

/** The waits for a worker. */
export type SimulationWaits = {
  /** What was recorded. */
  readonly recorded?: SimulationWait;
  /** With what the target has now. */
  readonly before?: SimulationWait;
  /** With the candidate. */
  readonly after?: SimulationWait;
};

/** How long items wait for a worker. */
export type SimulationWait = {
  /** The items that a worker got. */
  readonly items: number;
  /** The mean. */
  readonly mean_ms: number;
  /** What half of the items do not exceed. */
  readonly p50_ms: number;
  /** What 95 % of the items do not exceed. */
  readonly p95_ms: number;
  /** The maximum. */
  readonly max_ms: number;
  /** The items that still wait at the end. */
  readonly waiting: number;
};

/** The cost of the items: what was reported of each, or what its recipient declares. */
export type SimulationCost = {
  /** What was reported. */
  readonly recorded: number;
  /** With what the target has now. */
  readonly before: number;
  /** With the candidate. */
  readonly after: number;
};

/** An item that changes. */
export type SimulationExample = {
  /** The decision or the run. */
  readonly id: string;
  /** The recipient or the outcome with what the target has now. */
  readonly before: string;
  /** The recipient or the outcome with the candidate. */
  readonly after: string;
  /** Why. */
  readonly cause: string;
};

/** Items that are not accepted. */
export type SimulationRefusals = {
  /** The items with what the target has now. */
  readonly before: number;
  /** The items with the candidate. */
  readonly after: number;
};

/** A step at which runs differ first. */
export type SimulationStepShift = {
  /** The id of the step; empty for the run itself. */
  readonly step: string;
  /** added or removed (only one version executes it), order (another step starts), kind, input, arm (it takes another arm), outcome (it ends in another way) or end (the run ends in another way). */
  readonly change: string;
  /** The number of runs. */
  readonly items: number;
};
