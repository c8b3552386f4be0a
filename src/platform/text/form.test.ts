import assert from "node:assert/strict";
import { test } from "node:test";
import { parseForm } from "./form.ts";

test("forms are read as browsers write them", () => {
  for (const text of [
    "",
    "a=1&b=2&a=3",
    "a&b=&=c&=&&d",
    "a=b=c",
    "a+b=c+d%20e&%C3%BC=%E2%82%AC&ü=ü",
    "bad=%zz&half=%E2%82&end=%&mixed=ü%ff",
    "?a=1",
    "a=%26%3D%2B",
  ]) {
    assert.deepEqual(parseForm(text), [...new URLSearchParams(`&${text}`)], text);
  }
});

test("a form with too many members is not read, whether they have values or not", () => {
  for (const member of ["a", "a=1", ""]) {
    assert.ok(parseForm(Array(1000).fill(member).join("&")), member);
    assert.equal(parseForm(Array(1001).fill(member).join("&")), undefined, member);
  }
});
