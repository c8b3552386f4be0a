import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFile, mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { type RestClient, restClient } from "../harness/rest.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

const run = promisify(execFile);
const thresholds = { "storage.warn_percent": "80", "storage.full_percent": "95" };
const key = "sk_test_storage_0123456789abcdef";

/** Leases the next item and completes it; returns its id. */
async function completeOne(client: RestClient, poolId: string): Promise<string> {
  const leased = await client.call("POST", `/api/queues/${poolId}/lease`, { max_items: 1 });
  assert.equal(leased.status, 200, leased.text);
  const [{ queue_item_id, lease_token }] = leased.body.data.items;
  const path = `/api/queues/${poolId}/items/${queue_item_id}/complete`;
  const completed = await client.call("POST", path, { lease_token });
  assert.equal(completed.status, 200, completed.text);
  return queue_item_id;
}

async function createPool(client: RestClient): Promise<string> {
  const created = await client.call("POST", "/api/pools", { name: "orders", strategy: "first_accept" });
  assert.equal(created.status, 200, created.text);
  return created.body.data.id;
}

const routeTo = (client: RestClient, poolId: string, payload: object = {}) =>
  client.call("POST", "/api/route", { pool_id: poolId, type: "order", payload });

test("at its size limit, an external database accepts no additions, and work is completed, cancelled, deleted and read", async (t) => {
  const { url, drop } = await freshDatabase();
  t.after(drop);
  const settings = { "auth.bootstrap_api_key": key };
  const before = await startService(settings, url);
  const early = restClient(before.baseUrl, key);
  const poolId = await createPool(early);
  for (let nth = 0; nth < 2; nth++) assert.equal((await routeTo(early, poolId)).status, 200);
  await before.stop();

  const node = await startService({ ...settings, ...thresholds, "storage.database_bytes_max": "1000000" }, url);
  t.after(node.stop);
  const client = restClient(node.baseUrl, key);
  const refused = await routeTo(client, poolId);
  assert.deepEqual(
    [refused.status, refused.body.errorCode, refused.body.retryable, refused.headers.get("retry-after")],
    [503, "STORAGE_FULL", true, "10"],
  );
  assert.equal((await client.call("POST", "/api/pools", { name: "p", strategy: "first_accept" })).status, 503);
  const completed = await completeOne(client, poolId);
  const listed = (await client.call("GET", `/api/queues/${poolId}/items`)).body.data as { id: string }[];
  const left = listed.map(({ id }) => id).filter((id) => id !== completed);
  assert.equal(left.length, 1);
  assert.equal((await client.call("POST", `/api/queues/${poolId}/items/${left[0]}/cancel`, {})).status, 200);
  assert.equal((await client.call("DELETE", `/api/pools/${poolId}`)).status, 200);
  const ready = await fetch(`${node.baseUrl}/ready`);
  assert.equal(ready.status, 200);
  const { status, components } = (await ready.json()) as { status: string; components: Record<string, unknown> };
  assert.equal(status, "degraded");
  assert.deepEqual(components.storage, { status: "degraded", detail: "database is 100 % full (full)" });
});

test("a tenant above storage.tenant_bytes_max adds nothing more, and other tenants do", async (t) => {
  const { url, sql, drop } = await freshDatabase();
  t.after(drop);
  const settings = { "auth.bootstrap_api_key": key };
  const before = await startService(settings, url);
  const operator = restClient(before.baseUrl, key);
  const created = await operator.call("POST", "/api/tenants", { name: "large", issue_admin_key: true });
  const largeKey = created.body.data.admin_key;
  const large = restClient(before.baseUrl, largeKey);
  const poolId = await createPool(large);
  for (let nth = 0; nth < 100; nth++)
    assert.equal((await routeTo(large, poolId, { text: randomBytes(10_000).toString("hex") })).status, 200);
  await before.stop();
  // As autovacuum does, which the server of the tests has turned off.
  await sql`analyze`;

  const node = await startService({ ...settings, "storage.tenant_bytes_max": "1000000" }, url);
  t.after(node.stop);
  const refused = await routeTo(restClient(node.baseUrl, largeKey), poolId);
  assert.deepEqual(
    [refused.status, refused.body.errorCode, refused.body.bytes_max],
    [429, "STORAGE_QUOTA_EXCEEDED", 1_000_000],
  );
  await completeOne(restClient(node.baseUrl, largeKey), poolId);
  await createPool(restClient(node.baseUrl, key));
});

test("the disk of the embedded database fills up and is emptied: additions are refused meanwhile, and PostgreSQL goes on", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-storage-"));
  const mounted = await run("mount", ["-t", "tmpfs", "-o", "size=400m", "tmpfs", dataDir]).catch(() => undefined);
  t.after(async () => {
    if (mounted !== undefined) await run("umount", ["-l", dataDir]);
    await rm(dataDir, { recursive: true });
  });
  // Without the permission to mount a small disk, the tests above and those of the watch cover this.
  if (mounted === undefined) return t.diagnostic("this machine lets nobody mount a small disk");
  const node = await startNodeProcess({ ...thresholds, "data.dir": dataDir, "auth.bootstrap_api_key": key });
  t.after(() => node.kill());
  const client = restClient(node.baseUrl, key);
  const poolId = await createPool(client);
  const filler = join(dataDir, "filler");
  const fillTo = async (share: number) => {
    const { bsize, blocks, bavail } = await statfs(dataDir);
    const missing = Math.floor(bavail * bsize - blocks * bsize * (1 - share));
    await appendFile(filler, Buffer.alloc(missing));
  };
  assert.equal((await routeTo(client, poolId)).status, 200);
  await fillTo(0.85);
  await until(() => /"volume":"data".*a volume is filling up/.test(node.output()));
  assert.equal((await routeTo(client, poolId)).status, 200);
  await fillTo(0.96);
  await until(async () => (await routeTo(client, poolId)).body.errorCode === "STORAGE_FULL");
  await completeOne(client, poolId);
  await rm(filler);
  await until(async () => (await routeTo(client, poolId)).status === 200);
  assert.equal(node.output().match(/a volume is full/g)?.length, 1);
});
