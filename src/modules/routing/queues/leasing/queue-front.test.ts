import assert from "node:assert/strict";
import { test } from "node:test";
import { createQueueFront } from "./queue-front.ts";

function stage() {
  const listeners = new Map<string, () => void>();
  const clock = { ms: 0 };
  const onWake = (topic: string, listener: () => void) => {
    listeners.set(topic, listener);
    return () => listeners.delete(topic);
  };
  const front = createQueueFront({ onWake }, "queue:a", () => clock.ms);
  return { front, clock, listeners, wake: () => listeners.get("queue:a")!() };
}

test("what was taken is passed over by the next look", () => {
  const { front } = stage();
  const look = front.look();
  assert.equal(look.fromRank, undefined);
  front.passed(look, 7);
  assert.equal(front.look().fromRank, 7);
  front.forget();
  assert.equal(front.look().fromRank, undefined);
});

test("after a wake the queue is looked at from its beginning, also when somebody was looking meanwhile", () => {
  const { front, wake } = stage();
  front.passed(front.look(), 7);
  wake();
  const before = front.look();
  assert.equal(before.fromRank, undefined);
  wake();
  front.passed(before, 8);
  assert.equal(front.look().fromRank, undefined);
});

test("however quickly one takes, the queue is looked at from its beginning ten times a second", () => {
  const { front, clock } = stage();
  let whole = 0;
  for (clock.ms = 0; clock.ms < 1000; clock.ms++) {
    const look = front.look();
    if (look.fromRank === undefined) whole++;
    front.passed(look, clock.ms);
  }
  assert.equal(whole, 10);
});

test("a front that is not needed any more listens to nobody", () => {
  const { front, listeners } = stage();
  front.stop();
  assert.equal(listeners.size, 0);
});
