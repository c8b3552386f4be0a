import type { HttpBinding, Operation } from "../../definitions/index.ts";
import { catalogue, type ErrorEntry } from "../../errors/index.ts";
import type { Reference, Response, Schema } from "./document.ts";
import { exampleId } from "./examples/example-values.ts";
import { problemHeaders } from "./headers.ts";
import type { PathTemplate } from "./path-template.ts";
import type { Components } from "./schemas/components.ts";

/** What decides which problems a binding can answer with. */
interface Subject {
  readonly operation: Operation;
  readonly binding: HttpBinding;
  readonly template: PathTemplate;
}

const always = () => true;
const changes = ({ operation }: Subject) => operation.governance.mutating;
const hasBody = ({ binding }: Subject) => binding.body !== "";
const namesRecord = ({ operation, template }: Subject) =>
  template.variables.length > 0 || operation.method.input.fields.some(({ name }) => /_ids?$/.test(name));

/** Which statuses an operation can answer with. 404, 405 and 499 for want of an operation or a caller are not its own. */
const possible: readonly (readonly [status: number, applies: (subject: Subject) => boolean])[] = [
  [400, always],
  [401, ({ operation }) => operation.governance.authenticationRequired],
  [403, always],
  [404, namesRecord],
  [408, hasBody],
  [409, changes],
  [410, ({ operation }) => operation.streaming],
  [412, changes],
  [413, hasBody],
  [415, hasBody],
  [429, always],
  [500, always],
  [503, always],
  [504, always],
];

/** The problems that a binding can answer with, by status. */
export function problemsOf(subject: Subject, components: Components, errorsUrl: string): Record<string, Reference> {
  const statuses = possible.filter(([status, applies]) => codesOf(status).length > 0 && applies(subject));
  return Object.fromEntries(statuses.map(([status]) => [status, problemRef(status, components, errorsUrl)]));
}

/** Refers to the answer with this status, whose examples are the codes of the catalogue that have it. */
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
    // No operation answers that it does not exist.
    ([code, entry]) => entry.http === status && code !== "ROUTE_NOT_FOUND",
  );
}

function problemExample(code: string, entry: ErrorEntry, errorsUrl: string) {
  const violation = { field: "name", rule: "string.min_len", message: "must be at least 1 character long" };
  return {
    type: `${errorsUrl}/${code}`,
    title: entry.title,
    status: entry.http,
    detail: code === "INTERNAL" ? "Internal error (ref: 9f86d081)" : entry.meaning,
    errorCode: code,
    retryable: entry.retryable,
    request_id: exampleId("request"),
    ...(code === "INVALID_ARGUMENT" ? { violations: [violation] } : {}),
  };
}

const problemSchema: Schema = {
  type: "object",
  description: "What went wrong (RFC 9457). Branch on `errorCode`; titles and details may change.",
  properties: {
    type: {
      type: "string",
      format: "uri-reference",
      description: "The page that says what the code means and how to mend it.",
    },
    title: { type: "string", description: "A short title for people." },
    status: { type: "integer", minimum: 400, maximum: 599, description: "The HTTP status." },
    detail: { type: "string", description: "What went wrong this time, for people." },
    errorCode: {
      type: "string",
      pattern: "^[A-Z][A-Z0-9_]*$",
      description: "The stable identifier. More codes may be added.",
      // Not an enum: a client that was made from this document must survive a new code.
      "x-extensible-enum": Object.keys(catalogue),
    },
    retryable: { type: "boolean", description: "Whether the same request may succeed later." },
    request_id: { type: "string", description: "The name of the request in the logs, once it has one." },
    violations: {
      type: "array",
      description: "The rules that the request breaks.",
      items: {
        type: "object",
        properties: {
          field: { type: "string", description: 'The path of the field, for example `quotas["route"].limit_per_day`.' },
          rule: { type: "string", description: "The name of the rule, for example `string.min_len`." },
          message: { type: "string", description: "What is wrong, for people." },
        },
        required: ["field", "rule", "message"],
      },
    },
  },
  required: ["type", "title", "status", "detail", "errorCode", "retryable"],
};
