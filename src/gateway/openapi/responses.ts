import type { DescMessage } from "@bufbuild/protobuf";
import { exampleId } from "../../../definitions/examples/values.ts";
import { currentVersion } from "../../chain/steps/api-version.ts";
import { commentOf } from "../../definitions/comments.ts";
import type { HttpBinding, Operation, Paging } from "../../definitions/index.ts";
import type { MediaType, Response, Schema } from "./document.ts";
import { exampleOfMessage, exampleOfSecrets } from "./examples/examples.ts";
import { returnsRecord, successHeaders, unchangedHeaders } from "./headers.ts";
import type { Components } from "./schemas/components.ts";
import type { Schemas } from "./schemas/schemas.ts";
import { isHttpBody } from "./schemas/well-known.ts";

const exampleMetadata = { request_id: exampleId("request"), api_version: currentVersion };

/** Builds the successful responses of a binding, by status. */
export function buildSuccessResponses(
  operation: Operation,
  binding: HttpBinding,
  components: Components,
  schemas: Schemas,
): Record<string, Response> {
  const found = { "200": buildSuccessResponse(operation, binding, components, schemas) };
  if (operation.streamsBytes) {
    return {
      ...found,
      "206": { ...found["200"], description: "The requested range of bytes." },
      "304": { description: "Not modified.", headers: unchangedHeaders(components) },
    };
  }
  if (binding.verb !== "GET" || !returnsRecord(operation, binding)) return found;
  return { ...found, "304": { description: "Not modified.", headers: unchangedHeaders(components) } };
}

function buildSuccessResponse(
  operation: Operation,
  binding: HttpBinding,
  components: Components,
  schemas: Schemas,
): Response {
  const { method } = operation;
  const field = method.output.fields.find(({ name }) => name === binding.responseBody);
  const data = field?.message ?? method.output;
  return {
    description: commentOf(method.output),
    headers: successHeaders(operation, binding, components),
    content: isHttpBody(data)
      ? { [rawMediaType(`${commentOf(method)} ${field === undefined ? "" : commentOf(field)}`)]: rawContent }
      : operation.streaming
        ? { "text/event-stream": eventStream(data, schemas) }
        : { "application/json": envelope(operation, data, components, schemas) },
  };
}

/** Describes the JSON body of a response: the record or the items in `data`, and what is known about them. */
function envelopeSchema({ paging }: Operation, data: DescMessage, components: Components, schemas: Schemas): Schema {
  const metadata = components.ref("schemas", "AnswerMetadata", () => metadataSchema) as Schema;
  if (paging === undefined) return objectOf({ data: schemas.ofMessage(data, "response"), metadata });
  const items = schemas.ofMessage(paging.items.message!, "response");
  return objectOf({
    data: { type: "array", items, description: "The items." },
    ...pages[paging.kind].schemas,
    metadata,
  });
}

function envelope(operation: Operation, data: DescMessage, components: Components, schemas: Schemas): MediaType {
  const schema = envelopeSchema(operation, data, components, schemas);
  if (operation.paging !== undefined) {
    const item = exampleOfMessage(operation.paging.items.message!, "response");
    return { schema, example: { data: [item], ...pages[operation.paging.kind].example, metadata: exampleMetadata } };
  }
  const record = exampleOfMessage(data, "response") as object;
  return {
    schema,
    example: {
      data: revealsSecrets(operation) ? { ...record, ...exampleOfSecrets(data) } : record,
      metadata: exampleMetadata,
    },
  };
}

/** Only operations that create secrets return them. Their names start with Create or Rotate. */
function revealsSecrets({ method }: Operation): boolean {
  return /^(Create|Rotate)/.test(method.name);
}

/** Server-sent events in the form of OpenAPI 3.2: a sequence of objects whose data is JSON text. */
function eventStream(data: DescMessage, schemas: Schemas): MediaType {
  const hasId = (data.field.id ?? data.field.sequence) !== undefined;
  const id: Schema = { type: "string", description: "The value of `Last-Event-ID` to continue after this event." };
  const event: Schema = {
    type: "object",
    properties: {
      ...(hasId && { id }),
      event: {
        type: "string",
        description: "`error` if the data is the problem that ends the stream; otherwise absent.",
      },
      data: {
        type: "string",
        contentMediaType: "application/json",
        contentSchema: schemas.ofMessage(data, "response"),
      },
    },
    required: ["data"],
  };
  const example = JSON.stringify(exampleOfMessage(data, "response"));
  return {
    schema: { type: "string", contentMediaType: "text/event-stream", contentSchema: { type: "array", items: event } },
    example: `${hasId ? `id: ${exampleId("event")}\n` : ""}data: ${example}\n\n`,
  };
}

const rawContent: MediaType = { schema: { type: "string", description: "Raw bytes, not JSON." } };

/** Reads a raw body's media type from the comment of its definition, which is the only place that has it. */
function rawMediaType(comment: string): string {
  if (/\bYAML\b/.test(comment)) return "application/yaml";
  if (/\bCSV\b/.test(comment)) return "text/csv";
  if (/\bMarkdown\b/.test(comment)) return "text/markdown";
  return "application/octet-stream";
}

function objectOf(properties: Record<string, Schema>): Schema {
  return { type: "object", properties, required: Object.keys(properties) };
}

const metadataSchema: Schema = {
  type: "object",
  description: "Information about the response.",
  properties: {
    request_id: { type: "string", description: "The id of the request, also used in logs." },
    api_version: { type: "string", format: "date", description: "The API version of the response." },
  },
  required: ["request_id", "api_version"],
};

const cursorPageSchemas: Record<string, Schema> = {
  next_cursor: { type: "string", description: "The cursor of the next page; empty on the last page." },
  total: { type: "integer", minimum: 0, description: "The total number of items, counted up to 10,000." },
  total_capped: {
    type: "boolean",
    description: "Whether the count stopped early. There are then at least `total` items.",
  },
  limit: { type: "integer", minimum: 1, maximum: 1000, description: "The maximum number of items per page." },
  offset: { type: "integer", minimum: 0, description: "The number of skipped items." },
  has_more: { type: "boolean", description: "Whether there is a next page." },
};

const numberedPageSchemas: Record<string, Schema> = {
  total: { type: "integer", minimum: 0, description: "The exact number of items." },
  page: { type: "integer", minimum: 1, description: "The page, from 1." },
  per_page: { type: "integer", minimum: 1, maximum: 100, description: "The maximum number of items per page." },
};

/** The members of a list response that describe the page, by the kind of paging. */
const pages: Record<Paging["kind"], { readonly schemas: Record<string, Schema>; readonly example: object }> = {
  cursor: {
    schemas: cursorPageSchemas,
    example: { next_cursor: "", total: 1, total_capped: false, limit: 50, offset: 0, has_more: false },
  },
  numbered: { schemas: numberedPageSchemas, example: { total: 1, page: 1, per_page: 20 } },
};
