import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type Failure, fail } from "../../errors/index.ts";
import { toProblemJson } from "../../gateway/rest/problem.ts";

type ParserError = NodeJS.ErrnoException & { readonly reason?: string };

/**
 * Responds to invalid HTTP with a problem and ends the connection. `response` is the latest response on the connection;
 * nothing can be sent in the middle of it. The peer has `lingerMs` to read the problem and close its side.
 */
export function respondToParserError(
  error: ParserError,
  socket: Duplex,
  response: ServerResponse | undefined,
  errorsUrl: string,
  lingerMs: number,
): void {
  const isResponding = response?.headersSent === true && !response.writableFinished;
  if (!socket.writable || error.code === "ECONNRESET" || isResponding) {
    socket.destroy();
    return;
  }
  const failure = failureOf(error);
  const requestId = randomUUID();
  const body = toProblemJson(failure, errorsUrl, requestId);
  const head = [
    `HTTP/1.1 ${failure.entry.http} ${failure.entry.title}`,
    "content-type: application/problem+json",
    `content-length: ${Buffer.byteLength(body)}`,
    "cache-control: no-store",
    `x-request-id: ${requestId}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  // Destroying the socket immediately could reset the connection before the peer has read the response.
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}

function failureOf(error: ParserError): Failure {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return fail("HEADERS_TOO_LARGE", { cause: error });
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return fail("PAYLOAD_TOO_LARGE", { public: "The request's chunk extensions are too large.", cause: error });
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return fail("REQUEST_TIMEOUT", { public: "The request's headers did not arrive in time.", cause: error });
    default: {
      const reason = error.reason === undefined ? "" : `: ${error.reason}`;
      return fail("INVALID_ARGUMENT", { public: `The request is not valid HTTP${reason}.`, cause: error });
    }
  }
}
