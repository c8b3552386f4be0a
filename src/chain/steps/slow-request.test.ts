import assert from "node:assert/strict";
import { test } from "node:test";
import type { Log } from "../../platform/log/log.ts";
import type { Call } from "../call.ts";
import { slowRequest } from "./slow-request.ts";

/** Runs a call with these times and a threshold of one second, and returns the logged lines. */
async function logged(tookMs: number, waitedMs: number): Promise<object[]> {
  const lines: object[] = [];
  const log = { warn: (line: object) => lines.push(line) } as unknown as Log;
  const call = {
    operation: { id: "service.api.WorkService/LeaseItems" },
    requestId: "r1",
    span: undefined,
    startedAtMs: performance.now() - tookMs,
    waitedMs: 0,
  } as unknown as Call;
  await slowRequest(1000, log)(call, async () => {
    call.waitedMs += waitedMs;
    return {} as never;
  });
  return lines;
}

test("time in a wait that the caller requested does not make a request slow", async () => {
  assert.deepEqual(await logged(20_000, 20_000), []);
});

test("a call that takes long apart from its wait is logged as slow", async () => {
  assert.equal((await logged(20_000, 0)).length, 1);
  assert.equal((await logged(20_000, 10_000)).length, 1);
});
