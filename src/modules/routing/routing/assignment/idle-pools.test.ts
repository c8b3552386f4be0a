import assert from "node:assert/strict";
import { test } from "node:test";
import { IdlePools } from "./idle-pools.ts";

const pool = "pool";

/** Searches a pool; returns whether it must be searched again. */
function search(idle: IdlePools, found: { nothing: boolean; forPlace: boolean }, meanwhile = () => {}): boolean {
  const begun = idle.beginSearch(pool);
  meanwhile();
  return idle.endSearch(pool, begun, found);
}

test("a place without a matching item is remembered until an item waits", () => {
  const idle = new IdlePools();
  assert.equal(search(idle, { nothing: true, forPlace: true }), false);
  assert.equal(idle.recordWaitingItem(pool), true);
  assert.equal(idle.recordWaitingItem(pool), false);
});

test("a routine search neither adds nor removes a remembered place", () => {
  const idle = new IdlePools();
  search(idle, { nothing: true, forPlace: false });
  assert.equal(idle.recordWaitingItem(pool), false);
  search(idle, { nothing: true, forPlace: true });
  search(idle, { nothing: true, forPlace: false });
  assert.equal(idle.recordWaitingItem(pool), true);
});

test("an item announced during a search without results triggers another search, and the pool is not idle", () => {
  const idle = new IdlePools();
  assert.equal(
    search(idle, { nothing: true, forPlace: true }, () => void idle.recordWaitingItem(pool)),
    true,
  );
  assert.equal(idle.skipFreedPlace(pool), false);
});

test("an item announced during a search with results triggers no other search, which would announce the items again", () => {
  const idle = new IdlePools();
  assert.equal(
    search(idle, { nothing: false, forPlace: true }, () => void idle.recordWaitingItem(pool)),
    false,
  );
});

test("a routine search that finds items in a pool with a skipped place triggers a search for that place", () => {
  const idle = new IdlePools();
  search(idle, { nothing: true, forPlace: false });
  assert.equal(idle.skipFreedPlace(pool), true);
  assert.equal(search(idle, { nothing: false, forPlace: false }), true);
  assert.equal(search(idle, { nothing: false, forPlace: false }), false);
});

test("a place that stayed free after a scan is scanned again when an item waits, once", () => {
  const idle = new IdlePools();
  idle.beginPlaceScan(pool);
  search(idle, { nothing: false, forPlace: true });
  assert.equal(idle.endPlaceScan(pool, true), false);
  assert.equal(idle.recordWaitingItem(pool), true);
  assert.equal(idle.recordWaitingItem(pool), false);
});

test("an item announced during a scan triggers another scan only if a place is still free", () => {
  const idle = new IdlePools();
  for (const hasFreePlace of [true, false]) {
    idle.beginPlaceScan(pool);
    search(idle, { nothing: false, forPlace: true });
    assert.equal(idle.recordWaitingItem(pool), false);
    assert.equal(idle.endPlaceScan(pool, hasFreePlace), hasFreePlace);
    assert.equal(idle.recordWaitingItem(pool), false);
  }
});
