import assert from "node:assert/strict";
import { test } from "node:test";
import { announcedChanges } from "../../../../test/harness/changes.ts";
import { createTenantCache } from "./tenant-cache.ts";

/** A cache of texts `<tenant>/<record>` that counts its reads; the test can delay a read. */
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

test("a value is read once and then returned synchronously", async () => {
  const { cache, reads } = scratch();
  assert.equal(await cache.get("a/1"), "a/1 first");
  assert.equal(cache.get("a/1"), "a/1 first");
  assert.deepEqual(reads, ["a/1"]);
});

test("a change invalidates all values of its tenant and none of others", async () => {
  const { cache, changes, reads, set } = scratch();
  for (const key of ["a/1", "a/2", "b/1"]) await cache.get(key);
  set("second");
  changes.published("a");
  assert.equal(cache.get("b/1"), "b/1 first");
  assert.equal(await cache.get("a/1"), "a/1 second");
  assert.equal(await cache.get("a/2"), "a/2 second");
  assert.equal(reads.length, 5);
});

test("a value that was read before a change and arrives after it is returned to its caller but not cached", async () => {
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

test("while changes of other nodes are unknown, every value is read again and none is cached", async () => {
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

test("values cached before changes became unknown are used again only once it is known that there were none", async () => {
  const { cache, changes, standing, set } = scratch();
  await cache.get("a/1");
  standing.fresh = false;
  set("second");
  // The node catches up: it processes missed changes before it counts as fresh.
  changes.published("a");
  standing.fresh = true;
  assert.equal(await cache.get("a/1"), "a/1 second");
});

test("a value that belongs to no tenant is not cached", async () => {
  const { cache, reads } = scratch();
  await cache.get("nobody/1");
  await cache.get("nobody/1");
  assert.equal(reads.length, 2);
});

test("concurrent callers share a read, except those that come after a change or while changes are unknown", async () => {
  const { cache, changes, standing, reads, set, hold } = scratch();
  const release = hold();
  const before = [cache.get("a/1"), cache.get("a/1"), cache.get("b/1")];
  assert.deepEqual(reads, ["a/1", "b/1"]);
  set("second");
  changes.published("a");
  const later = [cache.get("a/1"), cache.get("a/1")];
  standing.fresh = false;
  set("third");
  const unknown = cache.get("a/1");
  release();
  assert.deepEqual(await Promise.all(before), ["a/1 first", "a/1 first", "b/1 first"]);
  assert.deepEqual(await Promise.all(later), ["a/1 second", "a/1 second"]);
  assert.equal(await unknown, "a/1 third");
  assert.equal(reads.length, 4);
});

test("a failed read is not cached, and the next one retries", async () => {
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

test("the number of entries is bounded", async () => {
  const { cache, reads } = scratch(3);
  for (let n = 0; n < 10; n++) await cache.get(`a/${n}`);
  reads.length = 0;
  for (let n = 0; n < 10; n++) await cache.get(`a/${n}`);
  assert.ok(reads.length >= 7, `${10 - reads.length} were kept`);
});
