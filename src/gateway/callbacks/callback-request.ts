import { type Exchange, headerOf, readBody, writeHead } from "../exchange.ts";
import type { CallbackGuard, CallbackSource } from "./callback-guard.ts";

/** A provider's request, unchanged. */
export interface CallbackRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawBody: Buffer;
  /** The public URL with its query. */
  readonly url: string;
}

interface Limits {
  /** How long a body may take to arrive. A slower callback counts as refused. */
  readonly bodyMsMax: number;
  readonly guard: Pick<CallbackGuard, "countRefusal">;
  readonly source: CallbackSource;
}

const bytesMax = 1024 * 1024;

/** Reads a callback within the time limit. */
export async function readCallback(
  exchange: Exchange,
  baseUrl: string,
  { bodyMsMax, guard, source }: Limits,
): Promise<CallbackRequest> {
  const timer = setTimeout(() => {
    guard.countRefusal(source);
    exchange.request.destroy();
  }, bodyMsMax);
  try {
    const rawBody = await readBody({ ...exchange, bodyBytesMax: Math.min(exchange.bodyBytesMax, bytesMax) });
    const { request, path, query } = exchange;
    const headers = Object.fromEntries(Object.keys(request.headers).map((name) => [name, headerOf(request, name)]));
    return { headers, rawBody, url: `${baseUrl}${path}${query === "" ? "" : `?${query}`}` };
  } finally {
    clearTimeout(timer);
  }
}

/** Writes the reply to a provider that checks the URL of its callbacks. */
export function writeReply(exchange: Exchange, reply: { readonly contentType: string; readonly body: string }): true {
  // The reply repeats a text of the sender. No browser may take it for a page.
  const headers = { "content-type": reply.contentType, "content-security-policy": "default-src 'none'; sandbox" };
  writeHead(exchange, 200, { ...headers, "cache-control": "no-store" });
  exchange.response.end(reply.body);
  return true;
}
