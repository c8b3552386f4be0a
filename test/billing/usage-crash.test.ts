import assert from "node:assert/strict";
import { test } from "node:test";
import { supervise } from "../chaos/supervised-node.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { restClient } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

const adminKey = "sk_test_usagecrash_0123456789abcdef0123";
const meterKey = "units";
const batches = 60;
const batchSize = 50;

test("usage that is sent until it is acknowledged, to nodes that are killed, counts exactly once", async (t) => {
  const database = await freshDatabase();
  const settings = { "auth.bootstrap_api_key": adminKey, "database.url": database.url };
  const nodes = await Promise.all([supervise(settings, 1), supervise(settings, 1)]);
  t.after(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await database.drop();
  });
  const restAt = async (nth: number) => restClient((await nodes[nth % nodes.length]!.current).baseUrl, adminKey);
  const request = { key: meterKey, name: "Units", aggregation: "AGGREGATION_SUM" };
  const made = await (await restAt(0)).call("POST", "/api/v2/billing/meters", request);
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
      async () => {
        attempts++;
        const rest = await restAt(turn++);
        return rest.call("POST", "/api/v2/billing/usage", { events }).catch(() => undefined);
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
  for (const node of nodes) await node.crash();
  // What was acknowledged before the crashes is sent again, too.
  for (let batch = 0; batch < batches; batch++) sent.push(deliver(batch));
  await Promise.all(sent);
  assert.equal(acknowledged, 2 * batches);
  assert.ok(attempts >= acknowledged);

  const expected = Array.from({ length: batches * batchSize }, (_, n) => Math.floor(n / batchSize) + (n % batchSize));
  const to = encodeURIComponent(new Date(Date.now() + 60_000).toISOString());
  for (const nth of nodes.keys()) {
    const { body } = await (await restAt(nth)).call("GET", `/api/v2/billing/usage?until=${to}`);
    const [usage] = body.data.usage.filter((each: { meter_key: string }) => each.meter_key === meterKey);
    assert.equal(
      usage.quantity,
      expected.reduce((sum, each) => sum + each, 0),
    );
    assert.equal(usage.events, batches * batchSize);
  }
});
