import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { freshDatabase } from "../harness/postgres.ts";
import { administer, databaseUrl } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { startService } from "../harness/service.ts";

test("nodes that start concurrently on an empty database migrate it together, and all of them serve", async (t) => {
  const { url: serverUrl, drop } = await freshDatabase();
  const name = `test_empty_${randomBytes(6).toString("hex")}`;
  await administer(serverUrl, `create database ${name}`);
  const url = databaseUrl(serverUrl, name);
  const settings = { "auth.bootstrap_api_key": "sk_test_first_0123456789abcdef" };
  const nodes = await Promise.all(Array.from({ length: 4 }, () => startService(settings, url)));
  t.after(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await administer(serverUrl, `drop database ${name} with (force)`);
    await drop();
  });
  const seen = new Set<string>();
  for (const { baseUrl, adminKey } of nodes) {
    const { status, body } = await restClient(baseUrl, adminKey).call("GET", "/api/tenants");
    assert.equal(status, 200);
    assert.deepEqual([body.total, body.data[0].platform], [1, true]);
    seen.add(body.data[0].id);
    const keys = await restClient(baseUrl, adminKey).call("GET", "/api/v2/api-keys");
    assert.equal(keys.body.total, 1);
  }
  assert.equal(seen.size, 1);
  // Values that one node signs, such as cursors, are valid on the others.
  const [first, second] = nodes.map(({ baseUrl, adminKey }) => restClient(baseUrl, adminKey));
  const page = await first!.call("GET", "/api/v2/environments?limit=1");
  const next = await second!.call("GET", `/api/v2/environments?limit=1&cursor=${page.body.next_cursor}`);
  assert.equal(next.status, 200, next.text);
  assert.notEqual(next.body.data[0].id, page.body.data[0].id);
});
