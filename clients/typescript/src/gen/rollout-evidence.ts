// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject } from "../json.ts";

/** Rollout evidence: proof that a change was checked before it is promoted. A pack holds artifacts by their digests and signed receipts of checks. Its gate is open while every requirement has a valid receipt. */
export interface RolloutEvidenceService {
  /** Creates an evidence pack for an environment. */
  createPack(request: CreateEvidencePackRequest, options?: CallOptions): Promise<EvidencePack>;

  /** Lists the evidence packs of the caller's tenant, oldest first. */
  listPacks(request?: ListEvidencePacksRequest, options?: CallOptions): List<EvidencePack>;

  /** Returns an evidence pack with its artifacts. */
  getPack(request: GetEvidencePackRequest, options?: CallOptions): Promise<EvidencePack>;

  /** Replaces the name, the description and the demands of an open pack. A demand that the request leaves out is removed. */
  updatePack(request: UpdateEvidencePackRequest, options?: CallOptions): Promise<EvidencePack>;

  /** Adds an artifact to an open pack by its SHA-256. An artifact of the same kind and name is replaced; receipts about the replaced one are stale. */
  addArtifact(request: AddEvidenceArtifactRequest, options?: CallOptions): Promise<EvidencePack>;

  /** Adds the result of a check to a pack, as a statement that the instance signs. A receipt of a run needs the token of the run, and ends it. */
  addReceipt(request: AddEvidenceReceiptRequest, options?: CallOptions): Promise<EvidenceReceipt>;

  /** Lists the receipts of a pack, oldest first. */
  listReceipts(request: ListEvidenceReceiptsRequest, options?: CallOptions): List<EvidenceReceipt>;

  /** Starts a run that collects evidence of one type about the artifacts of a pack, as they are now. The mode must be one that the environment allows. */
  startRun(request: StartEvidenceRunRequest, options?: CallOptions): Promise<EvidenceRun>;

  /** Lists the runs of a pack, oldest first. */
  listRuns(request: ListEvidenceRunsRequest, options?: CallOptions): List<EvidenceRun>;

  /** Returns a run. */
  getRun(request: GetEvidenceRunRequest, options?: CallOptions): Promise<EvidenceRun>;

  /** Claims a run, or renews the lease of a claimed run. A run without a lease is claimed by a call without a token; the response contains the token. The lease never passes the deadline of the run. */
  heartbeatRun(request: HeartbeatEvidenceRunRequest, options?: CallOptions): Promise<EvidenceRun>;

  /** Cancels a run that has not ended. Its token becomes invalid. */
  cancelRun(request: CancelEvidenceRunRequest, options?: CallOptions): Promise<EvidenceRun>;

  /** Evaluates the gate of a pack: open if every requirement is satisfied, else closed with the reasons. An attached pack is evaluated for the artifacts of its promotion. */
  evaluateGate(request: EvaluateEvidenceGateRequest, options?: CallOptions): Promise<EvidenceGate>;

  /** Explains the gate of a pack: for every requirement the receipts that were considered, the verdict on each, and what to do next. */
  explainPack(request: ExplainEvidencePackRequest, options?: CallOptions): Promise<EvidenceExplanation>;

  /** Exports a pack as a signed manifest without secrets, storage references, payloads or personal data. */
  exportPack(request: ExportEvidencePackRequest, options?: CallOptions): Promise<EvidenceManifest>;

  /** Archives a pack: it accepts nothing more. A pack of a promotion that has not ended cannot be archived. */
  archivePack(request: ArchiveEvidencePackRequest, options?: CallOptions): Promise<EvidencePack>;

  /** Attaches a pack to a promotion of its environment, and pins its artifacts and demands. The pack must contain every artifact of the promotion. */
  attachPack(request: AttachEvidencePackRequest, options?: CallOptions): Promise<EvidencePack>;

  /** Returns the requirements that artifacts of some kinds must satisfy in an environment. */
  expandRequirements(request?: ExpandEvidenceRequirementsRequest, options?: CallOptions): Promise<EvidenceRequirementSet>;

