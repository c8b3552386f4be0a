import assert from "node:assert/strict";
import { test } from "node:test";
import { IdlePools } from "./idle-pools.ts";

const pool = "pool";

/** Searches a pool; whether it has to be searched once more. */
function search(idle: IdlePools, found: { nothing: boolean; forPlace: boolean }, meanwhile = () => {}): boolean {
  const begun = idle.beginSearch(pool);
  meanwhile();
  return idle.endSearch(pool, begun, found);
}

test("a place that a search found nothing for is remembered until an item waits for one", () => {
  const idle = new IdlePools();
  assert.equal(search(idle, { nothing: true, forPlace: true }), false);
  assert.equal(idle.itemWaits(pool), true);
  assert.equal(idle.itemWaits(pool), false);
});

test("a search that nobody freed a place for leaves none to remember, and forgets none", () => {
  const idle = new IdlePools();
  search(idle, { nothing: true, forPlace: false });
  assert.equal(idle.itemWaits(pool), false);
  search(idle, { nothing: true, forPlace: true });
  search(idle, { nothing: true, forPlace: false });
  assert.equal(idle.itemWaits(pool), true);
});

test("an item that comes up while nothing is found leads to another search, and the pool is not idle", () => {
  const idle = new IdlePools();
  assert.equal(
    search(idle, { nothing: true, forPlace: true }, () => void idle.itemWaits(pool)),
    true,
  );
  assert.equal(idle.passOver(pool), false);
});

test("an item that comes up while others are found leads to no other search: each would announce the items again", () => {
  const idle = new IdlePools();
  assert.equal(
    search(idle, { nothing: false, forPlace: true }, () => void idle.itemWaits(pool)),
    false,
  );
});

test("items found by a routine search in a pool whose place was passed over are searched for that place", () => {
  const idle = new IdlePools();
  search(idle, { nothing: true, forPlace: false });
  assert.equal(idle.passOver(pool), true);
  assert.equal(search(idle, { nothing: false, forPlace: false }), true);
  assert.equal(search(idle, { nothing: false, forPlace: false }), false);
});

test("a place that a look left over is looked at again when an item waits for one, once", () => {
  const idle = new IdlePools();
  idle.beginPlaceLook(pool);
  search(idle, { nothing: false, forPlace: true });
  assert.equal(idle.endPlaceLook(pool, true), false);
  assert.equal(idle.itemWaits(pool), true);
  assert.equal(idle.itemWaits(pool), false);
});

test("an item that comes up during a look that leaves a place leads to another look; without a place it does not", () => {
  const idle = new IdlePools();
  for (const placeIsLeft of [true, false]) {
    idle.beginPlaceLook(pool);
    search(idle, { nothing: false, forPlace: true });
    assert.equal(idle.itemWaits(pool), false);
    assert.equal(idle.endPlaceLook(pool, placeIsLeft), placeIsLeft);
    assert.equal(idle.itemWaits(pool), false);
  }
});
