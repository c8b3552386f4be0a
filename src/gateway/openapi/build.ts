import type { DescService } from "@bufbuild/protobuf";
import { commentOf } from "../../definitions/comments.ts";
import type { Operation } from "../../definitions/index.ts";
import type { OpenApiDocument, OperationObject } from "./document.ts";
import { bindOperation } from "./operation-object.ts";
import { operationalPaths, operationalTag } from "./operational.ts";
import { createComponents } from "./schemas/components.ts";
import { createSchemas, reachedFrom } from "./schemas/schemas.ts";

/** What a document is made from. */
export interface OpenApiInput {
  /** Every operation; those of the internal plane are left out. */
  readonly operations: readonly Operation[];
  /** The base addresses of the deployments. */
  readonly servers: { readonly production: string; readonly staging: string; readonly local: string };
  /** What the `type` of a problem starts with. */
  readonly errorsUrl: string;
  /** The version of the document. */
  readonly version: string;
}

/** Describes the external plane as an OpenAPI 3.1 document. */
export function buildOpenApi({ operations, servers, errorsUrl, version }: OpenApiInput): OpenApiDocument {
  const external = operations.filter(({ governance }) => !governance.internalOnly);
  const components = createComponents();
  const schemas = createSchemas(components, reachedFrom(external.map(({ method }) => method.output)));
  const paths: Record<string, Record<string, OperationObject>> = operationalPaths(components, errorsUrl);
  for (const operation of external) {
    for (const { path, verb, object } of bindOperation(operation, { components, schemas, errorsUrl })) {
      paths[path] ??= {};
      const item = paths[path];
      if (verb in item) throw new Error(`${verb} ${path} is bound twice: ${item[verb]!.operationId}, ${operation.id}`);
      item[verb] = object;
    }
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
          description: "An access token of the configured OpenID Connect issuer.",
        },
        apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "A key of the tenant." },
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
  "- **Answers** hold the record in `data` next to `metadata`; lists add `next_cursor`, `total`, `total_capped`, " +
    "`limit`, `offset` and `has_more`.",
  "- **Errors** are `application/problem+json` (RFC 9457). Branch on `errorCode`; `type` leads to a page that says " +
    "what the code means and how to mend it.",
  "- **Credentials** are an access token (`Authorization: Bearer`) or a key (`X-API-Key`). The tenant is always the " +
    "caller's own.",
  "- **Repeats** are safe with an `Idempotency-Key` on every operation that changes something.",
  "- **Concurrent changes** are refused with 409 `VERSION_CONFLICT` when an update carries a stale `record_version` or " +
    '`If-Match`. An `ETag` is the version and a digest of all that the record shows, as in `"3-mB2xV0c9T1uKq7Zr5sWd4g"`: ' +
    "`If-Match` compares the version, `If-None-Match` the whole. A `PUT` with `If-None-Match: *` creates and never " +
    "replaces. An update that sets no field changes nothing.",
  "- **Lists** are read page by page: `next_cursor` leads on until `has_more` is false. `total` is exact up to 10,000; " +
    "beyond, counting stops and `total_capped` is true. A filter is looked for in 100,000 items at a time, so that a " +
    "page may hold few items or none and still lead on. `offset` passes over 10,000 items at most; `limit` and " +
    "`offset` outside of their range count as the nearest number within.",
  "- **JSON** is taken in one spelling, the one shown here. Unknown fields are refused by name, and so are names in " +
    "lowerCamel, enum values as numbers, numbers as strings (but 64-bit integers may be strings of digits), and null for " +
    "a field that is left out. Connect takes all that proto3 JSON takes.",
].join("\n");
