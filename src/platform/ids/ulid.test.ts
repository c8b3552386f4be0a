import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/harness/random.ts";
import { isUlid, ulid, ulidFrom, ulidMs } from "./ulid.ts";

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const timeOf = (id: string) => [...id.slice(0, 10)].reduce((ms, letter) => ms * 32 + alphabet.indexOf(letter), 0);

test("ids increase strictly, even if the clock is set back", () => {
  const base = Date.now() + 10_000_000;
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -5000, max: 5000 }), { maxLength: 200 }), (steps) => {
      let before = ulid(base);
      for (const step of steps) {
        const id = ulid(base + step);
        assert.ok(id > before, `${id} after ${before}`);
        before = id;
      }
    }),
  );
});

test("an id starts with its creation time, and sorts by it", () => {
  const nowMs = Date.now() + 100_000_000;
  assert.equal(timeOf(ulid(nowMs)), nowMs);
  assert.equal(timeOf(ulid(nowMs + 1)), nowMs + 1);
});

test("a million ids of the same millisecond are unique and ordered", () => {
  const nowMs = Date.now() + 200_000_000;
  let before = "";
  for (let n = 0; n < 1_000_000; n++) {
    const id = ulid(nowMs);
    if (id <= before) assert.fail(`${id} after ${before}`);
    before = id;
  }
});

test("ids of different milliseconds have independent random parts", () => {
  const nowMs = Date.now() + 300_000_000;
  const randoms = new Set(Array.from({ length: 10_000 }, (_, n) => ulid(nowMs + n).slice(10)));
  assert.equal(randoms.size, 10_000);
  // Every character of the alphabet occurs at every position.
  for (let place = 0; place < 16; place++) {
    assert.equal(new Set([...randoms].map((random) => random[place])).size, 32);
  }
});

test("an id is 26 characters of Crockford's alphabet with a time part in range", () => {
  assert.ok(isUlid(ulid(Date.now())));
  assert.ok(isUlid("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"));
  for (const text of ["", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAVX"]) {
    assert.equal(isUlid(text), false, text);
  }
  for (const letter of "ILOUilou\n -") assert.equal(isUlid(`01ARZ3NDEKTSV4RRFFQ69G5FA${letter}`), false, letter);
  assert.equal(isUlid(`${ulid(Date.now())}\n`), false);
});

test("an id from a time and bytes is a ULID of that time, and equal for equal arguments", () => {
  const bytes = Uint8Array.from({ length: 32 }, (_, at) => at * 7);
  const id = ulidFrom(1_700_000_000_000, bytes);
  assert.ok(isUlid(id));
  assert.equal(ulidMs(id), 1_700_000_000_000);
  assert.equal(id, ulidFrom(1_700_000_000_000, bytes));
  assert.notEqual(id, ulidFrom(1_700_000_000_000, bytes.subarray(1)));
});
