import { fc } from "../../../../test/harness/random.ts";

/** The variables of random expressions. */
export const ARBITRARY_VARIABLES = {
  item: "map",
  list: "list",
  text: "string",
  int: "int",
  double: "double",
  flag: "bool",
  now: "timestamp",
  any: "any",
} as const;

const METHODS: readonly (readonly [name: string, args: number])[] = [
  ["size", 0],
  ["contains", 1],
  ["startsWith", 1],
  ["endsWith", 1],
  ["matches", 1],
  ["lowerAscii", 0],
  ["upperAscii", 0],
  ["trim", 0],
  ["charAt", 1],
  ["indexOf", 1],
  ["indexOf", 2],
  ["lastIndexOf", 2],
  ["substring", 1],
  ["substring", 2],
  ["replace", 2],
  ["replace", 3],
  ["split", 1],
  ["split", 2],
  ["join", 0],
  ["join", 1],
  ["getFullYear", 0],
  ["getHours", 1],
  ["getMilliseconds", 0],
  ["hasValue", 0],
  ["value", 0],
  ["or", 1],
  ["orValue", 1],
];

const FUNCTIONS = ["size", "int", "double", "string", "bool", "timestamp", "duration", "dyn", "type", "optional.of"];
const OPERATORS = ["==", "!=", "<", "<=", ">", ">=", "in", "+", "-", "*", "/", "%", "&&", "||"];
const LEAVES = [
  ...Object.keys(ARBITRARY_VARIABLES),
  "x",
  "y",
  "1",
  "0",
  "-9223372036854775808",
  "1.5",
  "0.0",
  "true",
  "false",
  "null",
  '"a"',
  '""',
  '"é😀"',
  '"1h"',
  '"2026-01-02T03:04:05Z"',
  '"[a-c]+"',
  '"UTC"',
  "[]",
  "{}",
  "string",
  "optional.none()",
];

const { node } = fc.letrec<{ node: string }>((tie) => {
  const inner = tie("node");
  return {
    node: fc.oneof(
      { maxDepth: 4, depthIdentifier: "expression" },
      fc.constantFrom(...LEAVES),
      fc.constantFrom(...LEAVES),
      fc.tuple(inner, fc.constantFrom(...OPERATORS), inner).map(([a, op, b]) => `(${a} ${op} ${b})`),
      fc.tuple(fc.constantFrom("!", "-"), inner).map(([op, a]) => `${op}(${a})`),
      fc.tuple(inner, inner, inner).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
      fc
        .tuple(inner, fc.constantFrom(".a", ".?a", ".b", "[0]", '["a"]', "[?1]", '[?"a"]'))
        .map(([a, access]) => `(${a})${access}`),
      fc.tuple(inner, inner).map(([a, b]) => `(${a})[${b}]`),
      inner.map((a) => `has((${a}).a)`),
      fc.array(inner, { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
      fc
        .array(fc.tuple(inner, inner), { maxLength: 2 })
        .map((entries) => `{${entries.map((e) => e.join(": ")).join(", ")}}`),
      fc.tuple(fc.constantFrom(...FUNCTIONS), inner).map(([name, a]) => `${name}(${a})`),
      fc
        .tuple(inner, fc.constantFrom(...METHODS), inner, inner, inner)
        .map(([a, [name, count], ...args]) => `(${a}).${name}(${args.slice(0, count).join(", ")})`),
      fc
        .tuple(inner, fc.constantFrom("all", "exists", "exists_one", "map", "filter"), fc.constantFrom("x", "y"), inner)
        .map(([a, macro, name, body]) => `(${a}).${macro}(${name}, ${body})`),
    ),
  };
});

/** Random expressions with valid syntax; most fail the type check, many fail at run time, and some return a value. */
export const arbitraryExpression = node;

/** Random JSON-like values for the variables above. */
export const arbitraryValues = fc.record({
  item: fc.dictionary(fc.constantFrom("a", "b", "__proto__", "constructor"), fc.jsonValue({ maxDepth: 2 })),
  list: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 4 }),
  text: fc.string({ unit: "grapheme", maxLength: 6 }),
  int: fc.maxSafeInteger(),
  double: fc.double(),
  flag: fc.boolean(),
  now: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date("2100-01-01T00:00:00Z") }),
  any: fc.jsonValue({ maxDepth: 2 }),
});
