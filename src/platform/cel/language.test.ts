import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { CelError, type CelErrorKind, compileCel, evaluateCondition, typeOfSchema } from "./index.ts";

const VARIABLES = { item: "map", recipient: "map", now: "timestamp", tags: "list", any: "any" } as const;

const VALUES = {
  item: {
    type: "lead",
    attributes: {
      region: "eu",
      amount: 5,
      price: 5.5,
      score: 1e3,
      vip: false,
      note: null,
      words: ["a", "b"],
      nested: { x: { y: 1 } },
    },
    created_at: "2026-01-02T03:04:05Z",
  },
  recipient: { skills: { german: 4 } },
  now: new Date("2026-01-02T03:04:05.678Z"),
  tags: ["vip-1", "new", "eu"],
  any: [1, 2.5, "three"],
};

const evaluate = (source: string, values: Readonly<Record<string, unknown>> = VALUES): unknown =>
  compileCel(source, VARIABLES).evaluate(values);

function failure(run: () => unknown): CelError {
  try {
    run();
  } catch (error) {
    if (error instanceof CelError) return error;
    throw error;
  }
  throw new Error("nothing failed");
}

function assertFails(source: string, kind: CelErrorKind, message?: RegExp): void {
  const error = failure(() => evaluate(source));
  assert.equal(error.kind, kind, `${source}: ${error.message}`);
  if (message !== undefined) assert.match(error.message, message);
}

const ANSWERS: readonly (readonly [source: string, answer: unknown])[] = [
  ['item.attributes.region == "eu" && recipient.skills.german >= 3', true],
  ['item.type in ["lead", "ticket"]', true],
  ['item.type in ["ticket"]', false],
  ["has(item.attributes.region)", true],
  ["has(item.attributes.missing)", false],
  ["has(item.attributes.note) && item.attributes.note == null", true],
  ['"region" in item.attributes', true],
  ['item.attributes["region"]', "eu"],
  ["tags[1]", "new"],
  ["size(tags) + tags[0].size()", 8],
  ['tags.exists(t, t.startsWith("vip-"))', true],
  ['tags.all(t, t != "")', true],
  ['tags.exists_one(t, t.endsWith("u"))', true],
  ["tags.map(t, t.upperAscii())", ["VIP-1", "NEW", "EU"]],
  ['tags.map(t, t.contains("e"), t + "!")', ["new!", "eu!"]],
  ['tags.filter(t, t.matches("^[a-z]+$"))', ["new", "eu"]],
  ["item.attributes.nested.exists(key, key == 'x')", true],
  ["any.map(x, type(x) == string)", [false, false, true]],
  ["{'a': 1, 'b': [2.5, null]}", { a: 1, b: [2.5, null] }],
  ["true ? 'yes' : 'no'", "yes"],
  ["// a remark\n1 +\t1\r\n", 2],
  ["item.?attributes.?region.orValue('none')", "eu"],
  ["item.?missing.?region.orValue('none')", "none"],
  ["item.attributes[?'missing'].hasValue()", false],
  ["tags[?9].or(optional.of('last')).value()", "last"],
  ["item.missing == 1 || true", true],
  ["true || item.missing == 1", true],
  ["item.missing == 1 && false", false],
  ["tags.exists(t, t == 'eu' || t.nothing)", true],
  ["'a,b,c'.split(',').join('-')", "a-b-c"],
  ["'héllo'.size() == 5 && 'a😀b'.indexOf('b') == 2", true],
];

