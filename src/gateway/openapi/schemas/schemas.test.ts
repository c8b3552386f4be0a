import assert from "node:assert/strict";
import { test } from "node:test";
import { FieldRulesSchema } from "../../../../gen/buf/validate/validate_pb.ts";
import { HttpRuleSchema } from "../../../../gen/google/api/http_pb.ts";
import type { Schema } from "../document.ts";
import { exampleOfMessage } from "../examples/examples.ts";
import { testDocument } from "../test-document.ts";
import { createComponents } from "./components.ts";
import { type Rules, toConstraints } from "./rules.ts";
import { createSchemas } from "./schemas.ts";

const schemas = testDocument().components.schemas as Record<string, Schema>;

function property(schema: string, name: string): Schema {
  const found = schemas[schema]?.properties?.[name];
  assert.ok(found, `${schema}.${name} is missing`);
  return found;
}

test("the rules of a string become its lengths, pattern and enum", () => {
  const { minLength, maxLength } = property("CreateTenantRequest", "name");
  assert.deepEqual([minLength, maxLength], [1, 200]);
  assert.equal(property("CreateEnvironmentRequest", "key").pattern, "^[a-z][a-z0-9_-]{0,62}$");
  assert.equal(property("InviteMemberRequest", "email").format, "email");
  assert.deepEqual(property("CreateApiKeyRequest", "environment_mode").enum, [
    "",
    "any",
    "production_only",
    "non_production_only",
  ]);
  assert.equal(property("CreateSecretRequest", "value").maxLength, 65_536);
});

test("the rules of a number, a list and a map become their bounds", () => {
  const { minimum, maximum } = property("QuotaLimitInput", "limit_per_day");
  assert.deepEqual([minimum, maximum], [0, Number.MAX_SAFE_INTEGER]);
  const { maxItems, uniqueItems, items } = property("CreateApiKeyRequest", "roles");
  assert.deepEqual([maxItems, uniqueItems, items?.pattern], [20, true, "^[a-z][a-z0-9_]{0,62}$"]);
  const { maxProperties, propertyNames } = property("CreateTenantRequest", "quotas");
  assert.equal(maxProperties, 20);
  assert.ok((propertyNames as Schema).enum?.includes("route"));
});

test("exactly the request fields whose rules refuse an empty value are required", () => {
  assert.deepEqual(schemas.CreateTenantRequest?.required, ["name"]);
  assert.deepEqual(schemas.SetConfigValueRequest?.required, ["value"]);
  assert.equal(schemas.UpdateTenantRequest?.required, undefined);
});

test("a value whose rules are ignored when it is empty may be empty", () => {
  assert.match(String(property("CreateTenantRequest", "slug").pattern), /^\^\$\|/);
  const optional = (rules: Rules) => toConstraints({ ...rules, ignore: "IGNORE_IF_ZERO_VALUE" }, true);
  assert.deepEqual(optional({ string: { in: ["a"] } }), { enum: ["", "a"] });
  assert.deepEqual(optional({ string: { email: true } }), { anyOf: [{ const: "" }, { format: "email" }] });
  assert.deepEqual(optional({ int32: { gte: 5 } }), { anyOf: [{ const: 0 }, { minimum: 5 }] });
  assert.deepEqual(optional({ int32: { lte: 5 } }), { maximum: 5 });
});

test("enum values that a rule refuses are not listed", () => {
  assert.deepEqual(property("UpdateTenantRequest", "status").enum, ["STATUS_ACTIVE", "STATUS_SUSPENDED"]);
});

test("a pattern with RE2-only syntax is not in the document", () => {
  assert.deepEqual(toConstraints({ string: { pattern: "(?i)^a$" } }, false), {});
});

test("a secret in a request is write-only, and a field that the service sets is read-only", () => {
  assert.equal(property("CreateSecretRequest", "value").writeOnly, true);
  for (const name of ["id", "tenant_id", "created_at", "updated_at", "record_version"]) {
    assert.equal(property("ApiKey", name).readOnly, true, name);
  }
  assert.equal(property("ApiKey", "name").readOnly, undefined);
});

test("a request refuses unknown fields, a response allows them", () => {
  assert.equal(schemas.CreateTenantRequest?.additionalProperties, false);
  assert.equal(schemas.QuotaLimitInput?.additionalProperties, false);
  assert.equal(schemas.QuotaLimit?.additionalProperties, undefined);
});

test("fields without presence are always in a response", () => {
  assert.ok(schemas.Tenant?.required?.includes("plan"));
  assert.ok(schemas.Tenant?.required?.includes("quotas"));
  assert.ok(!schemas.Tenant?.required?.includes("created_at"));
  assert.ok(!schemas.Quota?.required?.includes("limit"));
});

test("64-bit integers are JSON integers", () => {
  assert.equal(property("Tenant", "record_version").type, "integer");
  assert.equal(property("Tenant", "record_version").format, "int64");
});

test("path variables are not in the body", () => {
  assert.ok(!("tenant_id" in schemas.UpdateTenantRequest!.properties!));
});

test("a recursive message has a finite schema and a finite example", () => {
  const components = createComponents();
  createSchemas(components, new Set()).ofMessage(HttpRuleSchema, "request");
  const { HttpRule } = components.sections.schemas as Record<string, Schema>;
  assert.equal(HttpRule?.properties?.additional_bindings?.items?.$ref, "#/components/schemas/HttpRule");
  assert.ok(JSON.stringify(exampleOfMessage(HttpRuleSchema, "request")).length < 10_000);
});

test("an example sets one field of a oneof, and the schema allows no more", () => {
  const components = createComponents();
  createSchemas(components, new Set()).ofMessage(FieldRulesSchema, "request");
  const { FieldRules } = components.sections.schemas as Record<string, Schema>;
  assert.match(String(FieldRules?.properties?.double?.description), /At most one of `double`, `int32`/);
  const example = exampleOfMessage(FieldRulesSchema, "request") as object;
  assert.ok("double" in example && !("int32" in example));
});
