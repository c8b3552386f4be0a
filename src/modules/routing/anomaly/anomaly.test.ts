import assert from "node:assert/strict";
import { test } from "node:test";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { GetAnomalyRequestSchema, ListAnomaliesRequestSchema } from "../../../../gen/service/api/anomaly_pb.ts";
import { GetRecipientRequestSchema } from "../../../../gen/service/api/recipient_pb.ts";
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
import { urlRefusal } from "../../../platform/egress/index.ts";
import { createEventLoopScheduler } from "../../../platform/event-loop/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import { createPools, recipientLoadStore } from "../pools/index.ts";
import { closeEmptyQueue } from "../queues/index.ts";
import { windowsNeeded } from "./domain/window.ts";
import { createAnomalies } from "./index.ts";
import { createOutcomeFixture, type OutcomeInput } from "./testing/outcome-fixture.ts";

const db = await testDatabase();
const events = recordedEvents();
const { newPool, recordOutcomes } = createOutcomeFixture(db);
const lines: { line: Record<string, unknown>; text: string }[] = [];
const log = { warn: (line: Record<string, unknown>, text: string) => lines.push({ line, text }) } as unknown as Log;
const windowMs = 300_000;
const clock = { at: Date.UTC(2030, 0, 15), now: () => clock.at };

/** The module on a freshly started node with empty caches. */
function newNode() {
  const parts = {
    db,
    changes: announcedChanges().changes,
    events,
    loads: recipientLoadStore,
    closeQueue: closeEmptyQueue,
    urlRefusal,
  };
  const pools = createPools(parts);
  const shares = createEventLoopScheduler();
  const module = createAnomalies({ db, clock, log, shares, events, pools, platformTenantId: freshTenant });
  return { ...module, recipients: pools.handlers.recipients };
}
const { handlers, jobs, recipients } = newNode();
const signal = new AbortController().signal;
const run = (kind: string, node = newNode()) =>
  node.jobs.find((job) => job.kind === kind)!.handler({ tenantId: "", id: "", payload: {}, attempt: 1, signal });
/** Scans shortly after the current window began, on a fresh node by default. */
const scan = (node = newNode()) => run("anomalies.detect", node);

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

/** Moves the clock to the next scan: three seconds after the end of a window. */
function nextWindow(): void {
  clock.at = Math.ceil((clock.at + 1) / windowMs) * windowMs + 3000;
}

/** `count` outcomes of a recipient in the window that is `ago` windows before the current one. */
function inWindow(recipientId: string, ago: number, count: number, more: (n: number) => Partial<OutcomeInput>) {
  const endMs = Math.floor(clock.at / windowMs) * windowMs - (ago - 1) * windowMs;
  return Array.from({ length: count }, (_, n) => ({ recipientId, atMs: endMs - windowMs + n * 1000, ...more(n) }));
}

/** Creates a pool with all windows that detection needs; the last three are bad for some of its recipients. */
async function newDegradedPool(config: object, recipientCount: number, degraded: number, environmentKey?: string) {
  nextWindow();
  const tenantId = freshTenant();
  const { poolId, recipientIds } = await newPool(tenantId, config, recipientCount, environmentKey);
  await recordOutcomes(
    tenantId,
    poolId,
    recipientIds.flatMap((id, at) =>
      Array.from({ length: windowsNeeded }, (_, ago) =>
        inWindow(id, ago + 1, 10, (n) => ({
          latencyMs: at < degraded && ago < 3 ? 5000 : 95 + ((n + ago) % 10),
        })),
      ).flat(),
    ),
  );
  return { tenantId, poolId, recipientIds };
}

