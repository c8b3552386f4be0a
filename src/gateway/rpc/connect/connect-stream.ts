import { headerOf, writeHead } from "../../exchange.ts";
import { connectEncodings } from "../codec/compression.ts";
import { writeEnvelope } from "../codec/envelope.ts";
import { headersOf } from "../error-details.ts";
import type { Ending, Framing } from "../framed.ts";
import { responseOf } from "../reply.ts";
import { connectTimeoutMs } from "../timeout.ts";
import { connectErrorOf } from "./connect-error.ts";

const endStreamFlag = 0x02;

/** The streams of Connect: always status 200, and a last envelope that tells how the stream ended. */
export const connectStream: Framing = {
  protocol: "connect",
  encodings: connectEncodings,
  encodingHeader: "connect-content-encoding",
  acceptEncodingHeader: "connect-accept-encoding",
  timeoutMs: ({ request }) => connectTimeoutMs(headerOf(request, "connect-timeout-ms")),
  end: (ending) => {
    const response = responseOf(ending.exchange);
    if (!response.headersSent) writeHead(ending.exchange, 200, ending.headers);
    response.end(writeEnvelope(endStreamFlag, JSON.stringify(endOfStream(ending))));
  },
};

function endOfStream({ failure, requestId }: Ending) {
  if (failure === undefined) return {};
  const metadata = Object.entries(headersOf(failure)).map(([name, value]) => [name, [value]]);
  return { error: connectErrorOf(failure, requestId), metadata: Object.fromEntries(metadata) };
}