  /** Lists the public keys that verify receipts and manifests, newest first. Needs no credentials. */
  listKeys(request?: ListEvidenceKeysRequest, options?: CallOptions): Promise<EvidenceKeySet>;

  /** Creates a new signing key and retires the current one, which still verifies what it signed. Only an operator may do so. */
  rotateKey(request?: RotateEvidenceKeyRequest, options?: CallOptions): Promise<EvidenceKey>;

  /** Verifies the signature of a receipt or a manifest. Needs no credentials. */
  verifyReceipt(request: VerifyEvidenceReceiptRequest, options?: CallOptions): Promise<EvidenceVerification>;
}

const rolloutEvidenceServiceOperations = {
  createPack: { verb: "POST", path: "/api/rollout-evidence/packs", body: "*", keyed: true },
  listPacks: { verb: "GET", path: "/api/rollout-evidence/packs", result: "cursor" },
  getPack: { verb: "GET", path: "/api/rollout-evidence/packs/{environment_id}/{pack_id}" },
  updatePack: { verb: "PUT", path: "/api/rollout-evidence/packs/{environment_id}/{pack_id}", body: "*", keyed: true },
  addArtifact: { verb: "POST", path: "/api/rollout-evidence/packs/{environment_id}/{pack_id}/artifacts", body: "*", keyed: true },
  addReceipt: { verb: "POST", path: "/api/rollout-evidence/packs/{environment_id}/{pack_id}/receipts", body: "*", keyed: true },
  listReceipts: { verb: "GET", path: "/api/rollout-evidence/packs/{environment_id}/{pack_id}/receipts", result: "cursor" },
  startRun: { verb: "POST", path: "/api/rollout-evidence/packs/{environment_id}/{pack_id}/runs", body: "*", keyed: true },
  listRuns: { verb: "GET", path: "/api/rollout-evidence/packs/{environment_id}/{pack_id}/runs", result: "cursor" },
  getRun: { verb: "GET", path: "/api/rollout-evidence/runs/{environment_id}/{run_id}" },
  heartbeatRun: { verb: "POST", path: "/api/rollout-evidence/runs/{environment_id}/{run_id}:heartbeat", body: "*", keyed: true },
  cancelRun: { verb: "POST", path: "/api/rollout-evidence/runs/{environment_id}/{run_id}:cancel", body: "*", keyed: true },
  evaluateGate: { verb: "POST", path: "/api/rollout-evidence/packs/{environment_id}/{pack_id}/gate:evaluate", body: "*" },
  explainPack: { verb: "POST", path: "/api/rollout-evidence/packs/{environment_id}/{pack_id}:explain", body: "*" },
  exportPack: { verb: "POST", path: "/api/rollout-evidence/packs/{environment_id}/{pack_id}:export", body: "*", keyed: true },
  archivePack: { verb: "POST", path: "/api/rollout-evidence/packs/{environment_id}/{pack_id}:archive", body: "*", keyed: true },
  attachPack: { verb: "POST", path: "/api/rollout-evidence/packs/{environment_id}/{pack_id}:attach-to-promotion", body: "*", keyed: true },
  expandRequirements: { verb: "POST", path: "/api/rollout-evidence/requirements:expand", body: "*" },
  listKeys: { verb: "GET", path: "/api/rollout-evidence/keys" },
  rotateKey: { verb: "POST", path: "/api/rollout-evidence/keys:rotate", body: "*", keyed: true },
  verifyReceipt: { verb: "POST", path: "/api/rollout-evidence/receipts:verify", body: "*" },
} as const satisfies Record<keyof RolloutEvidenceService, Operation>;

/** Creates the service over a transport. */
export function createRolloutEvidenceService(transport: Transport): RolloutEvidenceService {
  return bindOperations<RolloutEvidenceService>(transport, rolloutEvidenceServiceOperations);
}

