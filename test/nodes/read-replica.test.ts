import assert from "node:assert/strict";
import { test } from "node:test";
import { startReplicatedServer } from "../harness/replica.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { callOperation } from "../harness/wire.ts";
import { callerFor, createMatrixFixture, operations, requestFor } from "../matrix/fixture.ts";
import { freshName, newTenant, tenantAt } from "../routing/tenant-fixture.ts";

const server = await startReplicatedServer();
test.after(() => server.stop());
const settings = {
  "database.read_url": server.replicaUrl,
  "auth.bootstrap_api_key": "sk_test_replica_0123456789abcdef",
};

/** How many lists a server has answered for a node. */
async function listsBy(name: "primary" | "replica", { service }: TestService): Promise<number> {
  const text = await service.metrics.render();
  return Number(new RegExp(`^replicable_reads_total\\{server="${name}"\\} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
}

test("a caller lists what it has just created through another node, also while the replica is away", async (t) => {
  const nodes = [await startService(settings, server.url), await startService(settings, server.url)] as const;
  t.after(() => Promise.all(nodes.map((node) => node.stop())));
  const here = await newTenant(nodes[0]);
  const there = tenantAt(nodes[1], here);
  let count = (await there.ok("GET", "/api/v2/environments")).total;
  const untilListedBy = (name: "primary" | "replica", times: number) => {
    return until(async () => {
      await here.ok("POST", "/api/v2/environments", { key: `lab-${freshName()}` });
      const { total, data } = await there.ok("GET", "/api/v2/environments?limit=1000");
      assert.deepEqual([total, data.length], [count + 1, count + 1]);
      count++;
      return (await listsBy(name, nodes[1])) >= times;
    });
  };
  await untilListedBy("replica", 20);
  await server.kill();
  try {
    await untilListedBy("primary", 20 + (await listsBy("primary", nodes[1])));
  } finally {
    await server.start();
  }
  await untilListedBy("replica", 5 + (await listsBy("replica", nodes[1])));
});

test("the replica can answer every list that does not wait", async () => {
  const { service, own } = await createMatrixFixture(settings, server.url);
  const lists = operations.filter(
    ({ paging, method }) => paging !== undefined && method.input.field.waitS === undefined,
  );
  for (const operation of lists) {
    const request = await requestFor(operation, own);
    const before = await listsBy("replica", service);
    // A busy replica lags at times.
    await until(async () => {
      const { code, text } = await callOperation("REST", operation, callerFor(own, operation), request);
      assert.ok(code === "OK" || code === "FORBIDDEN", `${operation.id}: ${text}`);
      return code !== "OK" || (await listsBy("replica", service)) > before;
    }).catch((cause) => {
      throw new Error(`The replica does not answer ${operation.id}.`, { cause });
    });
  }
  assert.ok((await listsBy("replica", service)) >= lists.length * 0.9);
});
