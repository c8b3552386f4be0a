import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../../test/harness/random.ts";
import { Failure } from "../../../errors/index.ts";
import { parseJson } from "../index.ts";
import { keysMax } from "./key-table.ts";
import { type SizeLimit, scanJson, scanJsonInTurns, valuesMax } from "./scan.ts";

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

function failureOf(text: string): Failure {
  try {
    parseJson(text);
  } catch (error) {
    assert.ok(error instanceof Failure);
    return error;
  }
  return assert.fail("was parsed");
}

suite("parsing JSON", () => {
  test("text and UTF-8 bytes are parsed", () => {
    assert.deepEqual(parseJson('{"a": "é😀"}'), { a: "é😀" });
    assert.deepEqual(parseJson(Buffer.from('{"a": "é😀\ufffd"}')), { a: "é😀\ufffd" });
  });

  test("a duplicate key is rejected by name, in any notation and among any number of keys", () => {
    for (const [text, field] of [
      ['{"a": 1, "a": 2}', '["a"]'],
      ['{"a": 1, "\\u0061": 2}', '["a"]'],
      ['{"\\u0061": 1, "b": 0, "a": 2}', '["a"]'],
      ['{"é": 1, "\\u00e9": 2}', '["é"]'],
      ['{"b": [0, {"a": {"a": 1}, "c": 2, "a": 3}]}', '["b"][1]["a"]'],
      [`{${Array.from({ length: 500 }, (_, i) => `"k${i}": {"k${i}": 1}`).join(",")}, "k250": 0}`, '["k250"]'],
    ] as const) {
      const { violations } = failureOf(text);
      assert.deepEqual(violations, [
        { field, rule: "duplicate_key", message: "must not be given twice in one object" },
      ]);
    }
    const same = '[{"a": {"a": 1}, "b": {"a": 1}}, {"b": 1, "a": {"b": {}, "a": 2}}, {"a": 1}]';
    assert.deepEqual(parseJson(same), JSON.parse(same));
  });

  test("an integer that a double cannot represent is rejected by name; other numbers are accepted", () => {
    for (const [text, field] of [
      ['{"a": [1, 9007199254740993]}', '["a"][1]'],
      ['{"a": {"b c": -9007199254740992}}', '["a"]["b c"]'],
      ['{"a": 100000000000000000000000}', '["a"]'],
    ] as const) {
      const { violations } = failureOf(text);
      assert.deepEqual([violations[0]?.field, violations[0]?.rule], [field, "unsafe_integer"]);
      assert.match(violations[0]!.message, /send it as a string of digits/);
    }
    const kept =
      '[9007199254740991, -9007199254740991, 1e300, 0.12345678901234567, 12345678901234567.5, "9007199254740993"]';
    assert.deepEqual(parseJson(kept), JSON.parse(kept));
  });

  test("the numbers of values and of distinct keys are limited", () => {
    const list = (count: number) => `{"a": [${Array(count).fill("1").join()}]}`;
    assert.equal(refusal(list(valuesMax - 1)), "");
    assert.match(refusal(list(valuesMax)), /more than 250000 values/);
    const object = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":${i}`).join()}}`;
    assert.equal(refusal(object(keysMax)), "");
    assert.match(refusal(object(keysMax + 1)), /more than 10000 different keys/);
    const records = (count: number) => `[${Array(count).fill('{"id": 1, "name": "n", "tags": {"a": 1}}').join()}]`;
    assert.equal(refusal(records(50_000)), "", "the same keys again count once");
    const shapes = Array.from({ length: 5001 }, (_, i) => `{"x${i % 100}": 1, "y${i}": 2, "z": 3}`);
    assert.match(refusal(`[${shapes.join()}]`), /different keys/, "a key after other keys counts again");
  });

  test("keys that collide or need many comparisons are rejected or read in linear time", () => {
    const wide = Array.from({ length: 4000 }, (_, i) => `"k${i}": {"a": 1}`).join();
    assert.equal(refusal(`{${wide}}`), "");
    const empty = Array.from({ length: 200 }, (_, i) => `"${"\\u0000".repeat(i + 1)}": 1`).join();
    assert.equal(refusal(`{${empty}}`), "");
  });

  test("input beyond a limit is rejected at the byte that exceeds it, and is never parsed", (t) => {
    const parse = t.mock.method(JSON, "parse", () => assert.fail("was parsed"));
    const keys = Array.from({ length: keysMax + 1 }, (_, i) => `"k${i}":1`).join();
    // If anything after the limit were scanned, the fault would be a syntax error.
    assert.match(refusal(Buffer.from(`{"payload":{${keys} no JSON`)), /different keys/);
    assert.match(refusal(Buffer.from(`[${"1,".repeat(valuesMax + 1)} no JSON`)), /more than 250000 values/);
    assert.match(refusal(Buffer.from(`${"[".repeat(65)} no JSON`)), /nests deeper/);
    assert.equal(parse.mock.callCount(), 0);
  });

  test("bytes that are not UTF-8 are rejected", () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc3, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
      [0xff, 0xfe, 0x31, 0x00],
    ]) {
      assert.equal(refusal(Buffer.from(bytes)), "The request is not valid UTF-8.");
    }
  });

  test("invalid JSON is rejected with its position, and never with the engine's message", () => {
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

  test("a syntax error is found exactly if the engine rejects the text", () => {
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
        const fault = scanJson(Buffer.from(text));
        if (fault?.kind !== "duplicate_key") assert.equal(fault === undefined, valid, text);
      }),
      { numRuns: 20_000 },
    );
    fc.assert(fc.property(fc.json(), (text) => assert.notEqual(scanJson(Buffer.from(text))?.kind, "syntax")));
    fc.assert(
      fc.property(fc.string({ maxLength: 8 }), (text) => assert.equal(refusal(JSON.stringify({ [text]: text })), "")),
    );
  });

  test("64 levels are parsed and 65 are rejected; brackets in strings do not count", () => {
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

  test("megabytes of open brackets, quotes and backslashes are rejected without a deep stack", () => {
    const size = 4 * 1024 * 1024;
    for (const text of ["[".repeat(size), '{"a":'.repeat(size / 5), `${"[".repeat(size / 2)}${"]".repeat(size / 2)}`]) {
      assert.match(refusal(Buffer.from(text)), /nests deeper/);
    }
    assert.match(refusal(`"${"\\".repeat(size)}`), /not valid JSON/);
    assert.match(refusal(`["${"a".repeat(size)}`), /not valid JSON/);
    assert.match(refusal(`["${"a".repeat(size)}\n"]`), /not valid JSON, from line 1, column 2 on/);
  });
});

