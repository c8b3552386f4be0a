import assert from "node:assert/strict";
import { test } from "node:test";
import { startCallers } from "../harness/steady-callers.ts";
import { until } from "../harness/until.ts";
import { key, pidsOf, startProcesses } from "./process-fixture.ts";

test("SIGHUP replaces every process, and no call of keep-alive, new and HTTP/2 connections is refused or fails", async (t) => {
  const { machine } = await startProcesses(t);
  const before = await pidsOf(machine);
  const path = "/api/v2/environments";
  const callers = startCallers({ baseUrl: machine.baseUrl, method: "GET", path, key, callers: [6, 4, 4] });
  t.after(callers.stop);
  await callers.pass(100);
  machine.process.kill("SIGHUP");
  const after = await until(
    () => pidsOf(machine),
    (pids) => pids.every((pid) => !before.includes(pid)),
  );
  // The callers go on with the new processes.
  await callers.pass(100);
  assert.deepEqual(await callers.stop(), []);
  assert.equal(new Set(after).size, 2);
});
