import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { before, type TestContext, test } from "node:test";
import { afterFile } from "../harness/after-file.ts";
import { connectTo, encodeGet, encodePreface, resetRequests } from "../harness/http2-frames.ts";
import { describeLateness, type LoopLateness, startWatchedNode, type WatchedNode } from "../harness/loop-lateness.ts";
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

/** A neighbour of the attacker waits at most this long, and the node holds at most this much memory. */
const lateMsMax = 100;
const rssBytesMax = 500 * 2 ** 20;

function assertServes(t: TestContext, lateness: LoopLateness): void {
  t.diagnostic(describeLateness(lateness));
  assert.ok(lateness.p999Ms <= lateMsMax && lateness.rssMaxBytes <= rssBytesMax, describeLateness(lateness));
}

/** Opens connections that send some bytes and never read. */
async function openUnread(t: TestContext, count: number, bytes: Buffer | string): Promise<void> {
  const sockets: Promise<Socket>[] = [];
  for (let nth = 0; nth < count; nth++) sockets.push(connectTo(node.baseUrl));
  for (const socket of await Promise.all(sockets)) {
    t.after(() => socket.destroy());
    socket.pause().write(bytes);
  }
}

/** Calls the node as a neighbour does, until it has answered the requests before. */
async function callAsNeighbour(): Promise<void> {
  for (let nth = 0; nth < 50; nth++) assert.equal((await fetch(`${node.baseUrl}/health`)).status, 200);
}

test("ten scrapers of the metrics of every operation do not delay other callers", async (t) => {
  for (const protocol of protocols) {
    for (const operation of operations) {
      await callOperation(protocol, operation, { baseUrl: node.baseUrl, headers: {} }, {});
    }
  }
  const scrape = async () => {
    for (let nth = 0; nth < 30; nth++) await (await fetch(`${node.baseUrl}/metrics`)).text();
  };
  assertServes(t, await node.watchLoop(() => Promise.all(Array.from({ length: 10 }, scrape))));
});

test("300 callers that do not read the OpenAPI document do not delay other callers", async (t) => {
  await (await fetch(`${node.baseUrl}/openapi.yaml`)).text();
  const lateness = await node.watchLoop(async () => {
    await openUnread(t, 300, "GET /openapi.yaml HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await callAsNeighbour();
  });
  assertServes(t, lateness);
});

test("250 streams that do not read the OpenAPI document hold no memory of their own", async (t) => {
  const streams = Array.from({ length: 250 }, (_, nth) => encodeGet(2 * nth + 1, "/openapi.yaml"));
  const lateness = await node.watchLoop(async () => {
    await openUnread(t, 4, Buffer.concat([encodePreface(0), ...streams]));
    await callAsNeighbour();
  });
  assertServes(t, lateness);
});

test("20,000 requests that are reset on one connection do not delay other callers", async (t) => {
  const lateness = await node.watchLoop(async () => {
    await openUnread(t, 1, Buffer.concat([encodePreface(), ...resetRequests(20_000)]));
    await callAsNeighbour();
  });
  assertServes(t, lateness);
});
