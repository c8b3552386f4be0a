import assert from "node:assert/strict";
import { test } from "node:test";
import { CreateConnectionRequestSchema } from "../../../../gen/service/api/connection_pb.ts";
import { freshTenant, perform } from "../../../../test/harness/context.ts";
import { until } from "../../../../test/harness/until.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createSignals, type Signals } from "../../../platform/db/index.ts";
import { createConnectionCache } from "./connection-cache.ts";
import { insertProduction, nodesDatabase, providerOn, startNode } from "./testing/connection-nodes.ts";

const url = await nodesDatabase();
const { connections, db, signals } = await startNode({ url, providers: [providerOn(9)] });

async function newConnection(tenantId: TenantId): Promise<{ tenantId: TenantId; id: string }> {
  const request = { name: "one", providerKey: "acme", credentials: { token: "token" } };
  await insertProduction(db, tenantId);
  const { createConnection } = connections.handlers;
  const { connection } = await perform(db, { tenantId }, createConnection, CreateConnectionRequestSchema, request);
  return { tenantId, id: connection!.id };
}
const rename = (id: string, name: string) => db.sql`update connector_connections set name = ${name} where id = ${id}`;

/** Signals that reach nobody. */
const silent: Signals = { ...createSignals(db), wake() {}, onWakeUnder: () => () => {} };

test("a change of one connection invalidates it on another node, and no other connection of the tenant", async () => {
  const tenantId = freshTenant();
  const [changed, other] = [await newConnection(tenantId), await newConnection(tenantId)];
  const nowMs = () => 0;
  const here = createConnectionCache({ db, signals, nowMs });
  const elsewhere = createSignals(db);
  await elsewhere.start();
  const there = createConnectionCache({ db, signals: elsewhere, nowMs });
  for (const ref of [changed, other]) await there.get(ref);
  await rename(changed.id, "two");
  await rename(other.id, "two");
  assert.equal((await there.get(changed))!.name, "one");
  here.changed(changed);
  await until(async () => (await there.get(changed))!.name === "two");
  assert.equal((await there.get(other))!.name, "one");
  await elsewhere.stop();
});

test("without signals a change takes effect within a second, and connections in use are read ahead", async () => {
  const ref = await newConnection(freshTenant());
  let nowMs = 0;
  const cache = createConnectionCache({ db, signals: silent, nowMs: () => nowMs });
  await cache.get(ref);
  await rename(ref.id, "two");
  nowMs = 399;
  assert.ok(!(cache.get(ref) instanceof Promise));
  assert.equal((await cache.get(ref))!.name, "one");
  nowMs = 400;
  const stale = cache.get(ref);
  assert.ok(!(stale instanceof Promise), "it is served while it is read again");
  await until(async () => (await cache.get(ref))!.name === "two");
  await rename(ref.id, "three");
  nowMs = 1400;
  assert.equal((await cache.get(ref))!.name, "three");
});

test("a read that started before a change is neither cached nor shared with later callers", async () => {
  const ref = await newConnection(freshTenant());
  const cache = createConnectionCache({ db, signals, nowMs: () => 0 });
  const before = cache.get(ref);
  assert.equal(cache.get(ref), before, "callers share a read");
  cache.changed(ref);
  await before;
  const after = cache.get(ref);
  assert.ok(after instanceof Promise);
  await after;
  assert.ok(!(cache.get(ref) instanceof Promise));
});

test("connections that do not exist are not remembered, and many are read with one statement", async () => {
  const cache = createConnectionCache({ db, signals, nowMs: () => 0 });
  const missing = { tenantId: freshTenant(), id: "01JZZZZZZZZZZZZZZZZZZZZZZZ" };
  assert.equal(await cache.get(missing), undefined);
  assert.ok(cache.get(missing) instanceof Promise);
  const tenantId = freshTenant();
  const refs = [await newConnection(tenantId), await newConnection(freshTenant()), await newConnection(tenantId)];
  const found = await Promise.all(refs.map((ref) => cache.get(ref)));
  assert.deepEqual(
    found.map((each) => [each!.tenantId, each!.id]),
    refs.map((each) => [each.tenantId, each.id]),
  );
  assert.equal(await cache.get({ tenantId, id: refs[1]!.id }), undefined);
});
