import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { until } from "../../test/harness/until.ts";
import type { Exchange } from "./exchange.ts";
import { createMetricsHandler } from "./health.ts";
import { createDocument, sendDocument } from "./shared-document.ts";

/** Serves exchanges; returns a function that sends a request. */
async function serve(t: TestContext, handle: (exchange: Exchange) => unknown) {
  const server = http.createServer((request, response) => {
    const { signal: stopping } = new AbortController();
    handle({
      request,
      response,
      path: request.url!,
      stopping,
      headers: {},
      bodyTimeoutMs: 5000,
    } as unknown as Exchange);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return async (path: string, headers: Record<string, string> = {}, method = "GET") => {
    const request = http.request({ port, host: "127.0.0.1", path, headers, method, agent: false }).end();
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    return { status: response.statusCode, headers: response.headers, body: Buffer.concat(await response.toArray()) };
  };
}

const text = "a document that several callers share\n".repeat(10_000);

test("a document is compressed once, for callers that accept it", async (t) => {
  const document = createDocument("text/plain", text);
  const send = await serve(t, (exchange) => sendDocument(exchange, document, { vary: "Accept" }));
  const plain = await send("/");
  assert.equal(plain.body.toString(), text);
  assert.equal(plain.headers["content-length"], String(text.length));
  await until(() => document.compressed !== undefined);
  const compressed = await send("/", { "accept-encoding": "br, gzip" });
  assert.equal(gunzipSync(compressed.body).toString(), text);
  assert.equal(compressed.headers["content-encoding"], "gzip");
  assert.equal(compressed.headers.vary, "Accept, Accept-Encoding");
  assert.equal((await send("/")).body.toString(), text);
  const head = await send("/", {}, "HEAD");
  assert.deepEqual([head.body.length, head.headers["content-length"]], [0, String(text.length)]);
});

test("a document with a matching ETag is not sent again", async (t) => {
  const document = createDocument("text/plain", text);
  const send = await serve(t, (exchange) => sendDocument(exchange, document));
  const again = await send("/", { "if-none-match": `W/"other", ${document.etag}` });
  assert.deepEqual([again.status, again.body.length], [304, 0]);
  assert.equal((await send("/", { "if-none-match": '"other"' })).status, 200);
});

test("metrics are rendered once for all callers within a second", async (t) => {
  let rendered = 0;
  const handle = createMetricsHandler({
    contentType: "text/plain",
    render: async () => `rendered ${++rendered}`,
  });
  const send = await serve(t, handle);
  const answers = await Promise.all(Array.from({ length: 20 }, () => send("/metrics")));
  for (const { body } of answers) assert.equal(body.toString(), "rendered 1");
  await until(async () => (await send("/metricsz")).body.toString() === "rendered 2");
});
