import assert from "node:assert/strict";
import type { Json, JsonObject } from "../../../../platform/document/index.ts";
import { compileManifest } from "../domain/language/compile-manifest.ts";
import type { AccountValues, Provider } from "../domain/provider.ts";

/** A small manifest with one action. */
export const smallManifest = {
  manifest: 1,
  key: "acme",
  version: "1.0.0",
  name: "Acme",
  category: "generic",
  hosts: ["api.acme.test"],
  base_url: "https://api.acme.test/v1",
  auth: {
    api_key: {
      fields: { api_key: { title: "API key" } },
      apply: { headers: { authorization: "Bearer {credentials.api_key}" } },
    },
  },
  actions: {
    "item.get": {
      title: "Get an item",
      mutation: { effect: "read" },
      input: {
        type: "object",
        required: ["id"],
        properties: { id: { type: "string" }, expand: { type: "boolean" } },
        additionalProperties: false,
      },
      request: { method: "GET", path: "/items/{input.id}", query: { expand: "{input.expand}" } },
      output: { id: "/id", name: "/name" },
    },
  },
} as const satisfies JsonObject;

/** Replaces members of the small manifest. A value of undefined removes the member. */
export function manifestWith(changes: Readonly<Record<string, Json | undefined>>): JsonObject {
  const members = { ...smallManifest, ...changes };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** The small manifest with other members in its action. */
export function actionWith(changes: Readonly<Record<string, Json | undefined>>): JsonObject {
  const members = { ...smallManifest.actions["item.get"], ...changes };
  const action = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject;
  return manifestWith({ actions: { "item.get": action } });
}

/** The small manifest with a trigger. */
export function triggerWith(trigger: JsonObject): JsonObject {
  return manifestWith({ triggers: { "item.changed": { title: "Item changed", ...trigger } } });
}

/** Compiles a manifest that must be valid. */
export function compile(document: JsonObject): Provider {
  const { provider, violations } = compileManifest(document);
  assert.deepEqual(violations, []);
  return provider!;
}

/** The account of the small manifest. */
export function accountWith(changes: Partial<AccountValues> = {}): AccountValues {
  return {
    mode: "api_key",
    settings: {},
    captured: {},
    account: { id: "", label: "" },
    credentials: { api_key: "secret-key-1" },
    config: {},
    ...changes,
  };
}
