import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { testDatabase } from "../../../../test/harness/context.ts";
import { startRedis, whyNoRedis } from "../../../../test/harness/redis.ts";
import { until } from "../../../../test/harness/until.ts";
import { openRedisTransport } from "./redis-transport.ts";
import { createSignals } from "./signals.ts";

const db = await testDatabase();
const peer = await startRedis();
const skip = peer === undefined ? whyNoRedis() : false;
test.after(() => peer?.stop());

/** Opens the signals of nodes of one installation. */
function installation(t: TestContext) {
  const channel = randomBytes(8).toString("hex");
  return async (url = peer!.url) => {
    const interruptions: unknown[] = [];
    const onInterrupted = (reason: unknown) => interruptions.push(reason);
    const signals = createSignals(db, await openRedisTransport({ url, channel, onInterrupted }));
    await signals.start();
    t.after(() => signals.stop());
    return { ...signals, interruptions };
  };
}

test("a wake-up travels over Redis to the nodes of the same installation", { skip }, async (t) => {
  const node = installation(t);
  const other = installation(t);
  const [here, there, stranger, neighbour] = [await node(), await node(), await other(), await other()];
  const heard: string[] = [];
  there.onWake("a", () => heard.push("there"));
  there.onWake("b", () => heard.push("other topic"));
  stranger.onWakeUnder(
    "",
    (topic) => heard.push(`stranger ${topic}`),
    () => {},
  );
  heard.length = 0;
  here.wake("a");
  await until(() => heard.includes("there"));
  neighbour.wake("c");
  await until(() => heard.includes("stranger c"));
  assert.deepEqual(heard, ["there", "stranger c"]);
});

test("when Redis was killed, listeners are called as soon as it is back, and signals travel again", {
  skip,
}, async (t) => {
  const node = installation(t);
  const [here, there] = [await node(), await node()];
  let lost = 0;
  const heard: string[] = [];
  there.onWakeUnder(
    "a:",
    (rest) => heard.push(rest),
    () => lost++,
  );
  await peer!.kill();
  try {
    await until(() => there.interruptions.length > 0);
    here.wake("a:while it is away");
  } finally {
    await peer!.start();
  }
  await until(() => lost > 0);
  await until(() => {
    here.wake("a:again");
    return heard.includes("again");
  });
  assert.equal(there.interruptions.length, 1, "an outage is reported once");
});

test("a node starts without Redis, and a stopped node is not called an interrupted one", async (t) => {
  const node = installation(t);
  const alone = await node("/nonexistent/redis.sock");
  assert.equal(alone.interruptions.length, 1);
  assert.match(String(alone.interruptions[0]), /ENOENT/);
  let heard = 0;
  alone.onWake("a", () => heard++);
  alone.wake("a");
  assert.equal(heard, 1);
  if (peer === undefined) return;
  const stopped = await node();
  await stopped.stop();
  assert.deepEqual(stopped.interruptions, []);
});
