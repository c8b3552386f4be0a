import assert from "node:assert/strict";
import { test } from "node:test";
import { runAtOnce } from "../../../../platform/event-loop/index.ts";
import { ulidFrom } from "../../../../platform/ids/ulid.ts";
import { createAdmissionKeys, createAdmissionRequests } from "../../admission/index.ts";
import type { PoolConfig, PoolSnapshot } from "../../pools/index.ts";
import { nowMs, type PoolParts, poolOf } from "../domain/testing/fixtures.ts";
import type { RecordedItem } from "./recorded-item-store.ts";
import { ServiceProfile } from "./service-profile.ts";
import { SimulatedPool } from "./simulated-pool.ts";
import { SimulationTally } from "./simulation-tally.ts";

const admissionOf = createAdmissionRequests(createAdmissionKeys(Buffer.alloc(32)));

/** An item that arrived some seconds after the start and was worked on for some seconds. */
function recorded(nth: number, arrivedS: number, parts: Partial<RecordedItem> & { readonly tookS?: number } = {}) {
  const { tookS = 10, ...rest } = parts;
  const arrivedMs = nowMs + arrivedS * 1000;
  const item: RecordedItem = {
    id: ulidFrom(arrivedMs, Uint8Array.of(nth >> 10, (nth >> 5) % 32, nth % 32, ...new Array(13).fill(0))),
    ...{
      type: "task",
      key: "",
      attributes: {},
      priority: 0,
      seed: nth * 7919 + 1,
      unaddressed: false,
      payloadBytes: 2,
    },
    requirements: { skills: {}, recipientId: "", excludedRecipientIds: [] },
    ...{
      outcome: "routed",
      recipientId: "r0",
      heldBy: "r0",
      startedAtMs: arrivedMs,
      endedAtMs: arrivedMs + tookS * 1000,
    },
    ...{ status: "success", latencyMs: tookS * 1000, cost: null },
    ...rest,
  };
  return item;
}

function simulate(parts: PoolParts, items: readonly RecordedItem[], config: Partial<PoolConfig> = {}) {
  const { snapshot: plain } = poolOf(parts);
  const snapshot: PoolSnapshot = {
    ...plain,
    pool: { ...plain.pool, config: { ...plain.pool.config, admission: {}, ...config } },
  };
  const profile = new ServiceProfile();
  for (const item of items) profile.add(item);
  const pool = new SimulatedPool({ snapshot, profile, admissionOf: (view, item) => admissionOf(view.pool, item) });
  const fates = items.map((item) => runAtOnce(pool.arrive(item)));
  runAtOnce(pool.advance(Number.MAX_SAFE_INTEGER));
  return { pool, fates };
}

test("items wait in the queue for as long as the capacity and the recorded service times say", () => {
  // An item arrives every 5 seconds and takes 10: the nth one waits 5 n seconds for the only place.
  const items = Array.from({ length: 20 }, (_, nth) => recorded(nth, nth * 5));
  const { pool, fates } = simulate({ recipients: [{ capacity: 1 }] }, items);
  assert.deepEqual(
    fates.map(({ outcome }) => outcome),
    ["routed", ...new Array(19).fill("queued")],
  );
  assert.deepEqual([pool.waits.items, pool.waits.maxMs, pool.waits.meanMs], [20, 95_000, 47_500]);
  assert.equal(pool.busyMs[0], 200_000);
  const twice = simulate({ recipients: [{ capacity: 2 }] }, items).pool;
  assert.equal(twice.waits.maxMs, 0);
});

test("a recipient whose items had to wait for it works on no more items at once than were recorded", () => {
  // One worker: the nth item started when the one before it ended.
  const items = Array.from({ length: 10 }, (_, nth) => {
    const startedAtMs = nowMs + nth * 10_000;
    return recorded(nth, 0, { startedAtMs, endedAtMs: startedAtMs + 10_000 });
  });
  const { pool } = simulate({ recipients: [{}] }, items);
  assert.deepEqual([pool.waits.items, pool.waits.maxMs], [10, 90_000]);
});

