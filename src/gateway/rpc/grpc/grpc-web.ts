import { fail } from "../../../errors/index.ts";
import { writeHead } from "../../exchange.ts";
import { writeEnvelope } from "../codec/envelope.ts";
import type { EnvelopeProtocol } from "../envelope-protocol.ts";
import { responseOf } from "../response.ts";
import { grpc } from "./grpc.ts";
import { grpcOk, toGrpcTrailers } from "./grpc-status.ts";

const trailersFlag = 0x80;

/** gRPC-Web: gRPC for browsers. Browsers cannot read trailers, so the last envelope contains them. */
export const grpcWeb: EnvelopeProtocol = {
  ...grpc,
  protocol: "grpc_web",
  unwrap: (body, { text }) => (text ? fromText(body.toString("latin1")) : body),
  wrap: (bytes, { text }) => (text ? bytes.toString("base64") : bytes),
  end: ({ exchange, wire, headers, failure, requestId }) => {
    const response = responseOf(exchange);
    // Always in the body, because a browser hides headers that CORS does not expose.
    const trailers = failure === undefined ? grpcOk : toGrpcTrailers(failure, requestId);
    const lines = Object.entries(trailers).map(([name, value]) => `${name}: ${value}\r\n`);
    const envelope = writeEnvelope(trailersFlag, lines.join(""));
    if (!response.headersSent) writeHead(exchange, 200, headers);
    response.end(wire.text ? envelope.toString("base64") : envelope);
  },
};

// A client may flush, and so pad, its text at any point. Each part ends at its padding.
function fromText(text: string): Buffer {
  const parts = text.match(/[^=]+=*/g) ?? [];
  if (/[^A-Za-z0-9+/=]|={3}/.test(text) || parts.some((part) => part.length % 4 !== 0)) {
    throw fail("INVALID_ARGUMENT", { public: "The request's body is not valid base64." });
  }
  const bytes = Buffer.allocUnsafe((text.length / 4) * 3);
  let length = 0;
  for (const part of parts) length += bytes.write(part, length, "base64");
  return bytes.subarray(0, length);
}
