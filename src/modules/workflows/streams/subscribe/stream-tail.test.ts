import assert from "node:assert/strict";
import { test } from "node:test";
import { createStreamTails } from "./stream-tail.ts";

test("only a node of the pinned log region logs about a stream", async () => {
  for (const [region, lines] of [
    ["eu", 1],
    ["us", 0],
  ] as const) {
    const logged: unknown[] = [];
    let readOnce = () => {};
    const read = new Promise<void>((resolve) => {
      readOnce = resolve;
    });
    const sql = () => {
      readOnce();
      throw new Error("no connection");
    };
    const tails = createStreamTails({
      ...{ db: { sql }, signals: { onWake: () => () => {} }, metrics: {}, region },
      log: { warn: (line: unknown) => logged.push(line) },
    } as never);
    const pins = { log_region: "eu" };
    const { tail, leave } = tails.join({ tenantId: "t", runId: "r", streamId: "s", pins } as never);
    tail.begin(0);
    await read;
    await new Promise((resolve) => setImmediate(resolve));
    leave();
    assert.equal(logged.length, lines, region);
  }
});