test("items that another recipient gets take as long as its own items", () => {
  const fast = Array.from({ length: 10 }, (_, nth) =>
    recorded(nth, nth, { tookS: 1, heldBy: "r1", recipientId: "r1" }),
  );
  const slow = Array.from({ length: 10 }, (_, nth) => recorded(100 + nth, 20 + nth, { tookS: 30 }));
  const { pool } = simulate({ recipients: [{ weight: 0 }, {}] }, [...fast, ...slow]);
  assert.deepEqual([...pool.items], [0, 20]);
  assert.equal(pool.busyMs[1], 20_000);
});

test("a throttle rejects what exceeds it, and a concurrency limit delays work", () => {
  const items = Array.from({ length: 10 }, (_, nth) => recorded(nth, nth));
  const throttle = { key: "", limit: 1, periodS: 3, burst: 0, cost: 1, onLimit: "reject" as const };
  const throttled = simulate({ recipients: [{}] }, items, { admission: { throttle } });
  assert.equal(throttled.pool.constraints.refusals.get("throttle rejected"), 6);
  assert.equal(throttled.fates.filter(({ reason }) => reason === "throttle_rejected").length, 6);
  const concurrency = { key: "", limit: 1, scope: "pool" as const };
  const limited = simulate({ recipients: [{}] }, items, { admission: { concurrency } });
  assert.deepEqual([limited.pool.waits.items, limited.pool.waits.maxMs], [10, 81_000]);
});

test("a singleton takes the next item only after the one before has ended", () => {
  const items = Array.from({ length: 6 }, (_, nth) => recorded(nth, nth * 4));
  const singleton = { key: "", mode: "skip" as const, ttlS: 3600 };
  const { fates } = simulate({ recipients: [{}] }, items, { admission: { singleton } });
  assert.deepEqual(
    fates.map(({ outcome }) => outcome),
    ["routed", "deduplicated", "deduplicated", "routed", "deduplicated", "deduplicated"],
  );
});

test("a recipient whose items fail is ejected, and the others get its items meanwhile", () => {
  const items = Array.from({ length: 20 }, (_, nth) =>
    recorded(nth, nth * 10, {
      tookS: 1,
      status: nth % 2 === 0 ? "failure" : "success",
      heldBy: nth % 2 === 0 ? "r0" : "r1",
    }),
  );
  const config = { outlier: { consecutiveFailures: 3, ejectS: 3600, maxEjectedPct: 50 } };
  const { pool } = simulate({ strategy: "round_robin", recipients: [{}, {}], config }, items);
  assert.deepEqual([...pool.items], [3, 17]);
});

test("an item without a pool that the version no longer chooses is a refusal, because of the rules", () => {
  const rules = [{ action: { type: "require" as const } }];
  const items = [recorded(0, 0, { unaddressed: true }), recorded(1, 1)];
  const sides = [true, false].map((acceptsUnaddressed) =>
    simulate({ recipients: [{}], rules }, items, { acceptsUnaddressed }),
  );
  const [was, is] = sides as [(typeof sides)[number], (typeof sides)[number]];
  const tally = new SimulationTally({ before: was.pool.compiled.snapshot, after: is.pool.compiled.snapshot });
  for (const [at, item] of items.entries()) tally.add(item, nowMs, was.fates[at]!, is.fates[at]!);
  const { outcomes, causes, examples, routing } = tally.report(was.pool, is.pool, 1000);
  assert.deepEqual(outcomes, [{ before: "routed", after: "not_chosen", items: 1 }]);
  assert.deepEqual(causes, [{ cause: "rule", items: 1 }]);
  assert.equal(examples[0]?.after, "not_chosen");
  assert.deepEqual(routing?.refused, { before: 0, after: 1 });
});

