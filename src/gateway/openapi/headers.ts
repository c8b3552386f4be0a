import { currentVersion } from "../../chain/steps/api-version.ts";
import type { HttpBinding, Operation } from "../../definitions/index.ts";
import type { Reference, Schema } from "./document.ts";
import type { Components } from "./schemas/components.ts";

interface Header {
  readonly description: string;
  readonly schema: Schema;
}

const headers = {
  "Api-Version": {
    description: "The version of the API that answered.",
    schema: { type: "string", format: "date", examples: [currentVersion] },
  },
  "X-Request-ID": {
    description: "The name of this request in the logs.",
    schema: { type: "string" },
  },
  "X-RateLimit-Limit": {
    description: "How many tokens the caller's bucket holds.",
    schema: { type: "integer", minimum: 0 },
  },
  "X-RateLimit-Remaining": {
    description: "How many tokens are left in it.",
    schema: { type: "integer", minimum: 0 },
  },
  "Retry-After": {
    description: "How many seconds to wait before the next try, where one is worth it.",
    schema: { type: "integer", minimum: 0 },
  },
  ETag: {
    description:
      "The record's `record_version` and a digest of everything that is shown of it. As `If-None-Match` it saves reading " +
      "the same again; as `If-Match` it stands for the version alone.",
    schema: { type: "string", examples: ['"3-mB2xV0c9T1uKq7Zr5sWd4g"'] },
  },
  "Idempotency-Replayed": {
    description: "`true` when this is the stored answer of an earlier request with the same key.",
    schema: { type: "string", enum: ["true"] },
  },
  Deprecation: {
    description: "The operation is on its way out.",
    schema: { type: "string", enum: ["true"] },
  },
  Sunset: {
    description: "When the operation is removed, if that is known.",
    schema: { type: "string" },
  },
  Link: {
    description: 'The operation that takes its place: `<path>; rel="successor-version"`.',
    schema: { type: "string" },
  },
} as const satisfies Record<string, Header>;

type HeaderName = keyof typeof headers;

/** Whether a binding answers with one record that has a version. */
export function answersRecord({ method, paging }: Operation, { responseBody }: HttpBinding): boolean {
  const field = method.output.fields.find(({ name }) => name === responseBody);
  const message = responseBody === "" ? method.output : field?.message;
  return paging === undefined && message?.fields.some(({ name }) => name === "record_version") === true;
}

/** The headers of the answer that a record is still the same. */
export function unchangedHeaders(components: Components): Record<string, Reference> {
  return headerRefs(["Api-Version", "X-Request-ID", "ETag"], components);
}

/** The headers of a successful answer. */
export function successHeaders(
  operation: Operation,
  binding: HttpBinding,
  components: Components,
): Record<string, Reference> {
  const { governance } = operation;
  const names: HeaderName[] = ["Api-Version", "X-Request-ID", "X-RateLimit-Limit", "X-RateLimit-Remaining"];
  if (answersRecord(operation, binding)) names.push("ETag");
  if (governance.mutating) names.push("Idempotency-Replayed");
  if (governance.deprecation !== undefined) {
    names.push("Deprecation", "Sunset");
    if (governance.deprecation.successor !== "") names.push("Link");
  }
  return headerRefs(names, components);
}

/** The headers of a problem with this status. */
export function problemHeaders(status: number, components: Components): Record<string, Reference> {
  const names: HeaderName[] = ["X-Request-ID"];
  if (status === 429) names.push("X-RateLimit-Limit", "X-RateLimit-Remaining");
  if (status === 409 || status === 429 || status === 503) names.push("Retry-After");
  return headerRefs(names, components);
}

function headerRefs(names: readonly HeaderName[], components: Components): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, components.ref("headers", name, () => headers[name])]));
}
