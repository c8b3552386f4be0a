import { setMaxListeners } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Plane } from "../chain/call.ts";
import { type Config, ConfigError, isLoopback } from "../config/index.ts";
import type { Operation } from "../definitions/index.ts";
import { createCallbacks } from "../gateway/callbacks/callbacks.ts";
import { createClientAddressReader } from "../gateway/client-address.ts";
import { createDocs, type Docs } from "../gateway/docs/index.ts";
import { createEdge, type Edge, type PathHandler } from "../gateway/edge.ts";
import { type Exchange, headerOf, writeHead } from "../gateway/exchange.ts";
import { createMetricsHandler, requireRead } from "../gateway/health.ts";
import { createMcpHandler } from "../gateway/mcp/index.ts";
import { buildInSteps } from "../gateway/openapi/index.ts";
import { createConnectPageHandler } from "../gateway/pages/connect-pages.ts";
import { createConsoleHandler } from "../gateway/pages/console.ts";
import { createHealthPageHandler } from "../gateway/pages/health-page.ts";
import { createSignInPageHandler } from "../gateway/pages/sign-in-pages.ts";
import { createRestHandler } from "../gateway/rest/index.ts";
import { createRpcHandler, type HealthSource } from "../gateway/rpc/index.ts";
import { createScimEndpoint } from "../gateway/scim.ts";
import { sendDocument } from "../gateway/shared-document.ts";
import { eventTypes } from "../modules/operations/index.ts";
import type { Log } from "../platform/log/log.ts";
import type { Metrics } from "../platform/telemetry/index.ts";
import type { Node } from "./compose.ts";
import { type Listener, type ListenerOptions, listen, type MutualTls } from "./listener/listener.ts";
import { createListenerOptions } from "./listener/listener-options.ts";
import { describePortConflict } from "./listener/port-conflict.ts";
import type { SupervisedListeners } from "./processes/supervised-listeners.ts";

interface Dependencies {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly node: Node;
  readonly version: string;
  readonly health: HealthSource;
  readonly probes: PathHandler;
  readonly renderMetrics: () => Promise<string>;
  /** The listeners that the processes of this machine share. */
  readonly sharedListeners: SupervisedListeners | undefined;
}

/** A node's open listeners. */
export interface Planes {
  readonly listeners: Readonly<Record<string, Listener>>;
  /** The URL of the external plane for callers. */
  readonly baseUrl: string;
  close(times: StopTimes): Promise<void>;
}

/** The durations of a graceful stop. */
export interface StopTimes {
  /** How long new callers are still served while readiness tells load balancers to stop sending them. */
  readonly drainMs: number;
  /** How long running calls may take afterwards. */
  readonly graceMs: number;
  /** Whether other processes serve the same addresses from now on. Then callers get the grace period to move to them. */
  readonly handsOver?: boolean;
}

/** The settings of the addresses, in the order in which they are opened. */
const addressKeys = [
  "server.http_addr",
  "api.addr",
  "server.grpc_addr",
  "server.internal_addr",
  "server.metrics_addr",
] as const;
type AddressKey = (typeof addressKeys)[number];

