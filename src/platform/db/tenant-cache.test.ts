import assert from "node:assert/strict";
import { test } from "node:test";
import { announcedChanges } from "../../../test/harness/changes.ts";
import { createTenantCache } from "./tenant-cache.ts";

/** A cache of texts `<tenant>/<record>` that counts its reads; the test may hold one back. */
function scratch(entriesMax?: number) {
  const { changes, standing } = announcedChanges();
  const reads: string[] = [];
  let value = "first";
  let gate: Promise<void> | undefined;
  const cache = createTenantCache<string, string>({
    changes,
    entriesMax,
    async load(key) {
      reads.push(key);
      const read = `${key} ${value}`;
      await gate;
      return read;
    },
    tenantOf: (key) => (key.startsWith("nobody") ? undefined : key.split("/")[0]),
  });
  return {
    cache,
    changes,
    standing,
    reads,
    set: (next: string) => {
      value = next;
    },
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return () => {
        gate = undefined;
        resolve();
      };
    },
  };
}

test("a value is read once and then given without waiting", async () => {
  const { cache, reads } = scratch();
  assert.equal(await cache.get("a/1"), "a/1 first");
  assert.equal(cache.get("a/1"), "a/1 first");
  assert.deepEqual(reads, ["a/1"]);
});

test("a change drops everything of its tenant and nothing of others", async () => {
  const { cache, changes, reads, set } = scratch();
  for (const key of ["a/1", "a/2", "b/1"]) await cache.get(key);
  set("second");
  changes.published("a");
  assert.equal(cache.get("b/1"), "b/1 first");
  assert.equal(await cache.get("a/1"), "a/1 second");
  assert.equal(await cache.get("a/2"), "a/2 second");
  assert.equal(reads.length, 5);
});

test("a value that was read before a change and arrives after it is given to who asked, and never kept", async () => {
  const { cache, changes, set, hold } = scratch();
  const release = hold();
  const asked = cache.get("a/1");
  set("second");
  changes.published("a");
  release();
  assert.equal(await asked, "a/1 first");
  assert.equal(await cache.get("a/1"), "a/1 second");
  assert.equal(cache.get("a/1"), "a/1 second");
});

test("while changes of other nodes are not known, every value is read anew and none is kept", async () => {
  const { cache, standing, reads, set } = scratch();
  await cache.get("a/1");
  standing.fresh = false;
  set("second");
  for (let n = 0; n < 2; n++) {
    assert.equal(await cache.get("a/1"), "a/1 second");
    await cache.get("a/2");
  }
  assert.equal(reads.length, 5);
  standing.fresh = true;
  await cache.get("a/2");
  assert.equal(reads.length, 6);
});

test("what was kept before the changes were lost sight of is only trusted again once they are known, and were none", async () => {
  const { cache, changes, standing, set } = scratch();
  await cache.get("a/1");
  standing.fresh = false;
  set("second");
  // The node catches up: it is told of what it missed before it counts as fresh.
  changes.published("a");
  standing.fresh = true;
  assert.equal(await cache.get("a/1"), "a/1 second");
});

test("a value that belongs to no tenant is not kept", async () => {
  const { cache, reads } = scratch();
  await cache.get("nobody/1");
  await cache.get("nobody/1");
  assert.equal(reads.length, 2);
});

test("a read that fails is not kept, and the next one tries again", async () => {
  const { changes } = announcedChanges();
  let reads = 0;
  const cache = createTenantCache<string, string>({
    changes,
    load: async (key) => {
      if (reads++ === 0) throw new Error("the database is gone");
      return key;
    },
    tenantOf: (key) => key,
  });
  await assert.rejects(Promise.resolve(cache.get("a")), /gone/);
  assert.equal(await cache.get("a"), "a");
});

test("it never holds more than its maximum", async () => {
  const { cache, reads } = scratch(3);
  for (let n = 0; n < 10; n++) await cache.get(`a/${n}`);
  reads.length = 0;
  for (let n = 0; n < 10; n++) await cache.get(`a/${n}`);
  assert.ok(reads.length >= 7, `${10 - reads.length} were kept`);
});