test("a slow recipient is reported once, with an event and a log line, and still receives work", async () => {
  const { tenantId, poolId, recipientIds } = await newDegradedPool({}, 2, 1);
  await scan();
  const found = await anomaliesOf(tenantId);
  assert.deepEqual(found, [
    { recipientId: "", method: "zscore", metric: "latency_ms", actions: ["alert", "log"] },
    { recipientId: recipientIds[0], method: "zscore", metric: "latency_ms", actions: ["alert", "log"] },
  ]);
  const recorded = events.recorded.filter((event) => event.tenantId === tenantId);
  assert.deepEqual(
    recorded.map(({ type, data }) => [type, data.pool_id, data.recipient_id, data.value, data.actions]),
    [
      ["anomaly.detected", poolId, "", 2549.75, ["alert", "log"]],
      ["anomaly.detected", poolId, recipientIds[0], 5000, ["alert", "log"]],
    ],
  );
  const line = lines.find((each) => each.line.recipient === recipientIds[0])!;
  assert.deepEqual([line.text, line.line.metric, line.line.observed], ["anomaly", "latency_ms", 5000]);
  assert.deepEqual(await statusesOf(tenantId), ["active", "active"]);
  await scan();
  assert.equal((await anomaliesOf(tenantId)).length, 2);
});

test("a lasting anomaly is reported again after the cool-down and not before", async () => {
  const { tenantId, poolId, recipientIds } = await newDegradedPool({ methods: ["iqr"], cooldownS: 600 }, 2, 1);
  const node = newNode();
  const reports = async () => (await anomaliesOf(tenantId)).filter(({ recipientId }) => recipientId !== "").length;
  const counts: number[] = [];
  for (let round = 0; round < 3; round++) {
    await scan(node);
    counts.push(await reports());
    nextWindow();
    await recordOutcomes(
      tenantId,
      poolId,
      inWindow(recipientIds[0]!, 1, 10, () => ({ latencyMs: 90_000 * 10 ** round })),
    );
  }
  // Five minutes are within the cool-down, ten are not.
  assert.deepEqual(counts, [1, 1, 2]);
});

test("a node scans a window after it has ended, and only once", async () => {
  const { tenantId } = await newDegradedPool({ cooldownS: 0, methods: ["zscore"] }, 1, 1);
  const node = newNode();
  clock.at -= 2000;
  await scan(node);
  assert.deepEqual(await anomaliesOf(tenantId), []);
  clock.at += 2000;
  await scan(node);
  assert.equal((await anomaliesOf(tenantId)).length, 2);
  clock.at += 60_000;
  await scan(node);
  await scan();
  assert.equal((await anomaliesOf(tenantId)).length, 2);
});

test("at most half of a pool is paused automatically, including earlier pauses", async () => {
  const config = { actions: ["auto_pause"], methods: ["zscore"], cooldownS: 0 };
  const { tenantId, poolId, recipientIds } = await newDegradedPool(config, 5, 4);
  await scan();
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
  const nextScan = async (slow: readonly string[], latencyMs: number) => {
    nextWindow();
    await recordOutcomes(
      tenantId,
      poolId,
      slow.flatMap((id) => inWindow(id, 1, 10, () => ({ latencyMs }))),
    );
    await scan();
    return (await anomaliesOf(tenantId)).slice(-slow.length).map(({ recipientId, actions }) => [recipientId, actions]);
  };
  const [first, , third, fourth] = recipientIds as [string, string, string, string];
  assert.deepEqual(await nextScan([third, fourth], 90_000), [
    [third, []],
    [fourth, []],
  ]);
  // Resuming one recipient allows another one to be paused.
  await db.sql`update recipients set status = 'active' where tenant_id = ${tenantId} and id = ${first}`;
  assert.deepEqual(await nextScan([third, fourth], 900_000), [
    [third, ["auto_pause"]],
    [fourth, []],
  ]);
  assert.deepEqual(await statusesOf(tenantId), ["active", "paused", "paused", "active", "active"]);
});

