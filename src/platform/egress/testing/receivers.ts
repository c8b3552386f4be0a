import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { afterFile } from "../../../../test/harness/after-file.ts";

/** A local HTTP server for tests. */
export interface Receiver {
  readonly port: number;
  /** The received requests, in order. */
  readonly requests: IncomingMessage[];
  /** The number of accepted connections. */
  connections(): number;
}

/** Starts a server on a loopback address; by default it responds with 200 and "here". */
export async function startReceiver(
  listener: RequestListener = (_request, response) => response.end("here"),
  { address = "127.0.0.1", tls }: { address?: string; tls?: { cert: string; key: string } } = {},
): Promise<Receiver> {
  const requests: IncomingMessage[] = [];
  const handle: RequestListener = (request, response) => {
    requests.push(request);
    listener(request, response);
  };
  const server = tls === undefined ? createServer(handle) : createSecureServer(tls, handle);
  let connections = 0;
  server.on(tls === undefined ? "connection" : "secureConnection", () => connections++);
  server.listen(0, address);
  await once(server, "listening");
  afterFile(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, requests, connections: () => connections };
}

/** Starts a TCP server that hands each connection to a callback. */
export async function startRawReceiver(onConnection: (socket: Socket) => void): Promise<{ port: number }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterFile(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port };
}
