import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { compileTemplate, type RenderOptions, TemplateError } from "../index.ts";

const values = {
  payload: {
    name: "<Ann> & 'Bo'",
    items: [
      { title: "pen", price: 1.5 },
      { title: "ink", price: 20 },
    ],
    none: [],
    sizes: { small: 1, large: 9 },
    zero: 0,
    key: "title",
    nothing: null,
  },
};

function rendered(source: string, options: Partial<RenderOptions> = {}): string {
  return compileTemplate("liquid", source).render(values, { escape: "html", nowMs: 0, ...options });
}

const cases: Readonly<Record<string, readonly (readonly [source: string, expected: string])[]>> = {
  "values are escaped once, unless the author says otherwise": [
    ["{{ payload.name }}", "&lt;Ann&gt; &amp; &#39;Bo&#39;"],
    ["{{ payload.name | raw }}", "<Ann> & 'Bo'"],
    ["{{ payload.name | escape }}", "&lt;Ann&gt; &amp; &#39;Bo&#39;"],
    [
      "{% capture hello %}<b>{{ payload.name }}</b>{% endcapture %}{{ hello }}",
      "<b>&lt;Ann&gt; &amp; &#39;Bo&#39;</b>",
    ],
    ["{% assign lines = 'a<|b' | replace: '|', '\n' %}{{ lines | newline_to_br }}", "a&lt;<br />\nb"],
  ],
  "paths reach members, items and sizes": [
    ["{{ payload.items[1].title }} {{ payload['items'][0][payload.key] }} {{ payload.items[-1].price }}", "ink pen 20"],
    ["{{ payload.items.size }}{{ payload.items.first.title }}{{ payload.sizes.size }}{{ payload.key.size }}", "2pen25"],
  ],
  "loops know where they are": [
    [
      "{% for i in payload.items %}{{ forloop.index }}{{ i.title }}{% unless forloop.last %},{% endunless %}{% endfor %}",
      "1pen,2ink",
    ],
    ["{% for i in payload.none %}x{% else %}none{% endfor %}", "none"],
    ["{% for i in (1..5) reversed limit:2 offset:1 %}{{ i }}{% endfor %}", "32"],
    ["{% for p in payload.sizes %}{{ p[0] }}={{ p[1] }};{% endfor %}", "small=1;large=9;"],
    [
      "{% for i in (1..9) %}{% if i == 2 %}{% continue %}{% endif %}{% if i > 3 %}{% break %}{% endif %}{{ i }}{% endfor %}.",
      "13.",
    ],
    [
      "{% for i in (1..2) %}{% for j in (1..2) %}{{ forloop.parentloop.index }}{{ j }} {% endfor %}{% endfor %}",
      "11 12 21 22 ",
    ],
    ["{% for i in (1..3) %}{% cycle 'a', 'b' %}{% increment n %}{% endfor %}", "a0b1a2"],
  ],
  "conditions follow Liquid: only false and nothing are not true": [
    ["{% if payload.zero %}yes{% endif %}{% if payload.gone %}no{% endif %}", "yes"],
    ["{% if payload.none == empty and payload.name contains 'Ann' %}a{% elsif true %}b{% endif %}", "a"],
    ["{% unless payload.zero == 0 %}a{% else %}b{% endunless %}", "b"],
    ["{% case payload.key %}{% when 'x', 'title' %}hit{% else %}miss{% endcase %}", "hit"],
    [
      "{% if payload.gone == nil or payload.zero > 3 %}yes{% endif %}{% if payload.gone == blank %}!{% endif %}",
      "yes!",
    ],
  ],
  "filters do what Liquid says": [
    ["{{ 'a,b,c' | split: ',' | reverse | join: '+' }} {{ 'one two three' | truncatewords: 2 }}", "c+b+a one two..."],
    ["{{ 'hello' | truncate: 4 }} {{ 'aXbX' | replace: 'X', '!' }} {{ 'aXbX' | remove_last: 'X' }}", "h... a!b! aXb"],
    ["{{ '<p>x</p><script>y</script>z' | strip_html }} {{ 'a b' | url_encode }} {{ ' x ' | strip }}", "xz a+b x"],
    ["{{ 7 | divided_by: 2 }} {{ 7 | modulo: 3 }} {{ 1.256 | round: 2 }} {{ 3 | at_most: 2 }}", "3 1 1.26 2"],
    ["{{ payload.items | map: 'title' | sort | first }} {{ payload.items | sum: 'price' }}", "ink 21.5"],
    [
      "{{ payload.items | where: 'title', 'ink' | map: 'price' | join }} {{ 'a b a' | split: ' ' | uniq | size }}",
      "20 2",
    ],
    [
      "{{ payload.gone | default: 'friend' }} {{ 'hello' | slice: 1, 3 | upcase }} {{ 'éA' | capitalize }}",
      "friend ELL Éa",
    ],
  ],
  "space around tags goes where it is asked to": [["a  {%- if true -%}  b  {%- endif %}  c", "ab  c"]],
  "comments and raw text are not evaluated": [
    ["a{% comment %}{{ payload.name }}{% endcomment %}{% # note %}b", "ab"],
    ["{% raw %}{{ payload.name }}{% endraw %}", "{{ payload.name }}"],
  ],
  "only own members are seen": [
    [
      "{{ __proto__ }}{{ constructor }}{{ payload.constructor }}{{ payload['__proto__'] }}{{ payload.key.constructor }}",
      "",
    ],
    [
      "{{ payload.items.push }}{{ payload.items | map: 'constructor' }}{% for x in payload.__proto__ %}x{% endfor %}",
      "",
    ],
    ["{% assign k = 'constructor' %}{{ payload[k] }}{{ [k] }}", ""],
  ],
};

