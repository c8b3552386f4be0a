import { once } from "node:events";
import { connect, createServer, type ListenOptions, type NetConnectOpts, type Socket } from "node:net";
import { socketHost } from "../../../platform/db/embedded/socket-host.ts";
import { bracketless } from "../../../platform/db/sql/connection-settings.ts";

/** A TCP proxy to a PostgreSQL server that can be frozen, cut, slowed and redirected while its address stays the same. */
export interface TcpProxy {
  /** 0 if it listens on a Unix socket. */
  readonly port: number;
  /** The number of connected clients. */
  readonly size: number;
  /** Stops forwarding in both directions; connections stay open and new ones are accepted. */
  freeze(): void;
  /** Resumes forwarding, starting with the data received meanwhile. */
  thaw(): void;
  /** Closes all connections, and closes new ones at once until it is joined again. */
  cut(): void;
  join(): void;
  /** Delays all data in both directions; 0 ends it. */
  slow(delayMs: number): void;
  /** Redirects new connections to another server. */
  lead(to: NetConnectOpts): void;
  close(): Promise<void>;
}

/** Where the server of a database URL listens. */
export function addressOf(url: string): NetConnectOpts {
  const folder = socketHost(url);
  const { hostname, port } = new URL(url);
  return folder === undefined
    ? { host: bracketless(hostname), port: Number(port || 5432) }
    : { path: `${folder}/.s.PGSQL.${port || 5432}` };
}

/** Starts a proxy that listens on a free port of this machine, or elsewhere. */
export async function startTcpProxy(
  to: NetConnectOpts,
  at: ListenOptions = { host: "127.0.0.1", port: 0 },
): Promise<TcpProxy> {
  let target = to;
  let isFrozen = false;
  let isCut = false;
  let delayMs = 0;
  const pairs = new Set<readonly [client: Socket, upstream: Socket]>();
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (client) => {
    if (isCut) return void client.destroy();
    const pair = [client, connect({ ...target, allowHalfOpen: true })] as const;
    pairs.add(pair);
    for (const [from, onto] of [pair, pair.toReversed() as [Socket, Socket]]) {
      const forward = createForwarding(onto, () => delayMs);
      from.on("data", (chunk) => forward(() => onto.write(chunk)));
      from.on("end", () => forward(() => onto.end()));
      from.on("error", () => {});
      from.on("close", () => {
        onto.destroy();
        pairs.delete(pair);
      });
      if (isFrozen) from.pause();
      else from.resume();
    }
  });
  server.listen(at);
  await once(server, "listening");
  const address = server.address();
  const sockets = () => [...pairs].flat();
  return {
    port: typeof address === "object" ? address!.port : 0,
    get size() {
      return pairs.size;
    },
    freeze() {
      isFrozen = true;
      for (const socket of sockets()) socket.pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of sockets()) socket.resume();
    },
    cut() {
      isCut = true;
      for (const socket of sockets()) socket.destroy();
    },
    join() {
      isCut = false;
    },
    slow(ms) {
      delayMs = ms;
    },
    lead(other) {
      target = other;
    },
    async close() {
      server.close();
      for (const socket of sockets()) socket.destroy();
      await once(server, "close");
    },
  };
}

/** Runs what a socket is to do after the current delay, in order. */
function createForwarding(socket: Socket, delayMs: () => number): (work: () => void) => void {
  // One timer, because timers of different lengths that are due at the same time may fire in any order.
  const waiting: { readonly dueMs: number; readonly work: () => void }[] = [];
  function runDue(): void {
    while (waiting.length > 0 && waiting[0]!.dueMs <= performance.now()) {
      const { work } = waiting.shift()!;
      if (!socket.destroyed) work();
    }
    wait();
  }
  function wait(): void {
    if (waiting.length > 0) setTimeout(runDue, Math.max(0, waiting[0]!.dueMs - performance.now())).unref();
  }
  return (work) => {
    const ms = delayMs();
    if (ms === 0 && waiting.length === 0) return work();
    waiting.push({ dueMs: performance.now() + ms, work });
    if (waiting.length === 1) wait();
  };
}