/** A new pack. */
export type CreateEvidencePackRequest = {
  /** The id or the key of the environment; production when empty. */
  readonly environment_id?: string;
  /** The name, for people. */
  readonly name: string;
  /** What the pack is for. */
  readonly description?: string;
  /** Receipt types that every artifact needs in addition to the requirements of its kind, where they apply to it: scenario, connector, strategy, runtime, graph, proof or canary. */
  readonly required_types?: readonly ("scenario" | "connector" | "strategy" | "runtime" | "graph" | "proof" | "canary")[];
  /** The age at which receipts are stale, if it is less than that of the requirement; no further limit when 0. */
  readonly max_age_s?: number;
  /** The producers whose receipts count: `service` for what the service observed itself, or subjects of callers. All when empty. */
  readonly accepted_producers?: readonly string[];
};

/** An evidence pack. */
export type EvidencePack = {
  /** The id. */
  readonly id: string;
  /** The tenant. */
  readonly tenant_id: string;
  /** The environment. */
  readonly environment_id: string;
  /** The name, for people. */
  readonly name: string;
  /** What the pack is for. */
  readonly description: string;
  /** open, attached (to a promotion: artifacts and demands are pinned) or archived. */
  readonly status: string;
  /** Receipt types that every artifact needs in addition to the requirements of its kind, where they apply to it. */
  readonly required_types: readonly string[];
  /** The age at which receipts are stale, if it is less than that of the requirement; no further limit when 0. */
  readonly max_age_s: number;
  /** The version of the requirements that the gate applies. */
  readonly requirements_version: number;
  /** Rises with every artifact, receipt and change of demands. */
  readonly revision: number;
  /** The SHA-256 of the pack at this revision: environment, demands, artifacts and receipts. */
  readonly digest: string;
  /** The artifacts, by kind and name. */
  readonly artifacts: readonly EvidenceArtifact[];
  /** The promotion that the pack is attached to; absent while it is open. */
  readonly attachment?: EvidenceAttachment;
  /** The calls that the status allows. */
  readonly possible_calls: readonly string[];
  /** When the pack was archived. */
  readonly archived_at?: string;
  /** When it was created. */
  readonly created_at?: string;
  /** When it was last changed. */
  readonly updated_at?: string;
  /** The version of the record; a new pack has 1. */
  readonly record_version: number;
  /** The producers whose receipts count; all when empty. */
  readonly accepted_producers: readonly string[];
};

/** An artifact of a pack, addressed by its digest. */
export type EvidenceArtifact = {
  /** What it is: routing, workflow, connector or strategy for what is promoted; report for a supporting document. */
  readonly kind: string;
  /** Its name, such as the id of the pool or the workflow: letters, digits, dots, slashes, dashes and underscores. */
  readonly name: string;
  /** Its exact version. */
  readonly version: string;
  /** The SHA-256 of its content, in lower-case hexadecimal. */
  readonly sha256: string;
  /** The size of its content in bytes, if it is known. */
  readonly size_bytes: number;
  /** Where its content is kept, for the people of the tenant. Never exported. */
  readonly storage_ref: string;
};

/** The attachment of a pack to a promotion. */
export type EvidenceAttachment = {
  /** The promotion candidate. */
  readonly candidate_id: string;
  /** The revision of the pack when it was attached. */
  readonly revision: number;
  /** The digest of the pack when it was attached. */
  readonly digest: string;
  /** When it was attached. */
  readonly attached_at?: string;
};

/** Selects packs. */
export type ListEvidencePacksRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only packs of this environment: its id or its key. */
  readonly environment_id?: string;
  /** Only packs with this status: open, attached or archived. */
  readonly status?: "" | "open" | "attached" | "archived";
};

/** Selects a pack. */
export type GetEvidencePackRequest = {
  /** The id or the key of the environment of the pack. */
  readonly environment_id: string;
  /** The pack. */
  readonly pack_id: string;
};

