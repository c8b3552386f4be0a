import { fail } from "../errors/index.ts";
import type { PathHandler } from "./edge.ts";
import { type Exchange, writeHead } from "./exchange.ts";

/** How one thing that the instance needs stands. */
export interface ComponentHealth {
  readonly status: "ok" | "degraded" | "unhealthy";
  readonly detail?: string;
}

/** Asks one thing that the instance needs. */
export type HealthCheck = () => Promise<ComponentHealth>;

interface Parts {
  /** Whether the start is complete and the stop has not begun. */
  readonly booted: () => boolean;
  readonly checks: Readonly<Record<string, HealthCheck>>;
  readonly metrics: { readonly contentType: string; render(): Promise<string> };
}

const checkMs = 1000;

/** Liveness, readiness and metrics, without authentication. */
export function createOperations({ booted, checks, metrics }: Parts): PathHandler {
  const answer = async (exchange: Exchange): Promise<true> => {
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
  return (exchange) => operationalPaths.has(exchange.path) && answer(exchange);
}

const operationalPaths = new Set(["/health", "/healthz", "/livez", "/ready", "/readyz", "/metrics", "/metricsz"]);

/** Refuses every verb but those that read, for a path that can only be read. */
export function requireRead({ request }: Exchange): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  throw fail("METHOD_NOT_ALLOWED", { public: "This path takes GET, HEAD.", headers: { allow: "GET, HEAD" } });
}

/** All checks at once, each within a second. Only a hard failure takes the instance out of rotation. */
async function readiness(booted: boolean, checks: Readonly<Record<string, HealthCheck>>) {
  const names = Object.keys(checks);
  const found = await Promise.all(names.map((name) => bounded(checks[name]!)));
  const components = Object.fromEntries(names.map((name, i) => [name, found[i]!]));
  const unhealthy = found.some(({ status }) => status === "unhealthy");
  const degraded = found.some(({ status }) => status === "degraded");
  const status = !booted || unhealthy ? "not_ready" : degraded ? "degraded" : "ready";
  return { status, booted, components };
}

async function bounded(check: HealthCheck): Promise<ComponentHealth> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<ComponentHealth>((resolve) => {
    timer = setTimeout(() => resolve({ status: "unhealthy", detail: "no answer within a second" }), checkMs);
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
