import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { exampleRequests } from "../../../definitions/examples/requests.ts";
import { currentVersion } from "../../chain/steps/api-version.ts";
import { commentOf } from "../../definitions/comments.ts";
import type { HttpBinding, Operation } from "../../definitions/index.ts";
import type { Parameter, Reference } from "./document.ts";
import { exampleOfField } from "./examples/examples.ts";
import { returnsRecord } from "./headers.ts";
import type { PathTemplate } from "./path-template.ts";
import type { Components } from "./schemas/components.ts";
import { isRequired } from "./schemas/rules.ts";
import type { Schemas } from "./schemas/schemas.ts";
import { wellKnownSchema } from "./schemas/well-known.ts";

/** The fields of a list request that REST names `limit`, `cursor` and `offset`. */
const pagingFields: ReadonlySet<string> = new Set(["page_size", "page_token", "skip"]);

const shared = {
  ApiVersion: {
    name: "Api-Version",
    in: "header",
    description: `The requested API version, a date. The default is \`${currentVersion}\`; older versions are refused.`,
    schema: { type: "string", format: "date", default: currentVersion },
  },
  TenantId: {
    name: "X-Tenant-ID",
    in: "header",
    description: "The tenant that the caller expects. Refused with 403 if it is not the caller's own tenant.",
    schema: { type: "string", minLength: 1, maxLength: 64 },
  },
  RequestId: {
    name: "X-Request-ID",
    in: "header",
    description: "An id for this request, used in responses and logs. Generated if it is absent or invalid.",
    schema: { type: "string", pattern: "^[A-Za-z0-9._:-]{1,128}$" },
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Makes a retry safe: within 24 hours the same key with the same request returns the first response, " +
      "and the operation runs only once.",
    schema: { type: "string", pattern: "^[\\x21-\\x7E](?:[\\x20-\\x7E]{0,253}[\\x21-\\x7E])?$" },
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    description:
      "The `ETag` of the record that was read. Refused with 409 `VERSION_CONFLICT` if its `record_version` has " +
      "changed since.",
    schema: { type: "string", minLength: 1 },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description:
      "The `ETag` of the record that was read. The response is 304 without a body if the record is unchanged.",
    schema: { type: "string", minLength: 1 },
  },
  IfNoneMatchAny: {
    name: "If-None-Match",
    in: "header",
    description:
      "`*` creates a record and never replaces one: refused with 412 `FAILED_PRECONDITION` if the record already exists.",
    schema: { type: "string", enum: ["*"] },
  },
  LastEventId: {
    name: "Last-Event-ID",
    in: "header",
    description: "The id of the last event that was received. The stream continues after it.",
    schema: { type: "string", maxLength: 64 },
  },
  Range: {
    name: "Range",
    in: "header",
    description: "One range of bytes. The response is 206 with these bytes.",
    schema: { type: "string", maxLength: 255, examples: ["bytes=0-1023"] },
  },
  IfRange: {
    name: "If-Range",
    in: "header",
    description: "The `ETag` of the bytes that the caller has a part of. All bytes are returned if it is another one.",
    schema: { type: "string", maxLength: 255 },
  },
  Limit: {
    name: "limit",
    in: "query",
    description:
      "The maximum number of items per page. Values above 1000 count as 1000, values below 1 as 50. A page of large items " +
      "may hold fewer: it ends at about 2 MiB, and `has_more` says whether items follow.",
    schema: { type: "integer", default: 50 },
  },
  Cursor: {
    name: "cursor",
    in: "query",
    description: "The `next_cursor` of the previous page. It is opaque, and valid only with the same filters.",
    schema: { type: "string" },
  },
  Offset: {
    name: "offset",
    in: "query",
    description:
      "The number of items to skip. Negative values count as 0. Prefer `cursor`, which stays consistent while items are " +
      "added and deleted. To page by offset, add the number of items that were returned, not `limit`.",
    schema: { type: "integer", default: 0 },
  },
} as const satisfies Record<string, Parameter>;

/** Builds the parameters of a binding: path, query and headers. */
export function buildParameters(
  operation: Operation,
  binding: HttpBinding,
  template: PathTemplate,
  components: Components,
  schemas: Schemas,
): (Parameter | Reference)[] {
  const use = (name: keyof typeof shared) => components.ref("parameters", name, () => shared[name]);
  const { governance, paging, method } = operation;
  const inPath = new Set(template.variables.map(({ name }) => name));
  const parameters: (Parameter | Reference)[] = template.variables.map(({ name, field }) => ({
    name,
    in: "path",
    description: commentOf(field),
    required: true,
    schema: withoutDescription(schemas.ofField(field, "request")),
    example: exampleOfField(field, "request"),
  }));
  if (binding.body !== "*") {
    parameters.push(...queryParameters(operation, binding, inPath, schemas));
    if (paging?.kind === "cursor") parameters.push(use("Limit"), use("Cursor"), use("Offset"));
  }
  parameters.push(use("ApiVersion"));
  if (!governance.tenantExempt) parameters.push(use("TenantId"));
  parameters.push(use("RequestId"));
  if (operation.acceptsIdempotencyKey) parameters.push(use("IdempotencyKey"));
  if (/^(PATCH|PUT)$/.test(binding.verb) && method.input.field.recordVersion !== undefined) {
    parameters.push(use("IfMatch"));
    if (binding.verb === "PUT") parameters.push(use("IfNoneMatchAny"));
  }
  if (binding.verb === "GET" && returnsRecord(operation, binding)) parameters.push(use("IfNoneMatch"));
  if (operation.streamsBytes) parameters.push(use("Range"), use("IfRange"), use("IfNoneMatch"));
  if (operation.streaming && method.input.field.cursor !== undefined) parameters.push(use("LastEventId"));
  return parameters;
}

function queryParameters(
  { method, paging }: Operation,
  binding: HttpBinding,
  inPath: ReadonlySet<string>,
  schemas: Schemas,
): Parameter[] {
  const found: Parameter[] = [];
  const visit = (message: DescMessage, prefix: string, above: readonly DescMessage[]) => {
    for (const field of message.fields) {
      const name = prefix + field.name;
      if (inPath.has(name) || name === binding.body || (paging?.kind === "cursor" && pagingFields.has(name))) continue;
      if (field.fieldKind === "message" && wellKnownSchema(field.message) === undefined) {
        if (!above.includes(field.message)) visit(field.message, `${name}.`, [...above, field.message]);
      } else if (fitsInQuery(field)) {
        found.push(queryParameter(name, field, schemas));
      }
    }
  };
  visit(method.input, "", [method.input]);
  return found;
}

function queryParameter(name: string, field: DescField, schemas: Schemas): Parameter {
  // Only required parameters have an example: the interactive reference would send it as a filter.
  const example = exampleRequests[field.parent.name]?.[name];
  return {
    name,
    in: "query",
    description: commentOf(field),
    ...(isRequired(field) ? { required: true } : {}),
    ...(field.fieldKind === "list" ? { style: "form", explode: true } : {}),
    schema: withoutDescription(schemas.ofField(field, "request")),
    ...(example === undefined ? {} : { example }),
  };
}

/** A query can contain scalars, lists of scalars, and messages whose JSON is a scalar. */
function fitsInQuery(field: DescField): boolean {
  if (field.fieldKind === "map") return false;
  if (field.message === undefined) return true;
  const type = wellKnownSchema(field.message)?.type;
  return type !== undefined && type !== "object" && type !== "array";
}

/** The parameter already has the description. */
function withoutDescription({ description: _, ...schema }: ReturnType<Schemas["ofField"]>) {
  return schema;
}
