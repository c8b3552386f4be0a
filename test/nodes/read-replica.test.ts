import assert from "node:assert/strict";
import { test } from "node:test";
import { startReplicatedServer } from "../harness/replica.ts";
import { restClient } from "../harness/rest.ts";
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

/** How many reads a server has answered for a node. */
async function readsBy(name: "primary" | "replica", { service }: TestService): Promise<number> {
  const text = await service.metrics.render();
  return Number(new RegExp(`^replicable_reads_total\\{server="${name}"\\} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
}

test("a caller lists and exports what it has just changed through another node, also while the replica is away", async (t) => {
  const nodes = [await startService(settings, server.url), await startService(settings, server.url)] as const;
  t.after(() => Promise.all(nodes.map((node) => node.stop())));
  const here = await newTenant(nodes[0]);
  const there = tenantAt(nodes[1], here);
  let count = (await there.ok("GET", "/api/v2/environments")).total;
  const untilReadBy = (name: "primary" | "replica", times: number) => {
    return until(async () => {
      await here.ok("POST", "/api/v2/environments", { key: `lab-${freshName()}` });
      const { total, data } = await there.ok("GET", "/api/v2/environments?limit=1000");
      assert.deepEqual([total, data.length], [count + 1, count + 1]);
      count++;
      await here.ok("PUT", "/api/config/values/ratelimit.tenant_rps", { value: 900_000 + count });
      const { text } = await restClient(nodes[1].baseUrl, here.key).call("GET", "/api/config/export");
      assert.match(text, new RegExp(`\\b${900_000 + count}\\b`));
      return (await readsBy(name, nodes[1])) >= times;
    });
  };
  await untilReadBy("replica", 20);
  await server.kill();
  try {
    await untilReadBy("primary", 20 + (await readsBy("primary", nodes[1])));
  } finally {
    await server.start();
  }
  await untilReadBy("replica", 5 + (await readsBy("replica", nodes[1])));
});

test("the replica can answer every list and every other read that costs more than one token", async () => {
  const { service, own } = await createMatrixFixture(settings, server.url);
  const reads = operations.filter(
    ({ paging, governance, streaming, tokenCost, method }) =>
      !governance.mutating && !streaming && (paging !== undefined || tokenCost > 1) && !method.input.field.waitS,
  );
  const answered = new Set<string>();
  for (const operation of reads) {
    const request = await requestFor(operation, own);
    // A busy replica lags at times.
    await until(async () => {
      const before = [await readsBy("primary", service), await readsBy("replica", service)] as const;
      const { code, text } = await callOperation("REST", operation, callerFor(own, operation), request);
      assert.ok(code === "OK" || code === "FORBIDDEN", `${operation.id}: ${text}`);
      if ((await readsBy("replica", service)) > before[1]) answered.add(operation.id);
      return (await readsBy("primary", service)) === before[0];
    }).catch((cause) => {
      throw new Error(`The replica does not answer ${operation.id}.`, { cause });
    });
  }
  // Some need no database, and some are not allowed to tenants.
  assert.ok(answered.size >= reads.length * 0.75, `${answered.size} of ${reads.length}`);
  for (const name of reports) assert.ok(answered.has(`service.api.${name}`), name);
});

const reports = [
  "AnomalyService/ListAnomalies",
  "EventService/ListEvents",
  "ExperimentService/ExportExperimentResults",
  "ExperimentService/GetExperimentResults",
  "ExplainService/Explain",
  "InvoiceService/ListInvoices",
  "MeterService/GetUsage",
  "OperationalHealthService/GetOperationalHealthReport",
  "WorkflowDeadLetterService/GetWorkflowDeadLetterStats",
];
