import type { TenantId } from "../../../../platform/access/index.ts";
import type { TargetKind } from "../../../../platform/canary/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { ArtifactKind } from "../../../promotable-artifacts.ts";
import type { CandidateState } from "./states.ts";

export type CandidateId = string & { readonly __id: "candidate" };

/** A version of a target. */
export interface CandidateArtifact {
  readonly kind: ArtifactKind;
  readonly targetKind: TargetKind;
  readonly targetId: string;
  readonly targetName: string;
  readonly version: number;
  readonly sha256: string;
  /** The target's version at the last preflight. */
  readonly baseVersion: number;
  readonly baseSha256: string;
}

/** What a simulation of the candidate shows, per item or at the 95th percentile. */
export type SimulatedMetric = "simulated_changes" | "simulated_refusals" | "simulated_wait_ms" | "simulated_cost";

/** A limit on a metric. */
export interface Guardrail {
  readonly metric: "success" | "latency_ms" | "queue_depth" | "dead_letters" | SimulatedMetric;
  readonly limit: number;
}

/** passed, failed, or inconclusive, which never passes. */
export type Verdict = "passed" | "failed" | "inconclusive";

/** The result of one metric of one target. */
export interface Score {
  readonly kind: string;
  readonly targetId: string;
  readonly metric: string;
  /** Waived: there is no outcome, and the candidate needs none. */
  readonly verdict: Verdict | "waived";
  readonly limit?: number | undefined;
  readonly value?: number | undefined;
  readonly baseline?: number | undefined;
  readonly keys: number;
  readonly baselineKeys: number;
  readonly p?: number | undefined;
  readonly reason: string;
}

/** A finding about an artifact, or about the candidate. */
export interface Finding {
  readonly kind: string;
  readonly targetId: string;
  readonly code: string;
  readonly message: string;
}

/** The result of a preflight. Times in results are ISO texts. */
export interface Preflight {
  readonly passed: boolean;
  readonly impacts: readonly Finding[];
  readonly blocking: readonly Finding[];
  readonly checkedAt: string;
}

/** The results of the guardrails. */
export interface GuardrailReport {
  readonly passed: boolean;
  readonly scores: readonly Score[];
  readonly evaluatedAt: string;
}

/** A step of a canary, which goes on by itself. */
export interface CanaryStep {
  readonly sharePpm: number;
  readonly minDurationS: number;
  /** Limits on the keys on the side of the canary, and on its targets. */
  readonly guardrails: readonly Guardrail[];
}

/** The canary of a candidate. The verdict is that of the last stop. */
export interface CanaryRecord {
  /** Empty for a canary that somebody stops. */
  readonly steps: readonly CanaryStep[];
  /** The position of the current step. Only outcomes since its start count. */
  readonly step: number;
  readonly stepStartedAt: string;
  /** That of the current step. */
  readonly sharePpm: number;
  readonly keysMin: number;
  /** The largest loss of the success rate that is accepted. */
  readonly margin: number;
  readonly verdict: Verdict;
  readonly scores: readonly Score[];
  readonly startedAt: string;
  readonly stoppedAt?: string | undefined;
}

/** The approval of one person. */
export interface Approver {
  readonly approvedBy: string;
  readonly approvedAt: string;
  readonly note: string;
  /** All that is known of the person, so that nobody counts twice. */
  readonly identities: readonly string[];
}

/** The approvals, with the digest that all of them are bound to. */
export interface Approval {
  readonly approvers: readonly Approver[];
  readonly sha256: string;
}

/** The version that a rollback restores. */
export type RollbackHandle = Pick<CandidateArtifact, "kind" | "targetId" | "version" | "sha256">;

/** A promotion, and its rollback. */
export interface Promotion {
  readonly promotedBy: string;
  readonly promotedAt: string;
  readonly handles: readonly RollbackHandle[];
  readonly rolledBackBy?: string | undefined;
  readonly rolledBackAt?: string | undefined;
  readonly rollbackReason?: string | undefined;
}

/** A set of versions on its way to production. */
export interface Candidate extends Stamps {
  readonly tenantId: TenantId;
  readonly id: CandidateId;
  readonly environmentId: string;
  readonly environmentKey: string;
  readonly name: string;
  readonly description: string;
  readonly state: CandidateState;
  /** The evidence pack; empty for none. */
  readonly packId: string;
  readonly guardrails: readonly Guardrail[];
  /** Why guardrails and canary pass without any traffic; empty if they do not. */
  readonly waiverReason: string;
  /** Decides the sides of keys. */
  readonly salt: string;
  readonly artifacts: readonly CandidateArtifact[];
  readonly preflight: Preflight | null;
  readonly guardrailReport: GuardrailReport | null;
  readonly canary: CanaryRecord | null;
  readonly approval: Approval | null;
  readonly promotion: Promotion | null;
  readonly createdBy: string;
  /** The identities of the people behind the creator. None of them can approve. */
  readonly creators: readonly string[];
  /** The identities of the people who wrote the versions. A policy can exclude them too. */
  readonly authors: readonly string[];
}

export interface NewArtifact {
  readonly kind: ArtifactKind;
  readonly ref: string;
  readonly version: number;
  /** Empty accepts any digest. */
  readonly sha256: string;
}

/** Input of createCandidate. */
export interface NewCandidate
  extends Pick<Candidate, "name" | "description" | "packId" | "guardrails" | "waiverReason"> {
  /** Empty selects production. */
  readonly environmentId: string;
  readonly artifacts: readonly NewArtifact[];
}

/** Something that happened to a candidate. */
export interface HistoryEntry {
  readonly id: string;
  readonly call: string;
  readonly fromState: string;
  readonly toState: string;
  readonly actor: string;
  readonly summary: string;
  readonly at: Date;
}

/** How many candidates of a tenant can be open. */
export const openCandidatesMax = 200;
