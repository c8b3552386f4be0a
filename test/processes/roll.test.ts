import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { test } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { EnvironmentService } from "../../gen/service/api/environment_pb.ts";
import { until } from "../harness/until.ts";
import { key, pidsOf, startProcesses } from "./process-fixture.ts";

test("SIGHUP replaces every process, and no call of keep-alive HTTP/1.1 and HTTP/2 callers is refused or fails", async (t) => {
  const { machine } = await startProcesses(t);
  const before = await pidsOf(machine);
  const failures: unknown[] = [];
  let calls = 0;
  let isDone = false;
  const repeat = async (call: () => Promise<void>) => {
    while (!isDone) {
      await call().then(
        () => calls++,
        (error: unknown) => failures.push(error),
      );
    }
  };
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const overHttp1 = async () => {
    const request = http.get(`${machine.baseUrl}/api/v2/environments`, { agent, headers: { "x-api-key": key } });
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    await response.toArray();
    assert.equal(response.statusCode, 200);
  };
  const http2Callers = Array.from({ length: 4 }, () => {
    const client = createClient(EnvironmentService, createGrpcTransport({ baseUrl: machine.baseUrl }));
    return async () => {
      await client.listEnvironments({}, { headers: { "x-api-key": key } });
    };
  });
  const callers = Promise.all([...Array<typeof overHttp1>(6).fill(overHttp1), ...http2Callers].map(repeat));
  await until(() => calls > 200);
  machine.process.kill("SIGHUP");
  const after = await until(
    () => pidsOf(machine),
    (pids) => pids.every((pid) => !before.includes(pid)),
  );
  // The callers go on with the new processes.
  const seen = calls;
  await until(() => calls > seen + 200);
  isDone = true;
  await callers;
  assert.deepEqual(failures, []);
  assert.equal(new Set(after).size, 2);
});
