import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/harness/random.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { emptyWindow, windowsNeeded } from "./domain/window.ts";
import { rememberedWindows } from "./remembered-windows.ts";
import type { WatchablePool, WindowRow } from "./window-store.ts";

const pool: WatchablePool = { tenantId: "t" as TenantId, poolId: "p" };
const second = 1000;

/** Reads of made-up outcomes: each recipient did something in some seconds, and how much tells when. */
function madeUp(busy: (recipientId: string, atS: number) => boolean) {
  const reads: [fromMs: number, toMs: number][] = [];
  const read = async (_: WatchablePool, fromMs: number, windowMs: number, count: number): Promise<WindowRow[]> => {
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

test("however looks follow each other, the windows are the same as if all had been read", async () => {
  const looks = fc.array(fc.record({ step: fc.integer({ min: 0, max: 20 }), windowS: fc.constantFrom(1, 1, 1, 2) }));
  await fc.assert(
    fc.asyncProperty(looks, fc.integer({ min: 1, max: 7 }), async (given, rhythm) => {
      const busy = (recipientId: string, atS: number) =>
        (atS + recipientId.length) % rhythm === 0 || recipientId === "";
      const remembering = rememberedWindows(madeUp(busy).read);
      let atS = 1000;
      for (const { step, windowS } of given) {
        atS += step * windowS;
        const endMs = Math.floor(atS / windowS) * windowS * second;
        const fresh = rememberedWindows(madeUp(busy).read);
        assert.deepEqual(
          await remembering.upTo(pool, endMs, windowS * second),
          await fresh.upTo(pool, endMs, windowS * second),
        );
      }
    }),
  );
});

test("only windows that have ended since the last look are read", async () => {
  const { read, reads } = madeUp(() => true);
  const windows = rememberedWindows(read);
  await windows.upTo(pool, 100 * second, second);
  await windows.upTo(pool, 102 * second, second);
  await windows.upTo(pool, 102 * second, second);
  windows.keepOnly([]);
  await windows.upTo(pool, 103 * second, second);
  assert.deepEqual(
    reads.map((range) => range.map((ms) => ms / second)),
    [
      [100 - windowsNeeded, 100],
      [100, 102],
      [103 - windowsNeeded, 103],
    ],
  );
});

test("a pool that is too large to be remembered is read whole each time", async () => {
  const { read, reads } = madeUp(() => true);
  const windows = rememberedWindows(read, 2);
  await windows.upTo(pool, 100 * second, second);
  const series = await windows.upTo(pool, 101 * second, second);
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
