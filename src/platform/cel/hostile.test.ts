import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { CelError, type CelErrorKind, compileCel } from "./index.ts";

// Every case takes 0 to 15 ms; without a limit of the work most would take minutes.
const CPU_MS_MAX = 10_000;

const VARIABLES = { item: "map", now: "timestamp" } as const;

const nested = (open: string, middle: string, close: string, times: number): string =>
  open.repeat(times) + middle + close.repeat(times);

/** Equal strings that are different objects, so that a comparison reads all characters. */
const copies = (text: string, count: number): string[] =>
  Array.from({ length: count }, () => Buffer.from(text).toString());

/** Neither random nor periodic within a few thousand characters. */
const irregular = (length: number): string =>
  Array.from({ length }, (_, i) => ((Math.imul(i, 2_654_435_761) >>> 9) & 1 ? "a" : "b")).join("");

const item = {
  ten: Array.from({ length: 10 }, (_, i) => i),
  many: Array.from({ length: 10_000 }, (_, i) => i),
  map: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i])),
  text: "a".repeat(65_536),
  needle: `${"a".repeat(16_000)}b${"a".repeat(16_000)}`,
  copies: copies("a".repeat(60_000), 100),
  irregular: irregular(60_000),
  digits: "9".repeat(60_000),
  spaces: " ".repeat(65_536),
  emoji: "é😀".repeat(20_000),
  patterns: Array.from({ length: 1_000 }, (_, i) => `(a|b){${i % 90}}c${i}`),
  zones: Intl.supportedValuesOf("timeZone"),
};

const loop = (body: string): string => `item.many.exists(x, ${body})`;

const OUT_OF_WORK: Readonly<Record<string, string>> = {
  "loops in loops": nested("item.many.all(x, ", "true", ")", 20),
  "loops over short literals": nested("[0,1,2,3,4,5,6,7,8,9].all(x, ", "true", ")", 20),
  "loops that fail and go on": `${nested("item.many.exists(x, ", "item.nope == x", ")", 4)} || true`,
  "loops over the results of loops": `item.many${".map(x, x)".repeat(60)}`,
  "a list of lists that doubles": `[0]${".map(x, [x, x])".repeat(40)}`,
  "two such lists, compared": `[0]${".map(x, [x, x])".repeat(40)} == [0]${".map(x, [x, x])".repeat(40)}`,
  "a list that doubles": `[[1]]${".map(x, x + x)".repeat(60)}`,
  "a string that doubles": `["a"]${".map(x, x + x)".repeat(60)}`,
  "a large literal in a loop": `item.many.map(x, [${"x,".repeat(400)}x])`,
  "a large map in a loop": `item.many.map(x, {${Array.from({ length: 100 }, (_, i) => `"k${i}": x`).join()}})`,
  "an enormous answer": "item.many.map(x, item.map)",
  "keys of a large map in a loop": loop("size(item.map) == 0"),
  "large maps compared in a loop": loop("item.map == item.map && false"),
  "long strings compared in loops": "item.copies.all(x, item.copies.all(y, x == y))",
  "long strings ordered in loops": "item.copies.all(x, item.copies.all(y, x <= y))",
  "long strings looked up in loops": "item.copies.all(x, item.copies.all(y, !(y in item.map)))",
  "long strings sought in lists": "item.copies.all(x, x in item.copies)",
  "a search at its worst": "item.text.contains(item.needle)",
  "a search from the end at its worst": "item.text.lastIndexOf(item.needle) == 0",
  "a split at its worst": "item.text.split(item.needle)",
  "a replacement that grows": 'item.text.replace("a", item.text)',
  "a join that grows": "item.many.map(x, item.needle).join(item.needle)",
  "counting characters in a loop": loop("size(item.emoji) == 1"),
  "finding characters in a loop": loop("item.emoji.charAt(39000) == 'b'"),
  "trimming in a loop": loop("item.spaces.trim() == 'b'"),
  "changing case in a loop": loop("item.text.upperAscii() == 'b'"),
  "reading numbers in a loop": loop("double(item.digits) == 1.0"),
  "reading times in a loop": loop('timestamp("2020-01-01T00:00:00" + "Z") == now'),
  "reading durations in a loop": loop(`duration("1h" + "${"1m1s".repeat(20)}") == duration("1s")`),
  "every time zone": "item.zones.exists(zone, now.getHours(zone) == 99)",
  "one time zone in a loop": loop('now.getHours("Europe/Berlin") == 99'),
  "a pattern that makes others backtrack": 'item.text.matches("(a+)+b")',
  "a pattern of nested repetitions": 'item.text.matches("(a*)*(a*)*(a*)*b")',
  "a pattern with a state for every character": 'item.irregular.matches("(a|b)*a(a|b){20}$")',
  "a pattern with many places at once": 'item.irregular.matches("a.{200}$")',
  "a new pattern for every item": "item.patterns.exists(pattern, 'x'.matches(pattern))",
  "a pattern in a loop": loop('"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".matches("(a+)+b")'),
};

