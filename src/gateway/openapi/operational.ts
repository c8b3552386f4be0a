import type { MediaType, OperationObject, Schema } from "./document.ts";
import { operationalExtensions } from "./extensions.ts";
import { problemRef } from "./problems.ts";
import type { Components } from "./schemas/components.ts";

/** The tag of the gateway's own endpoints. */
export const operationalTag = { name: "Operations", description: "Endpoints for operators. They need no credentials." };

interface Endpoint {
  readonly path: string;
  /** Other paths of the same endpoint. */
  readonly aliases?: readonly string[];
  readonly id: string;
  readonly audience: "public" | "operator";
  readonly summary: string;
  readonly description: string;
  readonly success: string;
  readonly content: Readonly<Record<string, MediaType>>;
  /** The content of a 503 response, if there is one. */
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
    status: { type: "string", enum: ["ok", "degraded", "unhealthy"], description: "The health of the dependency." },
    detail: text("The reason for the status."),
  },
  required: ["status"],
};

const readiness: Schema = {
  type: "object",
  properties: {
    status: { type: "string", enum: ["ready", "degraded", "not_ready"], description: "The readiness of the instance." },
    booted: { type: "boolean", description: "Whether the instance has started and is not stopping." },
    components: {
      type: "object",
      additionalProperties: component,
      description: "The instance's dependencies, by name.",
    },
  },
  required: ["status", "booted", "components"],
};

const ready = { status: "ready", booted: true, components: { database: { status: "ok" } } };
const notReady = { ...ready, status: "not_ready", components: { database: { status: "unhealthy" } } };

const endpoints: readonly Endpoint[] = [
  {
    path: "/health",
    aliases: ["/healthz", "/livez"],
    id: "getHealth",
    audience: "public",
    summary: "Checks liveness",
    description: "Checks liveness. Does not check dependencies.",
    success: "Alive.",
    content: { "application/json": { schema: statusOnly, example: { status: "ok" } } },
  },
  {
    path: "/ready",
    aliases: ["/readyz"],
    id: "getReadiness",
    audience: "public",
    summary: "Checks readiness",
    description:
      "Checks readiness: the instance has started, and the database, cache and queue respond within one second. " +
      "An instance with a degraded dependency stays ready.",
    success: "Ready.",
    content: { "application/json": { schema: readiness, example: ready } },
    unavailable: {
      description: "Not ready.",
      content: { "application/json": { schema: readiness, example: notReady } },
    },
  },
  {
    path: "/metrics",
    aliases: ["/metricsz"],
    id: "getMetrics",
    audience: "operator",
    summary: "Reads the metrics",
    description: "Reads the metrics in the Prometheus text format.",
    success: "The metrics.",
    content: { "text/plain": { schema: text("Prometheus text format.") } },
  },
  {
    path: "/openapi.yaml",
    id: "getOpenApi",
    audience: "public",
    summary: "Reads this document",
    description: "Reads this document, built from the instance's own definitions.",
    success: "The document.",
    content: { "application/yaml": { schema: text("OpenAPI 3.1 as YAML.") } },
  },
  {
    path: "/docs",
    id: "getDocs",
    audience: "public",
    summary: "Opens the interactive reference",
    description:
      "Opens the interactive reference, which sends requests only to this instance, as the person who is signed in.",
    success: "The page.",
    content: { "text/html": { schema: text("HTML.") } },
  },
];

/** The endpoint at each of its paths. */
function withAliases(endpoint: Endpoint): Endpoint[] {
  const { path: main, id, aliases = [] } = endpoint;
  return [
    endpoint,
    ...aliases.map((path) => ({
      ...endpoint,
      ...{ path, id: `${id}At${path[1]!.toUpperCase()}${path.slice(2)}`, description: `The same as \`${main}\`.` },
    })),
  ];
}

/** The gateway's own endpoints, by path. */
export function operationalPaths(components: Components, errorsUrl: string): Record<string, { get: OperationObject }> {
  return Object.fromEntries(
    endpoints.flatMap(withAliases).map((endpoint) => [
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
            "200": { description: endpoint.success, content: endpoint.content },
            // An unknown Host is refused on every path.
            "403": problemRef(403, components, errorsUrl),
            ...(endpoint.unavailable === undefined ? {} : { "503": endpoint.unavailable }),
          },
        },
      },
    ]),
  );
}