for (const strategy of ["first_accept", "manual"] as const) {
  test(`items of ${strategy} are taken when they were, by whom they were, and do not fill the queue`, () => {
    // Each item waits for 5 seconds and takes 10.
    const items = Array.from({ length: 50 }, (_, nth) => {
      const startedAtMs = nowMs + (nth + 5) * 1000;
      const taken = { startedAtMs, endedAtMs: startedAtMs + 10_000, heldBy: nth % 2 === 0 ? "r0" : "r1" };
      return recorded(nth, nth, { outcome: "queued", recipientId: "", ...taken });
    });
    const config = { queue: { maxDepth: 10 } };
    const { pool, fates } = simulate({ strategy, recipients: [{}, {}], config }, items);
    assert.deepEqual([...new Set(fates.map(({ outcome }) => outcome))], ["queued"]);
    assert.deepEqual([pool.waits.items, pool.waits.meanMs, pool.waits.maxMs, pool.waiting], [50, 5000, 5000, 0]);
    assert.deepEqual(
      [[...pool.items], [...pool.busyMs]],
      [
        [25, 25],
        [250_000, 250_000],
      ],
    );
  });
}

test("an item that nobody took leaves when it did, or when it expires, and one of an unknown recipient when it was taken", () => {
  const untaken = { outcome: "queued" as const, recipientId: "", heldBy: "", startedAtMs: null };
  const items = [
    recorded(0, 0, { ...untaken, endedAtMs: nowMs + 20_000 }),
    recorded(1, 1, { ...untaken, endedAtMs: null }),
    recorded(2, 2, { ...untaken, heldBy: "gone", startedAtMs: nowMs + 30_000, endedAtMs: nowMs + 90_000 }),
    ...[10, 25, 40, 70].map((arrivedS, nth) => recorded(3 + nth, arrivedS, { ...untaken, endedAtMs: null })),
  ];
  const config = { queue: { maxDepth: 3, ttlS: 60 } };
  const { pool, fates } = simulate({ strategy: "first_accept", recipients: [{}], config }, items);
  assert.deepEqual(
    fates.map(({ reason }) => reason).map((reason) => (reason === "queue_full" ? "full" : "waits")),
    ["waits", "waits", "waits", "full", "waits", "waits", "waits"],
  );
  assert.deepEqual([pool.waiting, pool.waits.items], [0, 0]);
});

test("an item that no recipient can take expires, and frees its place and its singleton", () => {
  const items = [0, 10, 20, 70, 80].map((arrivedS, nth) => recorded(nth, arrivedS));
  const rules = [{ action: { type: "require" as const }, condition: "recipient.weight > 1000" }];
  const parts = { recipients: [{}], rules, config: { queue: { maxDepth: 2, ttlS: 60 } } };
  const reasonsOf = (config: Partial<PoolConfig>) => simulate(parts, items, config).fates.map(({ reason }) => reason);
  const excluded = "rules_exclude_all";
  assert.deepEqual(reasonsOf({}), [excluded, excluded, "queue_full", excluded, excluded]);
  const singleton = { key: "", mode: "skip" as const, ttlS: 3600 };
  const skipped = "singleton_deduplicated";
  assert.deepEqual(reasonsOf({ admission: { singleton } }), [excluded, skipped, skipped, excluded, skipped]);
});

test("a fallback step assigns an item that nobody took before it", () => {
  const config = { fallback: { steps: [{ afterS: 30, condition: "", strategy: "weighted_random" as const }] } };
  const waited = (startedS: number) => ({ startedAtMs: nowMs + startedS * 1000, endedAtMs: nowMs + startedS * 1000 });
  const items = [10, 50].map((startedS, nth) => recorded(nth, 0, { outcome: "queued", ...waited(startedS) }));
  const { pool } = simulate({ strategy: "first_accept", recipients: [{}], config }, items);
  assert.deepEqual([pool.waits.items, pool.waits.meanMs, pool.waits.maxMs], [2, 20_000, 30_000]);
});

test("an arrival after which many items have ended leaves the event loop after each of them", () => {
  const items = Array.from({ length: 1000 }, (_, nth) => recorded(nth, 0));
  const { snapshot } = poolOf({ recipients: [{}] });
  const profile = new ServiceProfile();
  for (const item of items) profile.add(item);
  const pool = new SimulatedPool({ snapshot, profile, admissionOf: () => undefined });
  for (const item of items) runAtOnce(pool.arrive(item));
  let pauses = 0;
  const work = pool.arrive(recorded(0, 60));
  for (let step = work.next(); step.done !== true; step = work.next()) pauses++;
  assert.deepEqual([pauses, pool.busyMs[0]], [1000, 10_000_000]);
});