test("nodes that scan concurrently report once and together pause at most half", async () => {
  const config = { actions: ["alert", "auto_pause"], methods: ["zscore"] };
  const { tenantId } = await newDegradedPool(config, 6, 5);
  await Promise.all(Array.from({ length: 8 }, () => scan()));
  assert.equal((await statusesOf(tenantId)).filter((status) => status === "paused").length, 3);
  const found = await anomaliesOf(tenantId);
  assert.deepEqual([found.length, new Set(found.map(({ recipientId }) => recipientId)).size], [6, 6]);
  const ofType = (type: string) =>
    events.recorded.filter((event) => event.tenantId === tenantId && event.type === type);
  assert.deepEqual([ofType("anomaly.detected").length, ofType("recipient.paused").length], [6, 3]);
});

const pauseOf = async (tenantId: TenantId, recipientId: string) => {
  const request = { recipientId };
  const { recipient } = await perform(db, { tenantId }, recipients.getRecipient, GetRecipientRequestSchema, request);
  return recipient!.pause;
};

test("an automatically paused recipient says why and until when, and one of many nodes resumes it then", async () => {
  const config = { actions: ["auto_pause"], methods: ["zscore"], cooldownS: 900, autoResume: true };
  const { tenantId, recipientIds } = await newDegradedPool(config, 2, 1);
  await scan();
  const pausedAtMs = clock.at;
  const pause = (await pauseOf(tenantId, recipientIds[0]!))!;
  const { anomalies } = await list({ tenantId }, { recipientId: recipientIds[0] });
  assert.deepEqual([pause.cause, pause.actor, pause.anomalyId], ["anomaly", "anomaly-detection", anomalies[0]!.id]);
  assert.match(pause.reason, /^zscore: latency_ms is 5000, and was \d+(\.\d+)? before$/);
  assert.equal(timestampMs(pause.until!), pausedAtMs + 900_000);
  clock.at = pausedAtMs + 899_000;
  await run("anomalies.resume");
  assert.deepEqual(await statusesOf(tenantId), ["paused", "active"]);
  clock.at = pausedAtMs + 900_000;
  // Nodes that have just started.
  await Promise.all(Array.from({ length: 4 }, () => run("anomalies.resume")));
  assert.deepEqual(await statusesOf(tenantId), ["active", "active"]);
  assert.equal(await pauseOf(tenantId, recipientIds[0]!), undefined);
  const resumed = events.recorded.filter((each) => each.tenantId === tenantId && each.type === "recipient.resumed");
  assert.deepEqual(
    resumed.map(({ subject, data }) => [subject, data.cause, data.actor]),
    [[recipientIds[0], "cool_down_ended", "anomaly-detection"]],
  );
});

test("without automatic resumption a recipient stays paused", async () => {
  const { tenantId, recipientIds } = await newDegradedPool({ actions: ["auto_pause"], methods: ["zscore"] }, 2, 1);
  await scan();
  assert.equal((await pauseOf(tenantId, recipientIds[0]!))!.until, undefined);
  clock.at += 30 * 86_400_000;
  await run("anomalies.resume");
  assert.deepEqual(await statusesOf(tenantId), ["paused", "active"]);
});

test("a resumed recipient is not paused again because of the windows before its pause", async () => {
  const config = { actions: ["auto_pause"], methods: ["zscore"], cooldownS: 0, autoResume: true };
  const { tenantId, poolId, recipientIds } = await newDegradedPool(config, 2, 1);
  await scan();
  nextWindow();
  await run("anomalies.resume");
  assert.deepEqual(await statusesOf(tenantId), ["active", "active"]);
  // Two of its last three windows are still bad.
  await scan();
  assert.deepEqual(await statusesOf(tenantId), ["active", "active"]);
  for (const latencyMs of [100_000, 100_000]) {
    nextWindow();
    await recordOutcomes(
      tenantId,
      poolId,
      inWindow(recipientIds[0]!, 1, 10, () => ({ latencyMs })),
    );
  }
  await scan();
  assert.deepEqual(await statusesOf(tenantId), ["paused", "active"]);
});

