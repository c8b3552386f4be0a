import type { DescField } from "@bufbuild/protobuf";
import { commentOf } from "../../definitions/comments.ts";
import { findUpdatedRecord, type HttpBinding, type Operation } from "../../definitions/index.ts";
import type { OperationObject, RequestBody } from "./document.ts";
import { exampleOfField, exampleOfMessage } from "./examples/examples.ts";
import { toExtensions } from "./extensions.ts";
import { buildParameters } from "./parameters.ts";
import { type PathTemplate, toPathTemplate } from "./path-template.ts";
import { buildProblems } from "./problems.ts";
import { buildSuccessResponses } from "./responses.ts";
import type { Components } from "./schemas/components.ts";
import { isRequired } from "./schemas/rules.ts";
import type { Schemas } from "./schemas/schemas.ts";
import { isHttpBody } from "./schemas/well-known.ts";

/** State that the operations of a document share while it is built. */
export interface BuildContext {
  readonly components: Components;
  readonly schemas: Schemas;
  readonly errorsUrl: string;
  /** The operations of the document. */
  readonly operations: readonly Operation[];
}

/** The operation object of one binding. */
export interface BoundOperation {
  readonly path: string;
  readonly verb: string;
  readonly object: OperationObject;
}

/** Builds the operation object of every binding of an operation. */
export function bindOperation(operation: Operation, context: BuildContext): BoundOperation[] {
  return operation.bindings.map((binding, index) => {
    const template = toPathTemplate(binding.path, operation.method.input);
    const object = describe(operation, binding, index, template, context);
    return { path: template.path, verb: binding.verb.toLowerCase(), object };
  });
}

function describe(
  operation: Operation,
  binding: HttpBinding,
  index: number,
  template: PathTemplate,
  context: BuildContext,
): OperationObject {
  const { components, schemas, errorsUrl, operations } = context;
  const { governance, method, service } = operation;
  const comment = commentOf(method);
  const requestBody = requestBodyOf(operation, binding, template, schemas, operations);
  return {
    operationId: `${service.name}_${method.name}${index === 0 ? "" : `_${index + 1}`}`,
    tags: [service.name],
    summary: /^[^.:;]+/.exec(comment)?.[0] ?? method.name,
    description: [comment, accessNote(operation), successorNote(operation)].filter((text) => text !== "").join("\n\n"),
    ...(governance.deprecation !== undefined || method.deprecated ? { deprecated: true } : {}),
    ...(governance.authenticationRequired ? {} : { security: [] }),
    ...toExtensions(operation),
    parameters: buildParameters(operation, binding, template, components, schemas),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: {
      ...buildSuccessResponses(operation, binding, components, schemas),
      ...buildProblems({ operation, binding, template }, components, errorsUrl),
    },
  };
}

function requestBodyOf(
  operation: Operation,
  binding: HttpBinding,
  template: PathTemplate,
  schemas: Schemas,
  operations: readonly Operation[],
): RequestBody | undefined {
  const { method } = operation;
  if (binding.body === "") return undefined;
  if (binding.body !== "*") return fieldBody(method.input.fields.find(({ name }) => name === binding.body)!, schemas);
  const elsewhere = new Set(template.variables.map(({ name }) => name));
  return {
    description: commentOf(method.input),
    required: method.input.fields.some((field) => !elsewhere.has(field.name) && isRequired(field)),
    content: {
      "application/json": {
        schema: schemas.ofBody(method.input, elsewhere, findUpdatedRecord(operation, operations)),
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
