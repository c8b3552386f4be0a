import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { Failure } from "../../errors/index.ts";
import { parseJson } from "./index.ts";
import { locateError } from "./locate.ts";

function refusal(text: string | Buffer): string {
  try {
    parseJson(text);
  } catch (error) {
    assert.ok(error instanceof Failure);
    assert.equal(error.code, "INVALID_ARGUMENT");
    return error.message;
  }
  return "";
}

suite("parsing JSON", () => {
  test("text and bytes of UTF-8 are parsed", () => {
    assert.deepEqual(parseJson('{"a": "é😀"}'), { a: "é😀" });
    assert.deepEqual(parseJson(Buffer.from('{"a": "é😀\ufffd"}')), { a: "é😀\ufffd" });
  });

  test("of a key that is given twice the last one wins", () => {
    assert.deepEqual(parseJson('{"a": 1, "a": 2}'), { a: 2 });
  });

  test("bytes that are not UTF-8 are refused", () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc3, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
      [0xff, 0xfe, 0x31, 0x00],
    ]) {
      assert.equal(refusal(Buffer.from(bytes)), "The request is not valid UTF-8.");
    }
  });

  test("broken JSON is refused with its place, and never in the engine's words", () => {
    for (const [text, message] of [
      ["", "The request is not valid JSON: it is empty."],
      [" \n", "The request is not valid JSON: it is empty."],
      ['{"a": 1', "The request is not valid JSON: it ends too early."],
      ['{"a":}', "The request is not valid JSON, from line 1, column 6 on."],
      ['{\n  "a": 1,\n  b: 2\n}', "The request is not valid JSON, from line 3, column 3 on."],
      ["[1,]", "The request is not valid JSON, from line 1, column 4 on."],
      ['["secret\u0001"]', "The request is not valid JSON, from line 1, column 2 on."],
      ["{} {}", "The request is not valid JSON, from line 1, column 4 on."],
      ["NaN", "The request is not valid JSON, from line 1, column 1 on."],
    ] as const) {
      assert.equal(refusal(text), message);
      assert.equal(refusal(Buffer.from(text)), message);
    }
  });

  test("a place is found exactly when the engine refuses the text", () => {
    const pieces = fc.constantFrom(
      ...'{}[]:,"\\ \n'.split(""),
      '"a"',
      "1",
      "-",
      "0",
      "1e5",
      "true",
      "null",
      "\\u00e9",
      "x",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join("");
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        assert.equal(locateError(text) === undefined, valid);
      }),
      { numRuns: 20_000 },
    );
    fc.assert(fc.property(fc.json(), (text) => assert.equal(locateError(text), undefined)));
  });

  test("64 levels are parsed and 65 are refused, brackets in strings not counted", () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ] as const) {
      assert.equal(refusal(`${open.repeat(64)}1${close.repeat(64)}`), "");
      assert.match(refusal(`${open.repeat(65)}1${close.repeat(65)}`), /nests deeper than 64 levels/);
    }
    const inString = JSON.stringify({ a: "[".repeat(500), 'b"\\': "{\\" });
    assert.deepEqual(parseJson(inString), JSON.parse(inString));
    const wide = JSON.stringify(Array(1000).fill([]));
    assert.deepEqual(parseJson(wide), JSON.parse(wide));
  });

  test("megabytes of open brackets, quotes and backslashes are refused without a deep stack", () => {
    const size = 4 * 1024 * 1024;
    for (const text of ["[".repeat(size), '{"a":'.repeat(size / 5), `${"[".repeat(size / 2)}${"]".repeat(size / 2)}`]) {
      assert.match(refusal(Buffer.from(text)), /nests deeper/);
    }
    assert.match(refusal(`"${"\\".repeat(size)}`), /not valid JSON/);
    assert.match(refusal(`["${"a".repeat(size)}`), /not valid JSON/);
  });
});
