import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** A gateway that takes messages and never answers. */
export interface Holding {
  readonly url: string;
  /** Resolves when the first message is there. */
  readonly reached: Promise<void>;
  count(): number;
}

/** Starts a gateway that never answers; it is closed after the test. */
export async function startsHolding(t: TestContext): Promise<Holding> {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  let count = 0;
  const server = http.createServer((request) => {
    request.resume();
    request.on("end", () => {
      count++;
      resolve();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, reached, count: () => count };
}
