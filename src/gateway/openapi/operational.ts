import type { MediaType, OperationObject, Schema } from "./document.ts";
import { operationalExtensions } from "./extensions.ts";
import { problemRef } from "./problems.ts";
import type { Components } from "./schemas/components.ts";

/** The tag of the endpoints that are the gateway's own. */
export const operationalTag = { name: "Operations", description: "Endpoints for running the service. No credentials." };

interface Endpoint {
  readonly path: string;
  readonly id: string;
  readonly audience: "public" | "operator";
  readonly summary: string;
  readonly description: string;
  readonly answer: string;
  readonly content: Readonly<Record<string, MediaType>>;
  /** What is answered with 503, where that can happen. */
  readonly unavailable?: { readonly description: string; readonly content: Readonly<Record<string, MediaType>> };
}

const text = (description: string): Schema => ({ type: "string", description });

const statusOnly: Schema = {
  type: "object",
  properties: { status: text("`ok` while the process runs.") },
  required: ["status"],
};

const component: Schema = {
  type: "object",
  properties: {
    status: { type: "string", enum: ["ok", "degraded", "unhealthy"], description: "How it stands." },
    detail: text("Why it stands so."),
  },
  required: ["status"],
};

const readiness: Schema = {
  type: "object",
  properties: {
    status: { type: "string", enum: ["ready", "degraded", "not_ready"], description: "How the instance stands." },
    booted: { type: "boolean", description: "Whether the start is complete and the stop has not begun." },
    components: { type: "object", additionalProperties: component, description: "What the instance needs, by name." },
  },
  required: ["status", "booted", "components"],
};

const ready = { status: "ready", booted: true, components: { database: { status: "ok" } } };
const notReady = { ...ready, status: "not_ready", components: { database: { status: "unhealthy" } } };

const endpoints: readonly Endpoint[] = [
  {
    path: "/health",
    id: "getHealth",
    audience: "public",
    summary: "Tells whether the process is alive",
    description: "Tells whether the process is alive. Touches nothing that it depends on.",
    answer: "Alive.",
    content: { "application/json": { schema: statusOnly, example: { status: "ok" } } },
  },
  {
    path: "/ready",
    id: "getReadiness",
    audience: "public",
    summary: "Tells whether the instance takes calls",
    description:
      "Tells whether the instance takes calls: it has started, and database, cache and queue answer within a second. " +
      "A degraded part keeps the instance in rotation.",
    answer: "Ready.",
    content: { "application/json": { schema: readiness, example: ready } },
    unavailable: {
      description: "Not ready.",
      content: { "application/json": { schema: readiness, example: notReady } },
    },
  },
  {
    path: "/metrics",
    id: "getMetrics",
    audience: "operator",
    summary: "Reads the metrics",
    description: "Reads the metrics in the Prometheus text format.",
    answer: "The metrics.",
    content: { "text/plain": { schema: text("Prometheus text format.") } },
  },
  {
    path: "/openapi.yaml",
    id: "getOpenApi",
    audience: "public",
    summary: "Reads this document",
    description: "Reads this document, made from the definitions that the instance runs on.",
    answer: "The document.",
    content: { "application/yaml": { schema: text("OpenAPI 3.1 as YAML.") } },
  },
  {
    path: "/docs",
    id: "getDocs",
    audience: "public",
    summary: "Opens the interactive reference",
    description: "Opens the interactive reference, which reads `/openapi.yaml` and calls this instance only.",
    answer: "The page.",
    content: { "text/html": { schema: text("HTML.") } },
  },
];

/** The endpoints that answer without credentials, by path. */
export function operationalPaths(components: Components, errorsUrl: string): Record<string, { get: OperationObject }> {
  return Object.fromEntries(
    endpoints.map((endpoint) => [
      endpoint.path,
      {
        get: {
          operationId: endpoint.id,
          tags: [operationalTag.name],
          summary: endpoint.summary,
          description: endpoint.description,
          security: [],
          ...operationalExtensions(endpoint.audience),
          responses: {
            "200": { description: endpoint.answer, content: endpoint.content },
            // An unknown Host is refused whatever the path.
            "403": problemRef(403, components, errorsUrl),
            ...(endpoint.unavailable === undefined ? {} : { "503": endpoint.unavailable }),
          },
        },
      },
    ]),
  );
}
