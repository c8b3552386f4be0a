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
    description: "The API version of the response.",
    schema: { type: "string", format: "date", examples: [currentVersion] },
  },
  "X-Request-ID": {
    description: "The id of this request, also used in logs.",
    schema: { type: "string" },
  },
  "X-RateLimit-Limit": {
    description: "The size of the caller's token bucket.",
    schema: { type: "integer", minimum: 0 },
  },
  "X-RateLimit-Remaining": {
    description: "The remaining tokens in the caller's bucket.",
    schema: { type: "integer", minimum: 0 },
  },
  "Retry-After": {
    description: "Seconds to wait before a retry.",
    schema: { type: "integer", minimum: 0 },
  },
  ETag: {
    description:
      "The record's `record_version` and a digest of its content. Send it as `If-None-Match` to skip unchanged content, or " +
      "as `If-Match` to update only this version.",
    schema: { type: "string", examples: ['"3-mB2xV0c9T1uKq7Zr5sWd4g"'] },
  },
  "Idempotency-Replayed": {
    description: "`true` if this is the stored response of an earlier request with the same key.",
    schema: { type: "string", enum: ["true"] },
  },
  Deprecation: {
    description: "`true` if the operation is deprecated.",
    schema: { type: "string", enum: ["true"] },
  },
  Sunset: {
    description: "The removal date of the operation, if it is known.",
    schema: { type: "string" },
  },
  Link: {
    description: 'The successor of the operation: `<path>; rel="successor-version"`.',
    schema: { type: "string" },
  },
} as const satisfies Record<string, Header>;

type HeaderName = keyof typeof headers;

/** Whether a binding returns one versioned record. */
export function returnsRecord({ method, paging }: Operation, { responseBody }: HttpBinding): boolean {
  const field = method.output.fields.find(({ name }) => name === responseBody);
  const message = responseBody === "" ? method.output : field?.message;
  return paging === undefined && message?.fields.some(({ name }) => name === "record_version") === true;
}

/** The headers of a 304 response. */
export function unchangedHeaders(components: Components): Record<string, Reference> {
  return headerRefs(["Api-Version", "X-Request-ID", "ETag"], components);
}

/** The headers of a successful response. */
export function successHeaders(
  operation: Operation,
  binding: HttpBinding,
  components: Components,
): Record<string, Reference> {
  const { governance } = operation;
  const names: HeaderName[] = ["Api-Version", "X-Request-ID", "X-RateLimit-Limit", "X-RateLimit-Remaining"];
  if (returnsRecord(operation, binding)) names.push("ETag");
  if (operation.acceptsIdempotencyKey) names.push("Idempotency-Replayed");
  if (governance.deprecation !== undefined) {
    names.push("Deprecation", "Sunset");
    if (governance.deprecation.successor !== "") names.push("Link");
  }
  return headerRefs(names, components);
}

export function problemHeaders(status: number, components: Components): Record<string, Reference> {
  const names: HeaderName[] = ["X-Request-ID"];
  if (status === 429) names.push("X-RateLimit-Limit", "X-RateLimit-Remaining");
  if (status === 409 || status === 429 || status === 503) names.push("Retry-After");
  return headerRefs(names, components);
}

function headerRefs(names: readonly HeaderName[], components: Components): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, components.ref("headers", name, () => headers[name])]));
}