test("a recipient is deprioritized for the cool-down, and a later deadline is kept", async () => {
  const { tenantId, poolId, recipientIds } = await newDegradedPool({ actions: ["deprioritize"] }, 2, 2);
  const long = new Date(clock.at + 86_400_000);
  await db.sql`
    insert into recipient_states (tenant_id, pool_id, recipient_id, deprioritized_until, ejections, updated_at)
    values (${tenantId}, ${poolId}, ${recipientIds[1]!}, ${long}, 3, now())`;
  await scan();
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

test("inactive recipients and pools with disabled detection are not checked", async () => {
  const off = await newDegradedPool({ enabled: false }, 2, 1);
  const { tenantId, recipientIds } = await newDegradedPool({}, 2, 1);
  await db.sql`update recipients set status = 'paused' where tenant_id = ${tenantId} and id = ${recipientIds[0]!}`;
  await scan();
  assert.deepEqual(
    (await anomaliesOf(tenantId)).map(({ recipientId }) => recipientId),
    [""],
  );
  assert.deepEqual(await anomaliesOf(off.tenantId), []);
});

test("a failure in one pool does not stop the scan of the others", async () => {
  const broken = await newDegradedPool({ methods: ["no such method"] }, 1, 1);
  const at = clock.at;
  const fine = await newDegradedPool({}, 1, 1);
  clock.at = Math.max(clock.at, at);
  await scan();
  assert.ok(
    lines.some(({ line, text }) => line.pool === broken.poolId && /scanning the outcomes of a pool failed/.test(text)),
  );
  assert.equal((await anomaliesOf(fine.tenantId)).length, 2);
});

test("anomalies are stored for ninety days", async () => {
  const { tenantId } = await newDegradedPool({}, 1, 1);
  await scan();
  clock.at += 89 * 86_400_000;
  await run("anomalies.delete_expired");
  assert.equal((await anomaliesOf(tenantId)).length, 2);
  clock.at += 86_400_001;
  await run("anomalies.delete_expired");
  assert.deepEqual(await anomaliesOf(tenantId), []);
});

const list = (choice: ContextChoice, request = {}) =>
  perform(db, choice, handlers.listAnomalies, ListAnomaliesRequestSchema, request);
const get = async (choice: ContextChoice, anomalyId: string) =>
  (await perform(db, choice, handlers.getAnomaly, GetAnomalyRequestSchema, { anomalyId })).anomaly!;

test("anomalies are listed newest first and by pool, recipient and method; and read one by one", async () => {
  const { tenantId, poolId, recipientIds } = await newDegradedPool({ actions: ["auto_pause", "log"] }, 2, 1);
  await scan();
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

test("anomalies of another tenant or of forbidden environments are not found", async () => {
  const { tenantId } = await newDegradedPool({}, 1, 1, "production");
  await scan();
  const { id } = (await list({ tenantId })).anomalies[0]!;
  const none = failsWith("NOT_FOUND", /^No such anomaly\.$/);
  await assert.rejects(get({ tenantId: freshTenant() }, id), none);
  await assert.rejects(get({ tenantId, environmentMode: "non_production_only" }, id), none);
  assert.equal((await list({ tenantId: freshTenant() })).totalSize, 0);
  assert.equal((await list({ tenantId, environmentMode: "non_production_only" })).totalSize, 0);
  assert.equal((await list({ tenantId, environmentMode: "production_only" })).totalSize, 2);
  assert.equal((await list({ tenantId }, { environmentId: "production" })).totalSize, 2);
  assert.equal((await list({ tenantId }, { environmentId: "staging" })).totalSize, 0);
  assert.equal((await get({ tenantId, environmentMode: "production_only" }, id)).id, id);
});

test("the jobs run every minute, every fifteen seconds and every day", () => {
  assert.deepEqual(
    jobs.map(({ kind, every }) => [kind, every!.ms]),
    [
      ["anomalies.detect", 60_000],
      ["anomalies.resume", 15_000],
      ["anomalies.delete_expired", 86_400_000],
    ],
  );
});
