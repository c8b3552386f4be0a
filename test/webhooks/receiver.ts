import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterFile } from "../harness/after-file.ts";

/** A received message. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A webhook receiver for tests. */
export interface Receiver {
  /** The URL of a path on this receiver. */
  url(path?: string): string;
  /** The received messages in order, optionally of one path. */
  received(path?: string): Received[];
  /** Sets the status of the next responses on a path; the default is 200. */
  answer(path: string, how: number | ((response: ServerResponse) => void)): void;
}

/** Starts a local receiver that is stopped after the last test of the file. */
export async function startReceiver(): Promise<Receiver> {
  const all: Received[] = [];
  const answers = new Map<string, number | ((response: ServerResponse) => void)>();
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    all.push({ path: request.url!, headers: request.headers, body });
    const how = answers.get(request.url!) ?? 200;
    if (typeof how === "number") response.writeHead(how).end();
    else how(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterFile(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: (path = "/") => `http://127.0.0.1:${port}${path}`,
    received: (path) => (path === undefined ? all : all.filter((each) => each.path === path)),
    answer: (path, how) => answers.set(path, how),
  };
}
