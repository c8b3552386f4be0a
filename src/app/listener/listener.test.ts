import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { createConnectionLimit } from "./connection-limit.ts";
import { listen } from "./listener.ts";

/** A listener and two callers over HTTP/2, each with its session on the server. */
async function listenerWithCallers(t: TestContext) {
  const sessions: http2.ServerHttp2Session[] = [];
  const listener = await listen("127.0.0.1:0", {
    edge: (request, response) => {
      sessions.push((request as http2.Http2ServerRequest).stream.session as http2.ServerHttp2Session);
      response.end();
    },
    timeouts: { headerMs: 10_000, idleMs: 10_000 },
    connections: createConnectionLimit({ max: 10, maxPerAddress: 10, proxyNetworks: [] }),
    onRefused: (limit) => assert.fail(`refused: ${limit}`),
    errorsUrl: () => "",
  });
  t.after(() => listener.close(0));
  const callers: http2.ClientHttp2Session[] = [];
  for (let nth = 0; nth < 2; nth++) {
    const caller = http2.connect(`http://${listener.address}`);
    // A destroyed session on the server resets the caller's connection.
    caller.on("error", () => {});
    t.after(() => caller.destroy());
    await once(caller.request().resume(), "end");
    callers.push(caller);
  }
  return { listener, sessions, callers };
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
  const { listener, sessions, callers } = await listenerWithCallers(t);
  const [destroyed, other] = [sessions[0]!, callers[1]!];
  const announced = once(other, "goaway").then(() => other.destroy());
  destroyed.destroy();
  // In the same tick: the session's close event has not been emitted yet.
  assert.equal(destroyed.destroyed, true);
  const drained = listener.drain(10_000);
  await Promise.all([announced, drained.then(() => listener.close(10_000))]);
  assert.equal(await isOpen(listener.address), false);
});
