import type { DescMessage } from "@bufbuild/protobuf";
import { currentVersion } from "../../chain/steps/api-version.ts";
import { commentOf } from "../../definitions/comments.ts";
import type { HttpBinding, Operation } from "../../definitions/index.ts";
import type { MediaType, Response, Schema } from "./document.ts";
import { exampleId } from "./examples/example-values.ts";
import { exampleOfMessage, exampleOfSecrets } from "./examples/examples.ts";
import { answersRecord, successHeaders, unchangedHeaders } from "./headers.ts";
import type { Components } from "./schemas/components.ts";
import type { Schemas } from "./schemas/schemas.ts";
import { isHttpBody } from "./schemas/well-known.ts";

const exampleMetadata = { request_id: exampleId("request"), api_version: currentVersion };

/** What a binding answers with when all goes well, by status. */
export function successesOf(
  operation: Operation,
  binding: HttpBinding,
  components: Components,
  schemas: Schemas,
): Record<string, Response> {
  const found = { "200": successOf(operation, binding, components, schemas) };
  if (binding.verb !== "GET" || !answersRecord(operation, binding)) return found;
  return { ...found, "304": { description: "Still the same.", headers: unchangedHeaders(components) } };
}

function successOf(operation: Operation, binding: HttpBinding, components: Components, schemas: Schemas): Response {
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

function envelope(operation: Operation, data: DescMessage, components: Components, schemas: Schemas): MediaType {
  const metadata = components.ref("schemas", "AnswerMetadata", () => metadataSchema) as Schema;
  if (operation.paging !== undefined) {
    const item = operation.paging.items.message!;
    const example = { data: [exampleOfMessage(item, "response")], ...examplePage, metadata: exampleMetadata };
    const items: Schema = { type: "array", items: schemas.ofMessage(item, "response"), description: "The items." };
    return { schema: objectOf({ data: items, ...pageSchemas, metadata }), example };
  }
  const record = exampleOfMessage(data, "response") as object;
  return {
    schema: objectOf({ data: schemas.ofMessage(data, "response"), metadata }),
    example: {
      data: revealsSecrets(operation) ? { ...record, ...exampleOfSecrets(data) } : record,
      metadata: exampleMetadata,
    },
  };
}

/** Secrets are shown by the operations that make them, which are named Create… or Rotate…. */
function revealsSecrets({ method }: Operation): boolean {
  return /^(Create|Rotate)/.test(method.name);
}

/** Server-sent events, in the form that OpenAPI 3.2 gives them: a row of objects, the data of each a JSON text. */
function eventStream(data: DescMessage, schemas: Schemas): MediaType {
  const event: Schema = {
    type: "object",
    properties: {
      id: { type: "string", description: "What to send as `Last-Event-ID` to go on after this event." },
      event: { type: "string", description: "`error` when the data is the problem that ends the stream; else absent." },
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
    example: `id: ${exampleId("event")}\ndata: ${example}\n\n`,
  };
}

const rawContent: MediaType = { schema: { type: "string", description: "The bytes as they are, not JSON." } };

/** The definition says a raw body's media type only in its comment. */
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
  description: "What is to be known about the answer itself.",
  properties: {
    request_id: { type: "string", description: "The name of the request in the logs." },
    api_version: { type: "string", format: "date", description: "The version of the API that answered." },
  },
  required: ["request_id", "api_version"],
};

const pageSchemas: Record<string, Schema> = {
  next_cursor: { type: "string", description: "Where the next page starts; empty on the last." },
  total: { type: "integer", minimum: 0, description: "How many items there are in all, counted up to 10,000." },
  total_capped: {
    type: "boolean",
    description: "Whether the count stopped early: there are at least `total` items.",
  },
  limit: { type: "integer", minimum: 1, maximum: 1000, description: "How many items a page holds at most." },
  offset: { type: "integer", minimum: 0, description: "How many items were passed over." },
  has_more: { type: "boolean", description: "Whether there is a next page." },
};

const examplePage = { next_cursor: "", total: 1, total_capped: false, limit: 50, offset: 0, has_more: false };
