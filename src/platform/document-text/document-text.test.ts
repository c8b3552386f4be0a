import assert from "node:assert/strict";
import { test } from "node:test";
import { failsWith } from "../../../test/harness/context.ts";
import { fc } from "../../../test/harness/random.ts";
import { parseDefinition } from "../../modules/workflows/definitions/domain/language/syntax/parse-definition.ts";
import { validDocuments } from "../../modules/workflows/definitions/domain/language/testing/documents.ts";
import { createTextReader, formatText } from "./document-text.ts";
import { readYaml } from "./yaml-document.ts";

const { readText } = createTextReader();

test("a document is the same after it was written and read", async () => {
  for (const document of Object.values(validDocuments)) {
    const yaml = readYaml(formatText(document, "yaml"));
    assert.equal(JSON.stringify(yaml), JSON.stringify({ value: document }));
    const json = await readText(formatText(document, "json"), "json");
    assert.equal(JSON.stringify(json), JSON.stringify(document));
  }
});

test("any JSON object is the same after it was written as YAML and read", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (document) => {
      const json = JSON.stringify(document);
      assert.deepEqual(readYaml(formatText(JSON.parse(json), "yaml")), { value: JSON.parse(json) });
    }),
  );
});

test("a syntax error has its position", async () => {
  const refuses = (text: string, format: "yaml" | "json", message: RegExp) =>
    assert.rejects(readText(text, format), failsWith("INVALID_ARGUMENT", message));
  await refuses('{"a": 1,', "json", /^text: is not valid JSON: it ends too early$/);
  await refuses('{"a": 1,\n"b": tru}', "json", /^text: is not valid JSON, from line 2, column 6 on$/);
  await refuses("a: 1\nb: [1", "yaml", /^text: line 2, column \d+: /);
  await refuses("a: 1\nb: 2\na: 3", "yaml", /^text: line 3, column 1: The key a is used twice\.$/);
  await refuses("? [a, b]\n: 1", "yaml", /^text: line 1, column 1: A key must be a text\.$/);
  await refuses("a: 1\n---\nb: 2", "yaml", /multiple documents/);
});

test("a text that is too deep or refers to nothing is refused in the service's own words", async () => {
  const problemOf = (text: string) =>
    readText(text, "yaml").then(
      () => assert.fail("it was read"),
      ({ message }: Error) => message,
    );
  for (const text of ["[".repeat(10_000), "{a: ".repeat(10_000), `${"- ".repeat(10_000)}x`]) {
    assert.match(await problemOf(text), /^text: (line 1, column \d+: )?is nested too deeply$/);
  }
  assert.equal(await problemOf("a: 1\nb: *c"), "text: must name an anchor that is set before with each alias");
});

test("texts that are expressions, numbers or dates in YAML keep their meaning", () => {
  const document = {
    a: "=input.id",
    b: "==",
    c: "1",
    d: "true",
    e: "2030-01-31T09:00:00Z",
    f: "no",
    g: "a\nb",
    h: "~",
  };
  assert.deepEqual(readYaml(formatText(document, "yaml")), { value: document });
  const value = { at: "2030-01-31", when: "=input.x > 70" };
  assert.deepEqual(readYaml("at: 2030-01-31\nwhen: =input.x > 70"), { value });
});

test("a text that takes too long to read is refused", async () => {
  const { readText: read } = createTextReader({ timeoutMs: 1 });
  await assert.rejects(read("a: 1", "yaml"), failsWith("INVALID_ARGUMENT", /^text: takes too long to read/));
});

test("more texts than threads are read one after another", async () => {
  const texts = Array.from({ length: 6 }, (_, at) => `a: ${at}`);
  const read = await Promise.all(texts.map((text) => readText(text, "yaml")));
  assert.deepEqual(
    read,
    texts.map((_, a) => ({ a })),
  );
});

test("hostile YAML ends in a typed error or in a document that the parser refuses", async () => {
  const bomb = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"];
  for (let level = 1; level < 20; level++) {
    bomb.push(`a${level}: &a${level} [${Array.from({ length: 9 }, () => `*a${level - 1}`).join(", ")}]`);
  }
  const texts = [
    bomb.join("\n"),
    "[".repeat(20_000),
    "{a: ".repeat(10_000),
    `${"- ".repeat(10_000)}x`,
    Array.from({ length: 10_000 }, (_, at) => `k${at}: 1`).join("\n"),
    "&a [*a]",
    "*missing",
    "!!js/function 'x'",
    "__proto__: {a: 1}",
    "a: .inf",
    "<<: {a: 1}",
    "\u0000",
    "%YAML 9.9\n---\na: 1",
  ];
  for (const text of texts) {
    let document: unknown;
    try {
      document = await readText(text, "yaml");
    } catch (error) {
      assert.ok(failsWith("INVALID_ARGUMENT")(error), `${text.slice(0, 40)}: ${error}`);
      continue;
    }
    assert.ok(parseDefinition(document).violations.length > 0, text.slice(0, 40));
  }
});