/** Opens every listener that the settings define. */
export async function openPlanes(dependencies: Dependencies, role: "all" | "api" | "worker"): Promise<Planes> {
  const { config } = dependencies;
  const listeners: Record<string, Listener> = {};
  let baseUrl = config["api.public_url"];
  const open = async (name: string, key: AddressKey, options: ListenerOptions) => {
    if (config[key] === "") return;
    try {
      const { sharedListeners: shared } = dependencies;
      listeners[name] = await listen(config[key], { ...options, shared: shared && { name, listeners: shared } });
    } catch (cause) {
      throw new ConfigError(await listenProblem(config, key, cause as Error), { cause });
    }
  };
  const served = createListenerOptions(dependencies);
  const { metrics: ownMetrics, renderMetrics } = dependencies;
  const metricsHandler = createMetricsHandler({ contentType: ownMetrics.contentType, render: renderMetrics });
  const operational = [dependencies.probes, ...(config["server.metrics_private"] ? [] : [metricsHandler])];
  const stopping = new AbortController();
  // Every open stream adds a listener.
  setMaxListeners(0, stopping.signal);
  const each = (act: (listener: Listener) => Promise<void>) => Promise.all(Object.values(listeners).map(act));
  const close = async ({ drainMs, graceMs, handsOver = false }: StopTimes) => {
    stopping.abort();
    if (handsOver) await dependencies.sharedListeners?.close();
    // A proxy loses a request with a body if a GOAWAY arrives after it chose the connection. Proxies that check readiness
    // stop choosing this node in the first half of the time.
    await delay(drainMs / 2);
    const announced = each((listener) => listener.drain(handsOver ? graceMs : lingerMs, handsOver));
    await Promise.all([announced, delay(drainMs / 2)]);
    await each((listener) => listener.close(graceMs));
  };
  try {
    const externalEdge = planeEdge("external", dependencies, operational, stopping.signal, () => baseUrl);
    dependencies.node.ownRequests.connect(externalEdge);
    if (role !== "worker") {
      const errorsUrl = () => config["api.errors_url"] || `${baseUrl}/errors`;
      const external = served("external", externalEdge, errorsUrl);
      await open("http", "server.http_addr", external);
      if (baseUrl === "") baseUrl = `http://${localAddress(listeners.http?.address ?? config["api.addr"])}`;
      dependencies.node.address.publicUrl = baseUrl;
      await open("api", "api.addr", external);
      await open("grpc", "server.grpc_addr", external);
      const internal = served(
        "internal",
        planeEdge("internal", dependencies, operational, stopping.signal, () => baseUrl),
        errorsUrl,
      );
      await open("internal", "server.internal_addr", { ...internal, tls: mutualTlsOf(config) });
    }
    const metrics = served(
      "metrics",
      metricsEdge(dependencies, [dependencies.probes, metricsHandler], stopping.signal),
      () => "/errors",
    );
    await open("metrics", "server.metrics_addr", metrics);
    return { listeners, baseUrl, close };
  } catch (error) {
    await close({ drainMs: 0, graceMs: 0 });
    throw error;
  }
}

/** How long callers of a stopping instance may use their open connections. */
const lingerMs = 250;

/** Explains why an address cannot be bound. For a port in use it shows how to choose another. */
async function listenProblem(config: Config, key: AddressKey, error: Error): Promise<string> {
  if ((error.cause as NodeJS.ErrnoException | undefined)?.code !== "EADDRINUSE") return `${key}: ${error.message}`;
  const set = addressKeys.filter((each) => config[each] !== "").map((each) => [each, config[each]] as const);
  const at = set.findIndex(([each]) => each === key);
  return describePortConflict(set.slice(at), set.slice(0, at));
}

function planeEdge(
  plane: Plane,
  dependencies: Dependencies,
  operational: readonly PathHandler[],
  stopping: AbortSignal,
  baseUrl: () => string,
): Edge {
  const { config, node, health } = dependencies;
  const operations = node.operationsOf(plane);
  const invoke = node.invoke[plane];
  const errorsUrl = () => config["api.errors_url"] || `${baseUrl()}/errors`;
  const rpc = createRpcHandler({ operations, invoke, health, reflection: true });
  const handlers: PathHandler[] = [...operational, docsHandler(operations, dependencies, baseUrl, errorsUrl)];
  if (plane === "external") {
    if (config["mcp.enabled"]) handlers.push(mcpHandler(dependencies, baseUrl, errorsUrl));
    handlers.push(createCallbacks("notifications", { receive: node.notifications.receive, baseUrl }));
    handlers.push(createConnectPageHandler({ handle: node.connectors.connectPages.handle }));
    handlers.push(createSignInPageHandler({ handle: node.identity.pages.handle }));
    handlers.push(
      createHealthPageHandler({
        ...{ operations, invoke, page: node.operations.healthPage },
        readWorkspace: node.tenancy.tenants.find,
      }),
    );
    handlers.push(createConsoleHandler({ findWorkspace: (cookie) => findWorkspace(node, cookie) }));
    const { scim } = node.identity;
    if (scim !== undefined) handlers.push(createScimEndpoint({ ...scim, invoke }));
    handlers.push(createCallbacks("connectors", { receive: node.connectors.receiveWebhook, baseUrl }));
  }
  return createEdge({
    ...edgeOptions(dependencies),
    stopping,
    plane,
    rpc: (exchange) => rpc.matches(exchange) && rpc.handle(exchange).then(() => true),
    rest: createRestHandler({ operations, invoke, errorsUrl }),
    handlers,
  });
}

