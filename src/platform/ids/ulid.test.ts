import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/harness/random.ts";
import { isUlid, ulid } from "./ulid.ts";

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const timeOf = (id: string) => [...id.slice(0, 10)].reduce((ms, letter) => ms * 32 + alphabet.indexOf(letter), 0);

test("ids rise strictly, whatever the clock does", () => {
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

test("an id begins with the time of its making, and sorts by it", () => {
  const nowMs = Date.now() + 100_000_000;
  assert.equal(timeOf(ulid(nowMs)), nowMs);
  assert.equal(timeOf(ulid(nowMs + 1)), nowMs + 1);
});

test("a million ids of one moment differ and are in order", () => {
  const nowMs = Date.now() + 200_000_000;
  let before = "";
  for (let n = 0; n < 1_000_000; n++) {
    const id = ulid(nowMs);
    if (id <= before) assert.fail(`${id} after ${before}`);
    before = id;
  }
});

test("ids of different moments share no randomness", () => {
  const nowMs = Date.now() + 300_000_000;
  const randoms = new Set(Array.from({ length: 10_000 }, (_, n) => ulid(nowMs + n).slice(10)));
  assert.equal(randoms.size, 10_000);
  // Every letter turns up in every place.
  for (let place = 0; place < 16; place++) {
    assert.equal(new Set([...randoms].map((random) => random[place])).size, 32);
  }
});

test("only 26 letters of Crockford's alphabet that the time can reach are an id", () => {
  assert.ok(isUlid(ulid(Date.now())));
  assert.ok(isUlid("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"));
  for (const text of ["", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAVX"]) {
    assert.equal(isUlid(text), false, text);
  }
  for (const letter of "ILOUilou\n -") assert.equal(isUlid(`01ARZ3NDEKTSV4RRFFQ69G5FA${letter}`), false, letter);
  assert.equal(isUlid(`${ulid(Date.now())}\n`), false);
});
