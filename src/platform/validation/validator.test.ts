import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { FieldDescriptorProto_Type as Type } from "@bufbuild/protobuf/wkt";
import { FieldRulesSchema, StringRulesSchema } from "../../../gen/buf/validate/validate_pb.ts";
import { CreateApiKeyRequestSchema } from "../../../gen/service/api/api_key_pb.ts";
import { SetConfigValueRequestSchema } from "../../../gen/service/api/config_pb.ts";
import { UpdateMemberRequestSchema } from "../../../gen/service/api/member_pb.ts";
import {
  CreateTenantRequestSchema,
  TenantSchema,
  UpdateTenantRequestSchema,
} from "../../../gen/service/api/tenant_pb.ts";
import { services } from "../../../gen/services.ts";
import { createValidator } from "./index.ts";
import { describePattern } from "./pattern-text.ts";
import { createRuledMessage, type FieldDefinition } from "./testing/rule-definitions.ts";

function broken(desc: DescMessage, message: Message): string[] {
  return createValidator(desc)(message).map(({ field, rule }) => `${field} ${rule}`);
}

function compiles(field: Omit<FieldDefinition, "name">): () => unknown {
  return () => createValidator(createRuledMessage([{ name: "it", ...field }]));
}

suite("validation", () => {
  test("every request of the API compiles: no definition contains an unsupported rule", () => {
    for (const service of services) for (const method of service.methods) createValidator(method.input);
  });

  test("fields are named by their path in proto names", () => {
    const request = create(CreateApiKeyRequestSchema, { name: "x", roles: ["a", "b", "C"], environmentMode: "moon" });
    assert.deepEqual(createValidator(CreateApiKeyRequestSchema)(request), [
      { field: "roles[2]", rule: "string.pattern", message: describePattern("^[a-z][a-z0-9_]{0,62}$") },
      {
        field: "environment_mode",
        rule: "string.in",
        message: 'must be one of "any", "production_only", "non_production_only"',
      },
    ]);
    const tenant = create(CreateTenantRequestSchema, { name: "x", quotas: { route: { limitPerDay: -1n }, moon: {} } });
    assert.deepEqual(broken(CreateTenantRequestSchema, tenant), [
      'quotas["route"].limit_per_day int64.gte_lte',
      'quotas["moon"] string.in',
    ]);
    const member = create(UpdateMemberRequestSchema, { memberId: "m", roleSet: { roles: ["a", "a"] } });
    assert.deepEqual(broken(UpdateMemberRequestSchema, member), ["role_set.roles repeated.unique"]);
  });

  test("an optional field is checked only if it is set", () => {
    assert.deepEqual(broken(UpdateTenantRequestSchema, create(UpdateTenantRequestSchema, { tenantId: "t" })), []);
    const request = create(UpdateTenantRequestSchema, { tenantId: "t", name: "", status: 0 });
    assert.deepEqual(broken(UpdateTenantRequestSchema, request), ["name string.min_len", "status enum.not_in"]);
  });

  test("a required message must be set", () => {
    const request = create(SetConfigValueRequestSchema, { key: "k" });
    assert.deepEqual(broken(SetConfigValueRequestSchema, request), ["value required"]);
  });

  test("lengths count code points, not UTF-16 units", () => {
    const desc = createRuledMessage([
      { name: "it", type: Type.STRING, rules: { type: { case: "string", value: { minLen: 2n, maxLen: 3n } } } },
    ]);
    for (const [it, expected] of [
      ["😀", ["it string.min_len"]],
      ["😀😀", []],
      ["😀😀😀", []],
      ["😀😀😀😀", ["it string.max_len"]],
      ["a", ["it string.min_len"]],
      ["aaaa", ["it string.max_len"]],
    ] as const) {
      assert.deepEqual(broken(desc, create(desc, { it } as never)), expected, it);
    }
  });

  test("a message without rules is not inspected, and every call returns a new list", () => {
    const validate = createValidator(createRuledMessage([{ name: "it", type: Type.STRING }]));
    assert.deepEqual(validate(undefined as never), []);
    assert.notEqual(validate(undefined as never), validate(undefined as never));
  });

  test("a type that contains itself is checked at every level", () => {
    const rules = { type: { case: "string" as const, value: { minLen: 1n } } };
    const desc = createRuledMessage([
      { name: "it", type: Type.STRING, rules },
      { name: "self", type: Type.MESSAGE, typeName: ".test.Ruled" },
    ]);
    const message = create(desc, { it: "x", self: { it: "", self: { it: "" } } } as never);
    assert.deepEqual(broken(desc, message), ["self.it string.min_len", "self.self.it string.min_len"]);
  });

  test("at most twenty violations are reported", () => {
    const roles = Array.from({ length: 1000 }, (_, i) => `R${i}`);
    const request = create(CreateApiKeyRequestSchema, { name: "x", roles });
    assert.equal(createValidator(CreateApiKeyRequestSchema)(request).length, 20);
  });

  test("names of object internals are neither allowed values nor enum values", () => {
    const tenant = create(CreateTenantRequestSchema, { name: "x", quotas: { constructor: {}, toString: {} } as never });
    assert.deepEqual(broken(CreateTenantRequestSchema, tenant), [
      'quotas["constructor"] string.in',
      'quotas["toString"] string.in',
    ]);
    assert.deepEqual(broken(TenantSchema, create(TenantSchema)), []);
  });
});