/** The new name, description and demands of a pack. */
export type UpdateEvidencePackRequest = {
  /** The id or the key of the environment of the pack. */
  readonly environment_id: string;
  /** The pack. */
  readonly pack_id: string;
  /** The name, for people. */
  readonly name: string;
  /** What the pack is for. */
  readonly description?: string;
  /** Receipt types that every artifact needs in addition to the requirements of its kind, where they apply to it: scenario, connector, strategy, runtime, graph, proof or canary. */
  readonly required_types?: readonly ("scenario" | "connector" | "strategy" | "runtime" | "graph" | "proof" | "canary")[];
  /** The age at which receipts are stale, if it is less than that of the requirement; no further limit when 0. */
  readonly max_age_s?: number;
  /** The version of the record that the caller read; the update is unconditional when absent. */
  readonly record_version?: number;
  /** The producers whose receipts count: `service` for what the service observed itself, or subjects of callers. All when empty. */
  readonly accepted_producers?: readonly string[];
};

/** An artifact of a pack, addressed by its digest. */
export type EvidenceArtifactInput = {
  /** What it is: routing, workflow, connector or strategy for what is promoted; report for a supporting document. */
  readonly kind: "routing" | "workflow" | "connector" | "strategy" | "report";
  /** Its name, such as the id of the pool or the workflow: letters, digits, dots, slashes, dashes and underscores. */
  readonly name: string;
  /** Its exact version. */
  readonly version: string;
  /** The SHA-256 of its content, in lower-case hexadecimal. */
  readonly sha256: string;
  /** The size of its content in bytes, if it is known. */
  readonly size_bytes?: number;
  /** Where its content is kept, for the people of the tenant. Never exported. */
  readonly storage_ref?: string;
};

/** A new artifact. */
export type AddEvidenceArtifactRequest = {
  /** The id or the key of the environment of the pack. */
  readonly environment_id: string;
  /** The pack. */
  readonly pack_id: string;
  /** The artifact. */
  readonly artifact: EvidenceArtifactInput;
};

/** What a receipt is about: an artifact at an exact digest. */
export type EvidenceSubjectInput = {
  /** The kind of the artifact: routing, workflow, connector or strategy. */
  readonly kind: "routing" | "workflow" | "connector" | "strategy";
  /** The name of the artifact. */
  readonly name: string;
  /** The version of the artifact. */
  readonly version: string;
  /** The SHA-256 of the artifact. */
  readonly sha256: string;
  /** The SHA-256 of what the artifact replaces, if the check compared with it. */
  readonly base_sha256?: string;
};

/** The result of one case of a check. */
export type EvidenceCaseInput = {
  /** The stable id of the case. */
  readonly id: string;
  /** passed, failed, blocked or not_applicable. */
  readonly status: "passed" | "failed" | "blocked" | "not_applicable";
};

/** The program that made a check. */
export type EvidenceToolInput = {
  /** The name. */
  readonly name: string;
  /** The version. */
  readonly version?: string;
};

/** A new receipt. */
export type AddEvidenceReceiptRequest = {
  /** The id or the key of the environment of the pack. */
  readonly environment_id: string;
  /** The pack. */
  readonly pack_id: string;
  /** The kind of check: scenario, connector, strategy, runtime, graph or proof. A receipt of a run has the type of the run. A canary receipt comes from the service alone, when a canary is stopped. */
  readonly type: "scenario" | "connector" | "strategy" | "runtime" | "graph" | "proof";
  /** passed, failed or blocked (the check could not be made). That of the report for a runtime receipt. */
  readonly result: "passed" | "failed" | "blocked";
  /** What was checked: artifacts of the pack at their current digests. Left out for a receipt of a run, which checked what was pinned at its start. */
  readonly subjects?: readonly EvidenceSubjectInput[];
  /** The id or the key of the environment in which the check was made; the environment of the pack when empty. */
  readonly observed_environment_id?: string;
  /** The promotion that the check was made for; the one that the pack is attached to when empty. */
  readonly candidate_id?: string;
  /** The run that made the check, if any. */
  readonly run_id?: string;
  /** The token of the run. */
  readonly token?: string;
  /** The results of the cases of the check. */
  readonly cases?: readonly EvidenceCaseInput[];
  /** The program that made the check. */
  readonly tool?: EvidenceToolInput;
  /** Anything else about the check, up to 64 KiB of JSON. Never exported. */
  readonly details?: object;
  /** Seconds until the receipt expires; 7 days when 0, at most 30 days. */
  readonly ttl_s?: number;
  /** The conformance report of the environment that a runtime receipt is about. Its cases are those of the receipt. */
  readonly report_id?: string;
};

