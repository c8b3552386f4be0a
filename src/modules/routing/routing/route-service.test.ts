import assert from "node:assert/strict";
import { test } from "node:test";
import { contextFor } from "../../../../test/harness/context.ts";
import type { PoolSnapshot } from "../pools/index.ts";
import { compilePool } from "./domain/compilation/compiled-pool.ts";
import { LivePool } from "./domain/facts/live-pool.ts";
import { itemOf, poolOf } from "./domain/testing/fixtures.ts";
import { createRouteService } from "./route-service.ts";

test("the admission keys of routed items are evaluated in slices of the event loop", async () => {
  const { snapshot } = poolOf({ strategy: "round_robin", recipients: [{}] });
  const admission = { singleton: { key: "item.key", mode: "skip", ttlS: 60 } };
  const config = { ...snapshot.pool.config, queue: { ttlS: 60, ageingS: 60 }, admission };
  const constrained = { ...snapshot, pool: { ...snapshot.pool, config } } as unknown as PoolSnapshot;
  const pool = compilePool(constrained);
  const live = new LivePool(pool);

  let isInSlice = true;
  const evaluatedInSlice: boolean[] = [];
  const turns = {
    isOver: () => !isInSlice,
    next: async () => {
      isInSlice = true;
    },
  };
  const routes = createRouteService({
    pools: { requirePool: () => constrained } as never,
    live: { view: () => ({ pool, live }), assigned: () => {} } as never,
    shares: { forCall: () => turns, forBackground: () => turns },
    acceptor: {
      async accept({ items, settle }) {
        settle(items.map(() => undefined));
        return "accepted";
      },
      idle: async () => {},
    },
    admissionOf() {
      evaluatedInSlice.push(isInSlice);
      return undefined;
    },
    keepSnapshot: () => undefined,
    reservePlace() {
      // The decision took all of the slice.
      isInSlice = false;
      return { release: () => {}, keep: () => {} };
    },
    expect: () => {},
    onUnassigned: () => {},
    isRecorded: async () => false,
  });
  const item = {
    poolId: constrained.pool.id,
    item: itemOf(),
    attributesJson: "{}",
    payloadJson: "{}",
    notBeforeMs: undefined,
    ttlS: 0,
  };
  const results = await routes.routeBatch(
    contextFor({} as never),
    [item, item, item],
    false,
    undefined,
    (each) => each as never,
  );
  assert.equal((results as unknown as readonly unknown[]).length, 3);
  assert.deepEqual(evaluatedInSlice, [true, true, true]);
});