suite("expressions", () => {
  test("return the results that the language defines", () => {
    for (const [source, answer] of ANSWERS) assert.deepEqual(evaluate(source), answer, source);
  });

  test("a missing key is an evaluation error with a position", () => {
    const error = failure(() => evaluate("recipient.skills.german > 1 &&\n  item.attributes.missing > 1"));
    assert.equal(error.kind, "evaluation");
    assert.equal(error.message, "No such key: missing.");
    assert.deepEqual(error.position, { line: 2, column: 19, offset: 49 });
  });

  test("a syntax error has a position in UTF-16 units", () => {
    const error = failure(() => evaluate('"😀" ==\n  )'));
    assert.equal(error.kind, "syntax");
    assert.deepEqual(error.position, { line: 2, column: 3, offset: 10 });
  });

  test("type errors are found at compile time, even in parts that would not be evaluated", () => {
    for (const [source, message] of [
      ["nobody == 1", /no variable 'nobody'/],
      ["true || nofunction(1)", /no function nofunction/],
      ["1 == 'a'", /int and string/],
      ["1.5 % 1", /double and int/],
      ["tags[1.5]", /indexed with double/],
      ["timestamp(1.5)", /cannot be applied to \(double\)/],
      ["'a' && true", /needs a bool/],
      ["!1", /needs a bool/],
      ["size(1)", /cannot be applied to \(int\)/],
      ["tags.startsWith('a')", /cannot be applied/],
      ["tags.a", /has no fields/],
      ["now.year", /has no fields/],
      ["item[1.5] == now + 1", /cannot be applied/],
      ["1 in 2", /int and int/],
      ["1.exists(x, true)", /cannot be walked/],
      ["tags.exists(t, 'a')", /needs a bool/],
      ["true ? 1 : 'a'", /one type/],
      ["has(item)", /needs a field/],
      ["'a'.matches('(')", /not a regular expression/],
      ["9223372036854775808", /out of range/],
      ["b'bytes'", /not supported/],
      ["1u", /not supported/],
      ["{1.5: 1}", /no key of a map/],
    ] as const)
      assertFails(source, "type", message);
  });

  test("a function on a dynamic value of the wrong type fails at run time", () => {
    for (const source of [
      "item.attributes.amount.startsWith('5')",
      "any.trim()",
      "size(item.attributes.amount)",
      "timestamp(item.attributes.vip)",
      "item.type.getHours()",
      "item.attributes.words.matches('a')",
      "'a'.matches(item.attributes.amount)",
      "[item.attributes.amount].join()",
      "item.attributes.amount.all(x, true)",
      "item.attributes.amount && true",
      "item.type < 1",
      "-item.type",
      "1 in item.type",
    ])
      assertFails(source, "evaluation");
  });

  test("an invalid macro variable and an invalid source are syntax errors", () => {
    for (const source of [
      "tags.exists(1, true)",
      "",
      "1 +",
      "a b",
      "(1",
      "'open",
      "1..2",
      "__proto__",
      "for",
      "\\",
      "a.1",
    ])
      assertFails(source, "syntax");
  });
});

suite("numbers", () => {
  test("a JSON integer is an int, and can be compared with a double", () => {
    for (const source of [
      "item.attributes.amount == 5",
      "item.attributes.amount == 5.0",
      "item.attributes.amount > 4.5 && item.attributes.amount < 5.5",
      "item.attributes.price > 5 && item.attributes.price < 6",
      "item.attributes.score == 1000",
      "type(item.attributes.amount) == int && type(item.attributes.price) == double",
      "item.attributes.amount in [4, 5]",
      "item.attributes.amount in [5.0]",
      "any.exists(x, x == 1.0) && any.exists(x, x == 2.5)",
    ])
      assert.equal(evaluate(source), true, source);
  });

  test("an int and a double give a double", () => {
    assert.equal(evaluate("1 + 1.5"), 2.5);
    assert.equal(evaluate("item.attributes.amount * 1.5"), 7.5);
    assert.equal(evaluate("item.attributes.amount + item.attributes.price"), 10.5);
    assert.equal(evaluate("item.attributes.price - item.attributes.amount"), 0.5);
  });

  test("a division of JSON numbers is never truncated; one of ints is", () => {
    for (const [source, result] of [
      ["item.attributes.amount / 2", 2.5],
      ["11 / item.attributes.amount", 2.2],
      ["(item.attributes.amount + 1) / 2", 3],
      ["any[0] / item.attributes.amount", 0.2],
      ["int(item.attributes.amount) / 2", 2],
      ["5 / 2", 2],
      ["size(any) / 2", 1],
    ] as const)
      assert.equal(evaluate(source), result, source);
    assertFails("item.attributes.amount / 0", "evaluation");
  });

  test("a number that a schema declares as a number is a double, and one that it declares as an integer an int", () => {
    const line = { type: "object", properties: { price: { type: "number" }, count: { type: "integer" } } };
    const schema = {
      type: "object",
      properties: {
        ...line.properties,
        lines: { type: "array", items: line },
        rates: { type: "object", additionalProperties: { type: "number" } },
        either: { type: ["integer", "null"] },
      },
    };
    const variables = { input: typeOfSchema(schema) };
    const input = { price: 99, count: 99, lines: [{ price: 99, count: 99 }], rates: { a: 99 }, either: 99, other: 99 };
    for (const [source, result] of [
      ["input.price / 2", 49.5],
      ["input.count / 2", 49],
      ["input.count % 2", 1],
      ["input['price'] / 2", 49.5],
      ["input['count'] / 2", 49],
      ["input.?count.orValue(1) / 2", 49],
      ["input.?price.value() / 2", 49.5],
      ["input[?'price'].orValue(1.0) / 2", 49.5],
      ["input.lines[0].price / 2", 49.5],
      ["input.lines.map(l, l.count / 2)", [49]],
      ["input.lines.map(l, l.price).map(p, p / 2)", [49.5]],
      ["input.rates.a / 2", 49.5],
      ["input.rates.map(name, input.rates[name] / 2)", [49.5]],
      ["[type(input.price) == double, type(input.count) == int]", [true, true]],
      ["[input.price == 99, input.count == 99.0, input.price in [99]]", [true, true, true]],
      ["(input.count > 1 ? input.price : 0) / 2", 49.5],
      ["string(input.count) + ' at ' + string(input.price)", "99 at 99"],
      ["input.count * 0.5", 49.5],
      // Without one type, the quotient is not truncated.
      ["[input.either / 2, input.other / 2, input.either / input.count]", [49.5, 49.5, 1]],
    ] as const)
      assert.deepEqual(compileCel(source, variables).evaluate({ input }), result, source);
    for (const source of ["input.price % 2", "input.lines[input.price]", "input.count + 'a'", "input.lines.price"])
      assert.equal(failure(() => compileCel(source, variables)).kind, "type", source);
  });

  test("int overflow is an error, double overflow is infinity", () => {
    for (const source of ["9223372036854775807 + item.attributes.amount", "-9223372036854775808 - 1", "1 / 0", "1 % 0"])
      assertFails(source, "evaluation");
    assert.equal(evaluate("1.0 / 0.0"), Number.POSITIVE_INFINITY);
  });

  test("an int is returned as a number if that is exact, otherwise as a bigint", () => {
    assert.equal(evaluate("9007199254740991"), 9007199254740991);
    assert.equal(evaluate("9007199254740993"), 9007199254740993n);
    assert.deepEqual(evaluate("any", { ...VALUES, any: [1e300, 2 ** 53, 2 ** 53 - 1] }), [1e300, 2 ** 53, 2 ** 53 - 1]);
  });
});

