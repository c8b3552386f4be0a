import { constants } from "node:http2";
import type { DiscardPace } from "./discard-pace.ts";
import { type Exchange, isGone } from "./exchange.ts";

/**
 * Discards what is left of a request's body after its answer, so that the connection stays usable.
 *
 * An HTTP/2 stream is not reset while the body is within its limits: some clients never release what they had queued on
 * a stream that the server resets, and lose the whole connection after a few megabytes. A body that is larger or slower
 * than allowed ends the HTTP/2 stream, or the HTTP/1.1 connection.
 */
export function discardUnreadBody(exchange: Exchange, pace: DiscardPace): void {
  const { request, bodyBytesMax, bodyTimeoutMs } = exchange;
  if (request.complete || request.destroyed || isGone(exchange)) return;
  // Over HTTP/2, a request without a body ended with its headers.
  if ("stream" in request && request.stream.endAfterHeaders) return;
  const timer = setTimeout(() => end(exchange), bodyTimeoutMs);
  let bytes = 0;
  const lose = () => request.destroy();
  const finish = () => {
    clearTimeout(timer);
    request.socket.off("close", lose);
  };
  request.once("end", finish).once("close", finish);
  // Node does not close an HTTP/1.1 request whose connection is lost after the answer.
  if (!("stream" in request)) request.socket.once("close", lose);
  pace.discard(request, (length) => {
    bytes += length;
    if (bytes > bodyBytesMax) end(exchange);
  });
}

/** Gives up on an answer that is complete here but that its caller does not read. */
export function boundUnreadAnswer(exchange: Exchange): void {
  const { response } = exchange;
  if (isGone(exchange)) return;
  if ("stream" in response) {
    if (response.stream.writableLength > 0) endUnlessSent(exchange);
  } else if (response.socket !== null) {
    // Most answers are with the operating system by now.
    if (response.socket.writableLength > 0) endUnlessSent(exchange);
  } else if (!response.writableFinished) {
    // A pipelined answer gets its socket when the answers before it are sent.
    response.once("socket", () => endUnlessSent(exchange));
  }
}

function endUnlessSent({ response, bodyTimeoutMs }: Exchange): void {
  const timer = setTimeout(() => {
    if ("stream" in response) response.stream.close(constants.NGHTTP2_CANCEL);
    else response.destroy();
  }, bodyTimeoutMs);
  response.once("finish", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
}

function end({ request, response }: Exchange): void {
  if ("stream" in response) response.stream.close(constants.NGHTTP2_NO_ERROR);
  else request.destroy();
}
