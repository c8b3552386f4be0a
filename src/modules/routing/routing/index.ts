/**
 * Routing: who takes an item of work, and why.
 *
 * decision: what was chosen, with what it was chosen from; it can be made again. live: what this node knows of the
 * moment. outcome: how what was routed turned out; it teaches who is slow, dear or failing.
 */

import type { Clock } from "../../../platform/clock/clock.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Database, Signals, TenantChanges } from "../../../platform/db/index.ts";
import { readUsedKeys } from "../../../platform/idempotency/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { EventLoopShares } from "../../../platform/scheduling/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Admission } from "../admission/index.ts";
import type { PoolSnapshot, Pools } from "../pools/index.ts";
import type { Queues } from "../queues/index.ts";
import { createAssigning } from "./assignment/assigner.ts";
import { createDecisionService } from "./decisions/decision-service.ts";
import { createSnapshotKeeping } from "./decisions/snapshot-archive.ts";
import { capacityReasons } from "./domain/assignment-retry.ts";
import type { RoutableItem } from "./domain/item.ts";
import type { LivePools } from "./outcomes/live-pools.ts";
import { outcomeHandlers } from "./outcomes/outcome-handler.ts";
import { createQueueRoom } from "./queue-reservation.ts";
import { forgetRoutingJob } from "./retention-job.ts";
import { createRouteService } from "./route-service.ts";
import { routingHandlers } from "./routing-handler.ts";

export { createAcceptance } from "./assignment/recipient-acceptance.ts";
export { createLivePools, type LivePools } from "./outcomes/live-pools.ts";
export { createOutcomeSink } from "./outcomes/outcome-store.ts";

interface Parts {
  readonly db: Database;
  readonly signals: Signals;
  readonly changes: TenantChanges;
  readonly shares: EventLoopShares;
  readonly clock: Clock;
  readonly log: Log;
  readonly cursors: Cursors;
  readonly events: EventRecorder;
  readonly pools: Pools;
  readonly queues: Queues;
  readonly admissionOf: Admission["requestOf"];
  readonly live: LivePools;
  /** How often waiting items without a recipient are looked for. */
  readonly assignPollMs: number;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
}

/** The door of the module. */
export type Router = ReturnType<typeof createRouter>;

/** Makes the module. */
export function createRouter(parts: Parts) {
  const { db, clock, cursors, pools, queues, live, shares, assignPollMs: pollMs } = parts;
  const assigning = createAssigning({ ...parts, unassignedItems: queues.unassignedItems, wake: queues.wake, pollMs });
  const keeping = createSnapshotKeeping(db.sql, clock, pools.snapshotCodec);
  const decisions = createDecisionService(pools);
  const routes = createRouteService({
    pools,
    live,
    shares,
    acceptor: queues.acceptor,
    expect: queues.sweepBy,
    onUnassigned({ tenantId, snapshot, decision, view }) {
      // A place that became free before the item was committed woke nobody.
      const waitsForPlace = capacityReasons.includes(decision.reason);
      const missedPlace = waitsForPlace && !view.live.isFull;
      if (missedPlace || decision.reason === "decided_later") assigning.itemReady(tenantId, snapshot.pool.id);
      else if (waitsForPlace) assigning.itemWaits(tenantId, snapshot.pool.id);
    },
    keepSnapshot: keeping.keep,
    reservePlace: createQueueRoom(db.sql, clock),
    isRecorded: async (claim) => (await readUsedKeys(db.sql, [claim])).size > 0,
    admissionOf: ({ pool }: PoolSnapshot, item: RoutableItem) => parts.admissionOf(pool, item),
  });
  return {
    handlers: {
      routing: routingHandlers(routes, decisions, cursors),
      outcomes: outcomeHandlers(decisions, live),
    },
    jobs: [forgetRoutingJob({ sql: db.sql, ...parts })],
    assigning,
  };
}
