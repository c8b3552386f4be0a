import { constants } from "node:http2";
import type { DiscardThrottle } from "./discard-throttle.ts";
import { type Exchange, isDisconnected } from "./exchange.ts";

/**
 * Discards the unread rest of a request's body after the response, so that the connection stays usable.
 *
 * An HTTP/2 stream is not reset while the body is within its limits: some clients never release the data queued on a stream
 * that the server resets, and lose the whole connection after a few megabytes. A body that is too large or too slow ends
 * the HTTP/2 stream or the HTTP/1.1 connection.
 */
export function discardUnreadBody(exchange: Exchange, throttle: DiscardThrottle): void {
  const { request, bodyBytesMax, bodyTimeoutMs } = exchange;
  if (request.complete || request.destroyed || isDisconnected(exchange)) return;
  // An HTTP/2 request without a body ends with its headers.
  if ("stream" in request && request.stream.endAfterHeaders) return;
  const timer = setTimeout(() => end(exchange), bodyTimeoutMs);
  let bytes = 0;
  const destroyRequest = () => request.destroy();
  const finish = () => {
    clearTimeout(timer);
    request.socket.off("close", destroyRequest);
  };
  request.once("end", finish).once("close", finish);
  // Node does not close an HTTP/1.1 request whose connection is lost after the response.
  if (!("stream" in request)) request.socket.once("close", destroyRequest);
  throttle.discard(request, (length) => {
    bytes += length;
    if (bytes > bodyBytesMax) end(exchange);
  });
}

/** Drops a complete response that the caller does not read in time. */
export function limitUnreadResponse(exchange: Exchange): void {
  const { response } = exchange;
  if (isDisconnected(exchange)) return;
  if ("stream" in response) {
    if (response.stream.writableLength > 0) endUnlessSent(exchange);
  } else if (response.socket !== null) {
    // Most responses are already in the socket buffer of the operating system.
    if (response.socket.writableLength > 0) endUnlessSent(exchange);
  } else if (!response.writableFinished) {
    // A pipelined response gets its socket when the previous responses are sent.
    response.once("socket", () => endUnlessSent(exchange));
  }
}

/** Drops a response that is not sent in time. */
export function endUnlessSent({ response, bodyTimeoutMs }: Exchange): void {
  const timer = setTimeout(() => abortResponse(response), bodyTimeoutMs);
  response.once("finish", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
}

/** Ends a response so that the caller sees that it is incomplete. */
export function abortResponse(response: Exchange["response"]): void {
  if ("stream" in response) response.stream.close(constants.NGHTTP2_CANCEL);
  else response.destroy();
}

function end({ request, response }: Exchange): void {
  if ("stream" in response) response.stream.close(constants.NGHTTP2_NO_ERROR);
  else request.destroy();
}
