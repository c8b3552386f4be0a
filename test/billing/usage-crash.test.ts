import assert from "node:assert/strict";
import { test } from "node:test";
import { type NodeProcess, startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { restClient } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

const adminKey = "sk_test_usagecrash_0123456789abcdef0123";
const meterKey = "units";
const batches = 60;
const batchSize = 50;

test("usage that is sent until it is acknowledged, to nodes that are killed, counts exactly once", async (t) => {
  const database = await freshDatabase();
  t.after(() => database.drop());
  const settings = { "auth.bootstrap_api_key": adminKey, "database.url": database.url };
  const start = async () => {
    const node = await startNodeProcess(settings);
    t.after(() => node.kill());
    return node;
  };
  const nodes: NodeProcess[] = [await start(), await start()];
  const request = { key: meterKey, name: "Units", aggregation: "AGGREGATION_SUM" };
  const made = await restClient(nodes[0]!.baseUrl, adminKey).call("POST", "/api/v2/billing/meters", request);
  assert.equal(made.status, 200, made.text);

  let acknowledged = 0;
  let attempts = 0;
  /** Sends a batch to one node after another until one of them acknowledges it. */
  async function deliver(batch: number): Promise<void> {
    const events = Array.from({ length: batchSize }, (_, n) => ({
      meter_key: meterKey,
      transaction_id: `${batch}-${n}`,
      quantity: String(batch + n),
    }));
    let turn = batch;
    const response = await until(
      () => {
        attempts++;
        const { baseUrl } = nodes[turn++ % nodes.length]!;
        return restClient(baseUrl, adminKey)
          .call("POST", "/api/v2/billing/usage", { events })
          .catch(() => undefined);
      },
      (last) => last?.status === 200,
      300_000,
    );
    const { recorded, duplicates } = response!.body.data;
    assert.equal((recorded ?? 0) + (duplicates ?? 0), batchSize);
    acknowledged++;
  }

  const sent: Promise<void>[] = [];
  for (let batch = 0; batch < batches; batch++) sent.push(deliver(batch));
  // Kills each node while calls are in flight, and replaces it.
  for (const at of [0, 1]) {
    await nodes[at]!.kill();
    nodes[at] = await start();
  }
  // What was acknowledged before the crashes is sent again, too.
  for (let batch = 0; batch < batches; batch++) sent.push(deliver(batch));
  await Promise.all(sent);
  assert.equal(acknowledged, 2 * batches);
  assert.ok(attempts >= acknowledged);

  const expected = Array.from({ length: batches * batchSize }, (_, n) => Math.floor(n / batchSize) + (n % batchSize));
  const to = encodeURIComponent(new Date(Date.now() + 60_000).toISOString());
  for (const { baseUrl } of nodes) {
    const { body } = await restClient(baseUrl, adminKey).call("GET", `/api/v2/billing/usage?until=${to}`);
    const [usage] = body.data.usage.filter((each: { meter_key: string }) => each.meter_key === meterKey);
    assert.equal(
      usage.quantity,
      expected.reduce((sum, each) => sum + each, 0),
    );
    assert.equal(usage.events, batches * batchSize);
  }
});
