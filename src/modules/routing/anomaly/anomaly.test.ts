import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { GetAnomalyRequestSchema, ListAnomaliesRequestSchema } from "../../../../gen/service/api/anomaly_pb.ts";
import { announcedChanges } from "../../../../test/harness/changes.ts";
import {
  type ContextChoice,
  failsWith,
  freshTenant,
  perform,
  recordedEvents,
  testDatabase,
} from "../../../../test/harness/context.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createCursors } from "../../../platform/cursor/index.ts";
import { urlRefusal } from "../../../platform/egress/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import { createEventLoopShares } from "../../../platform/scheduling/index.ts";
import { createPools, storedLoads, storedWork } from "../pools/index.ts";
import { windowsNeeded } from "./domain/window.ts";
import { createAnomalies, type WatchedPools } from "./index.ts";
import { type ToldOutcome, watchedPools } from "./testing/watched-pool.ts";

const db = await testDatabase();
const events = recordedEvents();
const cursors = createCursors(randomBytes(32));
const { newPool, tell } = watchedPools(db);
const lines: { line: Record<string, unknown>; text: string }[] = [];
const log = { warn: (line: Record<string, unknown>, text: string) => lines.push({ line, text }) } as unknown as Log;
const windowMs = 300_000;
const clock = { at: Date.UTC(2030, 0, 15), now: () => clock.at };

/** Pauses as the module of pools does. */
const pauseRecipients: WatchedPools["pauseRecipients"] = async ({ sql, tenantId, nowMs }, poolId, ids) => {
  const paused = await sql<{ id: string }[]>`
    update recipients set status = 'paused', updated_at = ${new Date(nowMs)}, record_version = record_version + 1
    where tenant_id = ${tenantId} and pool_id = ${poolId} and id = any(${ids as string[]}) and status = 'active'
    returning id`;
  return paused.map(({ id }) => id);
};

/** The module as a node that has just started has it: it knows nothing of any pool. */
function newNode() {
  const parts = {
    db,
    changes: announcedChanges().changes,
    events,
    cursors,
    loads: storedLoads,
    hasWork: storedWork,
    urlRefusal,
  };
  const pools = { snapshot: createPools(parts).snapshot, pauseRecipients };
  const shares = createEventLoopShares();
  return createAnomalies({ db, clock, log, shares, events, pools, cursors, platformTenantId: freshTenant });
}
const { handlers, jobs } = newNode();
const signal = new AbortController().signal;
const run = (kind: string, node = newNode()) =>
  node.jobs.find((job) => job.kind === kind)!.handler({ tenantId: "", id: "", payload: {}, attempt: 1, signal });
/** Looks a little after the current window began, as a node that has not looked before. */
const look = (node = newNode()) => run("anomalies.look", node);

async function anomaliesOf(tenantId: TenantId) {
  const rows = await db.sql`
    select pool_id, recipient_id, method, metric, actions from anomalies where tenant_id = ${tenantId} order by id`;
  return rows.map(({ recipientId, method, metric, actions }) => ({ recipientId, method, metric, actions }));
}
async function statusesOf(tenantId: TenantId): Promise<string[]> {
  const rows = await db.sql<{ status: string }[]>`
    select status from recipients where tenant_id = ${tenantId} order by id`;
  return rows.map(({ status }) => status);
}

/** The moment of the next look: three seconds after a window has ended. */
function nextWindow(): void {
  clock.at = Math.ceil((clock.at + 1) / windowMs) * windowMs + 3000;
}

/** So many outcomes of a recipient in the window that ended so many windows before the clock's. */
function inWindow(recipientId: string, ago: number, count: number, more: (n: number) => Partial<ToldOutcome>) {
  const endMs = Math.floor(clock.at / windowMs) * windowMs - (ago - 1) * windowMs;
  return Array.from({ length: count }, (_, n) => ({ recipientId, atMs: endMs - windowMs + n * 1000, ...more(n) }));
}

/** All windows that a look needs, the last three of which are bad for some of the pool's recipients. */
async function newTroubledPool(config: object, recipientCount: number, troubled: number, environmentKey?: string) {
  nextWindow();
  const tenantId = freshTenant();
  const { poolId, recipientIds } = await newPool(tenantId, config, recipientCount, environmentKey);
  await tell(
    tenantId,
    poolId,
    recipientIds.flatMap((id, at) =>
      Array.from({ length: windowsNeeded }, (_, ago) =>
        inWindow(id, ago + 1, 10, (n) => ({
          latencyMs: at < troubled && ago < 3 ? 5000 : 95 + ((n + ago) % 10),
        })),
      ).flat(),
    ),
  );
  return { tenantId, poolId, recipientIds };
}

