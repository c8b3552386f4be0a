import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { createConnectionLimit } from "./connection-limit.ts";
import { listen } from "./listener.ts";

/** A listener, its sessions over HTTP/2 in the order of their first requests, and a function that connects a caller. */
async function newListener(t: TestContext) {
  const sessions = new Set<http2.Http2Session>();
  const listener = await listen("127.0.0.1:0", {
    edge: (request, response) => {
      sessions.add((request as http2.Http2ServerRequest).stream.session!);
      response.end();
    },
    timeouts: { headerMs: 60_000, idleMs: 60_000 },
    connections: createConnectionLimit({ max: 10, maxPerAddress: 10, proxyNetworks: [] }),
    onRefused: (limit) => assert.fail(`refused: ${limit}`),
    errorsUrl: () => "",
  });
  t.after(() => listener.close(0));
  const connectCaller = () => {
    const caller = http2.connect(`http://${listener.address}`);
    // The server may reset the connection.
    caller.on("error", () => {});
    t.after(() => caller.destroy());
    return caller;
  };
  return { listener, sessions, connectCaller };
}

/** Sends a request and waits for its end; returns its status or the error code of its stream. */
async function statusOf(caller: http2.ClientHttp2Session): Promise<number | string> {
  const request = caller.request();
  let status = 0;
  request.on("response", (headers) => {
    status = headers[":status"]!;
  });
  request.on("error", () => {});
  await new Promise((resolve) => request.resume().once("close", resolve));
  return request.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM ? "refused" : status;
}

async function isOpen(address: string): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port: Number(address.split(":").at(-1)) });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

test("a session that is destroyed when the drain begins keeps neither the other callers nor the listener open", async (t) => {
  const { listener, sessions, connectCaller } = await newListener(t);
  const [one, other] = [connectCaller(), connectCaller()];
  for (const caller of [one, other]) assert.equal(await statusOf(caller), 200);
  const announced = once(other, "goaway");
  const [destroyed] = sessions;
  // In the tick in which the drain begins: the session's close event comes later.
  destroyed!.destroy();
  const drained = listener.drain(100);
  await announced;
  await drained;
  await listener.close(1000);
  assert.equal(await isOpen(listener.address), false);
});

test("a request that crosses the GOAWAY of a drain is refused, so that its caller can retry it", async (t) => {
  const { listener, connectCaller } = await newListener(t);
  const caller = connectCaller();
  assert.equal(await statusOf(caller), 200);
  const drained = listener.drain(10_000).then(() => "nothing");
  assert.equal(await Promise.race([statusOf(caller), drained]), "refused");
});

test("a caller that connects during a drain gets its response, and then a GOAWAY", async (t) => {
  const { listener, connectCaller } = await newListener(t);
  await listener.drain(0);
  const caller = connectCaller();
  const announced = once(caller, "goaway");
  assert.equal(await statusOf(caller), 200);
  await announced;
});
