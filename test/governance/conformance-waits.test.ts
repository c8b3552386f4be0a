import assert from "node:assert/strict";
import { test } from "node:test";
import { restClient } from "../harness/rest.ts";
import { startService } from "../harness/service.ts";

test("a stopping node returns a run as it is to a caller that waits for its end", async () => {
  // A node without background work executes no run. The grace period is shorter than the wait, so a wait that outlasts it
  // would be cut off.
  const service = await startService({ "server.shutdown_grace_s": "8", "server.drain_s": "0" }, undefined, "api");
  const rest = restClient(service.baseUrl, service.adminKey);
  const environments = (await rest.call("GET", "/api/v2/environments")).body.data;
  const environment_id = environments.find(({ key }: { key: string }) => key === "staging").id;
  const path = "/api/runtime-conformance";
  const { run } = (await rest.call("POST", `${path}/suites/runtime:run`, { environment_id })).body.data;
  const waiting = rest.call("GET", `${path}/runs/${environment_id}/${run.id}?wait_s=20`);
  // The node has accepted the call before it stops: connections are served in the order of their requests.
  await rest.call("GET", `${path}/runs/${environment_id}/${run.id}`);
  await service.stop();
  const { status, body } = await waiting;
  assert.deepEqual([status, body.data?.state], [200, "queued"]);
});