/** A receipt: the signed result of a check. */
export type EvidenceReceipt = {
  /** The id. */
  readonly id: string;
  /** The tenant. */
  readonly tenant_id: string;
  /** The pack. */
  readonly pack_id: string;
  /** The kind of check: scenario, connector, strategy, runtime, graph, proof or canary. */
  readonly type: string;
  /** passed, failed or blocked (the check could not be made). */
  readonly result: string;
  /** The environment in which the check was made. */
  readonly environment_id: string;
  /** The promotion that the check was made for; empty if it is about its artifacts only. */
  readonly candidate_id: string;
  /** The run that made the check, if any. */
  readonly run_id: string;
  /** What was checked. */
  readonly subjects: readonly EvidenceSubject[];
  /** The results of its cases. */
  readonly cases: readonly EvidenceCase[];
  /** The program that made the check. */
  readonly tool?: EvidenceTool;
  /** Anything else about the check. Not in the statement, which has its SHA-256 only, and never exported. */
  readonly details?: JsonObject;
  /** The revision of the pack that the receipt made. */
  readonly revision: number;
  /** When it was issued. */
  readonly issued_at?: string;
  /** When it expires. */
  readonly expires_at?: string;
  /** The SHA-256 of the statement as canonical JSON. */
  readonly digest: string;
  /** The signed statement. */
  readonly envelope?: EvidenceEnvelope;
  /** Who made the check: `service` for what the service observed itself, else the subject of the caller. */
  readonly producer: string;
};

/** What a receipt is about: an artifact at an exact digest. */
export type EvidenceSubject = {
  /** The kind of the artifact: routing, workflow, connector or strategy. */
  readonly kind: string;
  /** The name of the artifact. */
  readonly name: string;
  /** The version of the artifact. */
  readonly version: string;
  /** The SHA-256 of the artifact. */
  readonly sha256: string;
  /** The SHA-256 of what the artifact replaces, if the check compared with it. */
  readonly base_sha256: string;
};

/** The result of one case of a check. */
export type EvidenceCase = {
  /** The stable id of the case. */
  readonly id: string;
  /** passed, failed, blocked or not_applicable. */
  readonly status: string;
};

/** The program that made a check. */
export type EvidenceTool = {
  /** The name. */
  readonly name: string;
  /** The version. */
  readonly version: string;
};

/** A signed statement: a DSSE envelope around an in-toto statement. */
export type EvidenceEnvelope = {
  /** The type of the payload; it is part of what is signed. */
  readonly payload_type: string;
  /** The statement as canonical JSON, in base64. */
  readonly payload: string;
  /** The signatures. */
  readonly signatures: readonly EvidenceSignature[];
};

/** A signature of an envelope. */
export type EvidenceSignature = {
  /** The id of the key. */
  readonly keyid: string;
  /** The 64 bytes of the Ed25519 signature, in base64. */
  readonly sig: string;
};

/** Selects receipts. */
export type ListEvidenceReceiptsRequest = {
  /** The id or the key of the environment of the pack. */
  readonly environment_id: string;
  /** The pack. */
  readonly pack_id: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only receipts of this type. */
  readonly type?: "" | "scenario" | "connector" | "strategy" | "runtime" | "graph" | "proof" | "canary";
};

