import assert from "node:assert/strict";
import { test } from "node:test";
import { compileTemplate, type Engine, TemplateError } from "./index.ts";

test("a template is compiled once per engine and source", () => {
  const source = "Hello {{ name }}";
  assert.equal(compileTemplate("liquid", source), compileTemplate("liquid", source));
  assert.notEqual(compileTemplate("liquid", source), compileTemplate("handlebars", source));
});

test("an invalid template is rejected every time, with a new error object", () => {
  const refusal = () => {
    try {
      compileTemplate("handlebars", "x {{#if a}}");
    } catch (error) {
      assert.ok(error instanceof TemplateError);
      return error;
    }
    return assert.fail("was compiled");
  };
  const [first, second] = [refusal(), refusal()];
  assert.notEqual(first, second);
  assert.deepEqual([first.code, first.line, first.column], [second.code, second.line, second.column]);
});

test("a name counts as printed only in a reachable place and without filters", () => {
  const printed: Readonly<Record<Engine, readonly string[]>> = {
    handlebars: [
      "{{content}}",
      "{{{ content }}}",
      "{{#if payload.x}}{{content}}{{/if}}",
      "{{#if payload.x}}a{{else}}{{content}}{{/if}}",
      "{{#each payload.items}}{{@root.content}}{{/each}}",
      "{{#with payload}}{{../content}}{{/with}}",
      "{{#unless false}}{{content}}{{/unless}}",
    ],
    liquid: [
      "{{ content }}",
      "{{content}}",
      "{{- content -}}",
      "{{ content | raw }}",
      "{% echo content %}",
      "{% if payload.x %}{{ content }}{% endif %}",
      "{% if false %}{% else %}{{ content }}{% endif %}",
    ],
  };
  const not: Readonly<Record<Engine, readonly string[]>> = {
    handlebars: [
      "content",
      "{{! content }}",
      "{{!-- {{content}} --}}",
      "{{{{raw}}}}{{content}}{{{{/raw}}}}",
      "\\{{content}}",
      "{{#if false}}{{content}}{{/if}}",
      "{{#unless 1}}{{content}}{{/unless}}",
      "{{#if true}}a{{else}}{{content}}{{/if}}",
      "{{#each payload.items}}{{content}}{{/each}}",
      "{{#each payload.items as |content|}}{{content}}{{/each}}",
      "{{upper content}}",
      "{{payload.content}}{{content.x}}",
    ],
    liquid: [
      "content",
      "{% comment %}{{ content }}{% endcomment %}",
      "{% raw %}{{ content }}{% endraw %}",
      "{% # {{ content }} %}",
      "{% if false %}{{ content }}{% endif %}",
      "{% if true %}a{% else %}{{ content }}{% endif %}",
      "{% unless true %}{{ content }}{% endunless %}",
      "{% assign content = 'x' %}{{ content }}",
      "{% for content in payload.items %}{{ content }}{% endfor %}",
      "{{ content | upcase }}{{ 'content' }}",
      "{{ payload.content }}{{ content.x }}",
    ],
  };
  for (const engine of ["handlebars", "liquid"] as const) {
    for (const source of printed[engine]) assert.ok(compileTemplate(engine, source).printed.has("content"), source);
    for (const source of not[engine]) assert.ok(!compileTemplate(engine, source).printed.has("content"), source);
  }
});
