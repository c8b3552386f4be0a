import assert from "node:assert/strict";
import { test } from "node:test";
import { contextFor } from "../../../../test/harness/context.ts";
import { fail } from "../../../errors/index.ts";
import type { PoolSnapshot } from "../pools/index.ts";
import type { Acceptor } from "../queues/index.ts";
import { compilePool } from "./domain/compilation/compiled-pool.ts";
import { LivePool } from "./domain/facts/live-pool.ts";
import { itemOf, poolOf } from "./domain/testing/fixtures.ts";
import { createRouteService } from "./route-service.ts";

type Parts = Parameters<typeof createRouteService>[0];

/** Routing into one pool that has a constraint, and an item for it. */
function routingWith(parts: Partial<Parts>) {
  const { snapshot } = poolOf({ strategy: "round_robin", recipients: [{}] });
  const admission = { singleton: { key: "item.key", mode: "skip", ttlS: 60 } };
  const config = { ...snapshot.pool.config, queue: { ttlS: 60, ageingS: 60 }, admission };
  const constrained = { ...snapshot, pool: { ...snapshot.pool, config } } as unknown as PoolSnapshot;
  const pool = compilePool(constrained);
  const live = new LivePool(pool);
  const turns = { isOver: () => false, next: async () => {} };
  const routes = createRouteService({
    pools: { requirePool: () => constrained } as never,
    live: { view: () => ({ pool, live }), assigned: () => {}, released: () => {} } as never,
    shares: { forCall: () => turns, forBackground: () => turns },
    acceptor: acceptorThat(async () => "accepted"),
    admissionOf: () => undefined,
    keepSnapshot: () => undefined,
    reservePlace: () => ({ release: () => {}, keep: () => {} }),
    expect: () => {},
    onUnassigned: () => {},
    isRecorded: async () => false,
    ...parts,
  });
  const item = {
    poolId: constrained.pool.id,
    item: itemOf(),
    attributesJson: "{}",
    payloadJson: "{}",
    notBeforeMs: undefined,
    ttlS: 0,
  };
  return { routes, item };
}

function acceptorThat(keep: () => Promise<"accepted" | "duplicate">): Acceptor {
  return {
    async accept({ items, toBatch }) {
      toBatch(items.map(() => undefined));
      return keep();
    },
    idle: async () => {},
  };
}

test("the admission keys of routed items are evaluated in slices of the event loop", async () => {
  let isInSlice = true;
  const evaluatedInSlice: boolean[] = [];
  const turns = {
    isOver: () => !isInSlice,
    next: async () => {
      isInSlice = true;
    },
  };
  const { routes, item } = routingWith({
    shares: { forCall: () => turns, forBackground: () => turns },
    admissionOf() {
      evaluatedInSlice.push(isInSlice);
      return undefined;
    },
    reservePlace() {
      // The decision took all of the slice.
      isInSlice = false;
      return { release: () => {}, keep: () => {} };
    },
  });
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

const connectionLost = Object.assign(new Error("lost"), { code: "CONNECTION_CLOSED" });
for (const [what, keep, givenBack] of [
  ["that were accepted", async () => "accepted" as const, []],
  ["of a repeated call", async () => "duplicate" as const, [3]],
  ["that were refused", () => Promise.reject(fail("CONFLICT")), [3]],
  ["whose commit may have happened", () => Promise.reject(connectionLost), []],
] as const) {
  test(`items ${what} ${givenBack.length === 0 ? "stay taken from the quota" : "are given back to the quota"}`, async () => {
    const { routes, item } = routingWith({ acceptor: acceptorThat(keep) });
    const returned: number[] = [];
    const context = contextFor({} as never, {
      takeQuota: async () => ({ refund: async (count) => void returned.push(count) }),
    });
    await routes
      .routeBatch(context, [item, item, item], false, undefined, (each) => each as never)
      .catch((error) => assert.ok(what.startsWith("that were refused") || error === connectionLost));
    assert.deepEqual(returned, givenBack);
  });
}
