import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { compileTemplate, type Engine, TemplateError } from "./index.ts";

// Every case takes 0 to 25 ms; without a limit of the work most would take minutes.
const CPU_MS_MAX = 10_000;

const nested = (times: number, open: string, middle: string, close: string): string =>
  open.repeat(times) + middle + close.repeat(times);

const deep = (levels: number): unknown => {
  let value: unknown = {};
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
};

const values = {
  many: Array.from({ length: 20_000 }, (_, i) => ({ i, text: `item ${i}` })),
  wide: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i])),
  numbers: Array.from({ length: 20_000 }, (_, i) => (i * 7919) % 20_000),
  same: Array.from({ length: 5000 }, () => "x".repeat(200)),
  long: "a".repeat(500_000),
  spaces: " ".repeat(500_000),
  marks: "<".repeat(300_000),
  words: "a ".repeat(250_000),
  deep: deep(5000),
};

const each = (body: string): string => `{{#each many}}${body}{{/each}}`;
const loop = (body: string): string => `{% for x in many %}${body}{% endfor %}`;

const hostile: Readonly<Record<Engine, Readonly<Record<string, string>>>> = {
  handlebars: {
    "loops in loops": nested(5, "{{#each @root.many}}", "x", "{{/each}}"),
    "loops over wide objects": nested(5, "{{#each @root.wide}}", "{{this}}", "{{/each}}"),
    "blocks nested deep": nested(1500, "{{#if many}}", "x", "{{/if}}"),
    "expressions nested deep": `{{upper ${nested(400, "(upper ", "long", ")")}}}`,
    "a chain without end": `{{#if a}}${"{{else if b}}".repeat(3800)}{{/if}}`,
    "tags without end": "{{a}}".repeat(50_000),
    "raw blocks without end": "{{{{a}}}}".repeat(28_000),
    "a long tag": `{{${"a ".repeat(30_000)}}}`,
    "a tag that is not closed": `{{!-- ${"x".repeat(250_000)}`,
    "braces only": "{".repeat(250_000),
    "a large value in a loop": each("{{json @root.numbers}}"),
    "a value nested deep": "{{deep}}",
    "long text in a loop": each("{{upper @root.long}}"),
    "long text compared in a loop": each("{{eq @root.long @root.long}}"),
    "markup in a loop": each("{{@root.marks}}"),
    "ever new languages": each("{{date 1000000000 text timezone=text locale=text}}{{number 1 i locale=text}}"),
    "long date formats": each(`{{date 1000000000 '${"%A%B%Z%j%z".repeat(25)}'}}`),
    "dates in a loop": each("{{datetime 1000000000 'full'}}"),
    "long paths": each(`{{${"a.".repeat(2000)}b}}`),
  },
  liquid: {
    "a giant range": "{% for i in (1..1000000000) %}x{% endfor %}",
    "a giant range in a filter": "{{ (1..1000000000) | join: ',' }}",
    "an endless range": "{% for i in (1..99999999999999999999999999) %}x{% endfor %}",
    "ranges in ranges": nested(5, "{% for i in (1..1000) %}", "{{ i }}", "{% endfor %}"),
    "empty loops in loops": nested(
      4,
      "{% for i in (1..100000) %}",
      "{% for j in (1..0) %}{% endfor %}",
      "{% endfor %}",
    ),
    "text that doubles": `{% assign a = 'aaaaaaaaaa' %}${"{% assign a = a | append: a %}".repeat(60)}`,
    "captures that double": `{% capture a %}aaaaaaaaaa{% endcapture %}${"{% capture a %}{{ a }}{{ a }}{% endcapture %}".repeat(60)}`,
    "lists that double": `{% assign a = numbers %}${"{% assign a = a | concat: a %}".repeat(60)}`,
    "a replacement that grows": "{{ long | replace: 'a', long }}",
    "a search at its worst":
      "{% assign n = long | slice: 0, 16000 %}{% assign n = n | append: 'b' | append: n %}{{ long | replace: n, '' }}",
    "splits in a loop": loop("{% assign b = words | split: ' ' | join: '' %}"),
    "letters in a loop": loop("{% assign b = long | split: '' %}"),
    "sorting in a loop": loop("{% assign b = numbers | sort %}"),
    "sorting what is the same": loop("{% assign b = same | sort_natural %}"),
    "unique in a loop": loop("{% assign b = same | uniq %}"),
    "seeking in a loop": loop("{% assign b = many | where: 'text', 'item 5' %}"),
    "space in a loop": loop("{{ spaces | strip }}{{ spaces | truncatewords: 3 }}"),
    "words in a loop": loop("{{ words | truncatewords: 1000000 }}"),
    "markup in a loop": loop("{{ marks | strip_html }}{{ marks | escape }}"),
    "sizes of wide objects": loop("{{ wide.size }}{{ wide | size }}"),
    "loops over wide objects": nested(3, "{% for i in wide %}", "{{ i }}", "{% endfor %}"),
    "long date formats": loop(`{{ 1000000000 | date: '${"%A".repeat(500)}' }}`),
    "blocks nested deep": nested(800, "{% if many %}", "x", "{% endif %}"),
    "paths nested deep": `{{ a${"[a".repeat(1000)}${"]".repeat(1000)} }}`,
    "tags without end": "{%".repeat(125_000),
    "raw text without end": `{% raw %}${"{% ".repeat(80_000)}`,
    "comments without end": "{% comment %}".repeat(15_000),
    "a value nested deep": "{{ deep | json }}",
  },
};

