import { exampleId } from "../../../definitions/examples/values.ts";
import type { HttpBinding, Operation } from "../../definitions/index.ts";
import { catalogue, type ErrorEntry } from "../../errors/index.ts";
import type { Reference, Response, Schema } from "./document.ts";
import { problemHeaders } from "./headers.ts";
import type { PathTemplate } from "./path-template.ts";
import type { Components } from "./schemas/components.ts";

/** The input that determines which problems a binding can return. */
interface Subject {
  readonly operation: Operation;
  readonly binding: HttpBinding;
  readonly template: PathTemplate;
}

const always = () => true;
const changes = ({ operation }: Subject) => operation.governance.mutating;
const hasBody = ({ binding }: Subject) => binding.body !== "";
const executesAction = ({ operation: { governance } }: Subject) =>
  governance.resource === "connector_action" && governance.action === "execute";
const usesDataStream = ({ operation: { governance } }: Subject) => governance.resource === "workflow_stream";
const namesRecord = ({ operation, template }: Subject) =>
  template.variables.length > 0 || operation.method.input.fields.some(({ name }) => /_ids?$/.test(name));

/** The error statuses of an operation. Those for an unknown operation or a disconnected caller are not listed. */
const problemStatuses: readonly (readonly [status: number, applies: (subject: Subject) => boolean])[] = [
  [400, always],
  [401, ({ operation }) => operation.governance.authenticationRequired],
  [403, always],
  [404, namesRecord],
  [408, hasBody],
  [409, changes],
  [410, (subject) => usesDataStream(subject) && subject.operation.method.input.field.cursor !== undefined],
  [412, (subject) => changes(subject) || usesDataStream(subject)],
  [413, hasBody],
  [415, hasBody],
  [416, ({ operation }) => operation.streamsBytes],
  [422, executesAction],
  [429, always],
  [500, always],
  [502, executesAction],
  [503, always],
  [504, always],
];

/** Builds the problems that a binding can return, by status. */
export function buildProblems(subject: Subject, components: Components, errorsUrl: string): Record<string, Reference> {
  const statuses = problemStatuses.filter(([status, applies]) => codesOf(status).length > 0 && applies(subject));
  return Object.fromEntries(statuses.map(([status]) => [status, problemRef(status, components, errorsUrl)]));
}

/** Refers to the response with this status. Its examples are the error codes with that status. */
export function problemRef(status: number, components: Components, errorsUrl: string): Reference {
  return components.ref("responses", `Problem${status}`, (): Response => {
    const codes = codesOf(status);
    return {
      description: codes.map(([code, entry]) => `\`${code}\`: ${entry.meaning}`).join("\n\n"),
      headers: problemHeaders(status, components),
      content: {
        "application/problem+json": {
          schema: components.ref("schemas", "Problem", () => problemSchema) as Schema,
          examples: Object.fromEntries(
            codes.map(([code, entry]) => [
              code,
              { summary: entry.title, value: problemExample(code, entry, errorsUrl) },
            ]),
          ),
        },
      },
    };
  });
}

function codesOf(status: number): [string, ErrorEntry][] {
  return Object.entries<ErrorEntry>(catalogue).filter(
    // No operation returns that it does not exist.
    ([code, entry]) => entry.http === status && code !== "ROUTE_NOT_FOUND",
  );
}

function problemExample(code: string, entry: ErrorEntry, errorsUrl: string) {
  const [field, message] = ["priority", "must be an integer, not a string"];
  const violation = { field, rule: "type.int32", message };
  const correction = {
    ...{ field, kind: "number_as_text", in: "body", confidence: "certain", value: 10 },
    patch: [{ op: "replace", path: "/priority", value: 10 }],
  };
  return {
    type: `${errorsUrl}/${code}`,
    title: entry.title,
    status: entry.http,
    detail: code === "INTERNAL" ? "Internal error (ref: 9f86d081)" : entry.meaning,
    errorCode: code,
    retryable: entry.retryable,
    request_id: exampleId("request"),
    ...(code === "INVALID_ARGUMENT" ? { violations: [violation], corrections: [correction] } : {}),
  };
}

const problemSchema: Schema = {
  type: "object",
  description: "The error (RFC 9457). Branch on `errorCode`; titles and details may change.",
  properties: {
    type: {
      type: "string",
      format: "uri-reference",
      description: "The page with the meaning and the remedy of the code.",
    },
    title: { type: "string", description: "A short, human-readable title." },
    status: { type: "integer", minimum: 400, maximum: 599, description: "The HTTP status." },
    detail: { type: "string", description: "A human-readable explanation of this occurrence." },
    errorCode: {
      type: "string",
      pattern: "^[A-Z][A-Z0-9_]*$",
      description: "The stable identifier. More codes may be added.",
      // Not an enum, so that clients generated from this document accept new codes.
      "x-extensible-enum": Object.keys(catalogue),
    },
    retryable: { type: "boolean", description: "Whether the same request may succeed later." },
    request_id: { type: "string", description: "The id of the request, also used in logs, if it has one." },
    violations: {
      type: "array",
      description: "The rules that the request violates.",
      items: {
        type: "object",
        properties: {
          field: { type: "string", description: 'The path of the field, for example `quotas["route"].limit_per_day`.' },
          rule: { type: "string", description: "The name of the rule, for example `string.min_len`." },
          message: { type: "string", description: "A human-readable explanation." },
        },
        required: ["field", "rule", "message"],
      },
    },
    corrections: {
      type: "array",
      description:
        "What would have been accepted instead, where that can be known, in the order in which the patches apply. " +
        "A mistake whose correction could widen access, spend or delete is only named.",
      items: {
        type: "object",
        properties: {
          field: { type: "string", description: "The path of the field, as in the violation." },
          kind: { type: "string", description: "The kind of mistake, for example `number_as_text`." },
          in: { type: "string", enum: ["body", "query", "path", "header", "method"], description: "What to change." },
          patch: {
            type: "array",
            description: "The JSON Patch (RFC 6902) of that part. Absent where there is only a value to send.",
            items: {
              type: "object",
              properties: {
                op: { type: "string", enum: ["add", "replace", "remove", "move"] },
                from: { type: "string", description: "The JSON Pointer of the value that is moved." },
                path: { type: "string", description: "The JSON Pointer of the value." },
                value: { description: "The value to add." },
              },
              required: ["op", "path"],
            },
          },
          value: { description: "The corrected value; absent if the patch only moves or removes something." },
          confidence: {
            type: "string",
            enum: ["certain", "likely"],
            description:
              "`certain`: the same value in the accepted form. `likely`: the accepted value that comes closest.",
          },
        },
        required: ["field", "kind", "in", "confidence"],
      },
    },
  },
  required: ["type", "title", "status", "detail", "errorCode", "retryable"],
};