const REFUSED: Readonly<Record<string, readonly [source: string, kind: CelErrorKind]>> = {
  "deep parentheses": [nested("(", "1", ")", 2_000), "limit"],
  "deep parentheses that stay open": ["(".repeat(4_000), "limit"],
  "deep lists": [nested("[", "1", "]", 2_000), "limit"],
  "deep calls": [nested("size(", "1", ")", 600), "limit"],
  "deep macros": [nested("a.exists(x,", "1", ")", 300), "limit"],
  "deep conditionals": [`${"true?1:".repeat(580)}1`, "limit"],
  "long chains of fields": [`item${".a".repeat(2_000)}`, "limit"],
  "long sums": [`1${"+1".repeat(2_000)}`, "limit"],
  "long negations": [`${"!".repeat(4_000)}true`, "limit"],
  "long lists": [`[${"1,".repeat(2_000)}1]`, "limit"],
  "long sources": [`"${"a".repeat(1_000_000)}"`, "limit"],
  "repetitions of repetitions": ['"a".matches("((((a{9}){9}){9}){9}){9}")', "limit"],
  "many large repetitions": [`"a".matches("${"a{99}".repeat(40)}")`, "limit"],
  "many Unicode classes": [`"a".matches(r"${"[^\\pL]".repeat(36)}")`, "limit"],
  "wide ranges without case": [`"a".matches(r"(?i)${"[k-\\x{212a}]".repeat(20)}")`, "limit"],
  "a look-behind": ['"a".matches("(?<=a)b")', "type"],
  "a back reference": ['"a".matches(r"(a)\\1")', "type"],
  "a number of thousands of digits": ["9".repeat(4_000), "type"],
  "the prototype of an object": ["item.__proto__.polluted", "evaluation"],
  "the constructor of an object": ['item.constructor.constructor("return 1")()', "syntax"],
  "the constructor of a string": ['"".constructor', "type"],
  "the methods of a list": ["item.ten.push(1)", "type"],
  "what a list inherits": ["item.ten.length", "evaluation"],
  "an inherited property of a function": ["item.ten.map.call", "evaluation"],
  "the global object": ["globalThis", "type"],
  "the process": ["process.exit()", "type"],
};

function run(source: string): { readonly error: CelError | undefined; readonly cpuMs: number } {
  const before = process.threadCpuUsage();
  let error: CelError | undefined;
  try {
    compileCel(source, VARIABLES).evaluate({ item, now: new Date(0) });
  } catch (thrown) {
    if (!(thrown instanceof CelError)) throw thrown;
    error = thrown;
  }
  const { user, system } = process.threadCpuUsage(before);
  return { error, cpuMs: (user + system) / 1_000 };
}

suite("hostile expressions", () => {
  for (const [name, source] of Object.entries(OUT_OF_WORK))
    test(`${name}: exceeds the work limit`, () => {
      const { error, cpuMs } = run(source);
      assert.equal(error?.kind, "budget", error?.message);
      assert.ok(cpuMs < CPU_MS_MAX, `${cpuMs} ms`);
    });

  for (const [name, [source, kind]] of Object.entries(REFUSED))
    test(`${name}: rejected`, () => {
      const { error, cpuMs } = run(source);
      assert.equal(error?.kind, kind, error?.message);
      assert.ok(cpuMs < CPU_MS_MAX, `${cpuMs} ms`);
    });

  test("none of them leaks memory or state", () => {
    assert.equal(Object.hasOwn(Object.prototype, "polluted"), false);
    assert.deepEqual(item.ten, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const condition = compileCel("item.ten.exists(x, x == 9) && item.map.k7 == 7", VARIABLES);
    assert.equal(condition.evaluate({ item, now: new Date(0) }), true);
  });
});
