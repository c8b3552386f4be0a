import type { Candidate, Evidence } from "./evidence/index.ts";
import {
  type CanaryResult,
  type EvidenceGate,
  isCandidateOpen,
  type Candidate as Promotion,
} from "./promotions/index.ts";

/** A promotion as evidence sees it. An artifact is named by the id of its target. */
export function toEvidenceCandidate({ id, environmentId, state, artifacts }: Promotion): Candidate {
  return {
    id,
    environmentId,
    hasEnded: !isCandidateOpen(state),
    subjects: artifacts.map(({ kind, targetId, version, sha256, baseSha256 }) => ({
      ...{ kind, name: targetId, version: String(version), sha256, baseSha256 },
    })),
  };
}

/** An inconclusive canary could not be checked. */
function resultOf(verdict: CanaryResult["verdict"]) {
  return verdict === "inconclusive" ? "blocked" : verdict;
}

/** The gate of promotions: that of their evidence pack. A promotion without a pack needs none. */
export function createPackGate(
  evidence: Pick<Evidence, "readGate" | "attachPack" | "addReceipt" | "hasRoom">,
  version: string,
): EvidenceGate {
  return {
    async readGate(sql, tenantId, promotion) {
      const { packId } = promotion;
      if (packId === "") return { state: "open", reasons: [], digest: "" };
      const { id: promotionId, subjects } = toEvidenceCandidate(promotion);
      const { state, reasons, digest } = await evidence.readGate(sql, tenantId, { promotionId, packId, subjects });
      const texts = reasons.map(
        ({ requirementId, subject, reason }) => `${requirementId} of ${subject.name}: ${reason}`,
      );
      return { state, reasons: texts, digest };
    },

    async recordCanary(context, promotion, { verdict, scores }) {
      const { id, environmentId, packId } = promotion;
      // A full pack must not keep a canary from being stopped. Its gate stays closed.
      if (packId === "" || !(await evidence.hasRoom(context.sql, context.tenantId, packId))) return;
      await evidence.addReceipt(context, environmentId, packId, {
        ...{ type: "canary", result: resultOf(verdict), subjects: toEvidenceCandidate(promotion).subjects },
        ...{ observedEnvironmentId: environmentId, candidateId: id, runId: "", token: "", ttlS: 0 },
        cases: scores.map((score) => ({ id: `${score.metric}.${score.targetId}`, status: resultOf(score.verdict) })),
        tool: { name: "switchyard-canary", version },
        details: null,
      });
    },

    async attachPack(context, promotion, packId) {
      await evidence.attachPack(context, packId, toEvidenceCandidate(promotion));
    },
  };
}
