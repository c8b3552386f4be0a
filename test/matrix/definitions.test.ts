import assert from "node:assert/strict";
import { test } from "node:test";
import { create, createFileRegistry, type DescMethod, getOption, setExtension } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, type MethodOptions, MethodOptionsSchema } from "@bufbuild/protobuf/wkt";
import { field as fieldRules, type StringRules } from "../../gen/buf/validate/validate_pb.ts";
import { http } from "../../gen/google/api/annotations_pb.ts";
import { HttpRuleSchema } from "../../gen/google/api/http_pb.ts";
import {
  Governance_Audience as Audience,
  GovernanceSchema,
  governance,
  Governance_Lifecycle as Lifecycle,
} from "../../gen/service/options/governance_pb.ts";
import { createExecutor } from "../../src/chain/execute.ts";
import { commentOf } from "../../src/definitions/comments.ts";
import { operationOf } from "../../src/definitions/operation.ts";
import { createRestHandler } from "../../src/gateway/rest/index.ts";
import { roleGrants } from "../../src/platform/access/index.ts";
import { operations } from "../harness/operations.ts";

/** Actions that change nothing even when they are posted, because their input or output does not belong in a URL. */
const readingActions = new Set(["read", "access", "verify", "simulate"]);

for (const operation of operations) {
  const { id, method, governance: governed, bindings } = operation;

  test(`${id} declares its description, planes and permissions`, () => {
    assert.notEqual(governed.lifecycle, Lifecycle.UNSPECIFIED, "lifecycle");
    assert.notEqual(governed.audience, Audience.UNSPECIFIED, "audience");
    assert.equal(
      governed.internalOnly,
      governed.audience === Audience.INTERNAL,
      "internal-only means for internal callers",
    );
    if (governed.authorizationRequired) {
      assert.ok(governed.authenticationRequired, "authorization requires authentication");
      assert.match(governed.resource, /^[a-z][a-z0-9_]*$/);
      assert.match(governed.action, /^[a-z][a-z0-9_]*$/);
    }
    for (const role of governed.roles) assert.ok(role in roleGrants, `the role ${role} exists`);
  });

  test(`${id} is documented, with every message and field of its own`, () => {
    assert.notEqual(commentOf(operation.service), "", "the service");
    assert.notEqual(commentOf(method), "", "the method");
    for (const message of [method.input, method.output]) {
      assert.notEqual(commentOf(message), "", message.typeName);
      for (const field of message.fields) assert.notEqual(commentOf(field), "", `${message.typeName}.${field.name}`);
    }
  });

  test(`${id} is mutating exactly when its action and its verb are`, () => {
    assert.equal(governed.mutating, !readingActions.has(governed.action), governed.action);
    for (const { verb } of bindings) {
      if (verb === "GET") assert.ok(!governed.mutating, "GET changes nothing");
      else assert.ok(governed.mutating || verb === "POST", `${verb} changes something`);
    }
  });

  test(`${id} has paths whose variables are string fields of its request`, () => {
    assert.ok(bindings.length > 0);
    for (const { verb, path, body, responseBody } of bindings) {
      assert.match(path, /^\/api\//);
      for (const [, name] of path.matchAll(/\{([^}]+)\}/g)) {
        const field = method.input.fields.find((each) => each.name === name);
        assert.equal(field?.fieldKind, "scalar", `${path}: ${name}`);
      }
      const raw = operation.rawBodyBytesMax === undefined ? "*" : "body";
      assert.equal(body, verb === "GET" || verb === "DELETE" ? "" : raw);
      if (responseBody !== "") assert.ok(method.output.fields.some((each) => each.name === responseBody));
    }
  });
}

/** Keys that several operations name, by the type or the field that holds them. Each key has one pattern. */
const sharedKeys = [
  { what: "a workflow's key", names: /\.workflow_key$/, pattern: "^[a-zA-Z0-9]([._-]?[a-zA-Z0-9])*$" },
  {
    what: "a topic's key",
    names: /\.topic_key$|TriggerNotificationRequest\.topic$|[A-Za-z]*Topic[A-Za-z]*Request\.key$/,
    pattern: "^[a-z0-9]([._]?[a-z0-9])*$",
  },
];
for (const { what, names, pattern } of sharedKeys) {
  test(`${what} has one pattern: every key that can be created can be named by every operation`, () => {
    const fields = operations
      .flatMap(({ method }) => method.input.fields)
      .filter((field) => names.test(`${field.parent.name}.${field.name}`));
    assert.ok(fields.length >= 10, `${fields.length} fields`);
    for (const field of fields) {
      const { type } = getOption(field, fieldRules);
      assert.equal(type.case, "string", `${field.parent.name}.${field.name}`);
      const { minLen, maxLen, pattern: own } = type.value as StringRules;
      assert.deepEqual([minLen, maxLen, own], [1n, 128n, pattern], `${field.parent.name}.${field.name}`);
    }
  });
}

test("a method without a handler fails the start", () => {
  const handlers = { "service.api.TenantService": {} };
  assert.throws(
    () => createExecutor(operations, { handlers } as unknown as Parameters<typeof createExecutor>[1]),
    /has no handler/,
  );
});

test("a method without governance or path, or with an empty binding, is rejected", () => {
  const options = create(MethodOptionsSchema);
  assert.throws(() => operationWith(options), /Test\/Try has no governance/);
  setExtension(options, governance, create(GovernanceSchema));
  assert.throws(() => operationWith(options), /Test\/Try has no HTTP binding/);
  setExtension(options, http, create(HttpRuleSchema));
  assert.throws(() => operationWith(options), /Test\/Try has an HTTP binding without a path/);
  setExtension(options, http, create(HttpRuleSchema, { pattern: { case: "get", value: "/api/try" } }));
  assert.equal(operationWith(options).bindings[0]?.path, "/api/try");
});

test("a method without a comment has no documentation", () => {
  assert.equal(commentOf(methodWith(create(MethodOptionsSchema))), "");
});

test("two operations with the same path fail the start, even when their variables have different names", () => {
  const [tenant] = operations.filter(({ id }) => id === "service.api.TenantService/GetTenant");
  const twin = { ...tenant!, id: "twin", bindings: [{ ...tenant!.bindings[0]!, path: "/api/tenants/{id}" }] };
  const serve = (served: typeof operations) =>
    createRestHandler({ operations: served, invoke: () => Promise.reject(), errorsUrl: () => "" });
  assert.throws(() => serve([...operations, twin]), /have the same path/);
  serve(operations);
});

/** A method of a new service, with these options. */
function methodWith(options: MethodOptions): DescMethod {
  const file = create(FileDescriptorProtoSchema, {
    name: "try.proto",
    syntax: "proto3",
    messageType: [{ name: "Nothing" }],
    service: [{ name: "Test", method: [{ name: "Try", inputType: ".Nothing", outputType: ".Nothing", options }] }],
  });
  return createFileRegistry(file, () => undefined).getService("Test")!.method.try!;
}

function operationWith(options: MethodOptions) {
  const method = methodWith(options);
  return operationOf(method.parent, method);
}
