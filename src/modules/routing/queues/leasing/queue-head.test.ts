import assert from "node:assert/strict";
import { test } from "node:test";
import { createQueueHead } from "./queue-head.ts";

function stage() {
  const listeners = new Map<string, () => void>();
  const clock = { ms: 0 };
  const onWake = (topic: string, listener: () => void) => {
    listeners.set(topic, listener);
    return () => listeners.delete(topic);
  };
  const head = createQueueHead({ onWake }, "queue:a", () => clock.ms);
  return { head, clock, listeners, wake: () => listeners.get("queue:a")!() };
}

test("the next scan skips items that were taken", () => {
  const { head } = stage();
  const scan = head.beginScan();
  assert.equal(scan.fromRank, undefined);
  head.advance(scan, 7);
  assert.equal(head.beginScan().fromRank, 7);
});

test("a scan that finds too few items keeps the head, and the next one starts from the beginning", () => {
  const { head, clock } = stage();
  head.advance(head.beginScan(), 7);
  clock.ms++;
  head.exhaust(head.beginScan(), 9);
  assert.equal(head.beginScan().fromRank, undefined);
});

test("after a wake the queue is scanned from its beginning, even if a scan was running", () => {
  const { head, wake } = stage();
  head.advance(head.beginScan(), 7);
  wake();
  const before = head.beginScan();
  assert.equal(before.fromRank, undefined);
  wake();
  head.advance(before, 8);
  assert.equal(head.beginScan().fromRank, undefined);
});

test("the queue is scanned from its beginning ten times a second, however fast items are taken", () => {
  const { head, clock } = stage();
  let whole = 0;
  for (clock.ms = 0; clock.ms < 1000; clock.ms++) {
    const scan = head.beginScan();
    if (scan.fromRank === undefined) whole++;
    head.advance(scan, clock.ms);
  }
  assert.equal(whole, 10);
});

test("scans that step over many dead entries take a twentieth of the time, however often the queue is woken", () => {
  const { head, clock, wake } = stage();
  const deadMs = 50;
  const countWhole = (untilMs: number) => {
    let whole = 0;
    while (clock.ms < untilMs) {
      wake();
      const scan = head.beginScan();
      if (scan.fromRank === undefined) whole++;
      clock.ms += scan.fromRank === undefined ? deadMs + 1 : 1;
      head.exhaust(scan, 7);
    }
    return whole;
  };
  countWhole(40_000);
  const whole = countWhole(60_000);
  assert.ok(whole * deadMs <= 1100 && whole * deadMs >= 900, `${whole} scans`);
});

test("a head is never older than fifteen seconds", () => {
  const { head, clock, wake } = stage();
  for (let n = 0; n < 50; n++) {
    const scan = head.beginScan();
    clock.ms += scan.fromRank === undefined ? 10_000 : 1;
    head.advance(scan, 7);
    wake();
    clock.ms += 15_000;
    assert.equal(head.beginScan().fromRank, undefined);
  }
});

test("only a full scan reports an empty queue, unless dead entries make it long and the last one was a moment ago", () => {
  const { head, clock } = stage();
  head.advance(head.beginScan(), 7);
  for (let n = 0; n < 50; n++) {
    const scan = head.beginScan();
    clock.ms += scan.fromRank === undefined ? 300 : 1;
    head.exhaust(scan, undefined);
    const whole = head.beginWholeScan();
    if (n === 0) assert.equal(whole?.fromRank, undefined);
    if (whole === undefined) continue;
    clock.ms += 300;
    head.exhaust(whole, undefined);
  }
  assert.equal(head.beginScan().fromRank, 7, "an empty queue keeps its head");
  assert.equal(head.beginWholeScan(), undefined);
  clock.ms += 3000;
  assert.equal(head.beginWholeScan()?.fromRank, undefined);
});

test("a scan from the head does not skip the items that one from the beginning has found meanwhile", () => {
  const { head, wake } = stage();
  head.advance(head.beginScan(), 50);
  const fromHead = head.beginScan();
  wake();
  head.advance(head.beginScan(), 7);
  head.advance(fromHead, 100);
  assert.equal(head.beginScan().fromRank, 7);
});

test("a stopped head has no listeners", () => {
  const { head, listeners } = stage();
  head.stop();
  assert.equal(listeners.size, 0);
});