/** A new run. */
export type StartEvidenceRunRequest = {
  /** The id or the key of the environment of the pack. */
  readonly environment_id: string;
  /** The pack. */
  readonly pack_id: string;
  /** The type of receipt that the run produces. Canaries have no runs: the service reports them itself. */
  readonly type: "scenario" | "connector" | "strategy" | "runtime" | "graph" | "proof";
  /** How the run acts: sandbox or dry_run. A live environment allows dry_run only. */
  readonly mode: "sandbox" | "dry_run";
  /** Whether the caller claims the run at once. Otherwise the run is pending until a worker claims it with a heartbeat. */
  readonly claim?: boolean;
  /** Seconds that a lease lasts; 60 when 0. */
  readonly lease_s?: number;
  /** Seconds until the run ends in any case; an hour when 0. */
  readonly deadline_s?: number;
};

/** A run: a worker that collects evidence, under a lease. */
export type EvidenceRun = {
  /** The id. */
  readonly id: string;
  /** The tenant. */
  readonly tenant_id: string;
  /** The environment. */
  readonly environment_id: string;
  /** The pack. */
  readonly pack_id: string;
  /** The promotion that the pack was attached to at the start; empty if none. */
  readonly candidate_id: string;
  /** The type of receipt that the run produces. */
  readonly type: string;
  /** How the run acts: sandbox or dry_run. */
  readonly mode: string;
  /** What the run checks, pinned at its start. */
  readonly subjects: readonly EvidenceSubject[];
  /** pending (nobody has claimed it), running, succeeded, failed, cancelled, lease_expired (it can be claimed again) or deadline_exceeded. */
  readonly status: string;
  /** How often the run was claimed. Only the newest token is valid. */
  readonly fence: number;
  /** The token of the lease, only in the response to the call that claims the run. */
  readonly token?: string;
  /** When the lease ends without a heartbeat. */
  readonly lease_until?: string;
  /** When the run ends in any case. */
  readonly deadline_at?: string;
  /** When it ended. */
  readonly ended_at?: string;
  /** Why it was cancelled. */
  readonly reason: string;
  /** The receipt that ended it. */
  readonly receipt_id: string;
  /** The calls that the status allows. */
  readonly possible_calls: readonly string[];
  /** When it was created. */
  readonly created_at?: string;
  /** When it was last changed. */
  readonly updated_at?: string;
  /** The version of the record; a new run has 1. */
  readonly record_version: number;
};

