/**
 * Routing: chooses the recipient of each item.
 *
 * decision: the chosen recipient with the evidence of the choice; it can be replayed. live: this node's current state of
 * pools and recipients. outcome: the result of a routed item; it updates the latency, cost and health of its recipient.
 * assigner: the background task that finds recipients for waiting items. simulation: recorded items that are decided again with
 * another version of their pool, without any effect.
 */

import { isRecorded } from "../../../platform/idempotency/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Admission } from "../admission/index.ts";
import type { PoolSnapshot, Pools } from "../pools/index.ts";
import type { Queues } from "../queues/index.ts";
import { createAssigner } from "./assignment/assigner.ts";
import { createDecisionExplainer } from "./decisions/decision-explainer.ts";
import { createDecisionService } from "./decisions/decision-service.ts";
import { createSnapshotArchive } from "./decisions/snapshot-archive.ts";
import { capacityReasons } from "./domain/assignment-retry.ts";
import type { RoutableItem } from "./domain/item.ts";
import type { ScoreOutcomes } from "./outcomes/experiment-scorer.ts";
import type { LivePools } from "./outcomes/live-pools.ts";
import { outcomeHandlers } from "./outcomes/outcome-handler.ts";
import { createQueueReservations } from "./queue-reservation.ts";
import { deleteExpiredRoutingJob } from "./retention-job.ts";
import type { AssignExperiments } from "./route-preparation.ts";
import { createRouteService } from "./route-service.ts";
import { routingHandlers } from "./routing-handler.ts";
import type { RoutingMetrics } from "./routing-metrics.ts";

export { createAcceptance } from "./assignment/recipient-acceptance.ts";
export { decisionUsage } from "./decisions/usage-source.ts";
export { createExperimentScorer, type RecordScores } from "./outcomes/experiment-scorer.ts";
export { createLivePools, type LivePools } from "./outcomes/live-pools.ts";
export { createOutcomeSink } from "./outcomes/outcome-store.ts";
export type { AssignExperiments } from "./route-preparation.ts";
export { createRoutingMetrics } from "./routing-metrics.ts";
export { simulatePool } from "./simulation/pool-simulator.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "changes" | "shares" | "clock" | "log"> {
  readonly events: EventRecorder;
  readonly pools: Pools;
  readonly queues: Queues;
  readonly admissionOf: Admission["requestOf"];
  readonly live: LivePools;
  readonly assignExperiments: AssignExperiments;
  readonly scoreOutcomes: ScoreOutcomes;
  readonly metrics: RoutingMetrics;
  /** The interval of the search for waiting items without a recipient. */
  readonly assignPollMs: number;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
}

/** The module's public API. */
export type Router = ReturnType<typeof createRouter>;

export function createRouter(dependencies: Dependencies) {
  const { db, clock, pools, queues, live, assignPollMs: pollMs } = dependencies;
  const assigner = createAssigner({
    ...dependencies,
    unassignedItems: queues.unassignedItems,
    wake: queues.wake,
    onOffered: queues.announceOffers,
    pollMs,
  });
  const archive = createSnapshotArchive(db.sql, clock, pools.snapshotCodec);
  const decisions = createDecisionService(pools);
  const routes = createRouteService({
    ...dependencies,
    acceptor: queues.acceptor,
    checkDependencies: queues.checkDependencies,
    expect: queues.sweepBy,
    onOffered: queues.announceOffers,
    countDecision: dependencies.metrics.decided,
    onUnassigned({ tenantId, snapshot, decision, view }) {
      // A place that became free before the item was committed triggered no scan for it.
      const waitsForPlace = capacityReasons.includes(decision.reason);
      const missedPlace = waitsForPlace && !view.live.isFull;
      if (missedPlace || decision.reason === "decided_later") assigner.announceReadyItem(tenantId, snapshot.pool.id);
      else if (waitsForPlace) assigner.announceWaitingItem(tenantId, snapshot.pool.id);
    },
    saveSnapshot: archive.save,
    reservePlace: createQueueReservations(db.sql),
    isRecorded: (keyed) => isRecorded(db.sql, keyed),
    admissionOf: ({ pool }: PoolSnapshot, item: RoutableItem) => dependencies.admissionOf(pool, item),
  });
  return {
    handlers: {
      routing: routingHandlers(routes, decisions),
      outcomes: outcomeHandlers(decisions, live, dependencies.scoreOutcomes),
    },
    jobs: [deleteExpiredRoutingJob(dependencies)],
    assigner,
    explainer: createDecisionExplainer({ decisions, pools }),
  };
}