suite("times", () => {
  test("a Date is converted to a timestamp and back", () => {
    assert.deepEqual(evaluate("now"), VALUES.now);
    assert.deepEqual(evaluate("now + duration('1h30m')"), new Date("2026-01-02T04:34:05.678Z"));
    assert.equal(evaluate("now - timestamp(item.created_at)"), "0.678s");
    assert.equal(evaluate("now > timestamp('2026-01-01T00:00:00Z') && now - now == duration('0s')"), true);
    assert.deepEqual(evaluate("any", { ...VALUES, any: { at: VALUES.now } }), { at: VALUES.now });
  });

  test("a time before 1970 keeps its fraction of a second", () => {
    assert.deepEqual(evaluate("timestamp('1969-12-31T23:59:58.5Z')"), new Date(-1_500));
    assert.equal(evaluate("int(timestamp('1969-12-31T23:59:58.5Z'))"), -2);
    assert.equal(evaluate("string(timestamp('1969-12-31T23:59:58.5Z'))"), "1969-12-31T23:59:58.5Z");
  });

  test("calendar accessors use UTC or the given time zone", () => {
    const read = ["now.getHours()", "now.getHours('Europe/Berlin')", "now.getHours('-05:30')", "now.getDayOfWeek()"];
    assert.deepEqual(
      read.map((source) => evaluate(source)),
      [3, 4, 21, 5],
    );
    assertFails("now.getHours('Mars/Olympus')", "evaluation", /no such time zone/i);
  });
});

