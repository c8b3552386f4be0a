import { constants } from "node:http2";
import type { Exchange } from "./exchange.ts";

/**
 * Discards what is left of a request's body after its answer, so that the connection stays usable.
 *
 * An HTTP/2 stream is not reset while the body is within its limits: some clients never release what they had queued on
 * a stream that the server resets, and lose the whole connection after a few megabytes. A body that is larger or slower
 * than allowed ends the HTTP/2 stream, or the HTTP/1.1 connection.
 */
export function discardUnreadBody({ request, response, bodyBytesMax, bodyTimeoutMs }: Exchange): void {
  // Over HTTP/2, a request without a body ended with its headers.
  if (request.complete || ("stream" in request && request.stream.endAfterHeaders)) return;
  const giveUp = () => {
    stop();
    if ("stream" in response) response.stream.close(constants.NGHTTP2_NO_ERROR);
    else request.destroy();
  };
  const timer = setTimeout(giveUp, bodyTimeoutMs);
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) giveUp();
  };
  const stop = () => {
    clearTimeout(timer);
    request.off("data", count);
  };
  request.once("end", stop).once("close", stop);
  // Listening for data also makes it flow.
  request.on("data", count).resume();
}
