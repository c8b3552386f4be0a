import { headerOf, writeHead } from "../../exchange.ts";
import { connectEncodings } from "../codec/compression.ts";
import { writeEnvelope } from "../codec/envelope.ts";
import type { EnvelopeProtocol, ResponseEnd } from "../envelope-protocol.ts";
import { headersOf } from "../error-details.ts";
import { responseOf } from "../response.ts";
import { connectTimeoutMs } from "../timeout.ts";
import { toConnectError } from "./connect-error.ts";

const endStreamFlag = 0x02;

/** Connect's streaming protocol: the status is always 200, and the last envelope contains the result. */
export const connectStream: EnvelopeProtocol = {
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

function endOfStream({ failure, requestId }: ResponseEnd) {
  if (failure === undefined) return {};
  const metadata = Object.entries(headersOf(failure)).map(([name, value]) => [name, [value]]);
  return { error: toConnectError(failure, requestId), metadata: Object.fromEntries(metadata) };
}