test("a recipient that became slow is reported once, with an event and a log line, and work still reaches it", async () => {
  const { tenantId, poolId, recipientIds } = await newTroubledPool({}, 2, 1);
  await look();
  const found = await anomaliesOf(tenantId);
  assert.deepEqual(found, [
    { recipientId: "", method: "zscore", metric: "latency_ms", actions: ["alert", "log"] },
    { recipientId: recipientIds[0], method: "zscore", metric: "latency_ms", actions: ["alert", "log"] },
  ]);
  const told = events.recorded.filter((event) => event.tenantId === tenantId);
  assert.deepEqual(
    told.map(({ type, data }) => [type, data.pool_id, data.recipient_id, data.value, data.actions]),
    [
      ["anomaly.detected", poolId, "", 2549.75, ["alert", "log"]],
      ["anomaly.detected", poolId, recipientIds[0], 5000, ["alert", "log"]],
    ],
  );
  const line = lines.find((each) => each.line.recipient === recipientIds[0])!;
  assert.deepEqual([line.text, line.line.metric, line.line.observed], ["anomaly", "latency_ms", 5000]);
  assert.deepEqual(await statusesOf(tenantId), ["active", "active"]);
  await look();
  assert.equal((await anomaliesOf(tenantId)).length, 2);
});

test("the same is reported again after the cool-down while it lasts, and not before", async () => {
  const { tenantId, poolId, recipientIds } = await newTroubledPool({ methods: ["iqr"], cooldownS: 600 }, 2, 1);
  const node = newNode();
  const reports = async () => (await anomaliesOf(tenantId)).filter(({ recipientId }) => recipientId !== "").length;
  const counts: number[] = [];
  for (let round = 0; round < 3; round++) {
    await look(node);
    counts.push(await reports());
    nextWindow();
    await tell(
      tenantId,
      poolId,
      inWindow(recipientIds[0]!, 1, 10, () => ({ latencyMs: 90_000 * 10 ** round })),
    );
  }
  // After five minutes it is too soon, after ten it is not.
  assert.deepEqual(counts, [1, 1, 2]);
});

test("a node looks at a window once it has ended, and does not look at it twice", async () => {
  const { tenantId } = await newTroubledPool({ cooldownS: 0, methods: ["zscore"] }, 1, 1);
  const node = newNode();
  clock.at -= 2000;
  await look(node);
  assert.deepEqual(await anomaliesOf(tenantId), []);
  clock.at += 2000;
  await look(node);
  assert.equal((await anomaliesOf(tenantId)).length, 2);
  clock.at += 60_000;
  await look(node);
  await look();
  assert.equal((await anomaliesOf(tenantId)).length, 2);
});

test("no more than half of a pool is paused by itself, those from before counted in", async () => {
  const config = { actions: ["auto_pause"], methods: ["zscore"], cooldownS: 0 };
  const { tenantId, poolId, recipientIds } = await newTroubledPool(config, 5, 4);
  await look();
  assert.deepEqual(await statusesOf(tenantId), ["paused", "paused", "active", "active", "active"]);
  const found = await anomaliesOf(tenantId);
  assert.deepEqual(
    found.map(({ recipientId, actions }) => [recipientIds.indexOf(recipientId), actions]),
    [
      [-1, []],
      [0, ["auto_pause"]],
      [1, ["auto_pause"]],
      [2, []],
      [3, []],
    ],
  );
  const goesOn = async (slow: readonly string[], latencyMs: number) => {
    nextWindow();
    await tell(
      tenantId,
      poolId,
      slow.flatMap((id) => inWindow(id, 1, 10, () => ({ latencyMs }))),
    );
    await look();
    return (await anomaliesOf(tenantId)).slice(-slow.length).map(({ recipientId, actions }) => [recipientId, actions]);
  };
  const [first, , third, fourth] = recipientIds as [string, string, string, string];
  assert.deepEqual(await goesOn([third, fourth], 90_000), [
    [third, []],
    [fourth, []],
  ]);
  // An owner who lets one work again makes room for another one.
  await db.sql`update recipients set status = 'active' where tenant_id = ${tenantId} and id = ${first}`;
  assert.deepEqual(await goesOn([third, fourth], 900_000), [
    [third, ["auto_pause"]],
    [fourth, []],
  ]);
  assert.deepEqual(await statusesOf(tenantId), ["active", "paused", "paused", "active", "active"]);
});

test("nodes that look at the same time report once, and together pause no more than half", async () => {
  const config = { actions: ["alert", "auto_pause"], methods: ["zscore"] };
  const { tenantId } = await newTroubledPool(config, 6, 5);
  await Promise.all(Array.from({ length: 8 }, () => look()));
  assert.equal((await statusesOf(tenantId)).filter((status) => status === "paused").length, 3);
  const found = await anomaliesOf(tenantId);
  assert.deepEqual([found.length, new Set(found.map(({ recipientId }) => recipientId)).size], [6, 6]);
  assert.equal(events.recorded.filter((event) => event.tenantId === tenantId).length, 6);
});