function attempt(engine: Engine, source: string): TemplateError | undefined {
  try {
    compileTemplate(engine, source).render(values, { escape: "html", nowMs: 0 });
    return undefined;
  } catch (error) {
    assert.ok(error instanceof TemplateError, String(error));
    return error;
  }
}

suite("hostile templates quickly end in a typed error", () => {
  for (const engine of Object.keys(hostile) as Engine[]) {
    for (const [name, source] of Object.entries(hostile[engine])) {
      test(`${engine}: ${name}`, () => {
        const before = process.cpuUsage();
        const error = attempt(engine, source);
        const { user, system } = process.cpuUsage(before);
        assert.ok(error !== undefined, "was rendered");
        assert.ok(user + system < CPU_MS_MAX * 1000, `took ${(user + system) / 1000} ms`);
      });
    }
  }

  test("the work limit does not depend on the speed of the machine", () => {
    const source = "{% for i in (1..N) %}{{ i }}{% endfor %}";
    const renders = (n: number) => attempt("liquid", source.replace("N", String(n))) === undefined;
    assert.deepEqual([renders(5_000), renders(100_000)], [true, false]);
    assert.deepEqual([renders(5_000), renders(100_000)], [true, false]);
  });

  test("slower operations cost more steps", () => {
    /** The number of loop iterations before the work limit is exceeded. */
    const rounds = (body: string): number => {
      let count = 0;
      const template = compileTemplate("handlebars", each(`{{gone}}${body}`));
      assert.throws(
        () => template.render(values, { escape: "html", nowMs: 0, onMissing: () => count++ }),
        TemplateError,
      );
      return count;
    };
    assert.ok(rounds("{{#each @root.gone}}{{/each}}{{#each ../many}}{{/each}}") < 10);
    assert.ok(rounds("{{#each @root.wide}}{{/each}}") < 3);
    assert.ok(rounds(`{{date 1000000000 '${"%A".repeat(100)}'}}`) < 100);
    assert.ok(rounds("{{number 1 locale=text}}") < 100);
    assert.ok(rounds("{{upper @root.long}}") < 5);
  });

  test("the caller's output limit is applied, counted in bytes", () => {
    const text = { escape: "none", nowMs: 0, bytesMax: 10 } as const;
    const template = compileTemplate("handlebars", "{{text}}");
    assert.equal(template.render({ text: "aaaaaaaaaa" }, text), "aaaaaaaaaa");
    const tooLarge = (error: unknown) => error instanceof TemplateError && error.code === "too_large";
    assert.throws(() => template.render({ text: "ééééééé" }, text), tooLarge);
    assert.throws(() => compileTemplate("liquid", "x".repeat(300_000)), tooLarge);
  });

  test("a template has no lasting side effects", () => {
    const before = JSON.stringify(Object.getOwnPropertyNames(Object.prototype));
    for (const source of [
      "{% assign __proto__ = 'x' %}{% capture constructor %}y{% endcapture %}{% increment toString %}",
      "{% for __proto__ in (1..3) limit:1 %}{% cycle '__proto__': 'a', 'b' %}{% endfor %}",
      "{{ many | map: '__proto__' | join }}{{ 'x' | date: 'y', __proto__: 'z' }}",
    ]) {
      attempt("liquid", source);
    }
    attempt(
      "handlebars",
      "{{number 1 __proto__=many constructor=many}}{{#each many as |__proto__ constructor|}}{{/each}}",
    );
    assert.equal(JSON.stringify(Object.getOwnPropertyNames(Object.prototype)), before);
    assert.equal(({} as { x?: unknown }).x, undefined);
  });
});
