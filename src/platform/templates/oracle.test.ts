import assert from "node:assert/strict";
import { suite, test } from "node:test";
import Handlebars from "handlebars";
import { Liquid } from "liquidjs";
import { fc } from "../../../test/harness/random.ts";
import { compileTemplate } from "./index.ts";

const values = {
  a: "x<>y",
  n: 3,
  zero: 0,
  no: false,
  list: [
    { t: "p", k: [1, 2] },
    { t: "q", k: [] },
    { t: "", k: [5] },
  ],
  none: [],
  map: { one: "1", two: "2" },
  deep: { er: { a: "in" } },
};

/** Random templates of nested parts. */
function templates(leaves: readonly string[], blocks: readonly ((body: string, other: string) => string)[]) {
  const { whole } = fc.letrec<{ whole: string; part: string }>((tie) => ({
    whole: fc.array(tie("part"), { minLength: 1, maxLength: 4 }).map((parts) => parts.join("")),
    part: fc.oneof(
      { maxDepth: 5, depthSize: "small" },
      fc.constantFrom(...leaves),
      fc
        .tuple(fc.constantFrom(...blocks), tie("whole"), tie("whole"))
        .map(([block, body, other]) => block(body, other)),
    ),
  }));
  return whole;
}

suite("output equals that of the original engines", () => {
  // Blocks whose context is the same value as the enclosing context are excluded: there `../` skips a level in Handlebars, but
  // not in this implementation.
  test("handlebars", () => {
    const paths = ["a", "n", "zero", "gone", "deep.er.a", "list.1.t", "t", "this.t", "../a", "../t", "@index", "@key"];
    const leaves = [
      ...paths.map((path) => `{{${path}}}`),
      "text ",
      "\n",
      " {{~a~}} ",
      "{{! note }}",
      "{{{a}}}",
      "{{lookup map 'two'}}",
    ];
    const conditions = ["a", "zero", "no", "gone", "none", "list", "t", "@first", "@last", "../a"];
    const blocks = [
      ...conditions.map((path) => (body: string, other: string) => `{{#if ${path}}}${body}{{else}}${other}{{/if}}`),
      ...conditions.map((path) => (body: string) => `{{#unless ${path}}}${body}{{/unless}}`),
      ...["list", "none", "map", "k", "gone"].map(
        (path) => (body: string, other: string) => `{{#each ${path}}}${body}{{else}}${other}{{/each}}`,
      ),
      ...["deep", "deep.er", "gone", "map"].map((path) => (body: string) => `{{#with ${path}}}${body}{{/with}}`),
      (body: string) => `{{#each list as |it at|}}{{at}}{{it.t}}${body}{{/each}}`,
      (body: string, other: string) => `\n{{#if gone}}\n${body}\n{{else if a}}\n${other}\n{{/if}}\n`,
    ];
    fc.assert(
      fc.property(templates(leaves, blocks), (source) => {
        const expected = Handlebars.compile(source)(values);
        assert.equal(
          compileTemplate("handlebars", source).render(values, { escape: "html", nowMs: 0 }),
          expected,
          source,
        );
      }),
      { numRuns: 300 },
    );
  });

  test("liquid", () => {
    const liquid = new Liquid({ ownPropertyOnly: true });
    const paths = [
      "a",
      "n",
      "zero",
      "gone",
      "deep.er.a",
      "list[1].t",
      "list.size",
      "list.first.t",
      "i.t",
      "j",
      "v",
      "forloop.index",
    ];
    const filters = [
      "upcase",
      "append: 'z'",
      "default: 'd'",
      "size",
      "plus: 2",
      "replace: 'x', 'yy'",
      "times: 3",
      "split: '<' | join: '+'",
    ];
    const leaves = [
      ...paths.map((path) => `{{ ${path} }}`),
      ...paths.slice(0, 6).flatMap((path) => filters.map((filter) => `{{ ${path} | ${filter} }}`)),
      "text ",
      " {{- a -}} ",
      "{% assign v = a | upcase %}",
      "{% increment c %}",
      "{% cycle 'r', 's', 't' %}",
      "{% raw %}{{ a }}{% endraw %}",
      "{{ list | map: 't' | reverse | join: '-' }}",
    ];
    const conditions = [
      "a",
      "zero",
      "no",
      "gone",
      "none == empty",
      "n > 2",
      "a contains 'x'",
      "n == 3 and no or a",
      "i.t == blank",
    ];
    const blocks = [
      ...conditions.map(
        (test) => (body: string, other: string) => `{% if ${test} %}${body}{% else %}${other}{% endif %}`,
      ),
      ...conditions.map((test) => (body: string) => `{% unless ${test} %}${body}{% endunless %}`),
      ...["list", "none", "gone", "(1..3)", "list reversed", "list limit:2 offset:1"].map(
        (items) => (body: string, other: string) => `{% for i in ${items} %}${body}{% else %}${other}{% endfor %}`,
      ),
      (body: string) => `{% for j in i.k %}${body}{% if j == 1 %}{% continue %}{% endif %}.{% endfor %}`,
      (body: string) => `{% for j in (1..4) %}{% if j > 2 %}{% break %}{% endif %}${body}{% endfor %}`,
      (body: string) => `{% capture v %}${body}{% endcapture %}`,
      (body: string, other: string) => `{% case n %}{% when 1, 3 %}${body}{% else %}${other}{% endcase %}`,
    ];
    fc.assert(
      fc.property(templates(leaves, blocks), (source) => {
        const expected = liquid.parseAndRenderSync(source, structuredClone(values));
        assert.equal(compileTemplate("liquid", source).render(values, { escape: "none", nowMs: 0 }), expected, source);
      }),
      { numRuns: 300 },
    );
  });
});
