import assert from "node:assert/strict";
import { test } from "node:test";
import { ageMaxMs, bufferItemsMax, createLeaseBuffer, createMemoryBudget, toHandedOut } from "./lease-buffer.ts";
import type { LeasedRow } from "./lease-store.ts";

const leaseUntil = new Date("2030-01-01T00:00:10Z");

function leaseOf(id: string, sentAtMs = 0, fields: Partial<LeasedRow> = {}) {
  const row = { id, type: "task", key: "", attributes: {}, payload: {}, recipientId: "", leaseUntil, ...fields };
  return { row: row as LeasedRow, sentAtMs, spareMs: ageMaxMs, ageingMs: 0 };
}

function stage() {
  const clock = { ms: 0 };
  const budget = createMemoryBudget();
  const buffer = createLeaseBuffer(budget, () => clock.ms);
  const ids = (leases: readonly { readonly row: LeasedRow }[]) => leases.map(({ row }) => row.id);
  return { clock, budget, buffer, ids, take: (max: number) => ids(buffer.take(max, () => true)) };
}

test("leases are handed out once, in the order in which they were added", () => {
  const { buffer, take } = stage();
  buffer.add([leaseOf("a"), leaseOf("b")]);
  buffer.add([leaseOf("c", 1)]);
  assert.deepEqual(take(2), ["a", "b"]);
  assert.deepEqual(take(2), ["c"]);
  assert.deepEqual([take(2), buffer.size], [[], 0]);
});

test("a lease is not handed out after the maximum age, whether or not it was removed in time", () => {
  const { buffer, clock, take, ids } = stage();
  buffer.add([leaseOf("a")]);
  clock.ms = 50;
  buffer.add([leaseOf("b", 50)]);
  clock.ms = ageMaxMs + 1;
  assert.deepEqual(take(5), ["b"]);
  assert.equal(buffer.staleAtMs, ageMaxMs);
  assert.deepEqual(ids(buffer.removeStale()), ["a"]);
  assert.deepEqual([buffer.size, buffer.staleAtMs], [0, undefined]);
});

test("a lease that is too old when it arrives is refused", () => {
  const { buffer, clock, ids } = stage();
  clock.ms = ageMaxMs + 1;
  assert.deepEqual(ids(buffer.add([leaseOf("a"), leaseOf("b", 1)])), ["a"]);
  assert.equal(buffer.size, 1);
});

test("a lease that a request may not receive stays for others", () => {
  const { buffer, ids, take } = stage();
  buffer.add([leaseOf("a", 0, { recipientId: "r1" }), leaseOf("b", 0, { recipientId: "r2" }), leaseOf("c")]);
  assert.deepEqual(ids(buffer.take(2, ({ recipientId }) => recipientId !== "r1")), ["b", "c"]);
  assert.deepEqual(take(1), ["a"]);
});

test("a lease that comes back keeps its age and precedes younger ones", () => {
  const { buffer, clock, take, ids } = stage();
  buffer.add([leaseOf("a")]);
  const taken = buffer.take(1, () => true);
  clock.ms = 40;
  buffer.add([leaseOf("b", 40)]);
  buffer.add(taken);
  assert.deepEqual(take(1), ["a"]);
  buffer.add(taken);
  clock.ms = ageMaxMs + 1;
  assert.deepEqual(ids(buffer.removeStale()), ["a"]);
});

test("items and memory are bounded, per buffer and for all buffers of a node", () => {
  const { buffer, budget, clock } = stage();
  const many = Array.from({ length: bufferItemsMax + 10 }, (_, n) => leaseOf(`i${n}`));
  assert.equal(buffer.add(many).length, 10);
  assert.equal(buffer.clear().length, bufferItemsMax);
  const all = createMemoryBudget().bytes;
  assert.equal(budget.bytes, all);

  const large = (n: number) => leaseOf(`l${n}`, 0, { payload: { text: "x".repeat(500_000) } as never });
  const refused = buffer.add([large(1), large(2), large(3), large(4), large(5)]);
  assert.deepEqual([buffer.size, refused.length], [4, 1]);
  assert.equal(buffer.room(), 0);
  const other = createLeaseBuffer(budget, () => clock.ms);
  budget.bytes = 1000;
  assert.equal(other.add([large(6)]).length, 1);
  assert.equal(other.room(), 0);
  buffer.take(1, () => true);
  assert.ok(budget.bytes > 1_000_000);
});

test("the room for more items follows their average size", () => {
  const { buffer } = stage();
  buffer.sample(leaseOf("a").row);
  assert.equal(buffer.room(), bufferItemsMax);
  for (let n = 0; n < 100; n++) buffer.sample(leaseOf("b", 0, { payload: { text: "x".repeat(100_000) } as never }).row);
  assert.ok(buffer.room() > 0 && buffer.room() < 25, String(buffer.room()));
});

test("the lease that a worker is told begins at the hand-out and never ends after the row's", () => {
  const told = (atMs: number, spareMs = ageMaxMs) => toHandedOut({ ...leaseOf("a", 100), spareMs }, atMs).leaseUntil;
  const earlier = (ms: number) => new Date(leaseUntil.getTime() - ms);
  assert.deepEqual(told(100), earlier(ageMaxMs));
  assert.deepEqual(told(130), earlier(ageMaxMs - 30));
  assert.deepEqual(told(100 + ageMaxMs), leaseUntil);
  assert.deepEqual(told(1000), leaseUntil);
  assert.deepEqual(told(100, 0), leaseUntil);
});
