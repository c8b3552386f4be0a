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
    nothing: null,
  },
  subscriber: { first_name: "Kim" },
};

function rendered(source: string, options: Partial<RenderOptions> = {}): string {
  return compileTemplate("handlebars", source).render(values, { escape: "html", nowMs: 0, ...options });
}

const cases: Readonly<Record<string, readonly (readonly [source: string, expected: string])[]>> = {
  "values are escaped unless the author says otherwise": [
    ["{{payload.name}}", "&lt;Ann&gt; &amp; &#39;Bo&#39;"],
    ["{{{payload.name}}}", "<Ann> & 'Bo'"],
    ["{{&payload.name}}", "<Ann> & 'Bo'"],
    ["<b>{{upper payload.name}}</b>", "<b>&lt;ANN&gt; &amp; &#39;BO&#39;</b>"],
  ],
  "paths reach items, parents, the root and the loop": [
    ["{{payload.items.1.title}} {{payload.items.[0].title}}", "ink pen"],
    [
      "{{#each payload.items}}{{@index}}{{title}}{{this.price}}{{#unless @last}}, {{/unless}}{{/each}}",
      "0pen1.5, 1ink20",
    ],
    [
      "{{#each payload.items}}{{../subscriber.first_name}}{{@root.payload.zero}}{{@first}} {{/each}}",
      "Kim0true Kim0false ",
    ],
    ["{{#each payload.sizes}}{{@key}}={{this}};{{/each}}", "small=1;large=9;"],
    [
      "{{#each payload.items as |item at|}}{{at}}{{#with item}}{{title}}{{at}}{{@index}}{{/with}}{{/each}}",
      "0pen001ink11",
    ],
    ["{{#each payload.items}}{{#each @root.payload.items}}{{@../index}}{{@index}} {{/each}}{{/each}}", "00 01 10 11 "],
  ],
  "blocks choose": [
    ["{{#if payload.zero}}a{{else if payload.name}}b{{else}}c{{/if}}", "b"],
    ["{{#if payload.zero includeZero=true}}yes{{/if}}", "yes"],
    ["{{#unless payload.none}}empty{{/unless}}", "empty"],
    ["{{#each payload.none}}x{{else}}nothing{{/each}}", "nothing"],
    ["{{#with payload.sizes}}{{small}}{{else}}-{{/with}}{{#with payload.gone}}x{{else}}-{{/with}}", "1-"],
    ["{{#payload.items}}{{title}} {{/payload.items}}{{^payload.none}}none{{/payload.none}}", "pen ink none"],
  ],
  "helpers compare, fall back and look up": [
    ["{{#if (and (gt payload.items.1.price 3) (ne payload.zero 1))}}yes{{/if}}", "yes"],
    ["{{#if (or (eq payload.zero 1) (lte payload.zero 0))}}yes{{/if}}{{#if (not payload.zero)}}!{{/if}}", "yes!"],
    ["{{default payload.gone 'friend'}} {{upper (lower 'ABC')}} {{lookup payload.sizes 'large'}}", "friend ABC 9"],
    ["{{{json payload.sizes}}}", '{"small":1,"large":9}'],
  ],
  "helpers change texts, lists and numbers as the filters of Liquid do": [
    ["{{capitalize 'ada'}} {{titlecase 'ada lovelace'}} {{upcase 'x'}}{{downcase 'Y'}}", "Ada Ada Lovelace Xy"],
    ["[{{strip '  a '}}] {{replace 'a-b-c' '-' '+'}} {{remove 'a-b' '-'}} {{append 'a' 'b'}}", "[a] a+b+c ab ab"],
    ["{{truncate 'a long text' 6}} {{truncatewords 'a long text' 2}}", "a l... a long..."],
    ["{{join (split 'a,b,c' ',') ' / '}} {{#each (split 'x y' ' ')}}({{this}}){{/each}}", "a / b / c (x)(y)"],
    [
      "{{join (map payload.items 'title') ' and '}} {{size payload.items}} {{sum payload.items 'price'}}",
      "pen and ink 2 21.5",
    ],
    ["{{#each (sort payload.items 'title')}}{{title}} {{/each}}{{times 2 3}} {{round 2.345 1}}", "ink pen 6 2.3"],
    [
      "{{pluralize 1 'item' 'items'}} {{pluralize 3 'item' 'items'}} {{pluralize payload.zero 'item' 'items'}}",
      "item items items",
    ],
    ["{{pluralize 3 one='plik' few='pliki' other='plików' locale='pl'}}", "pliki"],
    // Without arguments a name is a field, so that helpers hide none.
    ["{{#with payload.sizes}}{{first}}{{size}}{{small}}{{/with}}{{#sum}}x{{else}}-{{/sum}}", "1-"],
    ["{{replace payload.name '<' '<i>'}}", "&lt;i&gt;Ann&gt; &amp; &#39;Bo&#39;"],
  ],
  "space around tags goes where it is asked to": [
    ["a  {{~payload.zero~}}  b", "a0b"],
    ["x\n{{#if payload.name}}\ny\n{{/if}}\nz", "x\ny\nz"],
  ],
  "comments and raw blocks are not evaluated": [
    ["a{{! payload.name }}{{!-- {{payload.name}} --}}b", "ab"],
    ["{{{{raw}}}}{{payload.name}}{{{{/raw}}}}", "{{payload.name}}"],
  ],
  "only own members are seen": [
    ["{{__proto__}}{{constructor}}{{payload.constructor.name}}{{payload.__proto__}}{{payload.name.constructor}}", ""],
    ["{{lookup payload 'constructor'}}{{lookup payload '__proto__'}}{{#with payload}}{{toString}}{{/with}}", ""],
    ["{{payload.items.map}}{{payload.items.length}}{{#each payload.__proto__}}x{{/each}}", "2"],
  ],
};

