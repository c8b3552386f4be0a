import type { ConformanceReport } from "./conformance/index.ts";
import type { Candidate, Evidence, RuntimeFinding } from "./evidence/index.ts";
import { type EvidenceGate, isCandidateOpen, type Candidate as Promotion } from "./promotions/index.ts";

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

/** A conformance report as evidence. An incomplete one could not check everything. */
export function toRuntimeFinding(report: ConformanceReport & { readonly isNewest: boolean }): RuntimeFinding {
  const { verdict, content, lastProducedAt, isNewest } = report;
  return {
    result: verdict === "incomplete" ? "blocked" : verdict,
    cases: content.cases.map(({ caseId, status }) => ({ id: caseId, status })),
    tool: { name: "switchyard-conformance", version: content.build.version },
    observedAt: lastProducedAt,
    isNewest,
  };
}

/** An inconclusive canary could not be checked. */
const resultOfCanary = { passed: "passed", failed: "failed", inconclusive: "blocked" } as const;
const statusOfScore = { ...resultOfCanary, waived: "not_applicable" } as const;

/** The gate of promotions: that of their evidence pack. A promotion without a pack needs none. */
export function createPackGate(
  evidence: Pick<Evidence, "readGate" | "attachPack" | "addObservation" | "hasRoom">,
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
      await evidence.addObservation(context, environmentId, packId, {
        ...{ type: "canary", result: resultOfCanary[verdict], subjects: toEvidenceCandidate(promotion).subjects },
        ...{ observedEnvironmentId: environmentId, candidateId: id, runId: "", token: "", ttlS: 0, reportId: "" },
        cases: scores.map((score) => ({
          id: `${score.metric}.${score.targetId}`,
          status: statusOfScore[score.verdict],
        })),
        tool: { name: "switchyard-canary", version },
        details: null,
      });
    },

    async attachPack(context, promotion, packId) {
      await evidence.attachPack(context, packId, toEvidenceCandidate(promotion));
    },
  };
}
