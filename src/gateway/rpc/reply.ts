import type { ServerResponse } from "node:http";
import { type Exchange, isGone, writeHead } from "../exchange.ts";

/** The response with the calls that HTTP/1.1 and HTTP/2 share. */
export function responseOf(exchange: Exchange): ServerResponse {
  return exchange.response as ServerResponse;
}

/** Answers with a head and a body in one go. */
export function replyWhole(
  exchange: Exchange,
  status: number,
  headers: Record<string, string>,
  body: string | Uint8Array,
): void {
  // Writing now would raise an error that nobody hears.
  if (isGone(exchange)) return;
  headers["content-length"] = String(typeof body === "string" ? Buffer.byteLength(body) : body.length);
  writeHead(exchange, status, headers).end(body);
}
