import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { fc } from "../../../../../test/harness/random.ts";
import { testIndependence } from "../testing/assignment-independence.ts";
import { bucketCount, bucketOf, variantIndexOf } from "./hash.ts";

test("a bucket is the top 53 bits of SHA-256 over the salt and the unit, each with its length", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (salt, unit) => {
      const length = (text: string) => {
        const bytes = Buffer.alloc(4);
        bytes.writeUInt32BE(Buffer.byteLength(text));
        return bytes;
      };
      const digest = createHash("sha256").update(length(salt)).update(salt).update(length(unit)).update(unit).digest();
      const top53Bits = digest.readBigUInt64BE(0) >> 11n;
      assert.equal(bucketOf(salt, unit), Number((top53Bits * BigInt(bucketCount)) >> 53n));
    }),
  );
});

test("buckets never change: assignments that were made depend on them", () => {
  assert.deepEqual(
    [bucketOf("salt", "user-1"), bucketOf("salt", "user-2"), bucketOf("Salz", "Jürgen 🦔"), bucketOf("", "")],
    [306_406, 761_941, 473_030, 684_897],
  );
});

test("the border between salt and unit matters", () => {
  assert.notEqual(bucketOf("ab", "c"), bucketOf("a", "bc"));
});

test("variants have ranges in the order of their weights", () => {
  const weights = [20, 0, 30, 50];
  assert.deepEqual(
    [0, 199_999, 200_000, 499_999, 500_000, 999_999].map((bucket) => variantIndexOf(bucket, weights)),
    [0, 0, 2, 2, 3, 3],
  );
  assert.equal(variantIndexOf(999_999, [1, 0]), 0);
  assert.throws(() => variantIndexOf(0, [0, 0]), RangeError);
});

test("weights are exact to a millionth", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 8 }), (weights) => {
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      fc.pre(total > 0);
      let upTo = 0;
      for (const [index, weight] of weights.entries()) {
        const from = Math.round((upTo / total) * bucketCount);
        upTo += weight;
        const to = Math.round((upTo / total) * bucketCount);
        if (to === from) continue;
        assert.equal(variantIndexOf(from, weights), index);
        assert.equal(variantIndexOf(to - 1, weights), index);
      }
    }),
  );
});

test("1,000,000 units: two experiments are independent, the allocation too, and all sample ratios pass", () => {
  const { experimentsP, allocationP, sampleRatioP } = testIndependence(1_000_000);
  assert.ok(experimentsP > 0.001, String(experimentsP));
  assert.ok(allocationP > 0.001, String(allocationP));
  for (const p of sampleRatioP) assert.ok(p >= 0.001, String(sampleRatioP));
});
