import { headerOf } from "../../exchange.ts";
import { grpcEncodings } from "../codec/compression.ts";
import type { EnvelopeProtocol } from "../envelope-protocol.ts";
import { responseOf } from "../response.ts";
import { grpcTimeoutMs } from "../timeout.ts";
import { grpcOk, toGrpcTrailers } from "./grpc-status.ts";

/** gRPC over HTTP/2: the status is in the trailers, or in the headers if the call failed before its first message. */
export const grpc: EnvelopeProtocol = {
  protocol: "grpc",
  encodings: grpcEncodings,
  encodingHeader: "grpc-encoding",
  acceptEncodingHeader: "grpc-accept-encoding",
  timeoutMs: ({ request }) => grpcTimeoutMs(headerOf(request, "grpc-timeout")),
  end: ({ exchange, headers, failure, requestId }) => {
    const response = responseOf(exchange);
    const trailers = failure === undefined ? grpcOk : toGrpcTrailers(failure, requestId);
    if (response.headersSent) {
      response.addTrailers(trailers);
      response.end();
    } else {
      // Not writeHead, which would send the headers immediately and the end of the stream in a separate frame.
      for (const [name, value] of Object.entries({ ...exchange.headers, ...headers, ...trailers }))
        response.setHeader(name, value);
      response.end();
    }
  },
};
