import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestName } from "./nearest-name.ts";

test("a mistyped name suggests the closest known one, and a far name none", () => {
  assert.equal(nearestName("max_atempts", ["max_attempts", "max_ms"]), "max_attempts");
  assert.equal(nearestName("tmie", ["type", "time"]), "time");
  assert.equal(nearestName("colour", ["max_attempts", "max_ms"]), undefined);
});

test("a name without its _id suggests the name with it", () => {
  assert.equal(nearestName("environment", ["name", "environment_id"]), "environment_id");
  assert.equal(nearestName("pool", ["poll", "pool_id"]), "pool_id");
});

/** The distance as it is defined: letters are changed, added, left out or swapped. */
function distanceOf(a: string, b: string): number {
  if (a === "" || b === "") return a.length + b.length;
  if (a[0] === b[0]) return distanceOf(a.slice(1), b.slice(1));
  const edited = [distanceOf(a.slice(1), b), distanceOf(a, b.slice(1)), distanceOf(a.slice(1), b.slice(1))];
  if (a.length > 1 && a[0] === b[1] && a[1] === b[0]) edited.push(distanceOf(a.slice(2), b.slice(2)));
  return 1 + Math.min(...edited);
}

test("nothing is suggested between equally close names, for another digit, or for the opposite", () => {
  assert.equal(nearestName("son", ["mon", "tue", "sun"]), undefined);
  assert.equal(nearestName("mnth", ["month", "month"]), "month");
  assert.equal(nearestName("1d", ["1h", "24h"]), undefined);
  assert.equal(nearestName("orders-2024", ["orders-2025"]), undefined);
  assert.equal(nearestName("ordrs-2025", ["orders-2025"]), "orders-2025");
  assert.equal(nearestName("INACTIVE", ["ACTIVE", "DISABLED"]), undefined);
  assert.equal(nearestName("STATUS_INACTIVE", ["STATUS_ACTIVE", "STATUS_DISABLED"]), undefined);
  assert.equal(nearestName("verified", ["unverified"]), undefined);
});

test("a short name is suggested exactly if its edit distance is 1, and it is the only closest one", () => {
  const letters = ["", "a", "b", "c"];
  const names = letters.flatMap((a) =>
    letters.flatMap((b) => letters.flatMap((c) => letters.map((d) => a + b + c + d))),
  );
  const unique = [...new Set(names)].filter((name) => name !== "");
  for (const typed of unique) {
    for (const name of unique) {
      const isNear = distanceOf(typed, name) <= 1;
      assert.equal(nearestName(typed, [name]), isNear ? name : undefined, `${typed} ${name}`);
    }
    const others = unique.filter((name) => name !== typed);
    const near = others.filter((name) => distanceOf(typed, name) === 1);
    assert.equal(nearestName(typed, others), near.length === 1 ? near[0] : undefined, typed);
  }
});

test("longer names may differ more: a change per four letters", () => {
  const name = "abcdefghijklmnopqrstuvwxyzabcd";
  assert.equal(nearestName(name.replace(/[bdfhjl]/g, "_").slice(0, 30), [name]), undefined);
  assert.equal(nearestName(`${name.slice(3)}xyz`, [name]), name);
  assert.equal(nearestName(`xyz${name.slice(0, -3)}`, [name]), name);
  assert.equal(nearestName(`${name.slice(4)}wxyz`, [name]), undefined);
});