/** Selects runs. */
export type ListEvidenceRunsRequest = {
  /** The id or the key of the environment of the pack. */
  readonly environment_id: string;
  /** The pack. */
  readonly pack_id: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Selects a run. */
export type GetEvidenceRunRequest = {
  /** The id or the key of the environment of the run. */
  readonly environment_id: string;
  /** The run. */
  readonly run_id: string;
};

/** Claims a run, or renews its lease. */
export type HeartbeatEvidenceRunRequest = {
  /** The id or the key of the environment of the run. */
  readonly environment_id: string;
  /** The run. */
  readonly run_id: string;
  /** The token of the lease; empty to claim a run that nobody holds. */
  readonly token?: string;
};

/** Selects the run to cancel. */
export type CancelEvidenceRunRequest = {
  /** The id or the key of the environment of the run. */
  readonly environment_id: string;
  /** The run. */
  readonly run_id: string;
  /** Why. */
  readonly reason?: string;
};

/** Selects the pack whose gate is evaluated. */
export type EvaluateEvidenceGateRequest = {
  /** The id or the key of the environment of the pack. */
  readonly environment_id: string;
  /** The pack. */
  readonly pack_id: string;
};

/** The state of a gate. */
export type EvidenceGate = {
  /** open or closed. */
  readonly state: string;
  /** Until when the gate stays open if nothing is added; absent while it is closed. */
  readonly valid_until?: string;
  /** Why it is closed, by requirement and artifact. */
  readonly reasons: readonly EvidenceGateReason[];
  /** What to do next; empty while it is open. */
  readonly next_step: string;
  /** The SHA-256 of what was decided and on which receipts. It changes when another receipt decides, or none does any more. */
  readonly digest: string;
  /** The promotion that the gate was evaluated for; empty if the pack is not attached. */
  readonly candidate_id: string;
  /** The revision of the pack. */
  readonly pack_revision: number;
  /** The digest of the pack. */
  readonly pack_digest: string;
  /** The version of the requirements. */
  readonly requirements_version: number;
};

/** Why a gate is closed. */
export type EvidenceGateReason = {
  /** missing, failed, blocked, stale, expired, wrong_environment, wrong_candidate or wrong_producer. */
  readonly reason: string;
  /** The requirement. */
  readonly requirement_id: string;
  /** The artifact; absent if the pack has none. */
  readonly subject?: EvidenceSubject;
  /** The receipt that decided, if there is one. */
  readonly receipt_id: string;
  /** What to do next. */
  readonly next_step: string;
};

/** Selects the pack to explain. */
export type ExplainEvidencePackRequest = {
  /** The id or the key of the environment of the pack. */
  readonly environment_id: string;
  /** The pack. */
  readonly pack_id: string;
};

/** The explanation of a gate. */
export type EvidenceExplanation = {
  /** The gate. */
  readonly gate?: EvidenceGate;
  /** The findings, by requirement and artifact. */
  readonly findings: readonly EvidenceFinding[];
};

/** How a requirement of an artifact was decided. */
export type EvidenceFinding = {
  /** The requirement. */
  readonly requirement?: EvidenceRequirement;
  /** The artifact. */
  readonly subject?: EvidenceSubject;
  /** satisfied, or the reason for which it is not. */
  readonly verdict: string;
  /** The verdict in a sentence. */
  readonly explanation: string;
  /** What to do next; empty if it is satisfied. */
  readonly next_step: string;
  /** The receipts about the artifact, newest first, up to 20. */
  readonly receipts: readonly EvidenceConsideredReceipt[];
};

/** A requirement: artifacts of a kind need a valid receipt of a type. */
export type EvidenceRequirement = {
  /** The stable id, such as workflow.graph. */
  readonly id: string;
  /** The kind of artifact. */
  readonly kind: string;
  /** The type of receipt. */
  readonly receipt_type: string;
  /** The age at which a receipt is stale. */
  readonly max_age_s: number;
  /** Whether the receipt must name the promotion. */
  readonly per_candidate: boolean;
  /** What it shows. */
  readonly description: string;
};

/** The verdict on a receipt. */
export type EvidenceConsideredReceipt = {
  /** The receipt. */
  readonly receipt_id: string;
  /** satisfied, or the reason for which it does not satisfy the requirement. */
  readonly verdict: string;
  /** Whether it decided: the newest receipt of the right environment and promotion does. */
  readonly decisive: boolean;
  /** When it was issued. */
  readonly issued_at?: string;
  /** When it expires. */
  readonly expires_at?: string;
};

/** Selects the pack to export. */
export type ExportEvidencePackRequest = {
  /** The id or the key of the environment of the pack. */
  readonly environment_id: string;
  /** The pack. */
  readonly pack_id: string;
};

/** The redacted export of a pack. It contains identifiers, digests, results and times only. */
export type EvidenceManifest = {
  /** The pack. */
  readonly pack_id: string;
  /** The environment. */
  readonly environment_id: string;
  /** The status of the pack. */
  readonly status: string;
  /** The revision of the pack. */
  readonly revision: number;
  /** The digest of the pack. */
  readonly digest: string;
  /** The version of the requirements. */
  readonly requirements_version: number;
  /** The artifacts. */
  readonly artifacts: readonly EvidenceManifestArtifact[];
  /** The receipts, oldest first. */
  readonly receipts: readonly EvidenceManifestReceipt[];
  /** The gate at the time of the export. */
  readonly gate?: EvidenceGate;
  /** The public keys that verify the receipts and this manifest. */
  readonly keys: readonly EvidenceKey[];
  /** When it was exported. */
  readonly exported_at?: string;
  /** A signed statement about the manifest: the digests of pack, artifacts, receipts and gate. */
  readonly envelope?: EvidenceEnvelope;
};

/** An artifact in a manifest. */
export type EvidenceManifestArtifact = {
  /** The kind. */
  readonly kind: string;
  /** The name. */
  readonly name: string;
  /** The version. */
  readonly version: string;
  /** The SHA-256. */
  readonly sha256: string;
  /** The size in bytes, if it is known. */
  readonly size_bytes: number;
};

/** A receipt in a manifest. */
export type EvidenceManifestReceipt = {
  /** The id. */
  readonly id: string;
  /** The type. */
  readonly type: string;
  /** The result. */
  readonly result: string;
  /** When it was issued. */
  readonly issued_at?: string;
  /** When it expires. */
  readonly expires_at?: string;
  /** The SHA-256 of the statement. */
  readonly digest: string;
  /** The signed statement, which contains identifiers, digests, results and times only. */
  readonly envelope?: EvidenceEnvelope;
};

/** A public key that verifies receipts and manifests. */
export type EvidenceKey = {
  /** The id: ed25519- and the first 32 hexadecimal digits of the SHA-256 of the key. */
  readonly id: string;
  /** The 32 bytes of the key, in base64. */
  readonly public_key: string;
  /** active (signs) or retired (only verifies). */
  readonly status: string;
  /** When it was created. */
  readonly created_at?: string;
  /** When it was retired. */
  readonly retired_at?: string;
};

/** Selects the pack to archive. */
export type ArchiveEvidencePackRequest = {
  /** The id or the key of the environment of the pack. */
  readonly environment_id: string;
  /** The pack. */
  readonly pack_id: string;
};

/** Selects the pack and the promotion. */
export type AttachEvidencePackRequest = {
  /** The id or the key of the environment of the pack. */
  readonly environment_id: string;
  /** The pack. */
  readonly pack_id: string;
  /** The promotion candidate. */
  readonly candidate_id: string;
};

/** Selects requirements. */
export type ExpandEvidenceRequirementsRequest = {
  /** The id or the key of the environment; production when empty. */
  readonly environment_id?: string;
  /** The kinds of artifacts: routing, workflow, connector or strategy; all when empty. */
  readonly kinds?: readonly ("routing" | "workflow" | "connector" | "strategy")[];
};

/** The requirements of an environment. */
export type EvidenceRequirementSet = {
  /** The version of the table of requirements. */
  readonly version: number;
  /** The mode of the environment: live or sandbox. */
  readonly environment_mode: string;
  /** The requirements, by id. */
  readonly requirements: readonly EvidenceRequirement[];
};

/** Asks for the public keys. */
export type ListEvidenceKeysRequest = Record<never, never>;

/** The public keys of the instance. */
export type EvidenceKeySet = {
  /** The keys, newest first. */
  readonly keys: readonly EvidenceKey[];
};

/** Asks for a new signing key. */
export type RotateEvidenceKeyRequest = {
  /** Why. */
  readonly reason?: string;
};

/** A signed statement: a DSSE envelope around an in-toto statement. */
export type EvidenceEnvelopeInput = {
  /** The type of the payload; it is part of what is signed. */
  readonly payload_type: string;
  /** The statement as canonical JSON, in base64. */
  readonly payload: string;
  /** The signatures. */
  readonly signatures: readonly EvidenceSignatureInput[];
};

/** A signature of an envelope. */
export type EvidenceSignatureInput = {
  /** The id of the key. */
  readonly keyid: string;
  /** The 64 bytes of the Ed25519 signature, in base64. */
  readonly sig: string;
};

/** An envelope to verify. */
export type VerifyEvidenceReceiptRequest = {
  /** The envelope. */
  readonly envelope: EvidenceEnvelopeInput;
};

/** What the verification of an envelope found. */
export type EvidenceVerification = {
  /** Whether a key of this instance signed the statement. */
  readonly valid: boolean;
  /** The key. */
  readonly key_id: string;
  /** active or retired; empty if the key is unknown. */
  readonly key_status: string;
  /** The statement; absent if the signature is not valid. */
  readonly statement?: JsonObject;
};
