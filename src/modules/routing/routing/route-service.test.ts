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

type Dependencies = Parameters<typeof createRouteService>[0];

/** A route service with one pool that has a constraint, and an item for it. */
function routingWith(dependencies: Partial<Dependencies>) {
  const { snapshot } = poolOf({ strategy: "round_robin", recipients: [{}] });
  const admission = { singleton: { key: "item.key", mode: "skip", ttlS: 60 } };
  const config = { ...snapshot.pool.config, queue: { ttlS: 60, ageingS: 60 }, admission };
  const constrained = { ...snapshot, pool: { ...snapshot.pool, config } } as unknown as PoolSnapshot;
  const pool = compilePool(constrained);
  const live = new LivePool(pool);
  const slices = { isOver: () => false, next: async () => {} };
  const routes = createRouteService({
    pools: { requirePool: () => constrained } as never,
    live: { view: () => ({ pool, live }), recordAssignment: () => {}, recordRelease: () => {} } as never,
    shares: { forCall: () => slices, forBackground: () => slices },
    acceptor: acceptorThat(async () => "accepted"),
    checkDependencies: async () => [],
    admissionOf: () => undefined,
    saveSnapshot: () => undefined,
    assignExperiments: async () => [],
    reservePlace: () => ({ release: () => {}, commit: () => {} }),
    expect: () => {},
    onOffered: () => {},
    onUnassigned: () => {},
    countDecision: () => {},
    isRecorded: async () => false,
    ...dependencies,
  });
  const item = {
    poolId: constrained.pool.id,
    item: itemOf(),
    attributesJson: "{}",
    payloadJson: "{}",
    notBeforeMs: undefined,
    ttlS: 0,
    rejectAsError: false,
  };
  return { routes, item };
}

function acceptorThat(accept: () => Promise<"accepted" | "duplicate">): Acceptor {
  return {
    async accept({ items, toBatch }) {
      toBatch(items.map(() => undefined));
      return accept();
    },
    idle: async () => {},
  };
}

test("the admission keys of routed items are evaluated in slices of the event loop", async () => {
  let isInSlice = true;
  const evaluatedInSlice: boolean[] = [];
  const slices = {
    isOver: () => !isInSlice,
    next: async () => {
      isInSlice = true;
    },
  };
  const { routes, item } = routingWith({
    shares: { forCall: () => slices, forBackground: () => slices },
    admissionOf() {
      evaluatedInSlice.push(isInSlice);
      return undefined;
    },
    reservePlace() {
      // The decision has used up the slice.
      isInSlice = false;
      return { release: () => {}, commit: () => {} };
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
for (const [what, accept, refunded] of [
  ["that were accepted", async () => "accepted" as const, []],
  ["of a repeated call", async () => "duplicate" as const, [3]],
  ["that were refused", () => Promise.reject(fail("CONFLICT")), [3]],
  ["whose commit may have happened", () => Promise.reject(connectionLost), []],
] as const) {
  test(`items ${what} ${refunded.length === 0 ? "stay counted against the quota" : "are refunded to the quota"}`, async () => {
    const { routes, item } = routingWith({ acceptor: acceptorThat(accept) });
    const returned: number[] = [];
    const context = contextFor({} as never, {
      takeQuota: async () => ({ refund: async (count) => void returned.push(count) }),
    });
    await routes
      .routeBatch(context, [item, item, item], false, undefined, (each) => each as never)
      .catch((error) => assert.ok(what.startsWith("that were refused") || error === connectionLost));
    assert.deepEqual(returned, refunded);
  });
}
