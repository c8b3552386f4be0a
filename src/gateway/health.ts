import { fail } from "../errors/index.ts";
import type { PathHandler } from "./edge.ts";
import { type Exchange, writeText } from "./exchange.ts";
import { sendShared } from "./shared-document.ts";

/** The health of one dependency of the instance. */
export interface ComponentHealth {
  readonly status: "ok" | "degraded" | "unhealthy";
  readonly detail?: string;
}

/** Checks one dependency of the instance. */
export type HealthCheck = () => Promise<ComponentHealth>;

/** Whether an instance can serve calls, and why not. */
export interface Readiness {
  readonly status: "ready" | "degraded" | "not_ready";
  /** Whether it has started and is not stopping. */
  readonly booted: boolean;
  readonly components: Readonly<Record<string, ComponentHealth>>;
}

const checkMs = 1000;

/** Creates the handler of liveness and readiness. It needs no authentication. */
export function createProbes(read: () => Promise<Readiness>): PathHandler {
  const respond = async (exchange: Exchange): Promise<true> => {
    requireRead(exchange);
    switch (exchange.path) {
      case "/ready":
      case "/readyz": {
        const report = await read();
        sendJson(exchange, report.status === "not_ready" ? 503 : 200, report);
        return true;
      }
      default:
        sendJson(exchange, 200, { status: "ok" });
        return true;
    }
  };
  return (exchange) => probePaths.has(exchange.path) && respond(exchange);
}

const probePaths = new Set(["/health", "/healthz", "/livez", "/ready", "/readyz"]);

/** How long callers get the same text. Rendering takes milliseconds, and everybody may ask for it. */
const snapshotMs = 1000;

/** Creates the handler of metrics. It needs no authentication. */
export function createMetricsHandler(metrics: {
  readonly contentType: string;
  render(): Promise<string>;
}): PathHandler {
  let snapshot: Promise<Buffer> | undefined;
  let renderedAtMs = 0;
  const render = async () => Buffer.from(await metrics.render());
  const respond = async (exchange: Exchange): Promise<true> => {
    requireRead(exchange);
    if (snapshot === undefined || performance.now() - renderedAtMs >= snapshotMs) {
      renderedAtMs = performance.now();
      snapshot = render();
    }
    const headers = { "content-type": metrics.contentType, "cache-control": "no-store" };
    await sendShared(exchange, headers, await snapshot);
    return true;
  };
  return (exchange) => (exchange.path === "/metrics" || exchange.path === "/metricsz") && respond(exchange);
}

/** Refuses methods other than GET and HEAD, for read-only paths. */
export function requireRead({ request }: Exchange): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  throw fail("METHOD_NOT_ALLOWED", { public: "This path accepts only GET and HEAD.", headers: { allow: "GET, HEAD" } });
}

/** Runs all checks concurrently, each with a timeout of one second. Only an unhealthy one makes the node not ready. */
export async function readReadiness(
  booted: boolean,
  checks: Readonly<Record<string, HealthCheck>>,
): Promise<Readiness> {
  const names = Object.keys(checks);
  const found = await Promise.all(names.map((name) => runCheck(checks[name]!)));
  const components = Object.fromEntries(names.map((name, i) => [name, found[i]!]));
  const unhealthy = found.some(({ status }) => status === "unhealthy");
  const degraded = found.some(({ status }) => status === "degraded");
  const status = !booted || unhealthy ? "not_ready" : degraded ? "degraded" : "ready";
  return { status, booted, components };
}

async function runCheck(check: HealthCheck): Promise<ComponentHealth> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<ComponentHealth>((resolve) => {
    timer = setTimeout(() => resolve({ status: "unhealthy", detail: "no response within one second" }), checkMs);
  });
  try {
    return await Promise.race([check(), late]);
  } catch {
    return { status: "unhealthy", detail: "cannot be reached" };
  } finally {
    clearTimeout(timer);
  }
}

function sendJson(exchange: Exchange, status: number, report: object): void {
  const headers = { "content-type": "application/json", "cache-control": "no-store" };
  writeText(exchange, status, headers, JSON.stringify(report));
}
