import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Edge } from "../../gateway/edge.ts";
import { formatAddress } from "../processes/shared-listeners.ts";
import type { SupervisedListeners } from "../processes/supervised-listeners.ts";
import type { ConnectionLimit, ConnectionRefusal } from "./connection-limit.ts";
import {
  announceEnd,
  type ConnectionTimeouts,
  enforceSessionTimeouts,
  limitResets,
  streamsMax,
} from "./http2-session.ts";
import { respondToParserError } from "./parser-error.ts";

/** A bound address that serves requests. */
export interface Listener {
  /** The bound `host:port`, with the actual port if 0 was requested. */
  readonly address: string;
  /**
   * Asks callers to disconnect and still serves them. HTTP/2 callers get an announcement immediately, on new connections
   * with their first request; HTTP/1.1 callers get `connection: close` with their next response. Resolves when the last
   * connection has closed or the time has passed. One that has not sent anything yet is not waited for, unless `waitsForSilent`.
   */
  drain(timeMs: number, waitsForSilent?: boolean): Promise<void>;
  /** Stops accepting connections. Resolves when the last exchange has ended or the grace period has passed. */
  close(graceMs: number): Promise<void>;
}

/** Certificates of a listener that requires client certificates. */
export interface MutualTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly clientCa: Buffer;
}

export interface ListenerOptions {
  readonly edge: Edge;
  readonly tls?: MutualTls | undefined;
  readonly timeouts: ConnectionTimeouts;
  readonly connections: ConnectionLimit;
  readonly onRefused: (refusal: ConnectionRefusal) => void;
  /** The base URL of the error documentation. */
  readonly errorsUrl: () => string;
  /** Has a supervisor bind the address. */
  readonly shared?: { readonly name: string; readonly listeners: SupervisedListeners } | undefined;
}

/** Where the connections of a listener come from. */
interface ConnectionSource {
  readonly address: string;
  /** Stops accepting connections. Resolves when the last one has closed. */
  close(): Promise<void>;
}

const headerBytesMax = 32 * 1024;
/** How often HTTP/1.1 connections are checked for late headers. */
const checkMs = 1000;
/** How long a closing listener waits for the first bytes of a new connection. */
const silentMs = 200;

/** Serves an edge on a `host:port` address, with HTTP/1.1 and HTTP/2 on the same port. */
export async function listen(address: string, options: ListenerOptions): Promise<Listener> {
  let draining = false;
  const sessions = new Set<http2.ServerHttp2Session>();
  const silent = new Set<Socket>();
  const server = options.tls === undefined ? plainServer(options, silent) : secureServer(options, options.tls);
  const connections = new Set<Socket>();
  limitConnections(server, options, connections);
  server.on("session", (session: http2.ServerHttp2Session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.on("error", () => session.destroy());
    enforceSessionTimeouts(session, options.timeouts);
    // A caller that gets a GOAWAY before its first request would have connected in vain.
    if (draining) session.once("stream", () => announceEnd(session));
  });
  const source = await openSource(server, address, connections, options);
  const stopLimitingResets = limitResets(sessions);

  const closeIdle = (silentUntilMs: number) => {
    if (server instanceof http.Server) server.closeIdleConnections();
    // A caller that has just connected is about to send a request.
    if (performance.now() >= silentUntilMs) for (const socket of silent) socket.destroy();
    // A session sends GOAWAY and closes itself when its last stream has ended.
    for (const session of sessions) session.close();
  };
  return {
    address: source.address,
    async drain(timeMs, waitsForSilent = false) {
      draining = true;
      for (const session of sessions) announceEnd(session);
      const untilMs = performance.now() + timeMs;
      const leftMax = () => (waitsForSilent ? 0 : silent.size);
      while (connections.size > leftMax() && performance.now() < untilMs) await delay(10);
    },
    async close(graceMs) {
      const closed = source.close();
      const silentUntilMs = performance.now() + Math.min(silentMs, graceMs);
      closeIdle(silentUntilMs);
      const poll = setInterval(closeIdle, 50, silentUntilMs);
      const grace = setTimeout(() => {
        for (const session of sessions) session.destroy();
        for (const socket of connections) socket.destroy();
      }, graceMs);
      await closed;
      clearInterval(poll);
      clearTimeout(grace);
      stopLimitingResets();
    },
  };
}

type Server = http.Server | http2.Http2SecureServer;
type Accept = (socket: Socket) => void;

/** Refuses connections over the limit before anything is read from them. */
function limitConnections(server: Server, { connections: limit, onRefused }: ListenerOptions, open: Set<Socket>): void {
  const accept = server.listeners("connection") as Accept[];
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    const release = limit.admit(socket.remoteAddress);
    if (typeof release === "string") {
      socket.destroy();
      onRefused(release);
      return;
    }
    open.add(socket);
    socket.once("close", () => {
      open.delete(socket);
      release();
    });
    for (const each of accept) each.call(server, socket);
  });
}

/**
 * One server accepts the connections; the first bytes of each select its protocol. `silent` holds connections that have
 * not sent anything and belong to no server yet.
 */
