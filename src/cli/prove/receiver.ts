import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";

/** A write that has arrived. */
export interface Arrival {
  readonly subject: string;
  readonly atMs: number;
  /** Counts all that have arrived, from 1. */
  readonly number: number;
}

/** A provider on this machine. It performs every request that arrives, also a repeated one. */
export interface Receiver {
  readonly url: string;
  /** Returns and forgets what arrived for subjects that start so. */
  arrivals(prefix: string): readonly Arrival[];
  close(): void;
}

/** Starts the receiver, which takes so long to answer that nodes die meanwhile. */
export async function startReceiver(now: () => number, answerMs = 30): Promise<Receiver> {
  let arrived: Arrival[] = [];
  let count = 0;
  const server = createServer(async (request, response) => {
    const body = (await json(request).catch(() => undefined)) as { readonly subject?: string } | undefined;
    if (body?.subject !== undefined) arrived.push({ subject: body.subject, atMs: now(), number: ++count });
    await delay(answerMs);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals(prefix) {
      const found = arrived.filter(({ subject }) => subject.startsWith(prefix));
      arrived = arrived.filter(({ subject }) => !subject.startsWith(prefix));
      return found;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
