import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/harness/random.ts";
import { compileCel } from "./compile.ts";
import { repairExpression } from "./repair.ts";

const variables = { item: "map", recipient: "map", key: "string" } as const;
const repair = (source: string) => repairExpression(source, variables, "bool");

test("expressions in the habits of other languages are repaired", () => {
  const table = [
    ["item.a = 1", "item.a == 1"],
    ["item.a === 1 && item.b !== 2", "item.a == 1 && item.b != 2"],
    ["item.a <> 1 and not item.b", "item.a != 1 && !item.b"],
    ['key = "a and b" or key == "c = d"', 'key == "a and b" || key == "c = d"'],
    ["item.a == True", "item.a == true"],
    ["key.length > 3", "key.size() > 3"],
    ['key.includes("a")', 'key.contains("a")'],
    ["len(key) > 3;", "size(key) > 3"],
  ];
  for (const [source, repaired] of table) assert.equal(repair(source!), repaired, source);
});

test("mistyped names, open brackets and quotes are repaired, one after another", () => {
  const table = [
    ["itm.a == 1", "item.a == 1"],
    ['key.startswith("a")', 'key.startsWith("a")'],
    ['item.tags.exist(t, t == "a")', 'item.tags.exists(t, t == "a")'],
    ["(item.a == 1", "(item.a == 1)"],
    ["item.a == 1)", "item.a == 1"],
    ['item.a in ["x", "y"', 'item.a in ["x", "y"]'],
    ['key == "order', 'key == "order"'],
    ["item.a == “x”", 'item.a == "x"'],
    ['itm.a = "x" and (recipent.b', 'item.a == "x" && (recipient.b)'],
  ];
  for (const [source, repaired] of table) assert.equal(repair(source!), repaired, source);
});

test("nothing is proposed where it is unknown what is meant", () => {
  for (const source of ["item.a == 1 ||", "not item.a == 1", "key == 5", "key", "item['a] == 1", "foo(item)", "??"]) {
    assert.equal(repair(source), undefined, source);
  }
  assert.equal(repair(`item.a = 1 ${"&& true".repeat(1000)}`), undefined, "too long");
});

test("what is proposed always compiles, whatever was sent", () => {
  const part = fc.constantFrom("item", ".a", "=", "==", "(", ")", "[", '"', "'", " and ", "!", "itm", "1", "{", "}");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const repaired = repair(parts.join(""));
      if (repaired !== undefined) compileCel(repaired, variables, "bool");
    }),
  );
});
