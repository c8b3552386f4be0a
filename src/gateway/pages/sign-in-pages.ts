import { fail, invalid } from "../../errors/index.ts";
import { type Clock, systemClock } from "../../platform/clock/clock.ts";
import { parseForm } from "../../platform/text/index.ts";
import { createCallbackGuard } from "../callbacks/callback-guard.ts";
import type { PathHandler } from "../edge.ts";
import { type Exchange, headerOf, readBody, writeHead } from "../exchange.ts";

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
/** A SAML response with a large number of groups is the largest form. */
const formBytesMax = 256 * 1024;
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
    const form = method === "POST" ? await formOf(exchange) : new URLSearchParams();
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
    const body = Buffer.from(response.body);
    writeHead(exchange, response.status, { ...response.headers, "content-length": String(body.length) });
    exchange.response.end(request.method === "HEAD" ? "" : body);
    return true;
  }
}

async function formOf(exchange: Exchange): Promise<URLSearchParams> {
  const type = headerOf(exchange.request, "content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) {
    throw invalid("Content-Type", "content_type", "must be application/x-www-form-urlencoded");
  }
  const body = await readBody({ ...exchange, bodyBytesMax: Math.min(exchange.bodyBytesMax, formBytesMax) });
  const members = parseForm(body.toString("utf8"));
  if (members === undefined) throw invalid("body", "max_items", "must not have so many members");
  return new URLSearchParams(members);
}
