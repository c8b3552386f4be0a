import assert from "node:assert/strict";
import { test } from "node:test";
import { checkFields } from "../index.ts";
import { providerOn } from "../testing/connection-nodes.ts";
import { fitFields } from "./field-check.ts";

const provider = providerOn(9, {
  settings: {
    region: { title: "Region", pattern: "^[a-z]{2}$", example: "eu", default: "eu" },
    subdomain: { title: "Subdomain", example: "acme" },
  },
});
const settings = { subdomain: "acme" };

test("values are checked field by field, and no message repeats a value", () => {
  const violations = checkFields("settings", provider.settings, { region: "planted", sub: "planted" });
  assert.deepEqual(
    violations.map(({ field, rule }) => [field, rule]),
    [
      ["settings.sub", "unknown"],
      ["settings.region", "format"],
      ["settings.subdomain", "required"],
    ],
  );
  assert.ok(!JSON.stringify(violations).includes("planted"));
  assert.deepEqual(checkFields("settings", provider.settings, { subdomain: 7 })[0]!.rule, "format");
});

test("the mode is the requested one, or the first that accepts the credentials, with the defaults of the settings", () => {
  const modeOf = (credentials: Record<string, string>, requested: "" | "api_key" | "jwt" = "") => {
    const fit = fitFields(provider, requested, settings, credentials);
    return "mode" in fit ? fit.mode : fit[0]!.field;
  };
  assert.equal(modeOf({ access_token: "access" }), "oauth2");
  assert.equal(modeOf({ client_id: "c", client_secret: "secret" }), "oauth2_cc");
  assert.equal(modeOf({ token: "token" }), "api_key");
  assert.equal(modeOf({ token: "token" }, "api_key"), "api_key");
  assert.equal(modeOf({ token: "token" }, "jwt"), "auth_mode");
  assert.equal(modeOf({ client_id: "c" }, "api_key"), "credentials.client_id");
  const fit = fitFields(provider, "", settings, { token: "token" });
  assert.deepEqual("mode" in fit && fit.settings, { region: "eu", subdomain: "acme" });
});

test("secrets that are too short to be redacted are refused, and other short values are not", () => {
  const refused = (mode: "oauth2" | "oauth2_cc" | "api_key", credentials: Record<string, string>) => {
    const fit = fitFields(provider, mode, settings, credentials);
    return "mode" in fit ? [] : fit.map(({ field, rule }) => [field, rule]);
  };
  assert.deepEqual(refused("api_key", { token: "abc" }), [["credentials.token", "min_length"]]);
  assert.deepEqual(refused("api_key", { token: "abcd" }), []);
  assert.deepEqual(refused("oauth2_cc", { client_id: "c", client_secret: "abc" }), [
    ["credentials.client_secret", "min_length"],
  ]);
  assert.deepEqual(refused("oauth2", { access_token: "abc", refresh_token: "abcd" }), [
    ["credentials.access_token", "min_length"],
  ]);
  assert.deepEqual(refused("oauth2", { access_token: "abcd", refresh_token: "abc" }), [
    ["credentials.refresh_token", "min_length"],
  ]);
});