suite("a scan in turns", () => {
  const zeros = `[${Array(25_000).fill("0 ").join(", ")}]`;
  const sizeLimit: SizeLimit = ([field]) => (field === "limited" ? 70_000 : undefined);
  const documents = {
    valid: `[{"a": ${zeros}, "b": {"a": 1}}, ${zeros}]`,
    "a duplicate of a key before a pause": `{"x": [0, {"b": 1, "list": ${zeros}, "c": {"b": 2}, "b": 3}]}`,
    "an unsafe integer": `{"x": [${zeros}, 9007199254740993]}`,
    "a value within its limit, without its whitespace": `{"limited": ${zeros}}`,
    "a value that exceeds its limit": `{"limited": [${zeros}, ${zeros}]}`,
    "a list that does not end": `{"x": ${zeros.slice(0, -1)}}`,
    "too many values": `[${Array(11).fill(zeros)}]`,
    "too many keys": `[${zeros}, {${Array.from({ length: keysMax + 1 }, (_, nth) => `"k${nth}": 0`)}}]`,
  };

  for (const [name, document] of Object.entries(documents)) {
    test(`returns the result of a whole scan while other scans run between its turns: ${name}`, async () => {
      const bytes = Buffer.from(document);
      const other = Buffer.from('{"c": [{"b": [[ ]], "a": "\\n", "\\u0062": 1}]}');
      const expected = scanJson(bytes, sizeLimit);
      let isDone = false;
      const scanned = Promise.all([scanJsonInTurns(bytes, sizeLimit), scanJsonInTurns(bytes, sizeLimit)]).finally(
        () => {
          isDone = true;
        },
      );
      while (!isDone) {
        assert.equal(scanJson(other)?.kind, "duplicate_key");
        await new Promise(setImmediate);
      }
      assert.deepEqual(await scanned, [expected, expected]);
    });
  }
});
