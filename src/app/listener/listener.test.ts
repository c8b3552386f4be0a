import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import {
  connectTo,
  decodeFrames,
  encodeFrame,
  encodeGet,
  encodePreface,
  frameTypes,
  type ReceivedFrame,
  resetRequests,
} from "../../../test/harness/http2-frames.ts";
import { until } from "../../../test/harness/until.ts";
import type { Edge } from "../../gateway/edge.ts";
import { createConnectionLimit } from "./connection-limit.ts";
import { listen } from "./listener.ts";

/** A listener, its sessions over HTTP/2 in the order of their first requests, and a function that connects a caller. */
async function newListener(t: TestContext, respond: Edge = (_, response) => response.end()) {
  const sessions = new Set<http2.Http2Session>();
  const listener = await listen("127.0.0.1:0", {
    edge: (request, response) => {
      const { session } = (request as http2.Http2ServerRequest).stream;
      if (session !== undefined) sessions.add(session);
      respond(request, response);
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

/** Opens a connection that sends frames, and collects those of the listener. */
async function openRaw(t: TestContext, address: string) {
  const socket = await connectTo(`http://${address}`);
  t.after(() => socket.destroy());
  let received = Buffer.alloc(0);
  socket.on("data", (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
  });
  return { socket, framesOf: (type: number) => decodeFrames(received).filter((frame) => frame.type === type) };
}

const settingsAck = encodeFrame(frameTypes.settings, 1, 0);

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

test("a request that crosses the announcement of a drain is served", async (t) => {
  const { listener, connectCaller } = await newListener(t);
  const caller = connectCaller();
  assert.equal(await statusOf(caller), 200);
  const announced = once(caller, "goaway");
  const drained = listener.drain(10_000);
  assert.equal(await statusOf(caller), 200);
  assert.deepEqual((await announced).slice(0, 2), [http2.constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1]);
  await drained;
});

test("requests are served between the announcement of a drain and the GOAWAY that names the last of them", async (t) => {
  const { listener } = await newListener(t);
  const caller = await openRaw(t, listener.address);
  caller.socket.write(Buffer.concat([encodePreface(), settingsAck, encodeGet(1, "/")]));
  await until(() => caller.framesOf(frameTypes.headers).length === 1);
  const drained = listener.drain(60_000);
  await until(() => caller.framesOf(frameTypes.goaway).length === 1);
  for (const stream of [3, 5]) caller.socket.write(encodeGet(stream, "/"));
  await until(() => caller.framesOf(frameTypes.headers).length === 3);
  const closed = listener.close(60_000);
  const lastStreams = () => caller.framesOf(frameTypes.goaway).map(({ payload }) => payload.readUInt32BE(0));
  await until(() => lastStreams().length > 1);
  assert.deepEqual(lastStreams().slice(0, 2), [2 ** 31 - 1, 5]);
  caller.socket.end();
  await Promise.all([drained, closed]);
});

test("a session ends with ENHANCE_YOUR_CALM when its caller resets more requests than it may have open", async (t) => {
  const { listener, sessions } = await newListener(t);
  const caller = await openRaw(t, listener.address);
  caller.socket.write(Buffer.concat([encodePreface(), ...resetRequests(20_000)]));
  await until(() => caller.framesOf(frameTypes.goaway).length === 1);
  const [{ payload }] = caller.framesOf(frameTypes.goaway) as [ReceivedFrame];
  assert.equal(payload.readUInt32BE(4), http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  await until(() => [...sessions].every(({ closed }) => closed));
});

test("a caller may reset everything that it has open", async (t) => {
  const { listener } = await newListener(t);
  const caller = await openRaw(t, listener.address);
  caller.socket.write(Buffer.concat([encodePreface(), ...resetRequests(250), encodeGet(501, "/")]));
  await until(() => caller.framesOf(frameTypes.headers).some(({ stream }) => stream === 501));
  assert.deepEqual(caller.framesOf(frameTypes.goaway), []);
});

test("the requests of an HTTP/2 caller that closes its side are closed at once", async (t) => {
  const arrived = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const { listener } = await newListener(t, (_, response) => {
    response.once("close", closed.resolve);
    arrived.resolve();
  });
  const { socket } = await openRaw(t, listener.address);
  socket.write(Buffer.concat([encodePreface(), encodeGet(1, "/")]));
  await arrived.promise;
  socket.end();
  await closed.promise;
});

test("a caller that connects during a drain gets its response, and then a GOAWAY", async (t) => {
  const { listener, connectCaller } = await newListener(t);
  await listener.drain(0);
  const caller = connectCaller();
  const announced = once(caller, "goaway");
  assert.equal(await statusOf(caller), 200);
  await announced;
});
