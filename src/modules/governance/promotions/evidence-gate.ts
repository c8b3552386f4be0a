import type { Context } from "../../../chain/call.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { CanaryResult } from "./canary-scorer.ts";
import type { GateReading } from "./domain/approval-validity.ts";
import type { Candidate } from "./domain/candidate.ts";

/** Promotions' dependencies on evidence packs. */
export interface EvidenceGate {
  /** Whether the evidence of a candidate is sufficient. Called before an approval and in the transaction of a promotion. */
  readGate(sql: Sql, tenantId: TenantId, candidate: Candidate): Promise<GateReading>;
  /** Adds a canary's result to the pack of a candidate, if it has one. */
  recordCanary(context: Context, candidate: Candidate, result: CanaryResult): Promise<void>;
  /** Attaches a pack to a new candidate, in its transaction. Throws if there is no such pack in its environment. */
  attachPack(context: Context, candidate: Candidate, packId: string): Promise<void>;
}
