/**
 * Routing: who takes an item of work, and why.
 *
 * decision: what was chosen, with what it was chosen from; it can be made again. live: what this node knows of the
 * moment. outcome: how what was routed turned out; it teaches who is slow, dear or failing.
 */
import type { Clock } from "../../platform/clock/clock.ts";
import type { Cursors } from "../../platform/cursor/index.ts";
import type { Database } from "../../platform/db/index.ts";
import { usedKeys } from "../../platform/idempotency/index.ts";
import { ulidMs } from "../../platform/ids/ulid.ts";
import type { Log } from "../../platform/log/log.ts";
import type { EventRecorder } from "../events/index.ts";
import type { PoolSnapshot, Pools } from "../pools/index.ts";
import type { AdmissionKeys, Queues } from "../queues/index.ts";
import { createAssigning } from "./assigning.ts";
import { createDecisionService } from "./decision-service.ts";
import { decisionMsMax, overdueAfter } from "./decision-time.ts";
import type { RoutableItem } from "./domain/item.ts";
import { mayAccept } from "./domain/may-accept.ts";
import { forgetRoutingJob } from "./jobs.ts";
import type { LivePools, LiveView } from "./live-pools.ts";
import { outcomeHandlers } from "./outcome-handler.ts";
import { createQueueRoom } from "./queue-room.ts";
import { createRouteService } from "./route-service.ts";
import { routingHandlers } from "./routing-handler.ts";
import { createSnapshotKeeping } from "./snapshot-keeping.ts";

export { createLivePools, type LivePools } from "./live-pools.ts";
export { createOutcomeSink } from "./outcomes.ts";

interface Parts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly cursors: Cursors;
  readonly events: EventRecorder;
  readonly pools: Pools;
  readonly queues: Queues;
  readonly live: LivePools;
  readonly keys: AdmissionKeys;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
}

/** The door of the module. */
export type Routing = ReturnType<typeof createRouting>;

/** Makes the module. */
export function createRouting(parts: Parts) {
  const { db, clock, cursors, pools, queues, live, keys } = parts;
  const keeping = createSnapshotKeeping(db.sql, clock, pools.snapshotForm);
  const decisions = createDecisionService(pools);
  const routes = createRouteService({
    pools,
    live,
    acceptor: queues.acceptor,
    expect: queues.expect,
    keepSnapshot: keeping.keep,
    haveRoom: createQueueRoom(db.sql, clock),
    isRecorded: async (claim) => (await usedKeys(db.sql, [claim])).size > 0,
    admissionOf({ pool }: PoolSnapshot, item: RoutableItem, later: boolean) {
      const itemRefs = keys.refsOf(pool, item);
      if (itemRefs.length === 0) return undefined;
      const refs = later ? itemRefs.filter(({ kind }) => kind !== "concurrency") : itemRefs;
      return { config: pool.config.admission, refs, itemRefs, environmentId: pool.environmentId };
    },
  });
  return {
    handlers: {
      routing: routingHandlers(routes, decisions, cursors),
      outcomes: outcomeHandlers(decisions, live),
    },
    jobs: [forgetRoutingJob({ sql: db.sql, ...parts })],
    assigning: createAssigning({ ...parts, leftovers: queues.leftovers, wake: queues.wake }),
  };
}

/** Whether a recipient that asks may take an item that nobody was chosen for; a promise at the first look at a pool. */
export function createMayAccept(live: LivePools, clock: Clock) {
  return (
    snapshot: PoolSnapshot,
    recipientId: string,
    offered: Omit<RoutableItem, "requirements"> & { readonly id: string; readonly requirements: object },
  ): boolean | Promise<boolean> => {
    const { type, key, attributes, priority } = offered;
    const requirements = offered.requirements as RoutableItem["requirements"];
    const item = { type, key, attributes, priority, requirements };
    const judged = ({ pool, live: moment }: LiveView): boolean => {
      const nowMs = clock.now();
      const waitedS = (nowMs - ulidMs(offered.id)) / 1000;
      const overdue = overdueAfter(decisionMsMax);
      return mayAccept(pool, moment, item, recipientId, { nowMs, seed: 0, waitedS, overdue }).may;
    };
    const view = live.view(snapshot);
    return view instanceof Promise ? view.then(judged) : judged(view);
  };
}
