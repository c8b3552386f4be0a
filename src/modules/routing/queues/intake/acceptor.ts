import type { TenantId } from "../../../../platform/access/index.ts";
import { type Batcher, createBatcher, type Database } from "../../../../platform/db/index.ts";
import { admitted } from "../../admission/index.ts";
import { shardCount } from "../transitions/queue-counts.ts";
import type { AcceptRequest } from "./accept-request.ts";
import { insertAcceptedBatches } from "./accept-store.ts";
import type { ConstrainedAcceptor } from "./constrained-acceptor.ts";

/** Accepts items. Calls are committed in shared batches before they return. */
export interface Acceptor {
  /** Returns "duplicate", and writes nothing, when the call's idempotency key was used before. */
  accept(request: AcceptRequest): Promise<"accepted" | "duplicate">;
  idle(): Promise<void>;
}

interface Dependencies {
  readonly db: Database;
  readonly constrained: ConstrainedAcceptor;
  /** Called after the commit with each pool that has new items, and whether some are pushed. */
  readonly wake: (tenantId: TenantId, poolId: string, push: boolean) => void;
}

/** Up to `batchMax` items share the fixed cost of a statement. */
const byItems = { lanes: 2, batchMax: 500, concurrentMin: 100, weigh: ({ items }: AcceptRequest) => items.length };
/** Calls with at least this many items are batched separately, so that small calls do not wait for them. */
const bulkMin = 50;

/** Creates a batcher with separate batches for small and large calls. */
function createSizedBatcher<Out>(flush: (requests: AcceptRequest[]) => Promise<Out[]>): Batcher<AcceptRequest, Out> {
  const few = createBatcher<AcceptRequest, Out>({ ...byItems, flush });
  const many = createBatcher<AcceptRequest, Out>({ ...byItems, flush });
  return {
    run: (request) => (request.items.length < bulkMin ? few : many).run(request),
    async idle() {
      await Promise.all([few.idle(), many.idle()]);
    },
  };
}

export function createAcceptor({ db, constrained, wake }: Dependencies): Acceptor {
  let turn = 0;
  const nextShard = () => turn++ % shardCount;

  const plainBatcher = createSizedBatcher<"accepted" | "duplicate">(async (requests) => {
    const batches = requests.map(({ items, toBatch }) =>
      toBatch(items.map(({ admission }) => (admission === undefined ? undefined : admitted))),
    );
    const refused = await insertAcceptedBatches(db.sql, batches, nextShard());
    return wakePools(requests, refused);
  });

  // Batched separately: these calls may wait for group locks and must not delay unconstrained calls.
  const constrainedBatcher = createSizedBatcher<"accepted" | "duplicate">(async (requests) => {
    const refused = await constrained.accept(requests, nextShard());
    return wakePools(requests, refused);
  });

  /** Wakes the pools with new items; returns the result of each request. */
  function wakePools(requests: readonly AcceptRequest[], refused: ReadonlySet<number>): ("accepted" | "duplicate")[] {
    const pools = new Map<string, { tenantId: TenantId; push: boolean }>();
    const results = requests.map(({ tenantId, items }, at) => {
      if (refused.has(at)) return "duplicate";
      for (const { poolId, push } of items)
        pools.set(poolId, { tenantId, push: push || pools.get(poolId)?.push === true });
      return "accepted";
    });
    for (const [poolId, { tenantId, push }] of pools) wake(tenantId, poolId, push);
    return results;
  }

  return {
    accept: (request) => (request.items.some(needsTransaction) ? constrainedBatcher : plainBatcher).run(request),
    async idle() {
      await Promise.all([plainBatcher.idle(), constrainedBatcher.idle()]);
    },
  };
}

/** Whether an item has constraints to pass, or waits for other items. */
function needsTransaction({ admission, hasDependencies }: AcceptRequest["items"][number]): boolean {
  return hasDependencies === true || (admission !== undefined && admission.refs.length > 0);
}
