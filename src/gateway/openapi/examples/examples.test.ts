import assert from "node:assert/strict";
import { test } from "node:test";
import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { Ajv2020 } from "@redocly/ajv/dist/2020.js";
import formats from "ajv-formats";
import { readOperations } from "../../../definitions/index.ts";
import type { MediaType, Parameter, Reference, RequestBody, Response, Schema } from "../document.ts";
import { toPathTemplate } from "../path-template.ts";
import { operationsIn, testDocument } from "../test-document.ts";
import { exampleOfMessage } from "./examples.ts";

const document = testDocument();
const root = "https://api.switchyard.test/openapi";

// An independent validator of the examples. The document is one schema, so that its references resolve.
const ajv = new Ajv2020({ strict: false, allErrors: true });
// The package is CommonJS: its function is the `default` property.
(formats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addSchema(JSON.parse(JSON.stringify({ ...document, $id: root })));

/** Counts examples and collects those that violate their schema. */
function judge() {
  const bad: string[] = [];
  let count = 0;
  return {
    bad,
    count: () => count,
    value(where: string, schema: Schema, value: unknown) {
      count++;
      const validate = validatorOf(schema);
      if (!validate(JSON.parse(JSON.stringify(value)))) bad.push(`${where}: ${ajv.errorsText(validate.errors)}`);
    },
    media(where: string, { schema, example, examples = {} }: MediaType) {
      if (example !== undefined) this.value(where, schema, example);
      for (const [name, { value }] of Object.entries(examples)) this.value(`${where} ${name}`, schema, value);
    },
  };
}

const validators = new Map<string, ReturnType<typeof ajv.compile>>();

/** Compiled validators, because many examples share a schema. */
function validatorOf(schema: Schema) {
  const text = JSON.stringify(schema).replaceAll('"#/components/', `"${root}#/components/`);
  const validate = validators.get(text) ?? ajv.compile(JSON.parse(text));
  validators.set(text, validate);
  return validate;
}

function resolve<T>(part: T | Reference): T {
  if (typeof part !== "object" || part === null || !("$ref" in part)) return part as T;
  const [section, name] = part.$ref.split("/").slice(2);
  return document.components[section!]![name!] as T;
}

test("every example is valid against its own schema", () => {
  const judged = judge();
  for (const { verb, path, operation } of operationsIn(document)) {
    const where = `${verb} ${path}`;
    for (const part of operation.parameters ?? []) {
      const { name, schema, example } = resolve<Parameter>(part);
      if (example !== undefined) judged.value(`${where} ${name}`, schema, example);
    }
    const bodies = [operation.requestBody, ...Object.values(operation.responses)].filter((part) => part !== undefined);
    for (const body of bodies) {
      const { content = {} } = resolve<RequestBody | Response>(body);
      for (const [type, media] of Object.entries(content)) judged.media(`${where} ${type}`, media);
    }
  }
  assert.deepEqual(judged.bad, []);
  assert.ok(judged.count() > 100);
});

test("every JSON request body and response of an operation has an example", () => {
  for (const { verb, path, operation } of operationsIn(document)) {
    const bodies = [operation.requestBody, operation.responses["200"]].filter((part) => part !== undefined);
    for (const body of bodies) {
      const json = resolve<RequestBody | Response>(body).content?.["application/json"];
      if (json !== undefined) assert.notEqual(json.example, undefined, `${verb} ${path}`);
    }
  }
});

test("every example request satisfies the rules of its definition", () => {
  const validator = createValidator();
  for (const { id, method } of readOperations()) {
    const message = fromJson(method.input, exampleOfMessage(method.input, "request") as JsonValue);
    const result = validator.validate(method.input, message);
    assert.equal(result.kind, "valid", `${id}: ${result.kind === "invalid" ? result.error.message : result.kind}`);
  }
});

test("every example response can be decoded as its message", () => {
  for (const { id, method } of readOperations()) {
    assert.doesNotThrow(() => fromJson(method.output, exampleOfMessage(method.output, "response") as JsonValue), id);
  }
});

test("examples are deterministic and use one id per record", () => {
  assert.deepEqual(testDocument(), document);
  const read = document.paths["/api/tenants/{tenant_id}"]!.get!;
  const [tenantId] = read.parameters as Parameter[];
  const response = (read.responses["200"] as Response).content!["application/json"]!.example as {
    data: { id: string };
  };
  assert.equal(tenantId!.example, response.data.id);
});

test("a variable's own pattern is not part of the path", () => {
  const { input } = readOperations().find(({ method }) => method.name === "GetTenant")!.method;
  assert.equal(toPathTemplate("/x/{tenant_id=tenants/*}:go", input).path, "/x/{tenant_id}:go");
  assert.throws(() => toPathTemplate("/x/{nobody}", input), /has no field nobody/);
});
