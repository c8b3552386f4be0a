import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startTcpProxy } from "./database-proxy.ts";

test("what passes a proxy keeps its order, however its delay changes", async (t) => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy = await startTcpProxy({ host: "127.0.0.1", port: (server.address() as AddressInfo).port });
  t.after(async () => {
    await proxy.close();
    server.close();
  });
  const [client, [accepted]] = await Promise.all([connect(proxy.port, "127.0.0.1"), once(server, "connection")]);
  client.setNoDelay(true);
  const received = text(accepted);
  const sent = Array.from({ length: 600 }, (_, nth) => `${nth} `);
  for (const [nth, part] of sent.entries()) {
    // Each chunk would be due about when the one before is.
    proxy.slow(20 - (nth % 20));
    client.write(part);
    await delay(1);
  }
  client.end();
  assert.equal(await received, sent.join(""));
});
