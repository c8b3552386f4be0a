import assert from "node:assert/strict";
import { test } from "node:test";
import { afterFile } from "../harness/after-file.ts";
import { startNodeProcess } from "../harness/node-process.ts";
import { restClient } from "../harness/rest.ts";
import { startService } from "../harness/service.ts";
import { newTenant } from "../routing/tenant-fixture.ts";
import { CallError, restStreams, rpcStreams, take } from "./stream-client.ts";
import { publishWaiting, startRun } from "./stream-fixture.ts";

const marker = "payload-that-stays-at-home";

test("a node of another region refuses every access, and neither sends nor logs a payload", async () => {
  const home = await startService({ "server.region": "eu" });
  const away = await startNodeProcess({
    ...{ "database.url": home.databaseUrl, "auth.bootstrap_api_key": home.adminKey },
    ...{ "server.region": "us", "log.level": "debug", "audit.sink": "stdout" },
  });
  afterFile(() => away.kill());
  const own = await newTenant(home);
  const runId = await startRun(own, await publishWaiting(own, "stream.audit"));
  const atHome = restStreams(home.baseUrl, own.key);
  const { id } = await atHome.create(runId, "audit", {});
  await atHome.append(runId, id, { text: marker });
  let refused = 0;
  for (const client of [restStreams(away.baseUrl, own.key), rpcStreams("gRPC", away.baseUrl, own.key)]) {
    for (const call of [
      () => client.get(runId, id),
      () => client.read(runId, id, 0),
      () => take(client.subscribe(runId, id, 0, AbortSignal.timeout(60_000)), 1),
      () => client.append(runId, id, { text: `${marker}-2` }),
      () => client.append(runId, id, { text: `${marker}-3` }, { direction: "input", key: `k${refused}` }),
      () => client.ack(runId, id, "c", 1),
      () => client.close(runId, id),
      () => client.hold(runId, id, true, "no"),
      () => client.create(runId, "other", { metadata_home: "eu" }),
    ]) {
      const error = await call().then(
        () => assert.fail("the access was allowed"),
        (thrown) => thrown,
      );
      assert.ok(error instanceof CallError, String(error));
      assert.equal(error.code, "REGION_NOT_ALLOWED");
      assert.ok(!JSON.stringify(error.extra).includes(marker));
      refused++;
    }
  }
  assert.equal(refused, 18);
  const rest = restClient(away.baseUrl, own.key);
  const stream = `/api/workflow-streams/runs/${runId}/streams/${id}`;
  for (const response of [
    await rest.call("POST", `${stream}/records:batch`, { records: [{ payload: { text: `${marker}-4` } }] }),
    await rest.call("DELETE", `${stream}/consumers/c`),
  ]) {
    assert.equal(response.body.errorCode, "REGION_NOT_ALLOWED", response.text);
    assert.ok(!response.text.includes(marker));
  }
  await atHome.append(runId, id, { text: marker }, { direction: "input", key: "input" });
  const run = await rest.call("GET", `/api/workflow-runs/${runId}?wait_s=20`);
  assert.deepEqual([run.body.data.status, run.body.data.output.payload.sequence], ["succeeded", 2]);
  const history = await rest.call("GET", `/api/workflow-runs/${runId}/history`);
  assert.ok(!run.text.includes(marker) && !history.text.includes(marker), "the run has no payload");
  assert.match(away.output(), /AppendWorkflowStreamRecord[\s\S]*REGION_NOT_ALLOWED/, "the node records the refusals");
  assert.ok(!away.output().includes(marker));
  assert.deepEqual(
    (await atHome.read(runId, id, 0)).map(({ payload }) => payload),
    [{ text: marker }, { text: marker }],
  );
});

test("a replica region reads what it may send, and writes nothing", async () => {
  const home = await startService({ "server.region": "eu" });
  const settings = { "auth.bootstrap_api_key": home.adminKey };
  const replica = await startService({ ...settings, "server.region": "us" }, home.databaseUrl);
  const silent = await startService({ ...settings, "server.region": "asia" }, home.databaseUrl);
  const own = await newTenant(home);
  const runId = await startRun(own, await publishWaiting(own));
  const atHome = restStreams(home.baseUrl, own.key);
  const pins = { metadata_replicas: ["us", "asia"], egress_regions: ["eu", "us"] };
  const { id } = await atHome.create(runId, "audit", pins);
  await atHome.append(runId, id, 1);
  const atReplica = restStreams(replica.baseUrl, own.key);
  assert.deepEqual((await atReplica.read(runId, id, 0)).length, 1);
  assert.equal((await atReplica.get(runId, id)).pins.metadata_home, "eu");
  await assert.rejects(atReplica.append(runId, id, 2), { code: "REGION_NOT_ALLOWED" });
  await assert.rejects(atReplica.ack(runId, id, "c", 1), { code: "REGION_NOT_ALLOWED" });
  const atSilent = restStreams(silent.baseUrl, own.key);
  assert.equal((await atSilent.get(runId, id)).latest_sequence, 1);
  await assert.rejects(atSilent.read(runId, id, 0), { code: "REGION_NOT_ALLOWED" });
});

test("a step on a pinned stream is performed in its region, at the first attempt and wherever its run is advanced", async () => {
  const home = await startService({ "server.region": "eu" });
  const settings = { "auth.bootstrap_api_key": home.adminKey, "server.region": "us" };
  const away = await startService(settings, home.databaseUrl);
  const own = await newTenant(away);
  const steps = [
    { id: "write", stream_append: { stream: "audit", value: "=input", pins: { metadata_home: "eu" } } },
    { id: "read", stream_read: { stream: "audit" } },
  ];
  const retry = { max_attempts: 1 };
  const document = { dsl: "1", key: "pinned", timeout: "1h", retry, steps, output: "=steps.read.records[0].payload" };
  const { id } = (await own.ok("POST", "/api/workflow-definitions", { document })).data;
  await own.ok("POST", `/api/workflow-definitions/${id}/publish`, {});
  const runs = Array.from({ length: 8 }, async (_, n) => {
    const { run } = (await own.ok("POST", "/api/workflow-runs", { definition: "pinned", input: n })).data;
    return (await own.ok("GET", `/api/workflow-runs/${run.id}?wait_s=20`)).data;
  });
  const ends = (await Promise.all(runs)).map(({ status, output }) => [status, output]);
  assert.deepEqual(
    ends,
    ends.map((_, n) => ["succeeded", n]),
  );
});
