import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { createClientAddressReader } from "../client-address.ts";
import { createEdge } from "../edge.ts";
import { createRestHandler } from "../rest/index.ts";
import { createConnectPageHandler } from "./connect-pages.ts";

type Handle = Parameters<typeof createConnectPageHandler>[0]["handle"];
type Request = Parameters<Handle>[0];

const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const page = { status: 200, headers: {}, body: "shown", isRefused: false, isEmbeddable: false } as const;

async function serve(handle: Handle, nowMs = () => 0) {
  const edge = createEdge({
    plane: "external",
    clientAddressOf: createClientAddressReader({ header: "", proxyNetworks: [] }),
    allowedHosts: ["*"],
    allowedOrigins: [],
    bodyBytesMax: 4 * 1024 * 1024,
    bodyTimeoutMs: 500,
    stopping: new AbortController().signal,
    handlers: [createConnectPageHandler({ handle, clock: { now: nowMs } })],
    rest: createRestHandler({ operations: [], invoke: () => Promise.reject(), errorsUrl: () => "/errors" }),
    onError: assert.ifError,
  });
  const server = http.createServer(edge);
  await once(server.listen(0, "127.0.0.1"), "listening");
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, init);
}

test("paths and methods select what a request is about", async () => {
  const requests: Request[] = [];
  const send = await serve(async (request) => {
    requests.push(request);
    return page;
  });
  const form = { method: "POST", body: new URLSearchParams({ a: "1" }) };
  assert.equal(await (await send(`/connect/${id}?provider=acme`)).text(), "shown");
  for (const verb of ["open", "submit", "cancel"]) await send(`/connect/${id}/${verb}`, form);
  await send(`/connect/callback/${id}?state=s`);
  assert.deepEqual(
    requests.map(({ target }) => target),
    [
      { kind: "show", sessionId: id },
      { kind: "open", sessionId: id },
      { kind: "submit", sessionId: id },
      { kind: "cancel", sessionId: id },
      { kind: "callback", configId: id },
    ],
  );
  assert.equal(requests[0]!.query.get("provider"), "acme");
  assert.equal(requests[2]!.form.get("a"), "1");
  assert.equal(requests[4]!.query.get("state"), "s");
  assert.equal(await (await send(`/connect/${id}`, { method: "HEAD" })).text(), "");
});

test("other methods, bodies and paths are refused before the page sees them", async () => {
  const send = await serve(() => assert.fail("must not be called"));
  const form = new URLSearchParams({ a: "1" });
  assert.equal((await send(`/connect/${id}`, { method: "POST", body: form })).status, 405);
  assert.equal((await send(`/connect/${id}/submit`)).status, 405);
  assert.equal((await send(`/connect/callback/${id}`, { method: "POST", body: form })).status, 405);
  assert.equal((await send(`/connect/callback/${id}`, { method: "HEAD" })).status, 405, "it would spend the state");
  assert.equal((await send(`/connect/${id}/submit`, { method: "POST", body: "{}" })).status, 400);
  const large = new URLSearchParams({ a: "x".repeat(256 * 1024) });
  assert.equal((await send(`/connect/${id}/submit`, { method: "POST", body: large })).status, 413);
  const many = new URLSearchParams(Array.from({ length: 1001 }, (): [string, string] => ["a", ""]));
  assert.equal((await send(`/connect/${id}/submit`, { method: "POST", body: many })).status, 400);
  for (const path of ["/connect/", "/connect/short", `/connect/${id}/other`, `/connect/${id.toLowerCase()}`]) {
    assert.equal((await send(path)).status, 404, path);
  }
});

test("only a response that names its embedders drops the header that forbids all", async () => {
  let isEmbeddable = false;
  const send = await serve(async () => ({ ...page, isEmbeddable }));
  assert.equal((await send(`/connect/${id}`)).headers.get("x-frame-options"), "DENY");
  isEmbeddable = true;
  assert.equal((await send(`/connect/${id}`)).headers.get("x-frame-options"), null);
});

test("too many refusals of an address and a session are limited, but never a valid request", async () => {
  const send = await serve(async ({ query }) => ({ ...page, isRefused: query.get("token") !== "valid" }));
  for (let n = 0; n < 20; n++) assert.equal((await send(`/connect/${id}`)).status, 200);
  const limited = await send(`/connect/${id}`);
  assert.deepEqual([limited.status, limited.headers.get("retry-after")], [429, "3"]);
  assert.equal((await send(`/connect/${id}?token=valid`)).status, 200);
  assert.equal((await send("/connect/01BX5ZZKBKACTAV9WEVGEMMVRZ")).status, 200, "another session is not limited");
});
