import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { type TestContext, test } from "node:test";
import { createDiscardThrottle } from "./discard-throttle.ts";

const kib = 1024;
const chunk = Buffer.alloc(16 * kib);
const limits = { burstBytes: 64 * kib, bytesPerSecond: 320 * kib, totalBytesPerSecond: 640 * kib };

/** A body whose sender is never slower than its reader. */
function endlessBody(): Readable {
  return new Readable({
    highWaterMark: chunk.length,
    read() {
      this.push(chunk);
    },
  });
}

/** The bytes read from each body after a number of ticks. */
async function sentAfter(ticks: number, bodies: readonly Readable[], t: TestContext) {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const sent = bodies.map(() => 0);
  const throttle = createDiscardThrottle(limits);
  for (const [n, body] of bodies.entries()) {
    throttle.discard(body, (length) => {
      sent[n]! += length;
    });
  }
  await settled();
  for (let n = 0; n < ticks; n++) {
    t.mock.timers.tick(50);
    await settled();
  }
  return sent;
}

async function settled(): Promise<void> {
  for (let n = 0; n < 50; n++) await new Promise(setImmediate);
}

test("a body is read up to the burst immediately, then at its rate", async (t) => {
  const body = endlessBody();
  assert.deepEqual(await sentAfter(0, [body], t), [64 * kib]);
  t.mock.timers.reset();
  // 320 KiB per second are 16 KiB per tick.
  assert.deepEqual(await sentAfter(4, [endlessBody()], t), [(64 + 4 * 16) * kib]);
});

test("many bodies share the total rate", async (t) => {
  const sent = await sentAfter(8, Array.from({ length: 8 }, endlessBody), t);
  // Eight bodies get 80 KiB per second each: a chunk every fourth tick.
  assert.deepEqual(
    sent,
    sent.map(() => (64 + 2 * 16) * kib),
  );
});

test("a body within the burst is read immediately", async (t) => {
  const body = Readable.from([chunk, chunk, chunk]);
  assert.deepEqual(await sentAfter(0, [body], t), [48 * kib]);
  assert.equal(body.readableEnded, true);
});

test("a closed body releases its share", async (t) => {
  const leaving = endlessBody();
  const staying = [endlessBody(), endlessBody()];
  t.mock.timers.enable({ apis: ["setInterval"] });
  const throttle = createDiscardThrottle(limits);
  let sent = 0;
  throttle.discard(leaving, () => {});
  for (const body of staying) {
    throttle.discard(body, (length) => {
      sent += length;
    });
  }
  await settled();
  leaving.destroy();
  await settled();
  t.mock.timers.tick(50);
  await settled();
  assert.equal(sent, 2 * (64 + 16) * kib);
});

test("bodies with idle senders take no share from the others", async (t) => {
  const silent = Array.from({ length: 100 }, () => new Readable({ read() {} }));
  const sent = await sentAfter(4, [endlessBody(), ...silent], t);
  assert.equal(sent[0], (64 + 4 * 16) * kib);
});
