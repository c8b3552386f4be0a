/**
 * Promotions: activate versions of pools, workflows and connectors step by step.
 *
 * Candidate: a set of exact versions on its way. Artifact: a version of a target. Base: what a target had at the last
 * preflight; a promotion replaces exactly that. Preflight: checks without effects. Guardrail: a limit on a metric of the
 * targets. Canary: a share of the keys that gets the candidate's versions first. Gate: whether the evidence of a candidate is
 * sufficient. Handle: what a rollback restores.
 */

import type { PromotionService as Rpc } from "../../../../gen/service/api/promotion_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { OperationCaller } from "../../../chain/operation-caller.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { JobKind } from "../../../platform/jobs/index.ts";
import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { PromotableArtifacts } from "../../promotable-artifacts.ts";
import { createArtifactKinds } from "./artifact-kinds.ts";
import { createCanaryScorer } from "./canary-scorer.ts";
import { canaryWatchJob } from "./canary-watch-job.ts";
import { createDecisionService } from "./decision-service.ts";
import type { Candidate } from "./domain/candidate.ts";
import { promotionHandlers } from "./handler.ts";
import { type CandidateService, createCandidateService, type PromotionParts } from "./service.ts";
import { createStageService } from "./stage-service.ts";
import { candidateStore } from "./store.ts";

export type { Candidate } from "./domain/candidate.ts";
export { isOpen as isCandidateOpen } from "./domain/states.ts";
export type { EvidenceGate, People } from "./service.ts";
export { waiverScope } from "./service.ts";

interface Dependencies
  extends Pick<PlatformServices, "db" | "log" | "clock" | "platformTenantId">,
    Omit<PromotionParts, "kinds" | "countStep" | "scoreCanary"> {
  /** Calls an operation in process. */
  readonly call: OperationCaller;
  readonly metrics: Pick<Metrics, "counter">;
  /** The owners of the artifacts. They are composed with other areas. */
  readonly artifacts: () => readonly PromotableArtifacts[];
}

/** The module's public API. */
export interface Promotions extends Pick<CandidateService, "find" | "setPack"> {
  readonly handlers: Handlers<typeof Rpc>;
  readonly jobs: readonly JobKind[];
  /** Finds a candidate for work that no caller asked for; undefined if there is none. */
  findCandidate(sql: Sql, tenantId: TenantId, id: string): Promise<Candidate | undefined>;
}

export function createPromotions({ metrics, artifacts, ...parts }: Dependencies): Promotions {
  const kinds = createArtifactKinds(artifacts);
  const scoreCanary = createCanaryScorer(kinds, parts.tests);
  const steps = metrics.counter({
    name: "promotion_steps_total",
    help: "Steps of promotion candidates, by call and by the state that it led to.",
    labels: ["call", "state"],
  });
  const countStep = (call: string, state: string) => steps.inc({ call, state });
  const all = { ...parts, kinds, scoreCanary, countStep };
  const candidates = createCandidateService(all);
  const stages = createStageService(all, candidates);
  const decisions = createDecisionService(all, candidates, stages);
  return {
    handlers: promotionHandlers({ candidates, stages, decisions }),
    jobs: [canaryWatchJob(all)],
    find: candidates.find,
    findCandidate: (sql, tenantId, id) => candidateStore(sql).find(tenantId, id),
    setPack: candidates.setPack,
  };
}
