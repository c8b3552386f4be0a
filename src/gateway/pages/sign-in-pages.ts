import { fail } from "../../errors/index.ts";
import { type Clock, systemClock } from "../../platform/clock/clock.ts";
import { createCallbackGuard } from "../callbacks/callback-guard.ts";
import type { PathHandler } from "../edge.ts";
import { type Exchange, headerOf, writeText } from "../exchange.ts";
import { readForm } from "./page-form.ts";

interface Options {
  /** Serves a page; undefined if there is none. A refused request counts against its address and connection. */
  readonly handle: (request: {
    readonly method: "GET" | "POST";
    readonly path: string;
    readonly query: URLSearchParams;
    readonly rawQuery: string;
    readonly form: URLSearchParams;
    readonly header: (name: string) => string | undefined;
    readonly address: string;
  }) => Promise<
    | {
        readonly status: number;
        readonly headers: Readonly<Record<string, string>>;
        readonly body: string;
        readonly isRefused: boolean;
      }
    | undefined
  >;
  readonly clock?: Clock;
}

const prefix = "/auth/";
const connectionId = /(?<=\/)[0-7][0-9A-HJKMNP-TV-Z]{25}(?=\/|$)/;
/** Some requests wait for an identity provider. */
const runningMax = 128;

/**
 * Creates the endpoint of the sign-in pages, `/auth/…`. Its callers are browsers without credentials, or with a session cookie
 * only. It therefore bypasses the chain: the pages verify links, states and cookies, and the guard limits what unverified
 * requests can cost.
 */
export function createSignInPageHandler({ handle, clock = systemClock }: Options): PathHandler {
  const guard = createCallbackGuard(clock, runningMax);

  return (exchange) => {
    const { path, request } = exchange;
    if (!path.startsWith(prefix)) return false;
    const method = request.method === "HEAD" ? "GET" : request.method;
    if (method !== "GET" && method !== "POST") {
      throw fail("METHOD_NOT_ALLOWED", {
        public: "This path accepts only GET and POST.",
        headers: { allow: "GET, POST" },
      });
    }
    return serve(exchange, method);
  };

  async function serve(exchange: Exchange, method: "GET" | "POST"): Promise<boolean> {
    const { path, query, request, clientAddress: address } = exchange;
    const form = await readForm(exchange);
    const source = { address, target: connectionId.exec(path)?.[0] ?? "" };
    const response = await guard.run(source, () =>
      handle({
        ...{
          method,
          path: path.slice(prefix.length),
          query: new URLSearchParams(query),
          rawQuery: query,
          form,
          address,
        },
        header: (name) => headerOf(request, name),
      }),
    );
    if (response === undefined) return false;
    const limited = response.isRefused ? guard.countRefusal(source) : undefined;
    if (limited !== undefined) throw limited;
    writeText(exchange, response.status, response.headers, response.body);
    return true;
  }
}
