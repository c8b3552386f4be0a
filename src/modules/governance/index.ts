/**
 * Governance: how changes reach production.
 *
 * promotions: candidates, their checks, canaries and approvals. evidence: signed proof that a change was checked, and the gate
 * that depends on it. conformance: checks that this instance keeps its guarantees.
 */
import type { OperationCaller } from "../../chain/operation-caller.ts";
import type { Reencryptable } from "../../platform/crypto/index.ts";
import type { Sql } from "../../platform/db/index.ts";
import type { Area, PlatformServices } from "../area.ts";
import type { GuardrailTests } from "../experiments/index.ts";
import type { EventRecorder } from "../operations/index.ts";
import type { PromotableArtifacts } from "../promotable-artifacts.ts";
import { type ConformanceParts, createConformance } from "./conformance/index.ts";
import { createEvidence, reencryptableSigningKeys } from "./evidence/index.ts";
import { governanceNames } from "./name-sources.ts";
import { createPackGate, toEvidenceCandidate, toRuntimeFinding } from "./promotion-evidence.ts";
import { createPromotions, type People, type Promotions } from "./promotions/index.ts";

export type { ProofCase } from "./evidence/index.ts";
export { waiverScope } from "./promotions/index.ts";

interface Dependencies extends PlatformServices, ConformanceParts, People {
  /** Calls an operation in process. */
  readonly call: OperationCaller;
  readonly events: EventRecorder;
  readonly tests: GuardrailTests;
  readonly artifacts: () => readonly PromotableArtifacts[];
}

/** The tables of the area that are encrypted with the master keys. */
export function sealedByGovernance(sql: Sql): readonly Reencryptable[] {
  return [reencryptableSigningKeys(sql)];
}

export function createGovernance(dependencies: Dependencies) {
  const conformance = createConformance(dependencies);
  const evidence = createEvidence({
    ...dependencies,
    async findRuntimeFinding(sql, tenantId, environmentId, id) {
      const report = await conformance.findReport(sql, tenantId, environmentId, id);
      return report && toRuntimeFinding(report);
    },
    candidates: {
      async find(sql, tenantId, id) {
        const candidate = await promotions.findCandidate(sql, tenantId, id);
        return candidate && toEvidenceCandidate(candidate);
      },
      setPack: async (context, id, packId) => toEvidenceCandidate(await promotions.setPack(context, id, packId)),
    },
  });
  const promotions: Promotions = createPromotions({
    ...dependencies,
    gate: createPackGate(evidence, dependencies.version),
  });
  return {
    handlers: {
      "service.api.PromotionService": promotions.handlers,
      "service.api.RolloutEvidenceService": evidence.handlers,
      "service.api.ConformanceService": conformance.handlers,
    },
    jobs: [...promotions.jobs, ...conformance.jobs],
    workers: [evidence.sweeper],
    names: governanceNames,
    promotions,
    endWaits: conformance.endWaits,
  } satisfies Area & Record<string, unknown>;
}
