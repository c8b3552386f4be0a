import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/harness/random.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { emptyWindow, windowsNeeded } from "./domain/window.ts";
import { createWindowCache } from "./window-cache.ts";
import type { PoolRef, WindowRow } from "./window-store.ts";

const pool: PoolRef = { tenantId: "t" as TenantId, poolId: "p" };
const second = 1000;

/** Reads generated outcomes: each recipient is busy in some seconds, and the total encodes the time. */
function generatedReads(busy: (recipientId: string, atS: number) => boolean) {
  const reads: [fromMs: number, toMs: number][] = [];
  const read = async (_: PoolRef, fromMs: number, windowMs: number, count: number): Promise<WindowRow[]> => {
    reads.push([fromMs, fromMs + count * windowMs]);
    const rows: WindowRow[] = [];
    for (let slot = 0; slot < count; slot++) {
      const atMs = fromMs + slot * windowMs;
      for (const recipientId of ["", "a", "b"])
        if (busy(recipientId, atMs / second)) rows.push({ ...emptyWindow, recipientId, slot, total: atMs + windowMs });
    }
    return rows;
  };
  return { read, reads };
}

test("cached windows equal a full read, whatever the sequence of scans", async () => {
  const scans = fc.array(fc.record({ step: fc.integer({ min: 0, max: 20 }), windowS: fc.constantFrom(1, 1, 1, 2) }));
  await fc.assert(
    fc.asyncProperty(scans, fc.integer({ min: 1, max: 7 }), async (given, rhythm) => {
      const busy = (recipientId: string, atS: number) =>
        (atS + recipientId.length) % rhythm === 0 || recipientId === "";
      const cached = createWindowCache(generatedReads(busy).read);
      let atS = 1000;
      for (const { step, windowS } of given) {
        atS += step * windowS;
        const endMs = Math.floor(atS / windowS) * windowS * second;
        const fresh = createWindowCache(generatedReads(busy).read);
        assert.deepEqual(
          await cached.readUpTo(pool, endMs, windowS * second),
          await fresh.readUpTo(pool, endMs, windowS * second),
        );
      }
    }),
  );
});

test("only windows that have ended since the last read are read", async () => {
  const { read, reads } = generatedReads(() => true);
  const windows = createWindowCache(read);
  await windows.readUpTo(pool, 100 * second, second);
  await windows.readUpTo(pool, 102 * second, second);
  await windows.readUpTo(pool, 102 * second, second);
  windows.retainOnly([]);
  await windows.readUpTo(pool, 103 * second, second);
  assert.deepEqual(
    reads.map((range) => range.map((ms) => ms / second)),
    [
      [100 - windowsNeeded, 100],
      [100, 102],
      [103 - windowsNeeded, 103],
    ],
  );
});

test("a pool that exceeds the cache is read completely each time", async () => {
  const { read, reads } = generatedReads(() => true);
  const windows = createWindowCache(read, 2);
  await windows.readUpTo(pool, 100 * second, second);
  const series = await windows.readUpTo(pool, 101 * second, second);
  assert.deepEqual(reads[1], [(101 - windowsNeeded) * second, 101 * second]);
  assert.deepEqual(
    series.map(({ recipientId, windows: all }) => [recipientId, all.length]),
    [
      ["", windowsNeeded],
      ["a", windowsNeeded],
      ["b", windowsNeeded],
    ],
  );
});
