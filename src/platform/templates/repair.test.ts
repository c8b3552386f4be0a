import assert from "node:assert/strict";
import { test } from "node:test";
import { repairTemplate } from "./repair.ts";

test("open braces and blocks, and mistyped helpers, are repaired in Handlebars", () => {
  const table = [
    ["Hello {{ name }!", "Hello {{ name }}!"],
    ["{{#if paid}}Thanks", "{{#if paid}}Thanks{{/if}}"],
    ["{{#if a}}{{#each b}}x{{/each}}", "{{#if a}}{{#each b}}x{{/each}}{{/if}}"],
    ["{{#each items}}x{{/eahc}}", "{{#each items}}x{{/each}}"],
    ["{{if paid}}x{{/if}}", "{{#if paid}}x{{/if}}"],
    ["{{uper name}}", "{{upper name}}"],
  ];
  for (const [source, repaired] of table) assert.equal(repairTemplate("handlebars", source!), repaired, source);
});

test("open braces and tags, and mistyped filters and tags, are repaired in Liquid", () => {
  const table = [
    ["Hello {{ name }!", "Hello {{ name }}!"],
    ["{% if paid %}Thanks", "{% if paid %}Thanks{% endif %}"],
    ["upcse {{ name | upcse }}", "upcse {{ name | upcase }}"],
    ["{% fi paid %}x{% endif %}", "{% if paid %}x{% endif %}"],
    ["{% if paid %}x{% endfi %}", "{% if paid %}x{% endif %}"],
    ["{% if count = 1 %}x{% else if b %}y{% endif %}", "{% if count == 1 %}x{% elsif b %}y{% endif %}"],
  ];
  for (const [source, repaired] of table) assert.equal(repairTemplate("liquid", source!), repaired, source);
});

test("nothing is proposed where it is unknown what is meant", () => {
  assert.equal(repairTemplate("handlebars", "{{frobnicate name}}"), undefined);
  assert.equal(repairTemplate("liquid", "{{#if a}}x{{/if}}"), undefined);
});
