import { fail } from "../../../errors/index.ts";
import { writeHead } from "../../exchange.ts";
import { writeEnvelope } from "../codec/envelope.ts";
import type { Framing } from "../framed.ts";
import { responseOf } from "../reply.ts";
import { grpc } from "./grpc.ts";
import { grpcOk, grpcTrailersOf } from "./grpc-status.ts";

const trailersFlag = 0x80;

/** gRPC-Web: gRPC for browsers, which see no trailers, so these come as a last envelope. */
export const grpcWeb: Framing = {
  ...grpc,
  protocol: "grpc_web",
  unwrap: (body, { text }) => (text ? fromText(body.toString("latin1")) : body),
  wrap: (bytes, { text }) => (text ? bytes.toString("base64") : bytes),
  end: ({ exchange, wire, headers, failure, requestId }) => {
    const response = responseOf(exchange);
    // In the body even when nothing else is: a browser hides headers that CORS does not expose.
    const trailers = failure === undefined ? grpcOk : grpcTrailersOf(failure, requestId);
    const lines = Object.entries(trailers).map(([name, value]) => `${name}: ${value}\r\n`);
    const envelope = writeEnvelope(trailersFlag, lines.join(""));
    if (!response.headersSent) writeHead(exchange, 200, headers);
    response.end(wire.text ? envelope.toString("base64") : envelope);
  },
};

// A client may flush, and so pad, its text at any point: each part ends at its padding, and what follows starts anew.
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
