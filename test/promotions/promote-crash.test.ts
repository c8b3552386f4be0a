// Own process: it kills nodes.

import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { after, before, test } from "node:test";
import { untilBlocked } from "../harness/blocked-statements.ts";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import {
  activeContent,
  base,
  createCandidate,
  type GovernedNode,
  routingArtifact,
  runToStoppedCanary,
  type StagedPool,
  stagedPool,
  startGovernedNode,
} from "./promotion-fixture.ts";

let database: TestDatabase;
let node: GovernedNode;
let sql: TestSql;
before(async () => {
  database = await freshDatabase();
  node = await startGovernedNode(database.url);
  sql = connect(database.url, 3);
});
after(async () => {
  await sql.end({ timeout: 1 });
  await node.service.stop();
  await database.drop();
});

/** What a promotion waits for when it is killed: before anything, between two targets, and before its commit. */
const points: Readonly<Record<string, (pools: readonly StagedPool[], id: string) => string>> = {
  "before the first target is locked": (_pools, id) => `select from promotion_candidates where id = '${id}' for update`,
  "between the activations of two targets": (pools) =>
    `select from pool_active_versions where pool_id = '${pools.at(-1)!.id}' for update`,
  "before its commit": () => "lock table promotion_history in access exclusive mode",
};

test("a node that is killed during a promotion has promoted all artifacts or none", async () => {
  const { tenant, settings } = node;
  const approver = await node.person("ada", ["promotion_approver"]);
  const pools = [await stagedPool(tenant), await stagedPool(tenant)];
  const contents = await Promise.all(pools.map((pool) => activeContent(tenant, pool.id)));
  const id = await createCandidate(tenant, pools.map(routingArtifact));
  await runToStoppedCanary(tenant, id, pools);
  assert.equal((await approver("POST", `${base}/${id}/approve`, {})).status, 200);
  const nodeSettings = { ...settings, "database.url": database.url, "auth.api_key_enabled": "true" };
  for (const [point, lockOf] of Object.entries(points)) {
    const victim = await startNodeProcess(nodeSettings);
    const held = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const holding = sql.begin(async (tx) => {
      await tx.unsafe(lockOf(pools, id));
      held.resolve();
      await released.promise;
    });
    await held.promise;
    const request = http.request(`${victim.baseUrl}${base}/${id}/promote`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": tenant.key },
    });
    const broken = once(request, "error");
    request.end("{}");
    await untilBlocked(sql);
    await victim.kill();
    await broken;
    released.resolve();
    await holding;
    assert.equal((await tenant.ok("GET", `${base}/${id}`)).data.state, "approved", point);
    for (const [at, pool] of pools.entries()) assert.equal(await activeContent(tenant, pool.id), contents[at], point);
  }
  const promoted = await tenant.rest.call("POST", `${base}/${id}/promote`, {});
  assert.equal(promoted.status, 200, promoted.text);
  for (const [at, pool] of pools.entries()) assert.notEqual(await activeContent(tenant, pool.id), contents[at]);
});