suite("liquid", () => {
  for (const [name, rows] of Object.entries(cases)) {
    test(name, () => {
      for (const [source, expected] of rows) assert.equal(rendered(source), expected, source);
    });
  }

  test("a missing value writes nothing and is reported by its path, unless it is only tested", () => {
    const missing: string[] = [];
    const source =
      "{{ payload.gone }}{% for i in payload.items %}{{ i.colour }}{% endfor %}{% if payload.maybe %}x{% endif %}{{ payload.other | default: '' }}{{ payload.nothing }}";
    assert.equal(rendered(source, { onMissing: (path) => missing.push(path) }), "");
    assert.deepEqual([...new Set(missing)], ["payload.gone", "payload.items[].colour"]);
  });

  test("values are not escaped in plain text", () => {
    assert.equal(rendered("{{ payload.name }}", { escape: "none" }), values.payload.name);
    assert.equal(
      rendered("{% capture c %}{{ payload.name }}{% endcapture %}{{ c }}", { escape: "none" }),
      values.payload.name,
    );
  });

  test("the variables of a template are known without rendering it, and exclude assigned names", () => {
    const source =
      "{% assign own = payload.a.b %}{{ own.x }}{% for i in payload.items %}{{ i.title }}{{ forloop.index }}{% endfor %}{{ c['d'] }}";
    assert.deepEqual(compileTemplate("liquid", source).variables, ["c.d", "payload.a.b", "payload.items"]);
  });

  test("raw text is inserted unchanged and never evaluated", () => {
    const raw = { content: "<p>{{ payload.name }}</p>" };
    assert.equal(rendered("<div>{{ content }}</div>", { raw }), "<div><p>{{ payload.name }}</p></div>");
    assert.equal(rendered("{{ content | upcase }}", { raw }), "&lt;P&gt;{{ PAYLOAD.NAME }}&lt;/P&gt;");
  });

  test("renderings share no state: assignments and counters are not visible to the next", () => {
    const source = "{{ seen }}{% assign seen = 'x' %}{% increment n %}";
    assert.equal(rendered(source), "0");
    assert.equal(rendered(source), "0");
  });

  test("an invalid template is rejected with its line and column", () => {
    const refusals = [
      ["a\n {{ payload.name | shout }}", /undefined filter: shout/, 2, 2],
      ["{{ payload.name | constructor }}", /undefined filter/, 1, 1],
      ["{% include 'x' %}", /"include" not found/, 1, 1],
      ["{% render payload.name %}", /name of a partial must be a fixed text/, 1, 1],
      ["{% render 'x' for payload.items %}", /Name the values of a partial/, 1, 1],
      ["{% layout 'x' %}", /"layout" not found/, 1, 1],
      ["{% tablerow i in (1..3) %}{% endtablerow %}", /"tablerow" not found/, 1, 1],
      ["{% liquid assign a = 1 %}", /"liquid" not found/, 1, 1],
      ["x\n  {% if a %}", /not closed/, 2, 3],
      ["x {{ a", /not closed/, 1, 3],
      ["\n{% for i in payload.items cols:3 %}{% endfor %}", /no modifier cols/, 2, 1],
    ] as const;
    for (const [source, message, line, column] of refusals) {
      assert.throws(
        () => compileTemplate("liquid", source),
        (error) => {
          assert.ok(error instanceof TemplateError, source);
          assert.deepEqual([error.code, error.line, error.column], ["syntax_error", line, column], source);
          assert.match(error.message, message);
          return true;
        },
      );
    }
  });
});