suite("input values", () => {
  test("only own properties exist", () => {
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"]) {
      assertFails(`item.${name}`, "evaluation", /no such key/i);
      assertFails(`item["${name}"]`, "evaluation", /no such key/i);
      assert.equal(evaluate(`has(item.${name}) || "${name}" in item`), false);
      assert.equal(evaluate(`item.?${name}.hasValue()`), false);
    }
    for (const source of ["any.length", "any.map", "any[0].length", "item.type.length", "tags.size.name"])
      assert.ok(["evaluation", "type"].includes(failure(() => evaluate(source)).kind), source);
  });

  test("hostile keys are plain data", () => {
    const item = JSON.parse('{"__proto__": {"admin": true}, "constructor": "c", "toString": 1, "hasOwnProperty": 2}');
    const values = { ...VALUES, item };
    assert.equal(evaluate("item.__proto__.admin && item.constructor == 'c' && item.toString == 1", values), true);
    assert.equal(evaluate("item == item && size(item) == 4 && 'hasOwnProperty' in item", values), true);
    const answer = evaluate("item", values) as object;
    assert.deepEqual(Object.keys(answer), ["__proto__", "constructor", "toString", "hasOwnProperty"]);
    assert.equal(Object.getPrototypeOf(answer), Object.prototype);
    assert.equal(evaluate("{'__proto__': 1}.__proto__"), 1);
  });

  test("objects without a prototype are maps", () => {
    const item = Object.assign(Object.create(null), { a: 1 });
    assert.equal(evaluate("item.a == 1 && has(item.a) && !has(item.b)", { ...VALUES, item }), true);
  });

  test("values without a JSON form are treated as absent", () => {
    const item = { missing: undefined, run: () => 1, symbol: Symbol("s"), huge: 2n ** 70n };
    for (const key of Object.keys(item)) assertFailsWith(`item.${key}`, { ...VALUES, item });
    assert.equal(evaluate("has(item.missing)", { ...VALUES, item }), false);
  });

  test("a variable whose value does not match its declared type fails the evaluation", () => {
    for (const values of [{ item: [] }, { item: null }, { item: "text" }, { item: new Date() }, {}])
      assertFailsWith("item == item", values);
    assertFailsWith("now == now", { now: "2026-01-01T00:00:00Z" });
    assertFailsWith("now == now", { now: new Date(Number.NaN) });
    assertFailsWith("tags == tags", { tags: {} });
  });

  test("values that throw when they are read cause a typed error", () => {
    const item = new Proxy({}, { getOwnPropertyDescriptor: () => assert.fail("hostile") });
    assertFailsWith("item.a", { ...VALUES, item });
  });

  test("a result is a copy", () => {
    const answer = evaluate("item.attributes") as { words: string[] };
    answer.words.push("c");
    assert.deepEqual(VALUES.item.attributes.words, ["a", "b"]);
  });

  function assertFailsWith(source: string, values: Readonly<Record<string, unknown>>): void {
    assert.equal(failure(() => evaluate(source, values)).kind, "evaluation", source);
  }
});

suite("a compiled expression", () => {
  test("knows its type", () => {
    for (const [source, type] of [
      ["1", "int"],
      ["1.0", "double"],
      ["'a'", "string"],
      ["now", "timestamp"],
      ["tags", "list"],
      ["{'a': 1}", "map"],
      ["item", "map"],
      ["item.x", "any"],
      ["item.x == 1", "bool"],
      ["duration('1s')", "any"],
      ["null", "any"],
      ["item.x * 2.0", "double"],
    ] as const)
      assert.equal(compileCel(source, VARIABLES).type, type, source);
  });

  test("knows the variables and paths that it reads, without those of its comprehensions", () => {
    const expression = compileCel(
      `has(item.attributes.region) && item["attributes"].tags.exists(item, item.name == recipient.name)
       && tags.map(t, t).size() > item.sizes[item.index].value && size(any) > 0 && item.?a.?b.hasValue()`,
      VARIABLES,
    );
    assert.deepEqual(expression.variables, ["any", "item", "recipient", "tags"]);
    assert.deepEqual(expression.paths, [
      "any",
      "item.a.b",
      "item.attributes.region",
      "item.attributes.tags",
      "item.index",
      "item.sizes",
      "recipient.name",
      "tags",
    ]);
  });

  test("must have the expected type", () => {
    for (const [source, expected] of [
      ["item.x", "bool"],
      ["item.x == 1", "bool"],
      ["1", "double"],
      ["'a'", "any"],
    ] as const)
      assert.doesNotThrow(() => compileCel(source, VARIABLES, expected));
    for (const [source, expected] of [
      ["'a'", "bool"],
      ["1.5", "int"],
      ["tags", "map"],
    ] as const)
      assert.equal(failure(() => compileCel(source, VARIABLES, expected)).kind, "type");
  });

  test("is compiled once per source and set of variables", () => {
    const again = { ...VARIABLES };
    assert.equal(compileCel("item.a", VARIABLES), compileCel("item.a", again));
    assert.notEqual(compileCel("item.a", VARIABLES), compileCel("item.a", { item: "any" }));
    assert.notEqual(compileCel("item.a", VARIABLES), compileCel("item.a ", VARIABLES));
  });

  test("a condition returns a bool or throws a typed error", () => {
    assert.equal(evaluateCondition(compileCel("item.attributes.vip", VARIABLES), VALUES), false);
    const number = compileCel("item.attributes.amount", VARIABLES);
    assert.equal(failure(() => evaluateCondition(number, VALUES)).kind, "evaluation");
    assert.equal(failure(() => evaluateCondition(compileCel("1", VARIABLES), VALUES)).kind, "type");
  });

  test("a variable may have the name of a type", () => {
    assert.equal(compileCel("string == 'a'", { string: "string" }).evaluate({ string: "a" }), true);
  });
});
