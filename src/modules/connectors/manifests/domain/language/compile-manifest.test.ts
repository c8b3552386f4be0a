import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject } from "../../../../../platform/document/index.ts";
import { loadBuiltinProviders } from "../../catalogue/builtin-providers.ts";
import { compile, manifestWith, smallManifest } from "../../testing/manifest-documents.ts";
import { refusedManifests } from "../../testing/refused-manifests.ts";
import { compileManifest } from "./compile-manifest.ts";

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

test("a hostile manifest ends after 100 violations", () => {
  const actions = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`a${at}`, { x: 1, y: 2 }]));
  assert.equal(compileManifest(manifestWith({ actions })).violations.length, 100);
});