suite("a definition is refused when it is compiled", () => {
  test("with a rule that is not supported", () => {
    const unknown = create(StringRulesSchema, { minLen: 1n });
    unknown.$unknown = [{ no: 7, wireType: 2, data: new Uint8Array([1, 97]) }];
    assert.throws(
      compiles({ type: Type.STRING, rules: { type: { case: "string", value: unknown } } }),
      /test.Ruled.it: has a rule that is not supported: buf.validate.StringRules field 7/,
    );
    const cel = create(FieldRulesSchema);
    cel.$unknown = [{ no: 23, wireType: 2, data: new Uint8Array([0]) }];
    assert.throws(compiles({ type: Type.STRING, rules: cel }), /FieldRules field 23/);
    const items = { type: { case: "repeated" as const, value: { items: cel } } };
    assert.throws(compiles({ type: Type.STRING, many: true, rules: items }), /FieldRules field 23/);
  });

  test("with rules for the whole message", () => {
    const desc = createRuledMessage([{ name: "it", type: Type.STRING }]);
    const options = {
      $typeName: "google.protobuf.MessageOptions",
      $unknown: [{ no: 1159, wireType: 2, data: new Uint8Array([0]) }],
    };
    Object.assign(desc.proto, { options });
    assert.throws(() => createValidator(desc), /rules for the whole message/);
  });

  test("with rules for another type than the field's", () => {
    const rules = { type: { case: "string" as const, value: { minLen: 1n } } };
    assert.throws(compiles({ type: Type.INT32, rules }), /has string rules but is int32/);
    assert.throws(compiles({ type: Type.STRING, many: true, rules }), /has string rules but is a list/);
    assert.throws(compiles({ type: Type.STRING, map: true, rules }), /has string rules but is a map/);
    assert.throws(
      compiles({ type: Type.MESSAGE, typeName: ".google.protobuf.Timestamp", rules }),
      /has string rules but is google.protobuf.Timestamp/,
    );
  });

  test("with rules that contradict each other or have no effect", () => {
    const int = (value: object) => ({ type: { case: "int32" as const, value } });
    assert.throws(compiles({ type: Type.INT32, rules: int({ gte: 5, lte: 1 }) }), /upper bound below/);
    const items = { type: { case: "repeated" as const, value: { items: { required: true } } } };
    assert.throws(compiles({ type: Type.STRING, many: true, rules: items }), /has no effect/);
  });

  test("every time, and not only the first", () => {
    const desc = createRuledMessage([
      { name: "it", type: Type.INT32, rules: { type: { case: "string", value: { minLen: 1n } } } },
    ]);
    assert.throws(() => createValidator(desc), /has string rules but is int32/);
    assert.throws(() => createValidator(desc), /has string rules but is int32/);
  });
});