suite("handlebars", () => {
  for (const [name, rows] of Object.entries(cases)) {
    test(name, () => {
      for (const [source, expected] of rows) assert.equal(rendered(source), expected, source);
    });
  }

  test("a missing value writes nothing and is reported by its path, unless it is only tested", () => {
    const missing: string[] = [];
    const source =
      "{{payload.gone}}{{#each payload.items}}{{colour}}{{/each}}{{#if payload.maybe}}x{{/if}}{{default payload.other ''}}{{payload.nothing}}";
    assert.equal(rendered(source, { onMissing: (path) => missing.push(path) }), "");
    assert.deepEqual([...new Set(missing)], ["payload.gone", "payload.items[].colour"]);
  });

  test("values are not escaped in plain text", () => {
    assert.equal(rendered("{{payload.name}}", { escape: "none" }), values.payload.name);
  });

  test("the variables of a template are known without rendering it", () => {
    const source =
      "{{payload.b}}{{#each payload.items}}{{title}}{{@root.subscriber.first_name}}{{/each}}{{#with payload.a}}{{c}}{{/with}}";
    assert.deepEqual(compileTemplate("handlebars", source).variables, [
      "payload.a",
      "payload.a.c",
      "payload.b",
      "payload.items",
      "subscriber.first_name",
    ]);
  });

  test("raw text is inserted unchanged and never evaluated", () => {
    const raw = { content: "<p>{{payload.name}}</p>" };
    assert.equal(rendered("<div>{{content}}</div>", { raw }), "<div><p>{{payload.name}}</p></div>");
    assert.equal(rendered("{{#each payload.items}}{{@root.content}}{{/each}}", { raw }), raw.content.repeat(2));
    // A nested value of the same name is not replaced by it.
    assert.equal(rendered("{{upper content}}", { raw }), "&lt;P&gt;{{PAYLOAD.NAME}}&lt;/P&gt;");
  });

  test("an invalid template is rejected with its line and column", () => {
    const refusals = [
      ["a\n {{shout payload.name}}", /no helper named shout/, 2, 2],
      ["{{> (lookup payload 'name')}}", /name of a partial must be fixed/, 1, 1],
      ["{{#> footer}}{{/footer}}", /cannot have a block/, 1, 1],
      ["{{* decorate}}", /Decorators/, 1, 1],
      ["{{#shout payload.name}}{{/shout}}", /no helper named shout/, 1, 1],
      ["{{upper (shout 1)}}", /no helper named shout/, 1, 9],
      ["x\n{{#if a}}", /not closed/, 2, 10],
      ["{{#each a}}{{/if}}", /doesn't match/, 1, 4],
      ["{{a b=}}", /well-formed/, 1, 7],
      ["{{@nothing}}", /no @nothing/, 1, 3],
      ["{{#each}}{{/each}}", /one argument/, 1, 1],
    ] as const;
    for (const [source, message, line, column] of refusals) {
      assert.throws(
        () => compileTemplate("handlebars", source),
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