function plainServer(options: ListenerOptions, silent: Set<Socket>): Server {
  const { edge, timeouts } = options;
  // Requests without a Host or with an unknown Expect reach the edge too, so that they get a typed error.
  const server = http.createServer({ ...http1Options(timeouts), requireHostHeader: false });
  const overHttp2 = http2
    .createServer(http2Settings, edge)
    .on("checkContinue", edge)
    .on("session", (session) => server.emit("session", session));
  answerHttp1(server, options);
  const overHttp1 = server.listeners("connection") as Accept[];
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
    socket.setTimeout(timeouts.headerMs, () => socket.destroy());
    socket.on("error", () => socket.destroy());
    // A caller that disconnects without a request frees its connection immediately.
    const onEnd = () => socket.destroy();
    socket.on("end", onEnd);
    let start = Buffer.alloc(0);
    const onReadable = () => {
      const bytes: Buffer | null = socket.read();
      if (bytes === null) return;
      start = Buffer.concat([start, bytes]);
      const isHttp2 = preface.equals(start.subarray(0, preface.length));
      // The preface may arrive in several reads.
      if (!isHttp2 && start.length < preface.length && start.equals(preface.subarray(0, start.length))) return;
      socket.off("readable", onReadable);
      // An HTTP/2 caller that closes its side can neither grant windows nor acknowledge anything: it has disconnected.
      if (!isHttp2) socket.off("end", onEnd);
      silent.delete(socket);
      socket.setTimeout(0);
      socket.removeAllListeners("timeout");
      socket.unshift(start);
      if (isHttp2) overHttp2.emit("connection", socket);
      else for (const accept of overHttp1) accept.call(server, socket);
    };
    socket.on("readable", onReadable);
  });
  return server;
}

/** The start of HTTP/2's preface, which is no HTTP/1.1 method. */
const preface = Buffer.from("PRI");

function secureServer(options: ListenerOptions, { cert, key, clientCa }: MutualTls): Server {
  const server = http2.createSecureServer({
    ...http2Settings,
    cert,
    key,
    ca: clientCa,
    requestCert: true,
    rejectUnauthorized: true,
    allowHTTP1: true,
    minVersion: "TLSv1.2",
    handshakeTimeout: options.timeouts.headerMs,
    http1Options: http1Options(options.timeouts),
  } as http2.SecureServerOptions);
  answerHttp1(server, options);
  return server;
}

const http2Settings = {
  settings: { maxConcurrentStreams: streamsMax, maxHeaderListSize: headerBytesMax },
  // limitResets() takes the place of nghttp2's own limit.
  streamResetBurst: 1_000_000,
  streamResetRate: 1_000_000,
};

function http1Options({ headerMs, idleMs }: ConnectionTimeouts): http.ServerOptions {
  return {
    maxHeaderSize: headerBytesMax,
    headersTimeout: headerMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: checkMs,
    // The gateway limits the time of a body, so that a late body gets a typed error in its own protocol.
    requestTimeout: 0,
  };
}

/** Passes requests to the edge, and responds to invalid HTTP with a problem. */
function answerHttp1(server: Server, { edge, errorsUrl, timeouts }: ListenerOptions): void {
  // The latest response on each connection.
  const responses = new WeakMap<object, http.ServerResponse>();
  const handle: Edge = (request, response) => {
    if (request.httpVersionMajor === 1) responses.set(request.socket, response as http.ServerResponse);
    edge(request, response);
  };
  // The edge decides whether a caller that waits for "100 Continue" may send its body.
  for (const event of ["request", "checkContinue", "checkExpectation"]) server.on(event, handle);
  server.on("clientError", (error: Error, socket: Socket) =>
    respondToParserError(error, socket, responses.get(socket), errorsUrl(), timeouts.headerMs),
  );
}

async function openSource(
  server: Server,
  address: string,
  connections: ReadonlySet<Socket>,
  { shared }: ListenerOptions,
): Promise<ConnectionSource> {
  if (shared === undefined) {
    await bind(server, address);
    return {
      address: formatAddress(server.address() as AddressInfo),
      close: () => new Promise((resolve) => server.close(() => resolve())),
    };
  }
  const result = await shared.listeners.listen(shared.name, splitAddress(address), server);
  if ("message" in result) throw bindError(address, Object.assign(new Error(result.message), { code: result.code }));
  // The server starts to watch its connections now, as if it had bound the address itself.
  server.emit("listening");
  return {
    address: result.address,
    async close() {
      await shared.listeners.close();
      // Without an address, this only ends the watch.
      server.close();
      while (connections.size > 0) await delay(10);
    },
  };
}

function splitAddress(address: string): { readonly host: string; readonly port: number } {
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, colon).replace(/^\[|\]$/g, "");
  const port = Number(address.slice(colon + 1));
  if (colon < 0 || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`${address} is not a valid address: use host:port (for example: 127.0.0.1:8080)`);
  }
  return { host, port };
}

async function bind(server: Server, address: string): Promise<void> {
  const { host, port } = splitAddress(address);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => reject(bindError(address, cause)));
    server.listen({ port, ...(host !== "" && { host }) }, () => resolve());
  });
}

function bindError(address: string, cause: NodeJS.ErrnoException): Error {
  const reason = cause.code === "EADDRINUSE" ? "the port is in use" : cause.message;
  return new Error(`Cannot listen on ${address}: ${reason}`, { cause });
}
