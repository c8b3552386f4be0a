import type { ServerResponse } from "node:http";
import { constants } from "node:http2";
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
  stopUpload(exchange);
}

/**
 * Lets go of a request whose body nobody read, once the answer is out.
 *
 * HTTP/1.1 discards it by itself. An HTTP/2 stream would stay open, so its caller is told to stop sending. `last` is the
 * event after which nothing of the answer is left: "finish" for a head alone, else the trailers, which come after it.
 */
export function stopUpload({ request, response }: Exchange, last: "finish" | "wantTrailers" = "wantTrailers"): void {
  if (!("stream" in response) || request.readableEnded) return;
  const { stream } = response;
  // Closing within the event would overtake the trailers.
  stream.once(last, () => setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR)));
}
