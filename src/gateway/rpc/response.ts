import type { ServerResponse } from "node:http";
import { type Exchange, isDisconnected, writeHead } from "../exchange.ts";

/** The response, typed as the methods that HTTP/1.1 and HTTP/2 share. */
export function responseOf(exchange: Exchange): ServerResponse {
  return exchange.response as ServerResponse;
}

/** Sends a complete response. */
export function sendResponse(
  exchange: Exchange,
  status: number,
  headers: Record<string, string>,
  body: string | Uint8Array,
): void {
  // Writing to a closed connection would raise an unhandled error.
  if (isDisconnected(exchange)) return;
  headers["content-length"] = String(typeof body === "string" ? Buffer.byteLength(body) : body.length);
  writeHead(exchange, status, headers).end(body);
}
