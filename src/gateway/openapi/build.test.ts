import assert from "node:assert/strict";
import { test } from "node:test";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { parse } from "yaml";
import { findUpdatedRecord, readOperations } from "../../definitions/index.ts";
import { catalogue } from "../../errors/index.ts";
import { buildInSteps, buildOpenApi } from "./build.ts";
import type { Parameter, Reference, RequestBody, Response, Schema } from "./document.ts";
import { operationsIn, testDocument, testInput } from "./test-document.ts";
import { toYaml } from "./yaml.ts";

const operations = readOperations();
const external = operations.filter(({ governance }) => !governance.internalOnly);
const document = testDocument();
const yaml = toYaml(document);
const described = operationsIn(document);
const operational = [
  "/health",
  "/healthz",
  "/livez",
  "/ready",
  "/readyz",
  "/metrics",
  "/metricsz",
  "/openapi.yaml",
  "/docs",
];

const extensions = [
  "x-service-lifecycle",
  "x-service-audience",
  "x-service-authentication-required",
  "x-service-authorization-required",
  "x-service-authz-resource",
  "x-service-authz-action",
  "x-service-authz-scopes",
  "x-service-authz-roles",
  "x-service-internal-only",
] as const;

function at(path: string, verb: string) {
  const found = document.paths[path]?.[verb];
  assert.ok(found, `${verb} ${path} is missing`);
  return found;
}

function parameter(given: Parameter | Reference): Parameter {
  if (!("$ref" in given)) return given;
  const name = given.$ref.split("/").at(-1)!;
  return document.components.parameters![name] as Parameter;
}

test("every operation appears at every one of its bindings, and nothing else does", () => {
  const bound = external.flatMap(({ bindings }) => bindings.map(({ verb, path }) => `${verb.toLowerCase()} ${path}`));
  assert.ok(bound.length > 30);
  assert.deepEqual(
    described.map(({ verb, path }) => `${verb} ${path}`).sort(),
    [...bound, ...operational.map((path) => `get ${path}`)].sort(),
  );
});

test("an internal-only operation is not in the document, nor is anything that only it uses", () => {
  assert.ok(external.length < operations.length);
  const text = JSON.stringify(document);
  for (const { method, governance } of operations) {
    if (!governance.internalOnly) continue;
    assert.ok(!text.includes(`_${method.name}"`), method.name);
    assert.ok(!(method.input.name in document.components.schemas!), method.input.name);
  }
});

test("every operation has all nine governance extensions, with the values of its definition", () => {
  for (const { verb, path, operation } of described) {
    for (const name of extensions) assert.notEqual(operation[name], undefined, `${verb} ${path}: ${name}`);
  }
  const created = at("/api/v2/api-keys", "post");
  assert.deepEqual(
    extensions.map((name) => created[name]),
    ["supported", "tenant", true, true, "api_key", "write", ["tenant:write"], ["admin"], false],
  );
  assert.equal(created["x-service-token-cost"], 10);
  assert.equal(created["x-service-mutating"], true);
});

test("operation ids are unique", () => {
  const ids = described.map(({ operation }) => operation.operationId);
  assert.equal(new Set(ids).size, ids.length);
});

test("only the five operational endpoints and operations without authentication are open", () => {
  const open = described.filter(({ operation }) => operation.security?.length === 0).map(({ path }) => path);
  const unauthenticated = [
    "/api/experiments/receipts:verify",
    "/api/rollout-evidence/keys",
    "/api/rollout-evidence/receipts:verify",
  ];
  assert.deepEqual(open.sort(), [...operational, ...unauthenticated].sort());
  assert.deepEqual(document.security, [{ bearer: [] }, { apiKey: [] }]);
  assert.deepEqual(Object.keys(document.components.securitySchemes!), ["bearer", "apiKey"]);
});

test("the three servers are declared", () => {
  assert.deepEqual(
    document.servers.map(({ url }) => url),
    Object.values(testInput.servers),
  );
});

test("every parameter in a path is described, and every described one is in the path", () => {
  for (const { path, operation } of described) {
    const named = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]);
    const given = (operation.parameters ?? []).map(parameter).filter((each) => each.in === "path");
    assert.deepEqual(given.map(({ name }) => name).sort(), named.sort(), path);
    assert.ok(
      given.every(({ required }) => required),
      path,
    );
  }
});

test("lists have limit, cursor and offset in place of the fields of the message", () => {
  const names = at("/api/tenants", "get").parameters!.map((each) => parameter(each).name);
  assert.deepEqual(names, ["status", "limit", "cursor", "offset", "Api-Version", "X-Tenant-ID", "X-Request-ID"]);
});

test("an operation's headers match its definition", () => {
  const names = (path: string, verb: string) => at(path, verb).parameters!.map((each) => parameter(each).name);
  assert.ok(names("/api/tenants/{tenant_id}", "patch").includes("If-Match"));
  assert.ok(names("/api/tenants/{tenant_id}", "patch").includes("Idempotency-Key"));
  assert.ok(!names("/api/tenants/{tenant_id}", "get").includes("Idempotency-Key"));
  assert.ok(!names("/api/tenants", "post").includes("X-Tenant-ID"));
  assert.ok(names("/api/events/subscribe", "get").includes("Last-Event-ID"));
  const responseMessages = (path: string, verb: string) =>
    Object.keys((at(path, verb).responses["200"] as Response).headers!);
  assert.ok(responseMessages("/api/tenants/{tenant_id}", "get").includes("ETag"));
  assert.ok(!responseMessages("/api/tenants", "get").includes("ETag"));
  assert.ok(responseMessages("/api/members", "get").includes("Deprecation"));
});