async function findWorkspace({ identity, tenancy }: Node, cookie: string | undefined) {
  const id = await identity.tenantOfBrowser(cookie);
  const slug = id && (await tenancy.tenants.findSlug(id));
  return id && slug ? { id, slug } : undefined;
}

function mcpHandler(
  { config, node, metrics, version }: Dependencies,
  baseUrl: () => string,
  errorsUrl: () => string,
): PathHandler {
  return createMcpHandler({
    path: config["mcp.path"],
    operations: node.operationsOf("external"),
    invoke: node.invoke.external,
    ...{ metrics, baseUrl, errorsUrl, version },
    allowedOrigins: config["cors.allowed_origins"],
    hostIsVerified: !config["api.allowed_hosts"].includes("*"),
    issuers: config["api.oidc_issuer"],
    oauthScopes: config["mcp.oauth_scopes"],
    authorizes: config["authz.provider"] === "builtin",
    confirmationSecret: node.confirmationSecret,
    now: node.clock.now,
  });
}

function metricsEdge(dependencies: Dependencies, handlers: readonly PathHandler[], stopping: AbortSignal): Edge {
  const rest = createRestHandler({ operations: [], invoke: () => Promise.reject(), errorsUrl: () => "/errors" });
  return createEdge({
    ...edgeOptions(dependencies),
    stopping,
    plane: "external",
    handlers,
    rest,
    allowedHosts: ["*"],
  });
}

function edgeOptions({ config, log }: Dependencies) {
  return {
    clientAddressOf: createClientAddressReader({
      header: config["server.client_address_header"].toLowerCase(),
      proxyNetworks: config["server.proxy_networks"],
    }),
    allowedHosts: [...config["api.allowed_hosts"], ...publicHost(config)],
    allowedOrigins: config["cors.allowed_origins"],
    bodyBytesMax: config["api.max_request_body_size"],
    bodyTimeoutMs: config["server.body_timeout_s"] * 1000,
    onError: (error: unknown) => log.error({ err: error }, "an exchange failed unexpectedly"),
  };
}

/** The host of the public URL. */
function publicHost(config: Config): string[] {
  const url = config["api.public_url"];
  return URL.canParse(url) ? [new URL(url).hostname] : [];
}

function docsHandler(
  operations: readonly Operation[],
  { config, version }: Dependencies,
  baseUrl: () => string,
  errorsUrl: () => string,
): PathHandler {
  const openApi = () => {
    const production = config["api.public_url"] || "https://switchyard.example";
    const servers = {
      production,
      staging: config["api.staging_url"] || "https://staging.switchyard.example",
      local: baseUrl(),
    };
    return buildInSteps({ operations, servers, errorsUrl: errorsUrl(), version });
  };
  const docs = createDocs({ openApi, operations, eventTypes, outbox: config["notification.outbox.enabled"] });
  return (exchange: Exchange) => {
    if (exchange.path === "/") {
      requireRead(exchange);
      writeHead(exchange, 302, { location: "/docs" });
      exchange.response.end();
      return true;
    }
    const prepared = docs.prepare(exchange.path);
    return prepared === undefined ? serveDocs(docs, exchange) : prepared.then(() => serveDocs(docs, exchange));
  };
}

function serveDocs(docs: Docs, exchange: Exchange): boolean | Promise<boolean> {
  const page = docs.find(exchange.path, headerOf(exchange.request, "accept"));
  if (page === undefined) return false;
  requireRead(exchange);
  return sendDocument(exchange, page.document, page.headers).then(() => true);
}

function mutualTlsOf(config: Config): MutualTls | undefined {
  if (!config["server.internal_require_mtls"]) return undefined;
  return {
    cert: readFileSync(config["server.internal_tls_cert_file"]),
    key: readFileSync(config["server.internal_tls_key_file"]),
    clientCa: readFileSync(config["server.internal_client_ca_file"]),
  };
}

/** An address that a caller on this machine can use, even if the listener is bound to every interface. */
function localAddress(address: string): string {
  return isLoopback(address) ? address : `localhost${address.slice(address.lastIndexOf(":"))}`;
}
