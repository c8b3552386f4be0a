import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { Edge } from "../gateway/edge.ts";

/** A port that is being served. */
export interface Listener {
  /** `host:port` as it was bound, with the port that was found when 0 was asked for. */
  readonly address: string;
  /** Takes no more connections, and resolves when the last exchange has ended or the grace is over. */
  close(graceMs: number): Promise<void>;
}

/** Certificates of a listener that speaks TLS and takes only callers with a certificate. */
export interface MutualTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly clientCa: Buffer;
}

const headersTimeoutMs = 15_000;
const headerBytesMax = 32 * 1024;

/** Serves an edge on an address `host:port`: HTTP/1.1 and HTTP/2 on the one port. */
export async function listen(address: string, edge: Edge, tls?: MutualTls): Promise<Listener> {
  let stopping = false;
  const handle: Edge = (request, response) => {
    if (stopping && request.httpVersionMajor === 1) response.setHeader("connection", "close");
    edge(request, response);
  };
  const sessions = new Set<http2.ServerHttp2Session>();
  const silent = new Set<Socket>();
  const server = tls === undefined ? plainServer(handle, sessions, silent) : secureServer(handle, sessions, tls);
  // Whatever a connection speaks, or fails to speak.
  const connections = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  await bind(server, address);

  const idle = () => {
    if (server instanceof http.Server) server.closeIdleConnections();
    for (const socket of silent) socket.destroy();
    // A session says goodbye and closes itself when its last stream has ended.
    for (const session of sessions) session.close();
  };
  return {
    address: boundAddress(server),
    async close(graceMs) {
      stopping = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      idle();
      const poll = setInterval(idle, 50);
      const grace = setTimeout(() => {
        for (const session of sessions) session.destroy();
        for (const socket of connections) socket.destroy();
      }, graceMs);
      await closed;
      clearInterval(poll);
      clearTimeout(grace);
    },
  };
}

type Server = http.Server | http2.Http2SecureServer;

/**
 * One server takes the connections; the first bytes of each tell which protocol it speaks. Those that have not said
 * anything yet are in `silent`: no server knows of them.
 */
function plainServer(handle: Edge, sessions: Set<http2.ServerHttp2Session>, silent: Set<Socket>): Server {
  const settings = { headersTimeout: headersTimeoutMs, maxHeaderSize: headerBytesMax, requireHostHeader: false };
  // Without a Host, or with an expectation that nobody knows, a request goes its way too: so it gets a typed answer.
  const server = http.createServer(settings, handle).on("checkExpectation", handle);
  const overHttp2 = http2.createServer(http2Settings, handle);
  track(overHttp2, sessions);
  const overHttp1 = server.listeners("connection") as ((socket: Socket) => void)[];
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
    socket.setTimeout(headersTimeoutMs, () => socket.destroy());
    socket.on("error", () => socket.destroy());
    const look = () => {
      const start: Buffer | null = socket.read();
      if (start === null) return;
      socket.off("readable", look);
      silent.delete(socket);
      socket.setTimeout(0);
      socket.removeAllListeners("timeout");
      socket.unshift(start);
      // "PRI" begins HTTP/2's preface and no HTTP/1.1 verb.
      if (start.subarray(0, 3).toString("latin1") === "PRI") overHttp2.emit("connection", socket);
      else for (const accept of overHttp1) accept.call(server, socket);
    };
    socket.on("readable", look);
  });
  server.on("clientError", answerClientError);
  return server;
}

function secureServer(
  handle: Edge,
  sessions: Set<http2.ServerHttp2Session>,
  { cert, key, clientCa }: MutualTls,
): Server {
  const server = http2.createSecureServer(
    {
      ...http2Settings,
      cert,
      key,
      ca: clientCa,
      requestCert: true,
      rejectUnauthorized: true,
      allowHTTP1: true,
      minVersion: "TLSv1.2",
    },
    handle,
  );
  track(server, sessions);
  return server;
}

const http2Settings = { settings: { maxConcurrentStreams: 250, maxHeaderListSize: headerBytesMax } };

function track(server: http2.Http2Server | http2.Http2SecureServer, sessions: Set<http2.ServerHttp2Session>): void {
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.on("error", () => session.destroy());
  });
}

/** What cannot even be parsed as HTTP gets a plain answer with the right status. */
function answerClientError(error: NodeJS.ErrnoException, socket: import("node:stream").Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const status =
    error.code === "HPE_HEADER_OVERFLOW"
      ? "431 Request Header Fields Too Large"
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? "408 Request Timeout"
        : "400 Bad Request";
  const body = JSON.stringify({
    type: "about:blank",
    title: status.slice(4),
    status: Number(status.slice(0, 3)),
    detail: "The request is not valid HTTP.",
    errorCode: "INVALID_ARGUMENT",
    retryable: false,
  });
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

function bind(server: Server, address: string): Promise<void> {
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, colon).replace(/^\[|\]$/g, "");
  const port = Number(address.slice(colon + 1));
  if (colon < 0 || !Number.isInteger(port) || port < 0 || port > 65_535) {
    return Promise.reject(new Error(`${address} is not an address host:port`));
  }
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) =>
      reject(
        new Error(
          `Cannot listen on ${address}: ${cause.code === "EADDRINUSE" ? "the port is in use" : cause.message}`,
          { cause },
        ),
      ),
    );
    server.listen({ port, ...(host !== "" && { host }) }, () => resolve());
  });
}

function boundAddress(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
