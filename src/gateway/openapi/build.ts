import type { DescService } from "@bufbuild/protobuf";
import { commentOf } from "../../definitions/comments.ts";
import type { Operation } from "../../definitions/index.ts";
import type { OpenApiDocument, OperationObject } from "./document.ts";
import { bindOperation } from "./operation-object.ts";
import { operationalPaths, operationalTag } from "./operational.ts";
import { createComponents } from "./schemas/components.ts";
import { collectReachable, createSchemas } from "./schemas/schemas.ts";

/** The input of a document. */
export interface OpenApiInput {
  /** All operations. Those of the internal plane are omitted. */
  readonly operations: readonly Operation[];
  /** The base URLs of the deployments. */
  readonly servers: { readonly production: string; readonly staging: string; readonly local: string };
  /** The base URL of the `type` of a problem. */
  readonly errorsUrl: string;
  /** The version of the document. */
  readonly version: string;
}

/** Describes the external plane as an OpenAPI 3.1 document. */
export function buildOpenApi(input: OpenApiInput): OpenApiDocument {
  const steps = buildInSteps(input);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

/**
 * Like buildOpenApi, as a generator that yields after each operation. The whole document takes most of a second, so a
 * server yields to other work between operations.
 */
export function* buildInSteps({
  operations,
  servers,
  errorsUrl,
  version,
}: OpenApiInput): Generator<void, OpenApiDocument> {
  const external = operations.filter(({ governance }) => !governance.internalOnly);
  const components = createComponents();
  const schemas = createSchemas(components, collectReachable(external.map(({ method }) => method.output)));
  const paths: Record<string, Record<string, OperationObject>> = operationalPaths(components, errorsUrl);
  const context = { components, schemas, errorsUrl, operations: external };
  for (const operation of external) {
    for (const { path, verb, object } of bindOperation(operation, context)) {
      paths[path] ??= {};
      const item = paths[path];
      if (verb in item) throw new Error(`${verb} ${path} is bound twice: ${item[verb]!.operationId}, ${operation.id}`);
      item[verb] = object;
    }
    yield;
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Switchyard",
      summary: "A multi-tenant routing service: work in, the right recipient out.",
      description: conventions,
      version,
      license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
    },
    servers: [
      { url: servers.production, description: "Production" },
      { url: servers.staging, description: "Staging" },
      { url: servers.local, description: "Local development" },
    ],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: [...new Set(external.map(({ service }) => service))].map(tagOf).concat(operationalTag),
    paths: sorted(paths),
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description: "An access token from the configured OpenID Connect issuer.",
        },
        apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "An API key of the tenant." },
      },
      schemas: sorted(components.sections.schemas),
      parameters: components.sections.parameters,
      responses: sorted(components.sections.responses),
      headers: components.sections.headers,
    },
  };
}

function tagOf(service: DescService): OpenApiDocument["tags"][number] {
  return {
    name: service.name,
    description: `${commentOf(service)}\n\nOver Connect and gRPC: \`${service.typeName}\`.`,
  };
}

function sorted<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const conventions = [
  "Every operation is served over REST as described here and, from the same definitions, over Connect, gRPC and " +
    "gRPC-Web at `POST /service.api.{Service}/{Method}`.",
  "",
  "- **Responses** have the record in `data` and request information in `metadata`. Lists add `next_cursor`, `total`, `total_capped`, " +
    "`limit`, `offset` and `has_more`.",
  "- **Errors** are `application/problem+json` (RFC 9457). Branch on `errorCode`. `type` links to a page with " +
    "the meaning and the remedy of the code.",
  "- **Credentials** are an access token (`Authorization: Bearer <token>`) or an API key (`X-API-Key`). The tenant is " +
    "always the caller's own.",
  "- **Retries** of mutating operations are safe with an `Idempotency-Key`.",
  "- **Concurrent updates** are refused with 409 `VERSION_CONFLICT` if `record_version` or `If-Match` is stale. An " +
    '`ETag` is the version and a digest of the record, for example `"3-mB2xV0c9T1uKq7Zr5sWd4g"`. `If-Match` compares ' +
    "only the version, `If-None-Match` the whole tag. A `PUT` with `If-None-Match: *` creates a record and never replaces " +
    "one. An update without fields changes nothing. A record that was read can be edited and sent back: its read-only " +
    "fields are accepted if they are unchanged.",
  "- **Lists** are paged: request the next page with `next_cursor` until `has_more` is false. `total` is exact up to " +
    "10,000; above that, counting stops and `total_capped` is true. A filter scans at most 100,000 items per page, so a " +
    "page may have few or no items and still have a next one. `offset` skips at most 10,000 items. A `limit` or `offset` " +
    "out of range is clamped to the nearest allowed value. Lists of the marketplace have numbered pages instead: `page` " +
    "from 1, `per_page` up to 100, and an exact `total`.",
  "- **JSON** is accepted only in the form shown here. Unknown fields, lowerCamelCase names, enum values as numbers, " +
    "numbers as strings (except 64-bit integers) and null for an absent field are refused with an error that names the " +
    "field. Connect accepts all of proto3 JSON.",
].join("\n");
