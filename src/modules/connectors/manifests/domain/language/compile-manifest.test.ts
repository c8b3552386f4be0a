import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../../../../test/harness/random.ts";
import type { Json, JsonObject } from "../../../../../platform/document/index.ts";
import { loadBuiltinProviders } from "../../catalogue/builtin-providers.ts";
import { compile, manifestWith, smallManifest } from "../../testing/manifest-documents.ts";
import { refusedManifests } from "../../testing/refused-manifests.ts";
import { compileInSteps, compileManifest } from "./compile-manifest.ts";

suite("a manifest is refused", () => {
  for (const [name, document, path, rule, message] of refusedManifests) {
    test(name, () => {
      const { provider, violations } = compileManifest(document);
      assert.equal(provider, undefined);
      const found = violations.find((each) => each.path === path && each.rule === rule);
      assert.ok(found, JSON.stringify(violations));
      assert.match(found.message, message);
    });
  }
});

test("the built-in manifests are valid", () => {
  const keys = loadBuiltinProviders().map(({ key }) => key);
  for (const key of ["github", "graphql", "http", "slack", "stripe"]) assert.ok(keys.includes(key), key);
});

test("a valid manifest is compiled with its defaults", () => {
  const provider = compile(smallManifest);
  const action = provider.actions.get("item.get")!;
  assert.equal(action.key, "acme.item.get");
  assert.deepEqual(action.retry, { maxAttempts: 3, on: ["unavailable", "rate_limited"] });
  assert.deepEqual(action.mutation, { effect: "read", destructive: false, idempotency: "natural", keyIn: undefined });
  assert.deepEqual(action.runtime, { status: "executable", reason: "", replacedBy: undefined });
  assert.deepEqual(action.outputSchema, { type: "object", properties: { id: {}, name: {} } });
  assert.deepEqual(provider.authModes, ["api_key"]);
  assert.match(provider.digest, /^[0-9a-f]{64}$/);
});

test("the digest does not depend on the order of members", () => {
  const reversed = Object.fromEntries(Object.entries(smallManifest).reverse()) as JsonObject;
  assert.equal(compile(reversed).digest, compile(smallManifest).digest);
  assert.notEqual(compile(manifestWith({ version: "1.0.1" })).digest, compile(smallManifest).digest);
});

test("modes are offered in a fixed order, the default one first", () => {
  const both = { none: {}, basic: {}, api_key: smallManifest.auth.api_key };
  assert.deepEqual(compile(manifestWith({ auth: both })).authModes, ["api_key", "basic", "none"]);
  assert.deepEqual(compile(manifestWith({ auth: both, default_auth: "none" })).authModes, ["none", "api_key", "basic"]);
});

test("keywords are also names of properties", () => {
  const text = { type: "string" };
  const schemas = { Text: text };
  const properties = {
    default: { $ref: "#/schemas/Text" },
    enum: { $ref: "#/schemas/Text" },
    $ref: { $ref: "#/schemas/Text" },
  };
  const input = { type: "object", properties };
  const actions = { get: { ...smallManifest.actions["item.get"], input, request: { method: "GET", path: "/x" } } };
  const { inputSchema } = compile(manifestWith({ schemas, actions })).actions.get("get")!;
  assert.deepEqual(inputSchema.properties, { default: text, enum: text, $ref: text });
});

test("any change of a valid manifest compiles or is refused, and never throws", () => {
  const documents = loadBuiltinProviders()
    .slice(0, 10)
    .map(({ document }) => document);
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom(
      "{input.x}",
      "{{",
      "{",
      "{credentials.a|path}",
      "https://{settings.x}",
      "#/schemas/X",
      "/a/~2",
      "*",
      "",
    ),
    fc.constantFrom<Json>({}, [], null, { $ref: "#/schemas/Issue" }, { $list: "/a" }, { kind: "hmac" }, -1, 1e300),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...documents),
      fc.array(fc.nat(), { minLength: 1, maxLength: 12 }),
      value,
      (document, way, put) => {
        const { provider, violations } = compileManifest(replaced(document, way, put as Json));
        assert.equal(provider === undefined, violations.length > 0);
      },
    ),
    { numRuns: 500 },
  );
});

test("an object that cannot become a text is refused in every place of a text", () => {
  const put = { toString: 1 };
  for (const { document } of loadBuiltinProviders().slice(0, 5)) {
    for (const way of waysToTexts(document)) {
      const { provider, violations } = compileManifest(replaced(document, way, put));
      assert.equal(provider === undefined, violations.length > 0, `${way}`);
    }
  }
});

function waysToTexts(document: Json): (readonly number[])[] {
  if (typeof document === "string") return [[]];
  if (typeof document !== "object" || document === null) return [];
  return Object.values(document).flatMap((each, at) => waysToTexts(each).map((way) => [at, ...way]));
}

/** Replaces the value that is reached by choosing the given members one after another. */
function replaced(document: Json, [choice, ...rest]: readonly number[], put: Json): Json {
  if (choice === undefined || typeof document !== "object" || document === null) return put;
  const names = Object.keys(document);
  const name = names[choice % Math.max(1, names.length)];
  if (name === undefined) return put;
  if (Array.isArray(document)) {
    const elements: readonly Json[] = document;
    return elements.map((each, at) => (String(at) === name ? replaced(each, rest, put) : each));
  }
  return { ...document, [name]: replaced((document as JsonObject)[name]!, rest, put) };
}

test("a manifest is compiled in steps, at least one for each rule, field, schema, action and event", () => {
  const rules = [{ when: "body.a" }, { when: "body.b" }];
  const document = manifestWith({
    settings: { a: { pattern: "^a$" }, b: { pattern: "^b$" } },
    schemas: { A: { type: "string" }, B: { type: "string" } },
    errors: rules,
    actions: { a: { ...smallManifest.actions["item.get"], errors: rules }, b: smallManifest.actions["item.get"] },
    triggers: {
      t: { title: "T", kind: "webhook", verify: { kind: "token", header: "x" }, events: rules, errors: rules },
    },
  });
  const steps = [...compileInSteps(document)].length;
  const parts = 2 + 1 + 2 + 2 + (2 + 2) + (2 + 2 + 1);
  assert.equal(steps, parts);
  assert.deepEqual(compileManifest(document).violations, []);
});

test("a hostile manifest ends after 100 violations", () => {
  const actions = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`a${at}`, { x: 1, y: 2 }]));
  assert.equal(compileManifest(manifestWith({ actions })).violations.length, 100);
});
