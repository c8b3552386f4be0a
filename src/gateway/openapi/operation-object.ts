import type { DescField } from "@bufbuild/protobuf";
import { commentOf } from "../../definitions/comments.ts";
import type { HttpBinding, Operation } from "../../definitions/index.ts";
import type { OperationObject, RequestBody } from "./document.ts";
import { exampleOfField, exampleOfMessage } from "./examples/examples.ts";
import { extensionsOf } from "./extensions.ts";
import { parametersOf } from "./parameters.ts";
import { type PathTemplate, pathTemplateOf } from "./path-template.ts";
import { problemsOf } from "./problems.ts";
import { successesOf } from "./responses.ts";
import type { Components } from "./schemas/components.ts";
import { isRequired } from "./schemas/rules.ts";
import type { Schemas } from "./schemas/schemas.ts";
import { isHttpBody } from "./schemas/well-known.ts";

/** What the operations of one document share while it is made. */
export interface Workshop {
  readonly components: Components;
  readonly schemas: Schemas;
  readonly errorsUrl: string;
}

/** One binding of an operation, ready to stand at its path. */
export interface BoundOperation {
  readonly path: string;
  readonly verb: string;
  readonly object: OperationObject;
}

/** Describes every binding of an operation. */
export function bindOperation(operation: Operation, workshop: Workshop): BoundOperation[] {
  return operation.bindings.map((binding, index) => {
    const template = pathTemplateOf(binding.path, operation.method.input);
    const object = describe(operation, binding, index, template, workshop);
    return { path: template.path, verb: binding.verb.toLowerCase(), object };
  });
}

function describe(
  operation: Operation,
  binding: HttpBinding,
  index: number,
  template: PathTemplate,
  workshop: Workshop,
): OperationObject {
  const { components, schemas, errorsUrl } = workshop;
  const { governance, method, service } = operation;
  const comment = commentOf(method);
  const requestBody = requestBodyOf(operation, binding, template, schemas);
  return {
    operationId: `${service.name}_${method.name}${index === 0 ? "" : `_${index + 1}`}`,
    tags: [service.name],
    summary: /^[^.:;]+/.exec(comment)?.[0] ?? method.name,
    description: [comment, accessNote(operation), successorNote(operation)].filter((text) => text !== "").join("\n\n"),
    ...(governance.deprecation !== undefined || method.deprecated ? { deprecated: true } : {}),
    ...(governance.authenticationRequired ? {} : { security: [] }),
    ...extensionsOf(operation),
    parameters: parametersOf(operation, binding, template, components, schemas),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: {
      ...successesOf(operation, binding, components, schemas),
      ...problemsOf({ operation, binding, template }, components, errorsUrl),
    },
  };
}

function requestBodyOf(
  { method }: Operation,
  binding: HttpBinding,
  template: PathTemplate,
  schemas: Schemas,
): RequestBody | undefined {
  if (binding.body === "") return undefined;
  if (binding.body !== "*") return fieldBody(method.input.fields.find(({ name }) => name === binding.body)!, schemas);
  const elsewhere = new Set(template.variables.map(({ name }) => name));
  return {
    description: commentOf(method.input),
    required: method.input.fields.some((field) => !elsewhere.has(field.name) && isRequired(field)),
    content: {
      "application/json": {
        schema: schemas.ofBody(method.input, elsewhere),
        example: exampleOfMessage(method.input, "request", elsewhere),
      },
    },
  };
}

function fieldBody(field: DescField, schemas: Schemas): RequestBody {
  const description = commentOf(field);
  const content: RequestBody["content"] = isHttpBody(field.message)
    ? { "application/octet-stream": { schema: {} } }
    : { "application/json": { schema: schemas.ofField(field, "request"), example: exampleOfField(field, "request") } };
  return { description, required: true, content };
}

function accessNote({ governance, scopes }: Operation): string {
  const needs = scopes.map((scope) => `the scope \`${scope}\``);
  if (governance.roles.length > 0) needs.push(`the role ${governance.roles.map((role) => `\`${role}\``).join(" or ")}`);
  return needs.length === 0 ? "" : `Needs ${needs.join(" and ")}.`;
}

function successorNote({ governance: { deprecation } }: Operation): string {
  return deprecation === undefined || deprecation.successor === "" ? "" : `Use \`${deprecation.successor}\` instead.`;
}
