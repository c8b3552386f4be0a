import type { Context } from "../../../../chain/call.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { notFound, type Sql } from "../../../../platform/db/index.ts";
import { databaseNow } from "../database-time.ts";
import { evaluateGate, type Gate, type GateReason } from "../domain/gate.ts";
import { nextStepOf } from "../domain/gate-text.ts";
import { type Artifact, type Pack, subjectsOf } from "../domain/pack.ts";
import type { ReceiptHead } from "../domain/receipt.ts";
import { expandRequirements } from "../domain/requirements.ts";
import type { Subject } from "../domain/subject.ts";
import type { EvidenceMetrics } from "../metrics.ts";
import { packStore } from "../packs/pack-store.ts";
import { receiptStore } from "../receipts/receipt-store.ts";

/** A promotion, as evidence sees it. */
export interface Candidate {
  readonly id: string;
  readonly environmentId: string;
  /** Whether it was promoted, rolled back, aborted or failed. */
  readonly hasEnded: boolean;
  /** Its artifacts. They never change. `baseSha256` is what each replaces now; empty if that is not known. */
  readonly subjects: readonly Subject[];
}

/** Evidence's dependencies on promotions. */
export interface Candidates {
  find(sql: Sql, tenantId: TenantId, candidateId: string): Promise<Candidate | undefined>;
  /** Stores the pack of a promotion, and locks the promotion. Throws if the caller's tenant has no such promotion. */
  setPack(context: Context, candidateId: string, packId: string): Promise<Candidate>;
}

/** A pack with the inputs of its gate, as of one revision. */
export interface PackContent {
  readonly pack: Pack;
  readonly artifacts: readonly Artifact[];
  readonly receipts: readonly ReceiptHead[];
}

/** The gate of a promotion, for the transaction that promotes. */
export interface PromotionGate {
  readonly state: "open" | "closed";
  readonly reasons: readonly {
    readonly reason: GateReason;
    readonly requirementId: string;
    readonly subject: Subject;
    readonly receiptId: string;
    readonly nextStep: string;
  }[];
  /** Changes when another receipt decides, or none does any more. An approval binds it. */
  readonly digest: string;
  /** The pack, with all its receipts. */
  readonly packDigest: string;
  /** When it closes if nothing is added. */
  readonly validUntil: Date | undefined;
}

interface Dependencies {
  readonly candidates: Candidates;
  readonly metrics: EvidenceMetrics;
}

/** Evaluates gates. */
export type GateService = ReturnType<typeof createGateService>;

export function createGateService({ candidates, metrics }: Dependencies) {
  function evaluateFor(
    { pack, receipts }: Omit<PackContent, "artifacts">,
    candidateId: string,
    subjects: readonly Subject[],
    nowMs: number,
  ): Gate {
    const kinds = subjects.map(({ kind }) => kind);
    const { id: packId, environmentId, requirementsVersion, acceptedProducers } = pack;
    const requirements = expandRequirements(pack.environmentMode, kinds, pack);
    const terms = { packId, environmentId, candidateId, requirementsVersion, requirements, acceptedProducers };
    return evaluateGate({ ...terms, subjects, receipts, nowMs });
  }

  /** Evaluates the gate of a pack: for the artifacts of its promotion, or for its own while it is not attached. */
  async function evaluatePack(sql: Sql, content: PackContent, nowMs: number): Promise<Gate> {
    const { tenantId, attachment } = content.pack;
    const candidate = attachment && (await candidates.find(sql, tenantId, attachment.candidateId));
    const subjects = candidate?.subjects ?? subjectsOf(content.artifacts);
    return evaluateFor(content, attachment?.candidateId ?? "", subjects, nowMs);
  }

  return {
    evaluatePack,

    async evaluateNow(sql: Sql, content: PackContent): Promise<Gate> {
      const gate = await evaluatePack(sql, content, (await databaseNow(sql)).getTime());
      metrics.gateEvaluated(gate.state);
      return gate;
    },

    /**
     * The gate of a promotion. In a transaction, it keeps the pack as it is until the end. A pack that is not attached to the
     * promotion has no evidence for it.
     */
    async readGate(
      sql: Sql,
      tenantId: TenantId,
      request: { readonly promotionId: string; readonly packId: string; readonly subjects: readonly Subject[] },
    ): Promise<PromotionGate> {
      const { promotionId, packId, subjects } = request;
      const pack = await packStore(sql).hold(tenantId, packId);
      if (pack === undefined) throw notFound("evidence pack");
      const isAttached = pack.attachment?.candidateId === promotionId;
      const receipts = isAttached ? await receiptStore(sql).readHeads(tenantId, packId, pack.revision) : [];
      const nowMs = (await databaseNow(sql)).getTime();
      const gate = evaluateFor({ pack, receipts }, promotionId, subjects, nowMs);
      metrics.gateEvaluated(gate.state);
      const { state, digest, end } = gate;
      return { state, reasons: reasonsOf(gate), digest, packDigest: pack.digest, validUntil: end?.at };
    },
  };
}

/** Why a gate is closed, by requirement and artifact. */
export function reasonsOf({ findings }: Gate): PromotionGate["reasons"] {
  return findings.flatMap((finding) => {
    const { verdict, requirement, subject, decisive } = finding;
    if (verdict === "satisfied") return [];
    const receiptId = decisive?.id ?? "";
    return { reason: verdict, requirementId: requirement.id, subject, receiptId, nextStep: nextStepOf(finding) };
  });
}
