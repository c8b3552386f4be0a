/**
 * Governance: how changes reach production.
 *
 * promotions: candidates, their checks, canaries and approvals.
 */
import type { Area, AreaParts } from "../area.ts";
import type { GuardrailTests } from "../experiments/index.ts";
import type { EventRecorder } from "../operations/index.ts";
import type { PromotableArtifacts } from "../promotable-artifacts.ts";
import { createPromotions, type FindEnvironment, type FindIdentities, gateWithoutPacks } from "./promotions/index.ts";

interface Parts extends AreaParts {
  readonly events: EventRecorder;
  readonly tests: GuardrailTests;
  readonly artifacts: () => readonly PromotableArtifacts[];
  readonly findEnvironment: FindEnvironment;
  readonly findIdentities: FindIdentities;
  /** Whether a member who is none of these people has a role that may approve promotions. */
  readonly hasApprover: Parameters<typeof createPromotions>[0]["hasApprover"];
}

/** Creates the area. */
export function createGovernance(parts: Parts) {
  const promotions = createPromotions({ ...parts, gate: gateWithoutPacks });
  return {
    handlers: { "service.api.PromotionService": promotions.handlers },
    jobs: [],
    workers: [],
    promotions,
  } satisfies Area & Record<string, unknown>;
}