test("responses other than JSON have their own media type", () => {
  const type = (path: string) => Object.keys((at(path, "get").responses["200"] as Response).content!);
  assert.deepEqual(type("/api/config/export"), ["application/yaml"]);
  assert.deepEqual(type("/api/events/subscribe"), ["text/event-stream"]);
});

test("a deprecated operation is marked and names its successor", () => {
  const old = at("/api/members", "get");
  assert.equal(old.deprecated, true);
  assert.match(old.description, /`\/api\/v2\/members`/);
  assert.deepEqual(
    described.filter(({ operation }) => operation.deprecated).map(({ path }) => path),
    external
      .filter(({ governance }) => governance.deprecation)
      .flatMap(({ bindings }) => bindings.map(({ path }) => path)),
  );
});

test("every error code that an operation can return has an example", () => {
  const shown = Object.values(document.components.responses!).flatMap((response) =>
    Object.keys((response as Response).content!["application/problem+json"]!.examples!),
  );
  // The first is returned to no caller. The others occur before an operation is found.
  const unseen = new Set([
    "CANCELED",
    "ROUTE_NOT_FOUND",
    "METHOD_NOT_ALLOWED",
    "HEADERS_TOO_LARGE",
    "EXPECTATION_FAILED",
  ]);
  const expected = Object.keys(catalogue).filter((code) => !unseen.has(code));
  assert.deepEqual(shown.sort(), expected.sort());
});

test("an operation's problems match its definition", () => {
  const statuses = (path: string, verb: string) => Object.keys(at(path, verb).responses).join(" ");
  assert.equal(statuses("/api/tenants", "post"), "200 400 401 403 408 409 412 413 415 429 500 503 504");
  assert.equal(statuses("/api/tenants/{tenant_id}", "get"), "200 304 400 401 403 404 429 500 503 504");
});

test("every operation, parameter and field has a description", () => {
  for (const { path, operation } of described) {
    assert.ok(operation.summary && operation.description, path);
    for (const each of operation.parameters ?? []) assert.ok(parameter(each).description, path);
  }
  for (const [name, schema] of Object.entries(document.components.schemas!)) {
    const { description, properties } = schema as { description?: string; properties?: Record<string, Described> };
    assert.ok(description, name);
    for (const [key, property] of Object.entries(properties ?? {})) assert.ok(property.description, `${name}.${key}`);
  }
  for (const tag of document.tags) assert.ok(tag.description, tag.name);
});

test("two operations with the same method and path stop the build", () => {
  const twice = [external[0]!, { ...external[1]!, bindings: external[0]!.bindings }];
  assert.throws(() => buildOpenApi({ ...testInput, operations: twice }), /bound twice/);
});

test("the document is built in one step per operation", () => {
  const steps = buildInSteps({ ...testInput, operations });
  assert.equal([...steps].length, external.length);
});

test("the YAML equals the document, also in a YAML 1.1 parser", () => {
  assert.deepEqual(parse(yaml), JSON.parse(JSON.stringify(document)));
  assert.deepEqual(parse(yaml, { version: "1.1", schema: "yaml-1.1" }), JSON.parse(JSON.stringify(document)));
});

test("a strict linter reports neither errors nor warnings", async () => {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source: yaml, absoluteRef: "/openapi.yaml", config });
  assert.deepEqual(
    problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`),
    [],
  );
});

interface Described {
  readonly description?: string;
}

test("the body of an update has every field of the record that it changes, so that a record can be sent back", () => {
  const schemas = document.components.schemas as Readonly<Record<string, Schema>>;
  let updates = 0;
  for (const operation of external) {
    const updated = findUpdatedRecord(operation, external);
    if (updated === undefined) continue;
    updates++;
    for (const { verb, path } of operation.bindings.filter(({ body }) => body === "*")) {
      const { requestBody } = at(path.replace(/=[^}]*\}/g, "}"), verb.toLowerCase());
      const { $ref } = (requestBody as RequestBody).content["application/json"]!.schema as Reference;
      const { properties = {}, additionalProperties } = schemas[$ref.split("/").at(-1)!]!;
      assert.equal(additionalProperties, false, operation.id);
      const missing: string[] = updated.type.fields.filter(({ name }) => !(name in properties)).map(({ name }) => name);
      assert.deepEqual(missing, [], operation.id);
    }
  }
  assert.ok(updates >= 25);
  const { properties } = schemas.UpdateLayoutRequest!;
  assert.deepEqual([properties!.created_at!.readOnly, properties!.name!.readOnly], [true, undefined]);
  assert.equal(schemas.UpdateMemberRequest!.properties!.roles!.readOnly, undefined, "it can be changed");
});
