import assert from "node:assert/strict";
import { before, test } from "node:test";
import { removeIdleConsumersJob } from "../../src/modules/workflows/streams/retention/consumer-job.ts";
import { openDatabase } from "../../src/platform/db/index.ts";
import { startService, type TestService } from "../harness/service.ts";
import { newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";
import { restStreams, rpcStreams } from "./stream-client.ts";
import { publishWaiting, startRun } from "./stream-fixture.ts";

let service: TestService;
let tenant: TenantFixture;
let runId: string;
before(async () => {
  service = await startService();
  tenant = await newTenant(service);
  runId = await startRun(tenant, await publishWaiting(tenant));
});

let streams = 0;

/** Creates a stream; returns its path. */
async function createStream(pins: object = {}): Promise<string> {
  const base = `/api/workflow-streams/runs/${runId}/streams`;
  return `${base}/${(await tenant.ok("POST", base, { name: `s${streams++}`, pins })).data.id}`;
}

const recordsOf = (...payloads: unknown[]) => payloads.map((payload) => ({ payload }));

async function append(path: string, payloads: readonly unknown[], key?: string): Promise<ResponseData> {
  const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
  return (await tenant.ok("POST", `${path}/records:batch`, { records: recordsOf(...payloads), wait_s: 0 }, headers))
    .data;
}

async function payloadsOf(path: string): Promise<unknown[]> {
  const { records } = (await tenant.ok("GET", `${path}/records?limit=1000`)).data;
  assert.deepEqual(
    records.map(({ sequence }: ResponseData) => sequence),
    records.map((_: unknown, at: number) => at + 1),
  );
  return records.map(({ payload }: ResponseData) => payload);
}

test("every protocol appends a batch at consecutive sequences, and a repeat under its key once", async () => {
  const path = await createStream();
  const clients = [
    restStreams(service.baseUrl, tenant.key),
    rpcStreams("Connect", service.baseUrl, tenant.key),
    rpcStreams("gRPC", service.baseUrl, tenant.key),
  ];
  for (const [at, client] of clients.entries()) {
    for (let times = 0; times < 2; times++) {
      const payloads = [`${at}a`, `${at}b`];
      const appended = await client.appendBatch(runId, path.split("/").at(-1)!, payloads, `batch-${at}`);
      assert.deepEqual(appended, [2 * at + 1, 2, 0], client.protocol);
    }
  }
  assert.deepEqual(
    await payloadsOf(path),
    clients.flatMap((_, at) => [`${at}a`, `${at}b`]),
  );
});

test("the longest prefix that fits is appended, with and without a key, and nothing if the first does not fit", async () => {
  for (const key of [undefined, "k1"]) {
    const path = await createStream({ ceilings: { unread_items: 4, total_items: 6 }, on_unread_full: "reject" });
    await append(path, [1, 2, 3], key);
    const cut = await append(path, [4, 5, 6], key && `${key}-2`);
    assert.deepEqual(
      [cut.first_sequence, cut.last_sequence, cut.appended, cut.refused, cut.refused_code],
      [4, 4, 1, 2, "STREAM_BACKPRESSURE"],
    );
    const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": `${key}-3` };
    const again = () => tenant.rest.call("POST", `${path}/records:batch`, { records: recordsOf(5, 6, 7) }, headers);
    const full = await again();
    assert.deepEqual([full.status, full.body.errorCode], [429, "STREAM_BACKPRESSURE"]);
    await tenant.ok("POST", `${path}/consumers/c/ack`, { sequence: 4 });
    // The key of a refused call can be used again.
    const { data } = (await again()).body;
    assert.deepEqual([data.last_sequence, data.refused, data.refused_code], [6, 1, "STREAM_QUOTA_EXHAUSTED"]);
    await tenant.ok("POST", `${path}/close`, {});
    await tenant.refused("STREAM_CLOSED", "POST", `${path}/records:batch`, { records: recordsOf(7) });
    assert.deepEqual(await payloadsOf(path), [1, 2, 3, 4, 5, 6]);
  }
});

test("the events of a closed stream end with an event that says so", async () => {
  const path = await createStream();
  await append(path, [1, 2]);
  await tenant.ok("POST", `${path}/close`, {});
  const headers = { "x-api-key": tenant.key };
  const text = await (await fetch(`${service.baseUrl}${path}/subscribe?cursor=1`, { headers })).text();
  assert.deepEqual(
    text.split("\n\n").map((block) => block.split("\n")[0]),
    [": connected", "id: 2", "event: end", ""],
  );
});

test("a batch with an invalid record names it and appends nothing", async () => {
  const path = await createStream({ content_classes: ["row", "note"] });
  const records = [{ payload: 1, content_class: "row" }, { payload: 2 }];
  const { body } = await tenant.refused("INVALID_ARGUMENT", "POST", `${path}/records:batch`, { records });
  assert.equal(body.violations[0].field, "records[1].content_class");
  assert.deepEqual(await payloadsOf(path), []);
});

test("batches and single appends of many callers never mix, and none is divided", async () => {
  const path = await createStream();
  const callers = Array.from({ length: 24 }, async (_, caller) => {
    for (let nth = 0; nth < 3; nth++) {
      if (caller % 3 === 0) await tenant.ok("POST", `${path}/records`, { payload: `${caller}/${nth}/0` });
      else {
        const payloads = Array.from({ length: 8 }, (__, at) => `${caller}/${nth}/${at}`);
        await append(path, payloads, caller % 3 === 1 ? undefined : `key-${caller}-${nth}`);
      }
    }
  });
  await Promise.all(callers);
  const payloads = (await payloadsOf(path)) as string[];
  assert.equal(payloads.length, 8 * 3 + 16 * 3 * 8);
  for (const [at, payload] of payloads.entries()) {
    const [batch, nth] = [payload.slice(0, payload.lastIndexOf("/")), Number(payload.split("/")[2])];
    if (nth > 0) assert.equal(payloads[at - 1], `${batch}/${nth - 1}`);
  }
});

test("the slowest consumer is shown, and appends continue without it when it is removed", async () => {
  const path = await createStream({ ceilings: { unread_items: 2 }, on_unread_full: "reject" });
  await append(path, [1, 2]);
  await tenant.ok("POST", `${path}/consumers/dead/ack`, { sequence: 0 });
  await tenant.ok("POST", `${path}/consumers/alive/ack`, { sequence: 2 });
  const { consumers, slowest_consumer } = (await tenant.ok("GET", path)).data;
  assert.deepEqual([consumers, slowest_consumer.consumer_id, slowest_consumer.unread_items], [2, "dead", 2]);
  assert.ok(Date.parse(slowest_consumer.acknowledged_at) > 0);
  await tenant.refused("STREAM_BACKPRESSURE", "POST", `${path}/records`, { payload: 3 });
  const left = (await tenant.ok("DELETE", `${path}/consumers/dead`)).data;
  assert.deepEqual([left.consumers, left.slowest_consumer.consumer_id, left.unread_items], [1, "alive", 0]);
  await tenant.ok("POST", `${path}/records`, { payload: 3 });
  await tenant.refused("NOT_FOUND", "DELETE", `${path}/consumers/dead`);
  const { data } = await tenant.ok("GET", "/api/events?types=workflow.stream.consumer_removed");
  assert.deepEqual([data[0].data.consumer_id, data[0].data.reason], ["dead", "removed"]);
});

test("a consumer that leaves records unread is removed after the pinned time, and an idle one that read all is not", async (t) => {
  const db = openDatabase(service.databaseUrl, { maxConnections: 2 });
  t.after(() => db.close());
  const pins = { consumer_idle_max_s: 3600 };
  const [late, current, unlimited] = [await createStream(pins), await createStream(pins), await createStream()];
  for (const path of [late, current, unlimited]) {
    await append(path, [1, 2]);
    await tenant.ok("POST", `${path}/consumers/c/ack`, { sequence: path === current ? 2 : 1 });
  }
  const woken: string[] = [];
  const recorded: ResponseData[] = [];
  let nowMs = Date.now();
  const job = removeIdleConsumersJob({
    ...{ db, clock: { now: () => nowMs }, signals: { wake: (topic: string) => woken.push(topic) } },
    ...{ events: { recordMany: async (_: unknown, all: ResponseData[]) => void recorded.push(...all) } },
    platformTenantId: () => "",
  } as never);
  const consumersAfter = async (hours: number) => {
    nowMs += hours * 3_600_000;
    await job.handler({ signal: t.signal } as never);
    return Promise.all([late, current, unlimited].map(async (path) => (await tenant.ok("GET", path)).data.consumers));
  };
  assert.deepEqual(await consumersAfter(0.9), [1, 1, 1]);
  assert.deepEqual(await consumersAfter(0.2), [0, 1, 1]);
  assert.deepEqual([recorded.length, recorded[0].data.consumer_id, recorded[0].data.reason], [1, "c", "idle"]);
  assert.equal(woken.length, 1);
  assert.deepEqual(await consumersAfter(100), [0, 1, 1]);
});
