import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { before, type TestContext, test } from "node:test";
import { afterFile } from "../harness/after-file.ts";
import { discardDocument } from "../harness/http-client.ts";
import { connectTo, encodeGet, encodePreface, resetRequests } from "../harness/http2-frames.ts";
import { startWatchedNode, type WatchedNode } from "../harness/loop-lateness.ts";
import { operations } from "../harness/operations.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { callOperation, protocols } from "../harness/wire.ts";

let node: WatchedNode;
before(async () => {
  const database = await freshDatabase();
  afterFile(() => database.drop());
  node = await startWatchedNode({ "database.url": database.url });
  afterFile(() => node.kill());
});

/** Opens connections that send some bytes and never read, runs an action and closes them. */
async function withUnread(count: number, bytes: Buffer | string, action: () => Promise<void>): Promise<void> {
  const opening: Promise<Socket>[] = [];
  for (let nth = 0; nth < count; nth++) opening.push(connectTo(node.baseUrl));
  const sockets = await Promise.all(opening);
  try {
    for (const socket of sockets) socket.pause().write(bytes);
    await action();
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** Calls the node as a neighbour does, until it has answered the requests before. */
async function callAsNeighbour(): Promise<void> {
  for (let nth = 0; nth < 50; nth++) assert.equal((await fetch(`${node.baseUrl}/health`)).status, 200);
}

test("ten scrapers of the metrics of every operation do not delay other callers", async (t) => {
  for (const operation of operations) {
    await Promise.all(
      protocols.map((protocol) => callOperation(protocol, operation, { baseUrl: node.baseUrl, headers: {} }, {})),
    );
  }
  const scrape = async () => {
    for (let nth = 0; nth < 15; nth++) await discardDocument(`${node.baseUrl}/metrics`);
  };
  await node.assertServesDuring(() => Promise.all(Array.from({ length: 10 }, scrape)), logTo(t));
});

test("300 callers that do not read the OpenAPI document do not delay other callers", async (t) => {
  await discardDocument(`${node.baseUrl}/openapi.yaml`);
  const request = "GET /openapi.yaml HTTP/1.1\r\nhost: localhost\r\n\r\n";
  await node.assertServesDuring(() => withUnread(300, request, callAsNeighbour), logTo(t));
});

test("250 streams that do not read the OpenAPI document hold no memory of their own", async (t) => {
  const streams = Array.from({ length: 250 }, (_, nth) => encodeGet(2 * nth + 1, "/openapi.yaml"));
  const bytes = Buffer.concat([encodePreface(0), ...streams]);
  await node.assertServesDuring(() => withUnread(4, bytes, callAsNeighbour), logTo(t));
});

test("20,000 requests that are reset on one connection do not delay other callers", async (t) => {
  const bytes = Buffer.concat([encodePreface(), ...resetRequests(20_000)]);
  await node.assertServesDuring(() => withUnread(1, bytes, callAsNeighbour), logTo(t));
});

function logTo(t: TestContext): (measured: string) => void {
  return (measured) => t.diagnostic(measured);
}
