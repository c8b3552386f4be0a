import { fail } from "../errors/index.ts";
import type { PathHandler } from "./edge.ts";
import { type Exchange, headerOf, readBody, writeHead } from "./exchange.ts";

/** What a provider sent, as it came. */
interface Callback {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawBody: Buffer;
  readonly url: string;
}

interface Options {
  /** Takes in what a provider tells; "refused" when it cannot prove to be the provider. */
  readonly receive: (tenantId: string, integrationId: string, callback: Callback) => Promise<"taken" | "refused">;
  /** The address that providers call, as they were told it. */
  readonly baseUrl: () => string;
}

const pattern = /^\/callbacks\/notifications\/([0-9A-Z]{26})\/([0-9A-Z]{26})$/;
const bytesMax = 1024 * 1024;

/**
 * Where providers tell what became of messages: `POST /callbacks/notifications/{tenant_id}/{integration_id}`. These calls
 * carry no credentials of ours but a signature of the provider's over their very bytes, so that they do not go through
 * the chain: the adapter of the provider decides, and everybody else gets the same refusal.
 */
export function createCallbacks({ receive, baseUrl }: Options): PathHandler {
  return (exchange) => {
    if (exchange.request.method !== "POST") return false;
    const match = pattern.exec(exchange.path);
    return match === null ? false : take(exchange, match[1]!, match[2]!);
  };

  async function take(exchange: Exchange, tenantId: string, integrationId: string): Promise<true> {
    const rawBody = await readBody({ ...exchange, bodyBytesMax: Math.min(exchange.bodyBytesMax, bytesMax) });
    const { request, path, query } = exchange;
    const headers = Object.fromEntries(Object.keys(request.headers).map((name) => [name, headerOf(request, name)]));
    const url = `${baseUrl()}${path}${query === "" ? "" : `?${query}`}`;
    if ((await receive(tenantId, integrationId, { headers, rawBody, url })) === "refused") {
      throw fail("UNAUTHENTICATED", { public: "The callback does not prove to come from the provider." });
    }
    writeHead(exchange, 204);
    exchange.response.end();
    return true;
  }
}
