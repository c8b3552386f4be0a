import { headerOf } from "../../exchange.ts";
import { grpcEncodings } from "../codec/compression.ts";
import type { Framing } from "../framed.ts";
import { responseOf } from "../reply.ts";
import { grpcTimeoutMs } from "../timeout.ts";
import { grpcOk, grpcTrailersOf } from "./grpc-status.ts";

/** gRPC over HTTP/2: the status comes in trailers, or in the head when the call failed before its first message. */
export const grpc: Framing = {
  protocol: "grpc",
  encodings: grpcEncodings,
  encodingHeader: "grpc-encoding",
  acceptEncodingHeader: "grpc-accept-encoding",
  timeoutMs: ({ request }) => grpcTimeoutMs(headerOf(request, "grpc-timeout")),
  end: ({ exchange, headers, failure, requestId }) => {
    const response = responseOf(exchange);
    const trailers = failure === undefined ? grpcOk : grpcTrailersOf(failure, requestId);
    if (response.headersSent) {
      response.addTrailers(trailers);
      response.end();
    } else {
      // Not writeHead: that would send the head at once, and the stream's end in a frame of its own.
      for (const [name, value] of Object.entries({ ...exchange.headers, ...headers, ...trailers }))
        response.setHeader(name, value);
      response.end();
    }
  },
};
