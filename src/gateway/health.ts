import { fail } from "../errors/index.ts";
import type { PathHandler } from "./edge.ts";
import { type Exchange, writeHead } from "./exchange.ts";

/** The health of one dependency of the instance. */
export interface ComponentHealth {
  readonly status: "ok" | "degraded" | "unhealthy";
  readonly detail?: string;
}

/** Checks one dependency of the instance. */
export type HealthCheck = () => Promise<ComponentHealth>;

interface Parts {
  /** Whether the node has started and is not stopping. */
  readonly booted: () => boolean;
  readonly checks: Readonly<Record<string, HealthCheck>>;
  readonly metrics: { readonly contentType: string; render(): Promise<string> };
}

const checkMs = 1000;

/** Creates the handler of liveness, readiness and metrics. It needs no authentication. */
export function createProbes({ booted, checks, metrics }: Parts): PathHandler {
  const respond = async (exchange: Exchange): Promise<true> => {
    requireRead(exchange);
    switch (exchange.path) {
      case "/ready":
      case "/readyz": {
        const report = await readiness(booted(), checks);
        sendJson(exchange, report.status === "not_ready" ? 503 : 200, report);
        return true;
      }
      case "/metrics":
      case "/metricsz":
        send(exchange, 200, metrics.contentType, await metrics.render());
        return true;
      default:
        sendJson(exchange, 200, { status: "ok" });
        return true;
    }
  };
  return (exchange) => operationalPaths.has(exchange.path) && respond(exchange);
}

const operationalPaths = new Set(["/health", "/healthz", "/livez", "/ready", "/readyz", "/metrics", "/metricsz"]);

/** Refuses methods other than GET and HEAD, for read-only paths. */
export function requireRead({ request }: Exchange): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  throw fail("METHOD_NOT_ALLOWED", { public: "This path accepts only GET and HEAD.", headers: { allow: "GET, HEAD" } });
}

/** Runs all checks concurrently, each with a timeout of one second. Only an unhealthy one makes the node not ready. */
async function readiness(booted: boolean, checks: Readonly<Record<string, HealthCheck>>) {
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

function sendJson(exchange: Exchange, status: number, body: object): void {
  send(exchange, status, "application/json", JSON.stringify(body));
}

function send(exchange: Exchange, status: number, contentType: string, body: string): void {
  writeHead(exchange, status, {
    "content-type": contentType,
    "content-length": String(Buffer.byteLength(body)),
    "cache-control": "no-store",
  });
  exchange.response.end(exchange.request.method === "HEAD" ? "" : body);
}