test("whoever is deprioritized comes last for the cool-down, and a longer time is not cut short", async () => {
  const { tenantId, poolId, recipientIds } = await newTroubledPool({ actions: ["deprioritize"] }, 2, 2);
  const long = new Date(clock.at + 86_400_000);
  await db.sql`
    insert into recipient_states (tenant_id, pool_id, recipient_id, deprioritized_until, ejections, updated_at)
    values (${tenantId}, ${poolId}, ${recipientIds[1]!}, ${long}, 3, now())`;
  await look();
  const states = await db.sql`
    select deprioritized_until, ejections from recipient_states where tenant_id = ${tenantId} order by recipient_id`;
  assert.deepEqual(
    states.map((state) => [state.deprioritizedUntil.getTime(), state.ejections]),
    [
      [clock.at + 600_000, 0],
      [long.getTime(), 3],
    ],
  );
});

test("recipients that get no work are not judged, nor pools that are told to leave it", async () => {
  const off = await newTroubledPool({ enabled: false }, 2, 1);
  const { tenantId, recipientIds } = await newTroubledPool({}, 2, 1);
  await db.sql`update recipients set status = 'paused' where tenant_id = ${tenantId} and id = ${recipientIds[0]!}`;
  await look();
  assert.deepEqual(
    (await anomaliesOf(tenantId)).map(({ recipientId }) => recipientId),
    [""],
  );
  assert.deepEqual(await anomaliesOf(off.tenantId), []);
});

test("one pool's trouble does not keep the others from being looked at", async () => {
  const broken = await newTroubledPool({ methods: ["no such method"] }, 1, 1);
  const at = clock.at;
  const fine = await newTroubledPool({}, 1, 1);
  clock.at = Math.max(clock.at, at);
  await look();
  assert.ok(lines.some(({ line, text }) => line.pool === broken.poolId && /not looked at/.test(text)));
  assert.equal((await anomaliesOf(fine.tenantId)).length, 2);
});

test("anomalies are kept for ninety days", async () => {
  const { tenantId } = await newTroubledPool({}, 1, 1);
  await look();
  clock.at += 89 * 86_400_000;
  await run("anomalies.forget");
  assert.equal((await anomaliesOf(tenantId)).length, 2);
  clock.at += 86_400_001;
  await run("anomalies.forget");
  assert.deepEqual(await anomaliesOf(tenantId), []);
});

const list = (choice: ContextChoice, request = {}) =>
  perform(db, choice, handlers.listAnomalies, ListAnomaliesRequestSchema, request);
const get = async (choice: ContextChoice, anomalyId: string) =>
  (await perform(db, choice, handlers.getAnomaly, GetAnomalyRequestSchema, { anomalyId })).anomaly!;

test("anomalies are listed newest first and by pool, recipient and method; and read one by one", async () => {
  const { tenantId, poolId, recipientIds } = await newTroubledPool({ actions: ["auto_pause", "log"] }, 2, 1);
  await look();
  const page = await list({ tenantId });
  assert.deepEqual(
    page.anomalies.map((each) => each.recipientId),
    [recipientIds[0], ""],
  );
  assert.equal(page.totalSize, 2);
  const [first] = page.anomalies;
  assert.deepEqual(await get({ tenantId }, first!.id), first);
  assert.deepEqual([first!.poolId, first!.value, first!.actions], [poolId, 5000, ["auto-pause", "log"]]);
  const counts = async (request: object) => (await list({ tenantId }, request)).totalSize;
  assert.equal(await counts({ recipientId: recipientIds[0] }), 1);
  assert.equal(await counts({ poolId, method: "zscore" }), 2);
  assert.equal(await counts({ method: "iqr" }), 0);
  assert.equal(await counts({ poolId: tenantId }), 0);
  const one = await list({ tenantId }, { pageSize: 1 });
  const two = await list({ tenantId }, { pageSize: 1, pageToken: one.nextPageToken });
  assert.deepEqual([...one.anomalies, ...two.anomalies], page.anomalies);
  await assert.rejects(list({ tenantId }, { poolId, pageToken: one.nextPageToken }), failsWith("INVALID_ARGUMENT"));
});

test("another tenant's anomalies, and those outside of a caller's environments, are not found", async () => {
  const { tenantId } = await newTroubledPool({}, 1, 1, "production");
  await look();
  const { id } = (await list({ tenantId })).anomalies[0]!;
  const none = failsWith("NOT_FOUND", /^No such anomaly\.$/);
  await assert.rejects(get({ tenantId: freshTenant() }, id), none);
  await assert.rejects(get({ tenantId, environmentMode: "non_production_only" }, id), none);
  assert.equal((await list({ tenantId: freshTenant() })).totalSize, 0);
  assert.equal((await list({ tenantId, environmentMode: "non_production_only" })).totalSize, 0);
  assert.equal((await list({ tenantId, environmentMode: "production_only" })).totalSize, 2);
  assert.equal((await get({ tenantId, environmentMode: "production_only" }, id)).id, id);
});

test("what runs by itself does so every minute and every day", () => {
  assert.deepEqual(
    jobs.map(({ kind, every }) => [kind, every!.ms]),
    [
      ["anomalies.look", 60_000],
      ["anomalies.forget", 86_400_000],
    ],
  );
});
