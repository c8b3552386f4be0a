import { fail } from "../../errors/index.ts";
import { type Clock, systemClock } from "../../platform/clock/clock.ts";
import { createCallbackGuard } from "../callbacks/callback-guard.ts";
import type { PathHandler } from "../edge.ts";
import { type Exchange, headerOf, writeText } from "../exchange.ts";
import { readForm } from "./page-form.ts";

/** The page that a request addresses, by its method and path. */
type Target =
  | { readonly kind: "show" | "open" | "submit" | "cancel"; readonly sessionId: string }
  | { readonly kind: "callback"; readonly configId: string };

interface Options {
  /** Serves the hosted connect page. A refused request counts against its address and session. */
  readonly handle: (request: {
    readonly target: Target;
    readonly query: URLSearchParams;
    readonly form: URLSearchParams;
    readonly header: (name: string) => string | undefined;
  }) => Promise<{
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly isRefused: boolean;
    readonly isEmbeddable: boolean;
  }>;
  readonly clock?: Clock;
}

const sessionPattern = /^\/connect\/([0-7][0-9A-HJKMNP-TV-Z]{25})(?:\/(open|submit|cancel))?$/;
const callbackPattern = /^\/connect\/callback\/([0-7][0-9A-HJKMNP-TV-Z]{25})$/;
/** Some requests wait for a provider. */
const runningMax = 128;

/**
 * Creates the endpoint of the hosted connect page: `/connect/{session_id}` and `/connect/callback/{provider_config_id}`.
 * Its callers are browsers of end users, who have no credentials of this service. It therefore bypasses the chain: the page
 * itself verifies tokens, cookies and states, and the guard limits what unverified requests can cost.
 */
export function createConnectPageHandler({ handle, clock = systemClock }: Options): PathHandler {
  const guard = createCallbackGuard(clock, runningMax);

  return (exchange) => {
    if (!exchange.path.startsWith("/connect/")) return false;
    const target = targetOf(exchange.path);
    if (target === undefined) return false;
    requireMethod(exchange, target);
    return serve(exchange, target);
  };

  async function serve(exchange: Exchange, target: Target): Promise<true> {
    const { request } = exchange;
    const form = await readForm(exchange);
    const query = new URLSearchParams(exchange.query);
    const id = target.kind === "callback" ? target.configId : target.sessionId;
    const source = { address: exchange.clientAddress, target: id };
    const response = await guard.run(source, () =>
      handle({ target, query, form, header: (name) => headerOf(request, name) }),
    );
    const limited = response.isRefused ? guard.countRefusal(source) : undefined;
    if (limited !== undefined) throw limited;
    // The content security policy names the pages that may embed this one; the older header cannot.
    if (response.isEmbeddable) delete exchange.headers["x-frame-options"];
    writeText(exchange, response.status, response.headers, response.body);
    return true;
  }
}

function targetOf(path: string): Target | undefined {
  const callback = callbackPattern.exec(path);
  if (callback !== null) return { kind: "callback", configId: callback[1]! };
  const session = sessionPattern.exec(path);
  if (session === null) return undefined;
  return { kind: (session[2] ?? "show") as "show" | "open" | "submit" | "cancel", sessionId: session[1]! };
}

function requireMethod({ request }: Exchange, { kind }: Target): void {
  // A callback spends its state, so that it has no HEAD.
  const allowed = kind === "show" ? ["GET", "HEAD"] : kind === "callback" ? ["GET"] : ["POST"];
  if (allowed.includes(request.method ?? "")) return;
  const names = allowed.join(" and ");
  throw fail("METHOD_NOT_ALLOWED", {
    public: `This path accepts only ${names}.`,
    headers: { allow: allowed.join(", ") },
  });
}
